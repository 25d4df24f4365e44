#include "executor/node/clocks_record.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "executor/workdir/layout.h"
#include "executor/workdir/sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIND "clocks."

enum { RECORD_MAX = 4096 };

static void read_boot_id(const struct layout *l, char out[RECORD_BOOT_MAX])
{
    sysfile_line(l->proc, "sys/kernel/random/boot_id", out, RECORD_BOOT_MAX);
}

static json_t *encode(const struct clocks_record *r)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:i, s:{s:s, s:i, s:i}}", "gpu", r->gpu, "run_id",
                     r->run_id, "boot_id", r->boot_id, "since", r->since, "user", (json_int_t)r->user, "mode",
                     clocks_mode_names[r->set.mode], "mhz", r->set.mhz, "before", "level", r->before.level,
                     "min_mhz", r->before.min_mhz, "max_mhz", r->before.max_mhz);
}

/* Each user has a file of his own: what all may write would say what anybody wrote last. */
static int record_path(const struct layout *l, const char *gpu, uid_t user, char *path, struct err *err)
{
    char kind[24];
    snprintf(kind, sizeof kind, KIND "%lu", (unsigned long)user);
    return machine_gpu_file(l, gpu, kind, path, err);
}

static int write_new(const char *path, const struct buf *text)
{
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 || fs_write_all(fd, text->data, text->len) != 0 || fchmod(fd, 0644) != 0 || fsync(fd) != 0
               ? -1
               : 0;
}

int record_write(const struct layout *l, struct clocks_record *r, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = RECORD_MAX};
    char now[CLOCK_ISO_LEN + 1], path[FS_PATH_MAX];
    clock_iso8601(clock_real_s(), now);
    snprintf(r->since, sizeof r->since, "%.31s", now);
    read_boot_id(l, r->boot_id);
    r->user = (long)geteuid();
    json_auto_t *json = encode(r);
    if (json_encode(json, &text, err) != 0 || record_path(l, r->gpu, geteuid(), path, err) != 0)
        return -1;
    unlink(path); /* an older one, or what somebody else has put there */
    if (write_new(path, &text) != 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot write%s", path,
                             errno == EEXIST ? " over a file that its owner or root has to remove" : "");
    return fs_sync_dir(machine_folder(l), err);
}

int record_clear(const struct layout *l, const char *gpu, uid_t user, struct err *err)
{
    char path[FS_PATH_MAX];
    if (record_path(l, gpu, user, path, err) != 0)
        return -1;
    if (unlink(path) != 0 && errno != ENOENT)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot remove", path);
    return fs_sync_dir(machine_folder(l), err);
}

static bool copy_text(const json_t *obj, const char *key, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(obj, key));
    return text && (size_t)snprintf(out, size, "%s", text) < size;
}

static bool copy_number(const json_t *obj, const char *key, int least, int *out)
{
    const json_t *value = json_object_get(obj, key);
    json_int_t n = json_integer_value(value);
    *out = (int)n;
    return json_is_integer(value) && n >= least && n <= CLOCKS_MHZ_MAX;
}

static bool copy_mode(const json_t *obj, enum clocks_mode *out)
{
    const char *name = json_string_value(json_object_get(obj, "mode"));
    *out = name && strcmp(name, clocks_mode_names[CLOCKS_FIXED]) == 0 ? CLOCKS_FIXED : CLOCKS_DETERMINISM;
    return name && strcmp(name, clocks_mode_names[*out]) == 0;
}

static bool is_printable(const char *text)
{
    for (; *text; text++) {
        if (*text < ' ' || *text > '~')
            return false;
    }
    return true;
}

static bool decode(const json_t *json, struct clocks_record *out)
{
    const json_t *before = json_object_get(json, "before");
    *out = (struct clocks_record){.user = (long)json_integer_value(json_object_get(json, "user"))};
    return copy_text(json, "gpu", out->gpu, sizeof out->gpu) && text_is_name(out->gpu) &&
           copy_text(json, "run_id", out->run_id, sizeof out->run_id) && text_is_name(out->run_id) &&
           copy_text(json, "boot_id", out->boot_id, sizeof out->boot_id) && is_printable(out->boot_id) &&
           copy_text(json, "since", out->since, sizeof out->since) && is_printable(out->since) &&
           copy_mode(json, &out->set.mode) && copy_number(json, "mhz", 1, &out->set.mhz) &&
           copy_text(before, "level", out->before.level, sizeof out->before.level) &&
           (!*out->before.level || clocks_level_ok(out->before.level)) &&
           copy_number(before, "min_mhz", 0, &out->before.min_mhz) &&
           copy_number(before, "max_mhz", 0, &out->before.max_mhz);
}

static bool read_path(const char *path, struct stat *st, struct clocks_record *out)
{
    char text[RECORD_MAX];
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n = fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode) ? read(fd, text, sizeof text) : -1;
    json_auto_t *json = n > 0 && n < (ssize_t)sizeof text ? json_loadb(text, (size_t)n, 0, NULL) : NULL;
    return json_is_object(json) && decode(json, out);
}

/* All users may make files there: a record counts in the file of the user whose run it names, if nobody else
 * can have written it or given it that name. */
static bool is_believed(const struct layout *l, const char *path, const struct stat *st,
                        const struct clocks_record *r)
{
    char own[FS_PATH_MAX];
    return (long)st->st_uid == r->user && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0 && st->st_nlink == 1 &&
           record_path(l, r->gpu, st->st_uid, own, NULL) == 0 && strcmp(path, own) == 0;
}

bool record_is_outdated(const struct layout *l, const struct clocks_record *r)
{
    char boot_id[RECORD_BOOT_MAX];
    read_boot_id(l, boot_id);
    return *boot_id && strcmp(boot_id, r->boot_id) != 0;
}

struct each {
    const struct layout *layout;
    const char *gpu;
    record_fn *fn;
    void *arg;
};

static void see_file(const char *path, const char *name, void *arg)
{
    struct each *e = arg;
    struct clocks_record r;
    struct stat st;
    if (strncmp(name, "kernsweep-gpu-", 14) == 0 && strstr(name, "." KIND) && read_path(path, &st, &r) &&
        is_believed(e->layout, path, &st, &r) && (!e->gpu || strcmp(e->gpu, r.gpu) == 0))
        e->fn(&r, e->arg);
}

void record_each(const struct layout *l, const char *gpu, record_fn *fn, void *arg)
{
    struct each e = {.layout = l, .gpu = gpu, .fn = fn, .arg = arg};
    entries_each(machine_folder(l), NULL, see_file, &e);
}
