/* A plan as YAML: refused in one line that names the file, or JSON in which every place is found again. */
#include "harness/plan/document.h"
#include "harness/plan/plan.h"
#include "tests/fuzz/fuzz.h"

static void check_document(const char *path)
{
    struct plan_document d;
    struct err err = {0};
    struct json_mark mark;
    struct json_problems none = {0};
    int rc = plan_document_load(&d, path, &none, &err);
    fuzz_check_err(rc, &err, ERR_INPUT);
    fuzz_check(rc == 0 || strstr(err.msg, path));
    if (rc != 0)
        return;
    fuzz_check(d.source.locate(&d.source, "$.variants[0].run[1]", false, &mark) && mark.line > 0 &&
               mark.column > 0);
    fuzz_check(d.source.locate(&d.source, "$.schema", true, &mark) && mark.line > 0);
    plan_document_release(&d);
}

/* All errors of it: at least one if it is refused. */
static void check_plan(const char *path)
{
    struct plan p;
    struct json_problems all = {0};
    struct err err = {0};
    int rc = plan_load_all(&p, path, &all, &err);
    fuzz_check(err.kind == ERR_NONE && (rc == 0) == (all.count == 0));
    if (rc == 0)
        plan_release(&p);
    problems_release(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[FS_PATH_MAX];
    if (!*path)
        fuzz_check(fs_join(path, NULL, fuzz_folder(), "plan.yaml") == 0);
    fuzz_put("plan.yaml", data, size);
    check_document(path);
    check_plan(path);
    return 0;
}
