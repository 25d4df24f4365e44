#include "executor/workdir/cache.h"

#include "common/base/clock.h"
#include "common/base/sha256.h"
#include "common/contract/proto.h"
#include "executor/workdir/lock.h"
#include "executor/workdir/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double day_s = 86400;

void cache_stamp(const char *path)
{
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

/* Gives the name of this program's folder in bin, or "". out: at least SHA256_HEX_LEN + 1. */
static void own_name(const struct layout *l, char *out)
{
    char self[FS_PATH_MAX], bin[FS_PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    *out = '\0';
    if (fs_join(bin, NULL, l->workdir, "bin/") == 0 && strncmp(self, bin, strlen(bin)) == 0)
        snprintf(out, SHA256_HEX_LEN + 1, "%.*s", (int)strcspn(self + strlen(bin), "/"), self + strlen(bin));
}

void cache_stamp_self(const struct layout *layout)
{
    char name[SHA256_HEX_LEN + 1], path[FS_PATH_MAX];
    own_name(layout, name);
    if (*name && layout_entry(layout, path, "bin", name, NULL) == 0)
        cache_stamp(path);
}

/* A concurrent process may have published the same tree first: it is identical, so ours is removed. */
int cache_publish(const char *from, const char *to, struct err *err)
{
    if (fs_sync_filesystem(from, err) != 0)
        return -1;
    if (rename(from, to) == 0)
        return 0;
    if ((errno == EEXIST || errno == ENOTEMPTY) && fs_is_dir(to))
        return fs_remove_tree(from, err);
    return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot rename", to);
}

/* used: names that runs refer to. All are hashes, so one set serves all kinds. */
static void add_reference(json_t *used, const json_t *name)
{
    if (json_is_string(name))
        json_object_set_new(used, json_string_value(name), json_true());
}

static void add_references_of(json_t *used, const char *dir)
{
    json_auto_t *job = layout_load(dir, RUN_JOB), *summary = layout_load(dir, RUN_SUMMARY);
    size_t i;
    const json_t *variant;
    add_reference(used, json_object_get(json_object_get(job, "source"), "sha256"));
    json_array_foreach(json_object_get(summary, "variants"), i, variant)
    {
        add_reference(used, json_object_get(variant, "build_key"));
    }
}

static bool is_running(const char *dir)
{
    char path[FS_PATH_MAX];
    struct lock_holder holder = {.held = false};
    struct err ignored;
    return fs_join(path, NULL, dir, RUN_LOCK) == 0 && lock_look(path, &holder, &ignored) == 0 && holder.held;
}

/* *running: the id of a run that is supervised now, or "". */
static int scan_runs(const struct layout *l, json_t *used, char *running, size_t cap, struct err *err)
{
    char dir[FS_PATH_MAX];
    DIR *d = opendir(l->runs);
    struct dirent *e;
    *running = '\0';
    if (!d)
        return errno == ENOENT ? 0 : err_set_errno(err, ERR_STORAGE, errno, "%s: cannot read", l->runs);
    while (!*running && (e = readdir(d))) {
        if (e->d_name[0] == '.' || fs_join(dir, NULL, l->runs, e->d_name) != 0)
            continue;
        if (is_running(dir))
            snprintf(running, cap, "%.*s", LIMIT_NAME, e->d_name);
        add_references_of(used, dir);
    }
    closedir(d);
    return 0;
}

static bool is_old(const char *path, double days)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
           clock_real_s() - (double)st.st_mtim.tv_sec > days * day_s;
}

/* Returns 1 removed, 0 kept, -1 error. A name with a dot in front is an unfinished pruning or staging. */
static int prune_entry(const char *dir, const char *name, double days, const json_t *used, struct err *err)
{
    char path[FS_PATH_MAX];
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return 0;
    if (fs_join(path, err, dir, name) != 0)
        return -1;
    if (json_object_get(used, name) || !is_old(path, days))
        return 0;
    if (*name == '.')
        return fs_remove_tree(path, err);
    return layout_discard(dir, name, err) == 0 ? 1 : -1;
}

/* Runs are removed only by their owner (forget); what an interrupted removal left is nobody's. */
static bool is_kept_kind(const char *kind, const char *name)
{
    return strcmp(kind, "runs") == 0 && *name != '.';
}

static int prune_kind(const struct layout *l, const char *kind, double days, const json_t *used, int *removed,
                      struct err *err)
{
    char dir[FS_PATH_MAX];
    if (fs_join(dir, err, l->workdir, kind) != 0)
        return -1;
    DIR *d = opendir(dir);
    struct dirent *e;
    int rc = 0;
    if (!d)
        return errno == ENOENT ? 0 : err_set_errno(err, ERR_STORAGE, errno, "%s: cannot read", dir);
    while (rc == 0 && (e = readdir(d))) {
        int gone = is_kept_kind(kind, e->d_name) ? 0 : prune_entry(dir, e->d_name, days, used, err);
        if (gone > 0)
            tree_unseal(l, kind, e->d_name);
        *removed += gone > 0;
        rc = gone < 0 ? -1 : 0;
    }
    closedir(d);
    return rc;
}

/* used NULL: nothing is removed. */
static int prune_kinds(const struct layout *l, double days, const json_t *used, json_t *counts,
                       struct err *err)
{
    static const char *const kinds[] = {"bin", "build", CACHE_COMPILED, TREE_PATCHED, TREE_STAGED, TREE_OWN};
    int none = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int removed = 0;
        if (used && prune_kind(l, kinds[i], days, used, &removed, err) != 0)
            return -1;
        json_object_set_new(counts, kinds[i], json_integer(removed));
    }
    return used ? prune_kind(l, "runs", days, used, &none, err) : 0;
}

int cache_prune(const struct layout *layout, int64_t days, json_t **out, struct err *err)
{
    char running[LIMIT_NAME + 1], own[SHA256_HEX_LEN + 1];
    json_auto_t *used = json_object(), *counts = json_object();
    if (scan_runs(layout, used, running, sizeof running, err) != 0)
        return -1;
    own_name(layout, own);
    json_object_set_new(used, own, json_true());
    if (prune_kinds(layout, (double)days, *running ? NULL : used, counts, err) != 0)
        return -1;
    *out =
        json_pack("{s:O, s:o}", "removed", counts, "running", *running ? json_string(running) : json_null());
    return 0;
}
