/* A program's output: whatever it is, what is proposed is a rule that a plan may have. */
#include "harness/plan/plan.h"
#include "harness/propose/draft.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct proposal p;
    struct plan plan;
    struct err err = {0};
    propose_from_output(&p, (const char *)data, size, NULL);
    fuzz_check(p.count <= PROPOSED_MAX && strlen(p.pattern) <= LIMIT_PATTERN);
    fuzz_check((p.kind == PROPOSE_WALL || p.kind == PROPOSE_MARK) || (p.count > 0 && p.primary < p.count));
    json_t *run = json_pack("[s]", "a"), *contexts = json_pack("[i]", 1);
    const struct draft d = {.ticket = "t",
                            .node = "local",
                            .run = run,
                            .contexts = contexts,
                            .repetitions = 5,
                            .timeout_s = 1,
                            .proposal = &p};
    int rc = plan_take(&plan, draft_encode(&d), "draft.json", &err);
    if (rc != 0)
        fprintf(stderr, "%s\n", err.msg);
    fuzz_check(rc == 0);
    plan_release(&plan);
    json_decref(run);
    json_decref(contexts);
    return 0;
}
