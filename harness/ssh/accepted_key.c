#include "harness/ssh/accepted_key.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/sha256.h"
#include "harness/ssh/known_hosts.h"

#include <stdio.h>
#include <string.h>

static int find_file(const struct ssh_config *c, char *path)
{
    char folder[FS_PATH_MAX], login[2 * SSH_NAME_MAX + 16], name[SHA256_HEX_LEN + 1];
    struct err ignored;
    ssh_config_describe(c, login, sizeof login);
    sha256_of(login, strlen(login), name);
    return fs_cache_folder("logins", folder, &ignored) != 0 ? -1 : fs_join(path, &ignored, folder, name);
}

void accepted_key_recall(const struct ssh_config *c, char *out)
{
    char path[FS_PATH_MAX];
    struct err ignored;
    AUTO(buf_release) struct buf text = {.max = FINGERPRINT_LEN};
    *out = '\0';
    if (find_file(c, path) == 0 && fs_read_file(path, FINGERPRINT_LEN, &text, &ignored) == 0)
        snprintf(out, FINGERPRINT_LEN + 1, "%s", buf_str(&text));
}

void accepted_key_keep(const struct ssh_config *c, const char *fingerprint)
{
    char path[FS_PATH_MAX], before[FINGERPRINT_LEN + 1];
    struct err ignored;
    accepted_key_recall(c, before);
    if (strcmp(before, fingerprint) != 0 && find_file(c, path) == 0)
        fs_write_file(path, fingerprint, strlen(fingerprint), 0600, &ignored);
}
