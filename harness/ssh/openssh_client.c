#include "harness/ssh/openssh_client.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/spawn.h"
#include "common/base/strvec.h"
#include "common/base/text.h"
#include "harness/ssh/accepted_key.h"
#include "harness/ssh/private_key.h"
#include "harness/ssh/refuse.h"
#include "harness/ssh/socket.h"
#include "harness/transport/child.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LAST_WORDS_MAX = 300, PARENT_MAX = 48 };

/* On a terminal, the client may ask for a passphrase or a touch, which takes time. */
static const double typing_s = 120.0;

/* ssh expands % in the socket's path and appends a suffix to it, and about 100 bytes are the limit, so TMPDIR
 * cannot be used when it is long. */
static bool can_hold_socket(const char *parent)
{
    return parent && *parent == '/' && strlen(parent) <= PARENT_MAX && !strchr(parent, '%');
}

int openssh_folder_make(struct temporary *folder, struct err *err)
{
    const char *const parents[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    *folder = (struct temporary){.fd = -1};
    for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
        char path[FS_PATH_MAX];
        if (can_hold_socket(parents[i]) && fs_join(path, NULL, parents[i], "kernsweep-ssh") == 0 &&
            temporary_folder(folder, path, NULL) == 0)
            return 0;
    }
    return err_set(err, ERR_STORAGE, "no folder for the ssh control socket could be made in /tmp");
}

static int seconds_left(int64_t deadline_ns)
{
    int ms = clock_left_ms(deadline_ns);
    return ms < 1000 ? 1 : ms / 1000;
}

/* Disables the user's settings for connection sharing, forwarding and commands. */
static void begin_argv(struct strvec *argv, const struct ssh_config *c, int64_t deadline_ns)
{
    strvec_push(argv, "ssh");
    if (c->file)
        strvec_pushl(argv, "-F", c->file, NULL);
    strvec_pushl(argv, "-oControlPersist=no", "-oClearAllForwardings=yes", "-oForwardX11=no",
                 "-oRequestTTY=no", "-oRemoteCommand=none", "-oTCPKeepAlive=yes", "-oServerAliveInterval=4",
                 "-oServerAliveCountMax=2", "-oUpdateHostKeys=no", "-oConnectionAttempts=1", "-oTunnel=no",
                 NULL);
    if (c->printed && strstr(c->printed, "\nforkafterauthentication yes"))
        strvec_push(argv, "-oForkAfterAuthentication=no"); /* which older clients do not know */
    strvec_pushf(argv, "-oConnectTimeout=%d", seconds_left(deadline_ns));
}

/* By itself, ssh offers the bare key before its certificate, which costs a refused login where the host knows
 * only certificates. If one is named, ssh looks for no others, so all are, or none. */
static void push_certificates(struct strvec *argv, const struct ssh_config *c)
{
    AUTO(strvec_release) struct strvec options = {0};
    if (!c->printed || strstr(c->printed, "\ncertificatefile "))
        return;
    for (size_t i = 0; c->identity_files[i]; i++) {
        const char *path = c->identity_files[i];
        AUTO_FREE char *certificate = xasprintf("%s-cert.pub", path);
        if (*path != '/' || strpbrk(path, "\"\\$%")) /* which ssh would read otherwise */
            return;
        if (fs_exists(certificate))
            strvec_pushf(&options, "-oCertificateFile=\"%s\"", certificate);
    }
    strvec_push_all(argv, strvec_argv(&options));
}

/* Passes the host as named by the user, so that Host and Match blocks apply. */
static void push_host(struct strvec *argv, const struct ssh_config *c)
{
    strvec_pushf(argv, "-p%d", c->port);
    strvec_pushl(argv, "-l", c->user, "--", c->alias, NULL);
}

/* log stays empty if there is no file. */
static void read_log(const struct openssh_master *m, struct buf *log)
{
    char path[TEMPORARY_PATH_MAX + 4];
    snprintf(path, sizeof path, "%s/log", m->folder.path);
    if (fs_read_file(path, log->max, log, NULL) != 0)
        buf_clear(log);
}

void openssh_master_fingerprint(const struct openssh_master *m, char *out)
{
    static const char mark[] = "Server host key: ";
    AUTO(buf_release) struct buf log = {.max = OPENSSH_LOG_MAX};
    out[0] = '\0';
    read_log(m, &log);
    const char *at = strstr(buf_str(&log), mark), *print = at ? strstr(at, "SHA256:") : NULL;
    if (print)
        snprintf(out, 64, "%.*s", (int)strcspn(print, " \r\n"), print);
}

/* The last key that the host accepted. That of a certificate is none: the bare key would be refused. */
static void keep_accepted_key(const struct openssh_master *m)
{
    static const char mark[] = "Server accepts key: ";
    AUTO(buf_release) struct buf log = {.max = OPENSSH_LOG_MAX};
    char fingerprint[FINGERPRINT_LEN + 1] = "";
    read_log(m, &log);
    for (const char *at = buf_str(&log); (at = strstr(at, mark)); at += strlen(mark)) {
        AUTO_FREE char *line = xstrndup(at, strcspn(at, "\r\n"));
        const char *print = strstr(line, " SHA256:");
        bool bare = print && !strstr(line, "-CERT SHA256:");
        snprintf(fingerprint, sizeof fingerprint, "%.*s", bare ? FINGERPRINT_LEN : 0, bare ? print + 1 : "");
    }
    accepted_key_keep(m->config, fingerprint);
}

static bool is_message(const char *line, size_t len)
{
    static const char *const noise[] = {
        "debug",        "OpenSSH_",        "Authenticated to", "Warning: Permanently added",
        "Transferred:", "Bytes per second"};
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        if (len >= strlen(noise[i]) && memcmp(line, noise[i], strlen(noise[i])) == 0)
            return false;
    }
    return len > 0;
}

/* Finds the last line of a log that is not debug output. */
static void last_line(const struct buf *log, struct buf *out)
{
    const char *text = buf_str(log), *best = NULL;
    size_t best_len = 0;
    while (*text) {
        size_t len = strcspn(text, "\r\n");
        if (is_message(text, len)) {
            best = text;
            best_len = len;
        }
        text += len + strspn(text + len, "\r\n");
    }
    if (best)
        text_printable(out, best, best_len, LAST_WORDS_MAX);
}

void openssh_master_last_words(const struct openssh_master *m, struct buf *out)
{
    AUTO(buf_release) struct buf log = {.max = OPENSSH_LOG_MAX};
    read_log(m, &log);
    last_line(&log, out);
}

/* Classifies the failure from the client's log. An unverified host can influence the log, but at worst the
 * kind of failure is wrong. */
static enum transport_failure failure_from_log(const char *log)
{
    static const char *const final[] = {"Host key verification failed",
                                        "Permission denied",
                                        "REVOKED",
                                        "Too many authentication failures",
                                        "Name or service not known",
                                        "no matching host key type",
                                        "Bad configuration option",
                                        "Load key",
                                        "Unable to negotiate",
                                        "Bad owner or permissions"};
    for (size_t i = 0; i < sizeof final / sizeof *final; i++) {
        if (strstr(log, final[i]))
            return TRANSPORT_FAILURE_REFUSED;
    }
    return TRANSPORT_FAILURE_CONNECTION;
}

/* The client prints no fingerprint when it rejects a key, so the key is fetched again and checked as with
 * libssh2. */
static int explain_host_key(const struct openssh_master *m, const char *words, struct err *err)
{
    AUTO(known_hosts_release) struct known_hosts presented = {0};
    AUTO(known_hosts_release) struct known_hosts known = {0};
    if (openssh_fetch_key(m->config, clock_deadline_ns(10), m->scope, &presented, err) != 0 ||
        known_hosts_load(&known, m->config->known_hosts, m->config->key_name, err) != 0 ||
        ssh_refuse_unknown_host(m->config, m->scope->who, &known, presented.keys[0].blob,
                                presented.keys[0].len, err) != 0)
        return -1;
    return err_set(err, ERR_NODE, "%s: refused by ssh: %s", m->scope->who, words);
}

static int explain_failure(const struct openssh_master *m, enum transport_failure *why, struct err *err)
{
    AUTO(buf_release) struct buf log = {.max = OPENSSH_LOG_MAX};
    AUTO(buf_release) struct buf words = {.max = 4096};
    read_log(m, &log);
    last_line(&log, &words);
    *why = failure_from_log(buf_str(&log));
    const char *said = words.len ? buf_str(&words) : "it ended without a message";
    if (strstr(buf_str(&log), "Host key verification failed"))
        return explain_host_key(m, said, err);
    if (strstr(buf_str(&log), "Permission denied"))
        return err_set(err, ERR_NODE, "%s: login refused: %s; tried what `ssh %s` would: %s", m->scope->who,
                       said, m->config->alias,
                       m->config->identity_files[0] ? m->config->identity_files[0] : "no key files");
    return err_set(err, ERR_NODE, "%s: ssh cannot connect: %s", m->scope->who, said);
}

/* LocalCommand prints "ready" once the login is complete and the socket exists. A bash whose input is a
 * socket would first read ~/.bashrc, where cron starts us, so the client has none. */
static int wait_until_ready(const struct openssh_master *m, int64_t deadline_ns, enum transport_failure *why,
                            struct err *err)
{
    for (;;) {
        char text[64];
        int ready = ssh_socket_wait(m->fd, POLLIN, deadline_ns, m->scope, "connecting with ssh", err);
        *why = TRANSPORT_FAILURE_CONNECTION;
        if (ready < 0)
            return -1;
        ssize_t n = ready ? read(m->fd, text, sizeof text) : -1;
        if (n > 0) {
            keep_accepted_key(m);
            return 0;
        }
        if (n == 0)
            return explain_failure(m, why, err);
    }
}

static int start_master(struct openssh_master *m, bool terminal, int64_t deadline_ns, struct err *err)
{
    AUTO(strvec_release) struct strvec argv = {0};
    begin_argv(&argv, m->config, deadline_ns);
    strvec_pushl(&argv, "-v", "-E", NULL);
    strvec_pushf(&argv, "%s/log", m->folder.path);
    strvec_pushl(&argv, "-M", "-N", "-S", NULL);
    strvec_pushf(&argv, "%s/s", m->folder.path);
    strvec_pushl(&argv, "-oStrictHostKeyChecking=yes", "-oPermitLocalCommand=yes",
                 "-oLocalCommand=echo ready", terminal ? "-oBatchMode=no" : "-oBatchMode=yes", NULL);
    push_certificates(&argv, m->config);
    push_host(&argv, m->config);
    return spawn_on_socket(strvec_argv(&argv), false, terminal, &m->pid, &m->fd, err);
}

int openssh_master_start(struct openssh_master *m, int64_t deadline_ns, enum transport_failure *why,
                         struct err *err)
{
    AUTO_CLOSE int tty = ssh_terminal_open();
    bool terminal = tty >= 0;
    *why = TRANSPORT_FAILURE_REFUSED;
    if (openssh_folder_make(&m->folder, err) || start_master(m, terminal, deadline_ns, err))
        return -1;
    if (terminal)
        deadline_ns += (int64_t)(typing_s * 1e9);
    return wait_until_ready(m, deadline_ns, why, err);
}

bool openssh_master_alive(const struct openssh_master *m, int wait_ms)
{
    struct pollfd p = {.fd = m->fd, .events = POLLIN};
    char text[64];
    if (m->fd < 0)
        return false;
    while (poll(&p, 1, wait_ms) > 0) {
        ssize_t n = read(m->fd, text, sizeof text);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return false;
    }
    return true;
}

void openssh_master_stop(struct openssh_master *m)
{
    spawn_kill(m->pid);
    m->pid = 0;
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
    temporary_release(&m->folder);
}

/* The client stores the key in a private file; the login itself is expected to fail. */
static int run_fetch(const struct ssh_config *c, const char *file, int64_t deadline_ns,
                     const struct transport_scope *scope, struct transport_result *res, struct err *err)
{
    AUTO(strvec_release) struct strvec argv = {0};
    AUTO(buf_release) struct buf out = {.max = 1 << 20};
    begin_argv(&argv, c, deadline_ns);
    strvec_push(&argv, "-oStrictHostKeyChecking=accept-new");
    strvec_pushf(&argv, "-oUserKnownHostsFile=%s", file);
    strvec_pushl(&argv, "-oGlobalKnownHostsFile=/dev/null", "-oHashKnownHosts=no", "-oBatchMode=yes",
                 "-oControlPath=none", "-oPreferredAuthentications=none", NULL);
    push_host(&argv, c);
    strvec_push(&argv, "true");
    return transport_child_capture(strvec_argv(&argv), seconds_left(deadline_ns) + 1, scope, &out, res, err);
}

int openssh_fetch_key(const struct ssh_config *config, int64_t deadline_ns,
                      const struct transport_scope *scope, struct known_hosts *presented, struct err *err)
{
    struct openssh_master scratch = {.fd = -1};
    char file[TEMPORARY_PATH_MAX + 16];
    char *const files[] = {file, NULL};
    struct transport_result res;
    if (openssh_folder_make(&scratch.folder, err))
        return -1;
    snprintf(file, sizeof file, "%s/known_hosts", scratch.folder.path);
    int rc = run_fetch(config, file, deadline_ns, scope, &res, err);
    if (rc == 0)
        rc = known_hosts_load(presented, files, config->key_name, err);
    if (rc == 0 && presented->count == 0) {
        AUTO(buf_release) struct buf said = {.max = TRANSPORT_STDERR_MAX};
        AUTO(buf_release) struct buf words = {.max = 4096};
        buf_add(&said, res.stderr_text, res.stderr_len);
        last_line(&said, &words);
        rc = err_set(err, ERR_NODE, "%s: ssh got no host key: %s", scope->who, buf_str(&words));
    }
    openssh_master_stop(&scratch);
    return rc;
}
