#include "executor/bundle/artifact.h"

#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/sha256.h"
#include "common/contract/proto.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* A test has made a folder of that name. */
static bool replace_folder(const char *part, const char *path)
{
    struct err ignored;
    return fs_remove_tree(path, &ignored) == 0 && rename(part, path) == 0;
}

static int write_file(const char *dir, const char *name, const char *data, size_t len, struct err *err)
{
    char path[FS_PATH_MAX], part[FS_PATH_MAX], hidden[128];
    snprintf(hidden, sizeof hidden, ".%.100s.part", name);
    if (fs_join(path, err, dir, name) != 0 || fs_join(part, err, dir, hidden) != 0)
        return -1;
    int fd = fs_create_anew(part, 0600, err);
    if (fd < 0)
        return -1;
    int failed = fs_write_all(fd, data, len) != 0 ? errno : 0;
    if (close(fd) != 0 && !failed)
        failed = errno;
    if (!failed && rename(part, path) != 0 && !(errno == EISDIR && replace_folder(part, path)))
        failed = errno;
    if (!failed)
        return 0;
    unlink(part);
    return err_set_errno(err, ERR_STORAGE, failed, "%s: cannot write", path);
}

int artifact_json_sealed(const char *dir, const char *name, json_t *value, const struct secrets *secrets,
                         char *sha256, struct err *err)
{
    struct buf text;
    json_t *clean = secrets_clean_json(secrets, value);
    buf_init(&text, LIMIT_JSON_BYTES);
    int rc = clean ? json_encode(clean, &text, err) : err_set(err, ERR_INTERNAL, "%s: no memory", name);
    buf_putc(&text, '\n');
    sha256_of(buf_str(&text), text.len, sha256);
    if (rc == 0)
        rc = write_file(dir, name, buf_str(&text), text.len, err);
    buf_release(&text);
    json_decref(clean);
    json_decref(value);
    return rc;
}

int artifact_json(const char *dir, const char *name, json_t *value, const struct secrets *secrets,
                  struct err *err)
{
    char sha256[SHA256_HEX_LEN + 1];
    return artifact_json_sealed(dir, name, value, secrets, sha256, err);
}

int artifact_text(const char *dir, const char *name, const char *text, size_t len,
                  const struct secrets *secrets, struct err *err)
{
    struct buf clean;
    buf_init(&clean, len * 3 + 1);
    secrets_clean_text(secrets, text, len, &clean);
    int rc = write_file(dir, name, buf_str(&clean), clean.len, err);
    buf_release(&clean);
    return rc;
}

json_t *artifact_number(double x)
{
    return isnan(x) ? json_null() : json_real(nearbyint(x * 1e6) / 1e6);
}
