#include "executor/workdir/machine.h"

#include "common/contract/proto.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* All users of a machine must arrive at the same folder: it must not depend on the caller. */
const char *machine_folder(const struct layout *l)
{
    static const char *const shared[] = {"/run/lock", "/dev/shm"};
    struct stat st;
    if (strcmp(l->sysfs, "/sys") != 0) /* a fake tree of the tests */
        return l->sysfs;
    if (strcmp(l->proc, "/proc") != 0)
        return l->proc;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (stat(shared[i], &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 01777) == 01777)
            return shared[i];
    return "/tmp";
}

int machine_gpu_file(const struct layout *l, const char *name, const char *kind, char *path, struct err *err)
{
    char file[LIMIT_NAME + 48];
    snprintf(file, sizeof file, "kernsweep-gpu-%.64s.%.16s", name, kind);
    return fs_join(path, err, machine_folder(l), file);
}
