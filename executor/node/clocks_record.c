#include "executor/node/clocks_record.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "executor/workdir/layout.h"
#include "executor/workdir/lock.h"
#include "executor/workdir/sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIND "clocks"

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

static int write_whole(int fd, const char *text, size_t len)
{
    return ftruncate(fd, 0) != 0 || pwrite(fd, text, len, 0) != (ssize_t)len || fsync(fd) != 0 ? -1 : 0;
}

/* The record is written in place: in a sticky folder nobody can rename over another user's file. */
static int replace(const struct layout *l, const char *gpu, const char *text, size_t len, struct err *err)
{
    char path[FS_PATH_MAX];
    struct lock file = {.fd = -1};
    if (machine_gpu_file(l, gpu, KIND, path, err) != 0 || lock_open_shared(&file, path, err) != 0)
        return -1;
    int rc = write_whole(file.fd, text, len), saved = errno;
    lock_close(&file);
    if (rc != 0)
        return err_set_errno(err, ERR_STORAGE, saved, "%s: cannot write", path);
    return fs_sync_dir(machine_folder(l), err);
}

int record_write(const struct layout *l, struct clocks_record *r, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = RECORD_MAX};
    char now[CLOCK_ISO_LEN + 1];
    clock_iso8601(clock_real_s(), now);
    snprintf(r->since, sizeof r->since, "%.31s", now);
    read_boot_id(l, r->boot_id);
    r->user = (long)geteuid();
    json_auto_t *json = encode(r);
    return json_encode(json, &text, err) == 0 ? replace(l, r->gpu, text.data, text.len, err) : -1;
}

int record_clear(const struct layout *l, const char *gpu, struct err *err)
{
    char path[FS_PATH_MAX];
    int rc = replace(l, gpu, "", 0, err);
    if (rc == 0 && machine_gpu_file(l, gpu, KIND, path, NULL) == 0)
        unlink(path); /* an empty file of another user stays */
    return rc;
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

/* All users may write there, so a record counts as root's, as ours, or as that of the user whose run it
 * names. */
static bool is_believed(const struct stat *st, const struct clocks_record *r)
{
    return st->st_uid == 0 || st->st_uid == geteuid() || (long)st->st_uid == r->user;
}

static bool read_path(const char *path, struct clocks_record *out)
{
    char text[RECORD_MAX];
    struct stat st;
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, text, sizeof text) : -1;
    json_auto_t *json = n > 0 && n < (ssize_t)sizeof text ? json_loadb(text, (size_t)n, 0, NULL) : NULL;
    return json_is_object(json) && decode(json, out) && is_believed(&st, out);
}

bool record_read(const struct layout *l, const char *gpu, struct clocks_record *out)
{
    char path[FS_PATH_MAX];
    return machine_gpu_file(l, gpu, KIND, path, NULL) == 0 && read_path(path, out) &&
           strcmp(out->gpu, gpu) == 0;
}

bool record_is_outdated(const struct layout *l, const struct clocks_record *r)
{
    char boot_id[RECORD_BOOT_MAX];
    read_boot_id(l, boot_id);
    return *boot_id && strcmp(boot_id, r->boot_id) != 0;
}

struct each {
    const struct layout *layout;
    record_fn *fn;
    void *arg;
};

static void see_file(const char *path, const char *name, void *arg)
{
    struct each *e = arg;
    struct clocks_record r;
    size_t len = strlen(name), end = strlen("." KIND);
    (void)path;
    if (strncmp(name, "kernsweep-gpu-", 14) != 0 || len <= 14 + end ||
        strcmp(name + len - end, "." KIND) != 0)
        return;
    char gpu[LIMIT_NAME + 1];
    snprintf(gpu, sizeof gpu, "%.*s", (int)(len - 14 - end < LIMIT_NAME ? len - 14 - end : LIMIT_NAME),
             name + 14);
    if (record_read(e->layout, gpu, &r))
        e->fn(&r, e->arg);
}

void record_each(const struct layout *l, record_fn *fn, void *arg)
{
    struct each e = {.layout = l, .fn = fn, .arg = arg};
    entries_each(machine_folder(l), NULL, see_file, &e);
}
