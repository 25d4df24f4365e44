/* job.json as the executor takes it from whoever is logged in. */
#include "executor/bundle/job.h"
#include "executor/bundle/secrets.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct job job;
    struct secrets secrets;
    struct err err = {0};
    json_t *root = json_parse((const char *)data, size, "job.json", &err);
    if (!root) {
        fuzz_check_err(-1, &err, ERR_INPUT);
        return 0;
    }
    int rc = job_init(&job, root, "job.json", &err);
    fuzz_check_err(rc, &err, ERR_INPUT);
    if (rc != 0)
        return 0;
    fuzz_check(job.variant_count > 0); /* without tests, the variants are only built */
    for (size_t i = 0; i < job.test_count; i++)
        fuzz_check(job.test[i].variant < job.variant_count && job.test[i].context > 0 &&
                   job.test[i].timeout_s > 0);
    rc = secrets_init(&secrets, &job, &err);
    fuzz_check_err(rc, &err, ERR_INPUT);
    if (rc == 0) {
        json_decref(secrets_clean_json(&secrets, job.root));
        secrets_release(&secrets);
    }
    job_release(&job);
    return 0;
}
