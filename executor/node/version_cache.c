#include "executor/node/version_cache.h"

#include "common/base/alloc.h"
#include "common/base/json.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { CACHE_MAX = 64 << 10 };

static const double fresh_s = 600;

/* Continues during suspend and never jumps, but restarts at boot: hence the boot id in the cache. */
static double boot_time_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static json_t *boot_id(void)
{
    char id[64] = "";
    AUTO_FCLOSE FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    return json_string(f && fgets(id, sizeof id, f) ? id : "");
}

/* The first program of that name in the folders of path, as execvp() would find it. */
static int find_program(const char *path, const char *name, struct stat *st)
{
    char dir[FS_PATH_MAX], file[FS_PATH_MAX];
    while (*path) {
        size_t len = strcspn(path, ":");
        if (len > 0 && len < sizeof dir) {
            memcpy(dir, path, len);
            dir[len] = '\0';
            if (fs_join(file, NULL, dir, name) == 0 && stat(file, st) == 0 && S_ISREG(st->st_mode) &&
                (st->st_mode & S_IXUSR))
                return 0;
        }
        path += len + (path[len] == ':');
    }
    return -1;
}

json_t *version_identity(const char *path, const char *const *names)
{
    json_t *out = json_array();
    struct stat st;
    for (size_t i = 0; names[i]; i++) {
        if (find_program(path ? path : "", names[i], &st) != 0)
            continue;
        json_array_append_new(out, json_pack("[s, I, I, I, I, I]", names[i], (json_int_t)st.st_dev,
                                             (json_int_t)st.st_ino, (json_int_t)st.st_size,
                                             (json_int_t)st.st_mtim.tv_sec, (json_int_t)st.st_ctim.tv_nsec));
    }
    return out;
}

json_t *version_cache_load(const struct layout *l, const char *file, const json_t *identity)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, NULL, l->workdir, file) != 0 || !fs_exists(path))
        return NULL;
    json_auto_t *root = json_load(path, CACHE_MAX, NULL), *boot = boot_id();
    json_t *versions = json_object_get(root, "versions");
    double age = boot_time_s() - json_number_value(json_object_get(root, "asked_at"));
    bool fresh = age >= 0 && age < fresh_s && json_equal(json_object_get(root, "boot"), boot) &&
                 json_equal(json_object_get(root, "identity"), identity);
    return fresh && json_is_array(versions) ? json_incref(versions) : NULL;
}

void version_cache_save(const struct layout *l, const char *file, json_t *identity, json_t *versions)
{
    char path[FS_PATH_MAX];
    json_auto_t *root = json_pack("{s:f, s:o, s:O, s:O}", "asked_at", boot_time_s(), "boot", boot_id(),
                                  "identity", identity, "versions", versions);
    if (root && fs_is_dir(l->workdir) && fs_join(path, NULL, l->workdir, file) == 0)
        json_save(path, root, NULL);
}
