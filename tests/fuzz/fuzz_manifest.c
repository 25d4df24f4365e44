/* The manifest of a bundle that holds two files, with one outside of it. */
#include "results/ingest/bundle/manifest.h"
#include "tests/fuzz/fuzz.h"

static const char *prepare(void)
{
    static char dir[FS_PATH_MAX];
    if (*dir)
        return dir;
    fuzz_check(fs_join(dir, NULL, fuzz_folder(), "b") == 0);
    char inner[FS_PATH_MAX];
    fuzz_check(fs_join(inner, NULL, dir, "v3") == 0 && fs_mkdir_p(inner, 0700, NULL) == 0);
    fuzz_put("b/plan.json", "{}", 2);
    fuzz_put("b/v3/perf.json", "{\"x\":1}", 7);
    fuzz_put("secret", "secret", 6);
    return dir;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    const char *dir = prepare();
    fuzz_put("b/manifest.json", data, size);
    int rc = manifest_verify(dir, NULL, &err);
    if (rc != 0 && err.kind == ERR_STORAGE) /* a name that is too long or not there is the system's word */
        err.kind = ERR_INPUT;
    fuzz_check_err(rc, &err, ERR_INPUT);
    return 0;
}
