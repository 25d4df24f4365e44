#include "executor/bundle/artifact.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/sha256.h"
#include "common/contract/proto.h"
#include "executor/workdir/held.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static int write_file(const char *dir, const char *name, const char *data, size_t len, struct err *err)
{
    char path[FS_PATH_MAX], part[FS_PATH_MAX], hidden[128];
    snprintf(hidden, sizeof hidden, ".%.100s.part", name);
    if (fs_join(path, err, dir, name) != 0 || fs_join(part, err, dir, hidden) != 0)
        return -1;
    int fd = held_create(part);
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot create", path);
    int rc = fs_write_all(fd, data, len) == 0
                 ? held_publish(fd, part, path, err)
                 : err_set_errno(err, ERR_STORAGE, errno, "%s: cannot write", path);
    if (close(fd) != 0 && rc == 0)
        rc = err_set_errno(err, ERR_STORAGE, errno, "%s: cannot write", path);
    if (rc != 0)
        unlink(part);
    return rc;
}

int artifact_json_sealed(const char *dir, const char *name, json_t *value, const struct secrets *secrets,
                         char *sha256, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = LIMIT_JSON_BYTES};
    json_auto_t *taken = value, *clean = secrets_clean_json(secrets, taken);
    if (!clean)
        return err_set(err, ERR_INTERNAL, "%s: its text is not UTF-8", name);
    if (json_encode(clean, &text, err) != 0)
        return -1;
    buf_putc(&text, '\n');
    sha256_of(buf_str(&text), text.len, sha256);
    return write_file(dir, name, buf_str(&text), text.len, err);
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
    AUTO(buf_release) struct buf clean = {.max = len * 3 + 1};
    secrets_clean_text(secrets, text, len, &clean);
    return write_file(dir, name, buf_str(&clean), clean.len, err);
}

json_t *artifact_number(double x)
{
    return isnan(x) ? json_null() : json_real(nearbyint(x * 1e6) / 1e6);
}
