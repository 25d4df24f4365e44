/* folder: fuzz_folder(), which must be one for the whole process. */
#include "tests/fuzz/fuzz.h"

static char folder[256];

static void remove_folder(void)
{
    fs_remove_tree(folder, NULL);
}

const char *fuzz_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    if (*folder)
        return folder;
    snprintf(folder, sizeof folder, "%s/kernsweep-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm"
             : tmp && *tmp                 ? tmp
                                           : "/tmp");
    fuzz_check(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    return folder;
}
