/* A plan: refused in one line that names the file, or expanded into a job that the executor takes. */
#include "executor/bundle/job.h"
#include "harness/plan/job.h"
#include "tests/fuzz/fuzz.h"

static void check_job(const struct plan *p)
{
    static const char source[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const struct job_request req = {
        .run_id = "r", .date = "2026-02-14", .source_sha256 = p->source.dir ? source : NULL};
    struct job job;
    struct err err = {0};
    if (plan_test_count(p) > 1000) /* slow to repeat */
        return;
    json_t *root = job_encode(p, &req);
    fuzz_check(root != NULL);
    int rc = job_init(&job, root, "job.json", &err);
    if (rc != 0)
        fprintf(stderr, "%s\n", err.msg);
    fuzz_check(rc == 0 && job.test_count == plan_test_count(p));
    job_release(&job);
}

/* Beside a file that its sources may name, as the seed's do. */
static const char *put_plan(const uint8_t *data, size_t size)
{
    static char path[FS_PATH_MAX];
    if (!*path) {
        fuzz_put("minimal.json", "{}", 2);
        fuzz_check(fs_join(path, NULL, fuzz_folder(), "plan.json") == 0);
    }
    fuzz_put("plan.json", data, size);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plan p;
    struct err err = {0};
    const char *path = put_plan(data, size);
    int rc = plan_load(&p, path, &err);
    fuzz_check_err(rc, &err, ERR_INPUT);
    fuzz_check(rc == 0 || strstr(err.msg, path));
    if (rc == 0) {
        check_job(&p);
        plan_release(&p);
    }
    return 0;
}
