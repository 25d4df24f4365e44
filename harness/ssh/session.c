#include "harness/ssh/session.h"

#include "common/base/alloc.h"
#include "common/base/spawn.h"
#include "common/base/strvec.h"
#include "harness/ssh/refuse.h"
#include "harness/ssh/socket.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* rsa-sha2 is supported since libssh2 1.11; sshd rejects the older ssh-rsa. */
bool ssh_session_has_rsa_sha2(void)
{
    return libssh2_version(0x010b00) != NULL;
}

void ssh_session_init(struct ssh_session *s, const struct ssh_config *config,
                      const struct transport_scope *scope)
{
    *s = (struct ssh_session){.fd = -1, .config = config, .scope = scope};
}

int ssh_session_wait(struct ssh_session *s, const char *doing, struct err *err)
{
    int directions = libssh2_session_block_directions(s->ssh);
    short events = POLLIN;
    if (directions & LIBSSH2_SESSION_BLOCK_OUTBOUND)
        events |= POLLOUT;
    ssh_socket_acknowledge(s->fd);
    return ssh_socket_wait(s->fd, events, s->deadline_ns, s->scope, doing, err) < 0 ? -1 : 0;
}

int ssh_session_fail(const struct ssh_session *s, int rc, const char *doing, struct err *err)
{
    char *text = NULL;
    libssh2_session_last_error(s->ssh, &text, NULL, 0);
    return err_set(err, ERR_NODE, "%s: %s failed: %s (libssh2 %d)", s->scope->who, doing,
                   text && *text ? text : "connection lost", rc);
}

/* "a,b" means: reach b through a. */
static int start_jump(struct ssh_session *s, struct err *err)
{
    const struct ssh_config *c = s->config;
    AUTO(strvec_release) struct strvec argv = {0};
    char before[SSH_PATH_MAX];
    snprintf(before, sizeof before, "%s", c->proxy_jump);
    char *comma = strrchr(before, ',');
    const char *host = comma ? comma + 1 : before;
    if (comma)
        *comma = '\0';
    strvec_push(&argv, "ssh");
    if (c->file)
        strvec_pushl(&argv, "-F", c->file, NULL);
    strvec_pushl(&argv, "-oBatchMode=yes", "-oServerAliveInterval=4", "-oServerAliveCountMax=2",
                 "-oConnectTimeout=30", NULL);
    if (comma)
        strvec_pushl(&argv, "-J", before, NULL);
    strvec_push(&argv, "-W");
    strvec_pushf(&argv, "[%s]:%d", c->host, c->port);
    strvec_pushf(&argv, "%s%s", strncmp(host, "ssh://", 6) == 0 ? "" : "ssh://", host);
    return spawn_on_socket(strvec_argv(&argv), true, false, &s->proxy, &s->fd, err);
}

static int open_socket(struct ssh_session *s, bool *temporary, struct err *err)
{
    const struct ssh_config *c = s->config;
    *temporary = true;
    if (c->proxy_jump[0])
        return start_jump(s, err);
    if (c->proxy_command[0]) {
        const char *argv[] = {"/bin/sh", "-c", c->proxy_command, NULL};
        return spawn_on_socket(argv, true, false, &s->proxy, &s->fd, err);
    }
    s->fd = ssh_socket_connect(c->host, c->port, c->family, s->deadline_ns, s->scope, temporary, err);
    return s->fd < 0 ? -1 : 0;
}

static bool list_has(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += len) {
        if ((at == list || at[-1] == ',') && (at[len] == ',' || at[len] == '\0'))
            return true;
    }
    return false;
}

/* Types for which known_hosts has a key come first: if the host presented a key of another type, it would
 * look as if its key had changed. */
static int prefer_host_keys(struct ssh_session *s, enum transport_failure *why, struct err *err)
{
    static const char *const known_to_us[] = {"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384",
                                              "ecdsa-sha2-nistp521"};
    const size_t types = sizeof known_to_us / sizeof *known_to_us;
    AUTO(buf_release) struct buf stored = {.max = 4096};
    AUTO(buf_release) struct buf order = {.max = 4096};
    known_hosts_types(&s->known, &stored);
    bool usable = stored.len == 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < types; i++) {
            bool is_stored = list_has(buf_str(&stored), known_to_us[i]);
            if (is_stored != (pass == 0))
                continue;
            buf_printf(&order, "%s%s", order.len ? "," : "", known_to_us[i]);
            usable = usable || is_stored;
        }
        if (pass == 0 && ssh_session_has_rsa_sha2() && list_has(buf_str(&stored), "ssh-rsa")) {
            buf_printf(&order, "%srsa-sha2-512,rsa-sha2-256", order.len ? "," : "");
            usable = true;
        }
    }
    if (!usable) {
        *why = TRANSPORT_FAILURE_UNSUPPORTED;
        return err_set(err, ERR_NODE,
                       "%s: known_hosts holds only %s for this host, which libssh2 %s cannot verify; "
                       "use the OpenSSH client, or store the host's ed25519 key",
                       s->scope->who, buf_str(&stored), libssh2_version(0));
    }
    libssh2_session_method_pref(s->ssh, LIBSSH2_METHOD_HOSTKEY, buf_str(&order));
    return 0;
}

static bool is_one_of(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

/* libssh2 would prefer the longest keys; like OpenSSH's client, this prefers the cheapest ciphers. Only names
 * that this libssh2 supports may be passed, because version 1.10 removes others by an overlapping copy. */
static void prefer_ciphers(struct ssh_session *s, int direction)
{
    static const char *const cheapest_first[] = {
        "aes128-gcm@openssh.com",
        "aes256-gcm@openssh.com",
        "chacha20-poly1305@openssh.com",
        "aes128-ctr",
        "aes192-ctr",
        "aes256-ctr",
    };
    const char **supported = NULL;
    AUTO(buf_release) struct buf order = {.max = 4096};
    int count = libssh2_session_supported_algs(s->ssh, direction, &supported);
    for (size_t i = 0; i < sizeof cheapest_first / sizeof *cheapest_first; i++) {
        if (is_one_of(supported, count, cheapest_first[i]))
            buf_printf(&order, "%s%s", order.len ? "," : "", cheapest_first[i]);
    }
    if (order.len)
        libssh2_session_method_pref(s->ssh, direction, buf_str(&order));
    if (count > 0)
        libssh2_free(s->ssh, (void *)supported);
}

static int handshake(struct ssh_session *s, enum transport_failure *why, struct err *err)
{
    int rc;
    while ((rc = libssh2_session_handshake(s->ssh, s->fd)) == LIBSSH2_ERROR_EAGAIN) {
        if (ssh_session_wait(s, "shaking hands", err))
            return -1;
    }
    if (rc == 0)
        return 0;
    if (rc == LIBSSH2_ERROR_KEX_FAILURE || rc == LIBSSH2_ERROR_METHOD_NONE) {
        *why = TRANSPORT_FAILURE_UNSUPPORTED;
        return err_set(err, ERR_NODE,
                       "%s: libssh2 %s and the host have no key type or cipher in common (does the "
                       "host have only an RSA key?)",
                       s->scope->who, libssh2_version(0));
    }
    if (s->proxy)
        return err_set(err, ERR_NODE, "%s: no SSH server answered through the jump host %s (try: ssh %s)",
                       s->scope->who, s->config->proxy_jump, s->config->alias);
    return ssh_session_fail(s, rc, "the SSH handshake", err);
}

/* libssh2 allocates and frees every packet. By default, glibc returns that memory to the kernel and requests
 * it again each time, which took a sixth of the CPU time of pulling a large file. */
static void keep_freed_memory(void)
{
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
}

/* Returns 1 when there are bytes, 0 when the node has closed the connection, or -errno. */
static int refill(struct ssh_inbox *inbox, int fd, int flags)
{
    ssize_t n = recv(fd, inbox->bytes, sizeof inbox->bytes, flags);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return -EAGAIN;
    inbox->ended = n <= 0;
    if (n < 0)
        return -errno;
    inbox->at = 0;
    inbox->len = (size_t)n;
    return n > 0;
}

static LIBSSH2_RECV_FUNC(take)
{
    struct ssh_inbox *inbox = *abstract;
    if (inbox->at == inbox->len) {
        int rc = refill(inbox, socket, flags);
        if (rc <= 0)
            return rc;
    }
    size_t left = inbox->len - inbox->at;
    size_t n = left < length ? left : length;
    memcpy(buffer, inbox->bytes + inbox->at, n);
    inbox->at += n;
    return (ssize_t)n;
}

/* Makes ssh, whose "abstract" is an inbox, receive through that inbox. */
static void receive_through_inbox(LIBSSH2_SESSION *ssh)
{
#if LIBSSH2_VERSION_NUM >= 0x010b01
    libssh2_session_callback_set2(ssh, LIBSSH2_CALLBACK_RECV, (libssh2_cb_generic *)take);
#else
    libssh2_session_callback_set(ssh, LIBSSH2_CALLBACK_RECV, (void *)take);
#endif
}

static int make_session(struct ssh_session *s, struct err *err)
{
    s->inbox = xcalloc(1, sizeof *s->inbox);
    s->ssh = libssh2_session_init_ex(NULL, NULL, NULL, s->inbox);
    if (!s->ssh)
        return err_set(err, ERR_INTERNAL, "libssh2 cannot start a session");
    receive_through_inbox(s->ssh);
    libssh2_session_set_blocking(s->ssh, 0);
    return 0;
}

/* Like ssh, takes the key under the plain name of a host if there is none for its port. */
static int load_known(struct ssh_session *s, struct err *err)
{
    const struct ssh_config *c = s->config;
    char plain[SSH_NAME_MAX + 16];
    if (known_hosts_load(&s->known, c->known_hosts, c->key_name, err))
        return -1;
    if (s->known.count > 0 || c->key_name[0] != '[')
        return 0;
    s->known_plainly = true;
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(c->key_name + 1, "]"), c->key_name + 1);
    return known_hosts_load(&s->known, c->known_hosts, plain, err);
}

int ssh_session_open(struct ssh_session *s, enum transport_failure *why, struct err *err)
{
    bool temporary = true;
    keep_freed_memory();
    *why = TRANSPORT_FAILURE_REFUSED;
    if (load_known(s, err))
        return -1;
    if (make_session(s, err) || prefer_host_keys(s, why, err))
        return -1;
    if (open_socket(s, &temporary, err)) {
        *why = temporary ? TRANSPORT_FAILURE_CONNECTION : TRANSPORT_FAILURE_REFUSED;
        return -1;
    }
    *why = TRANSPORT_FAILURE_CONNECTION;
    prefer_ciphers(s, LIBSSH2_METHOD_CRYPT_CS);
    prefer_ciphers(s, LIBSSH2_METHOD_CRYPT_SC);
    return handshake(s, why, err);
}

const char *ssh_session_hostkey(const struct ssh_session *s, size_t *len)
{
    int type;
    *len = 0;
    return libssh2_session_hostkey(s->ssh, len, &type);
}

/* libssh2 does not support host certificates. */
static bool needs_certificate(const struct known_hosts *known)
{
    for (size_t i = 0; i < known->count; i++) {
        if (known->keys[i].mark == KNOWN_CERT_AUTHORITY)
            return true;
    }
    return false;
}

int ssh_session_verify_host(struct ssh_session *s, char *fingerprint, enum transport_failure *why,
                            struct err *err)
{
    size_t len;
    const struct known_key *line;
    const char *blob = ssh_session_hostkey(s, &len);
    fingerprint[0] = '\0';
    *why = TRANSPORT_FAILURE_REFUSED;
    if (blob) {
        ssh_fingerprint(blob, len, fingerprint);
        enum known_verdict verdict = known_hosts_check(&s->known, blob, len, &line);
        bool of_another_port = s->known_plainly && verdict == KNOWN_CHANGED;
        if (needs_certificate(&s->known) && (of_another_port || verdict == KNOWN_UNKNOWN))
            *why = TRANSPORT_FAILURE_UNSUPPORTED;
        if (of_another_port)
            known_hosts_release(&s->known);
    }
    return ssh_refuse_unknown_host(s->config, s->scope->who, &s->known, blob, len, err);
}

void ssh_session_drop(struct ssh_session *s)
{
    /* With the socket shut down, calls inside libssh2_session_free() fail immediately instead of waiting. */
    if (s->fd >= 0)
        shutdown(s->fd, SHUT_RDWR);
    if (s->ssh) {
        int tries = 0;
        while (libssh2_session_free(s->ssh) == LIBSSH2_ERROR_EAGAIN && ++tries < 100)
            continue;
    }
    if (s->fd >= 0)
        close(s->fd);
    spawn_kill(s->proxy);
    known_hosts_release(&s->known);
    free(s->inbox);
    s->inbox = NULL;
    s->ssh = NULL;
    s->fd = -1;
    s->proxy = 0;
}
