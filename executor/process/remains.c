#include "executor/process/remains.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "executor/workdir/sysfile.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BOOT_LEN = 36, RECORD_MAX = 4 * FS_PATH_MAX, RECORDS_MAX = 1024 };

#define PREFIX "kernsweep-"

static int boot_folder(const struct layout *l, char *out, struct err *err)
{
    char parent[FS_PATH_MAX], boot[BOOT_LEN + 1];
    sysfile_line("/proc", "sys/kernel/random/boot_id", boot, sizeof boot);
    if (!text_is_name(boot))
        snprintf(boot, sizeof boot, "unknown");
    return fs_join(parent, err, l->workdir, "contained") != 0 ? -1 : fs_join(out, err, parent, boot);
}

static void add_folder(struct buf *text, const char *parent, const char *name)
{
    if (hierarchy_is_ours(parent))
        buf_printf(text, "%s/%s\n", parent, name);
}

int remains_note(const struct hierarchy *at, const struct layout *l, const char *name, char *record,
                 struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = RECORD_MAX};
    char folder[FS_PATH_MAX], stand[64];
    if (boot_folder(l, folder, err) != 0 || fs_mkdir_p(folder, 0700, err) != 0 ||
        fs_join(record, err, folder, name) != 0)
        return -1;
    snprintf(stand, sizeof stand, PREFIX "executor-%ld", (long)getpid());
    add_folder(&text, at->own, name);
    add_folder(&text, at->v1_memory, name);
    add_folder(&text, at->v1_pids, name);
    add_folder(&text, at->own, stand);
    return fs_write_file(record, buf_str(&text), text.len, 0600, err);
}

void remains_forget(const char *path)
{
    char boot[FS_PATH_MAX], all[FS_PATH_MAX];
    unlink(path);
    fs_parent(path, boot);
    fs_parent(boot, all);
    if (rmdir(boot) == 0) /* it was the last */
        rmdir(all);
}

/* A line must name a folder of ours; a damaged record may name anything. */
static bool is_plausible(const char *folder)
{
    char procs[FS_PATH_MAX];
    const char *last = strrchr(folder, '/');
    return folder[0] == '/' && last && strncmp(last + 1, PREFIX, strlen(PREFIX)) == 0 &&
           !strstr(folder, "/../") && fs_join(procs, NULL, folder, "cgroup.procs") == 0 && fs_exists(procs);
}

/* Returns true when all that the record names is gone; *found: something was there. */
static bool clear_one(const char *path, int64_t deadline_ns, bool *found)
{
    AUTO(buf_release) struct buf text = {.max = RECORD_MAX};
    char *save = NULL;
    bool gone = true;
    if (fs_read_file(path, text.max, &text, NULL) != 0 || !text.data)
        return true;
    for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (!is_plausible(line))
            continue;
        *found = true;
        gone &= contain_folder_remove(line, clock_left_ms(deadline_ns) / 1e3);
    }
    return gone;
}

size_t remains_clear(const struct layout *l, double limit_s, size_t *left)
{
    char folder[FS_PATH_MAX], path[FS_PATH_MAX];
    int64_t deadline_ns = clock_deadline_ns(limit_s);
    size_t count = 0, seen = 0;
    struct dirent *e;
    *left = 0;
    DIR *dir = boot_folder(l, folder, NULL) == 0 ? opendir(folder) : NULL;
    while (dir && seen++ < RECORDS_MAX && (e = readdir(dir))) {
        bool found = false;
        if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) != 0 || fs_join(path, NULL, folder, e->d_name) != 0)
            continue;
        bool gone = clear_one(path, deadline_ns, &found);
        count += found;
        *left += !gone;
        if (gone)
            remains_forget(path);
    }
    if (dir)
        closedir(dir);
    return count;
}
