/* A node's facts, and what preflight makes of them for a terminal. */
#include "common/base/json.h"
#include "harness/session/preflight.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct preflight p;
    const struct preflight_needs needs = {
        .largest_context = 16384, .clock_offset_s = 1, .clock_error_s = 0.1};
    json_t *node = json_parse((const char *)data, size, "node.json", NULL);
    if (!node)
        return 0;
    preflight_check(&p, node, &needs);
    fuzz_check(p.count <= PREFLIGHT_MAX);
    for (size_t i = 0; i < p.count; i++) {
        fuzz_check_text(p.findings[i].text, strlen(p.findings[i].text));
        fuzz_check_text(p.findings[i].remedy, strlen(p.findings[i].remedy));
        fuzz_check(!strchr(p.findings[i].text, '\n'));
    }
    json_decref(node);
    return 0;
}
