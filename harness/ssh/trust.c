#include "harness/ssh/trust.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/spawn.h"
#include "harness/ssh/openssh_client.h"
#include "harness/ssh/openssh_transport.h"
#include "harness/ssh/session.h"
#include "harness/ssh/transport.h"
#include "harness/transport/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int set_name(struct ssh_hostkey *key, const struct ssh_config *c, struct err *err)
{
    if (!c->known_hosts[0])
        return err_set(err, ERR_INPUT,
                       "%s: the ssh configuration names no known_hosts file (UserKnownHostsFile)", c->node);
    snprintf(key->known_hosts, sizeof key->known_hosts, "%s", c->known_hosts[0]);
    snprintf(key->name, sizeof key->name, "%s", c->key_name);
    snprintf(key->stored_name, sizeof key->stored_name, "%s", c->key_name);
    return c->hash_known_hosts ? known_hosts_hash_name(c->key_name, key->stored_name, err) : 0;
}

static int describe_key(const struct ssh_config *c, const char *who, const void *blob, size_t len,
                        struct ssh_hostkey *key, struct err *err)
{
    AUTO(known_hosts_release) struct known_hosts known = {0};
    const struct known_key *line;
    if (!blob || !ssh_blob_type(blob, len, key->type) || BASE64_ENCODE_RAW_LENGTH(len) >= sizeof key->base64)
        return err_set(err, ERR_NODE, "%s: the host presented no readable key", who);
    if (known_hosts_load(&known, c->known_hosts, c->key_name, err))
        return -1;
    key->trust = known_hosts_check(&known, blob, len, &line);
    ssh_fingerprint(blob, len, key->fingerprint);
    base64_encode_raw(key->base64, len, blob);
    key->base64[BASE64_ENCODE_RAW_LENGTH(len)] = '\0';
    return set_name(key, c, err);
}

struct fetch {
    struct ssh_config config;
    char who[512];
    struct transport_scope scope;
    int64_t deadline_ns;
    struct ssh_hostkey *key;
};

static int fetch_with_libssh2(const struct fetch *f, enum transport_failure *why, struct err *err)
{
    AUTO(ssh_session_drop) struct ssh_session s = {.fd = -1};
    size_t len = 0;
    ssh_session_init(&s, &f->config, &f->scope);
    s.deadline_ns = f->deadline_ns;
    if (ssh_session_open(&s, why, err) != 0)
        return -1;
    const char *blob = ssh_session_hostkey(&s, &len);
    *why = TRANSPORT_FAILURE_REFUSED;
    return describe_key(&f->config, f->who, blob, len, f->key, err);
}

static int fetch_with_client(const struct fetch *f, struct err *err)
{
    AUTO(known_hosts_release) struct known_hosts presented = {0};
    if (openssh_fetch_key(&f->config, f->deadline_ns, &f->scope, &presented, err) != 0)
        return -1;
    return describe_key(&f->config, f->who, presented.keys[0].blob, presented.keys[0].len, f->key, err);
}

static bool is_allowed(const struct transport_target *target, const struct transport_ops *ops)
{
    for (size_t i = 0; i < TRANSPORT_BACKENDS_MAX && target->backends[i]; i++)
        if (target->backends[i] == ops)
            return true;
    return !target->backends[0];
}

int ssh_hostkey_fetch(const struct transport_target *target, struct ssh_hostkey *key, struct err *err)
{
    const double timeout_s =
        target->connect_timeout_s > 0 ? target->connect_timeout_s : TRANSPORT_CONNECT_TIMEOUT_S;
    struct fetch f = {.key = key, .scope = {.who = f.who, .interrupted = target->interrupted}};
    enum transport_failure why = TRANSPORT_FAILURE_UNSUPPORTED;
    memset(key, 0, sizeof *key);
    snprintf(f.who, sizeof f.who, "%s", target->node);
    int rc = ssh_config_resolve(&f.config, target->node, target->ssh_config, &f.scope, err);
    if (rc == 0) {
        ssh_config_describe(&f.config, f.who, sizeof f.who);
        f.deadline_ns = clock_deadline_ns(timeout_s);
        rc = -1;
        if (is_allowed(target, &ssh_transport_ops))
            rc = fetch_with_libssh2(&f, &why, err);
        if (rc != 0 && why == TRANSPORT_FAILURE_UNSUPPORTED && is_allowed(target, &openssh_transport_ops) &&
            spawn_on_path("ssh"))
            rc = fetch_with_client(&f, err);
    }
    ssh_config_release(&f.config);
    return rc;
}

static int fail_store(const struct ssh_hostkey *key, const char *why, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s: the key %s is not stored: %s", key->known_hosts, key->fingerprint,
                   why);
}

/* A new account has no ~/.ssh yet. */
static int make_folder(const char *file, struct err *err)
{
    char folder[FS_PATH_MAX];
    fs_parent(file, folder);
    return fs_mkdir_p(folder, 0700, err);
}

/* Uses a single write, as other programs may append to the same file. line begins with a newline, which
 * completes an incomplete last line and is skipped otherwise. */
static int append_line(const char *path, const char *line, struct err *err)
{
    AUTO_CLOSE int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s", path);
    char last = '\n';
    struct stat st;
    if (fstat(fd, &st) == 0 && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) != 1)
        last = '\n';
    line += last == '\n';
    return fs_write_all(fd, line, strlen(line)) < 0 || fsync(fd) < 0
               ? err_set_errno(err, ERR_STORAGE, errno, "%s", path)
               : 0;
}

int ssh_hostkey_store(const struct ssh_hostkey *key, struct err *err)
{
    switch (key->trust) {
    case KNOWN_UNKNOWN:
        break;
    case KNOWN_MATCH:
        return fail_store(key, "it is already stored", err);
    case KNOWN_CHANGED:
        return fail_store(
            key,
            "another key is stored for this host; remove that one first (ssh-keygen -R) if the node "
            "was reinstalled",
            err);
    case KNOWN_IS_REVOKED:
        return fail_store(key, "it is marked @revoked", err);
    }
    AUTO_FREE char *line = xasprintf("\n%s %s %s\n", key->stored_name, key->type, key->base64);
    return make_folder(key->known_hosts, err) == 0 ? append_line(key->known_hosts, line, err) : -1;
}
