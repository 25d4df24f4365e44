#include "harness/ssh/openssh_client.h"

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/spawn.h"
#include "common/base/strvec.h"
#include "common/base/text.h"
#include "harness/ssh/refuse.h"
#include "harness/ssh/socket.h"
#include "harness/transport/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LAST_WORDS_MAX = 300 };

/* Time for prompts: on a terminal the client may ask for a passphrase or a touch. */
static const double typing_s = 120.0;

static bool on_terminal(void)
{
    int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (tty < 0)
        return false;
    bool foreground = tcgetpgrp(tty) == getpgrp();
    close(tty);
    return foreground;
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
    strvec_pushf(argv, "-oConnectTimeout=%d", seconds_left(deadline_ns));
}

/* Passes the host as named by the user, so that Host and Match blocks apply. */
static void push_host(struct strvec *argv, const struct ssh_config *c)
{
    strvec_pushf(argv, "-p%d", c->port);
    strvec_pushl(argv, "-l", c->user, "--", c->alias, NULL);
}

static int read_log(const struct openssh_master *m, struct buf *log)
{
    char path[FS_PATH_MAX];
    struct err ignored;
    buf_init(log, OPENSSH_LOG_MAX);
    snprintf(path, sizeof path, "%s/log", m->dir);
    return fs_read_file(path, OPENSSH_LOG_MAX, log, &ignored);
}

void openssh_master_fingerprint(const struct openssh_master *m, char *out)
{
    static const char mark[] = "Server host key: ";
    struct buf log;
    out[0] = '\0';
    if (read_log(m, &log) == 0) {
        const char *at = strstr(buf_str(&log), mark);
        const char *print = at ? strstr(at, "SHA256:") : NULL;
        if (print)
            snprintf(out, 64, "%.*s", (int)strcspn(print, " \r\n"), print);
    }
    buf_release(&log);
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

/* The last line of a log that is not debug output. */
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
    struct buf log;
    if (read_log(m, &log) == 0)
        last_line(&log, out);
    buf_release(&log);
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
    struct known_hosts presented = {0}, known = {0};
    int64_t deadline_ns = clock_deadline_ns(10);
    int rc = openssh_fetch_key(m->config, deadline_ns, m->scope, &presented, err);
    if (rc == 0)
        rc = known_hosts_load(&known, m->config->known_hosts, m->config->key_name, err);
    if (rc == 0)
        rc = ssh_refuse_unknown_host(m->config, m->scope->who, &known, presented.keys[0].blob,
                                     presented.keys[0].len, err);
    known_hosts_release(&presented);
    known_hosts_release(&known);
    return rc ? -1 : err_set(err, ERR_NODE, "%s: refused by ssh: %s", m->scope->who, words);
}

static int explain_failure(const struct openssh_master *m, enum transport_failure *why, struct err *err)
{
    struct buf log, words;
    buf_init(&words, 4096);
    if (read_log(m, &log))
        buf_clear(&log);
    last_line(&log, &words);
    *why = failure_from_log(buf_str(&log));
    const char *said = words.len ? buf_str(&words) : "it ended without a message";
    if (strstr(buf_str(&log), "Host key verification failed"))
        explain_host_key(m, said, err);
    else if (strstr(buf_str(&log), "Permission denied"))
        err_set(err, ERR_NODE, "%s: login refused: %s; tried what `ssh %s` would: %s", m->scope->who, said,
                m->config->alias,
                m->config->identity_files[0] ? m->config->identity_files[0] : "no key files");
    else
        err_set(err, ERR_NODE, "%s: ssh cannot connect: %s", m->scope->who, said);
    buf_release(&log);
    buf_release(&words);
    return -1;
}

/* LocalCommand prints "ready" once the login is complete and the socket exists. */
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
        if (n > 0)
            return 0;
        if (n == 0)
            return explain_failure(m, why, err);
    }
}

static int start_master(struct openssh_master *m, bool terminal, int64_t deadline_ns, struct err *err)
{
    struct strvec argv = {0};
    begin_argv(&argv, m->config, deadline_ns);
    strvec_pushl(&argv, "-v", "-E", NULL);
    strvec_pushf(&argv, "%s/log", m->dir);
    strvec_pushl(&argv, "-M", "-N", "-S", NULL);
    strvec_pushf(&argv, "%s/s", m->dir);
    strvec_pushl(&argv, "-oStrictHostKeyChecking=yes", "-oPermitLocalCommand=yes",
                 "-oLocalCommand=echo ready", terminal ? "-oBatchMode=no" : "-oBatchMode=yes", NULL);
    push_host(&argv, m->config);
    int rc = strvec_check(&argv, err);
    if (rc == 0)
        rc = spawn_on_socket(strvec_argv(&argv), terminal, &m->pid, &m->fd, err);
    strvec_release(&argv);
    return rc;
}

int openssh_master_start(struct openssh_master *m, int64_t deadline_ns, enum transport_failure *why,
                         struct err *err)
{
    bool terminal = on_terminal();
    *why = TRANSPORT_FAILURE_REFUSED;
    if (openssh_folder_make(m->dir, err) || start_master(m, terminal, deadline_ns, err))
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
    struct err ignored;
    spawn_kill(m->pid);
    m->pid = 0;
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
    if (m->dir[0])
        fs_remove_tree(m->dir, &ignored);
    m->dir[0] = '\0';
}

/* The client stores the key in a private file; the login itself is expected to fail. */
static int run_fetch(const struct ssh_config *c, const char *file, int64_t deadline_ns,
                     const struct transport_scope *scope, struct transport_result *res, struct err *err)
{
    struct strvec argv = {0};
    struct buf out;
    begin_argv(&argv, c, deadline_ns);
    strvec_push(&argv, "-oStrictHostKeyChecking=accept-new");
    strvec_pushf(&argv, "-oUserKnownHostsFile=%s", file);
    strvec_pushl(&argv, "-oGlobalKnownHostsFile=/dev/null", "-oHashKnownHosts=no", "-oBatchMode=yes",
                 "-oControlPath=none", "-oPreferredAuthentications=none", NULL);
    push_host(&argv, c);
    strvec_push(&argv, "true");
    buf_init(&out, 1 << 20);
    int rc = strvec_check(&argv, err);
    if (rc == 0)
        rc =
            transport_child_capture(strvec_argv(&argv), seconds_left(deadline_ns) + 1, scope, &out, res, err);
    buf_release(&out);
    strvec_release(&argv);
    return rc;
}

int openssh_fetch_key(const struct ssh_config *config, int64_t deadline_ns,
                      const struct transport_scope *scope, struct known_hosts *presented, struct err *err)
{
    struct openssh_master scratch = {.fd = -1};
    char file[FS_PATH_MAX];
    char *const files[] = {file, NULL};
    struct transport_result res;
    if (openssh_folder_make(scratch.dir, err))
        return -1;
    snprintf(file, sizeof file, "%s/known_hosts", scratch.dir);
    int rc = run_fetch(config, file, deadline_ns, scope, &res, err);
    if (rc == 0)
        rc = known_hosts_load(presented, files, config->key_name, err);
    if (rc == 0 && presented->count == 0) {
        struct buf said, words;
        buf_init(&said, TRANSPORT_STDERR_MAX);
        buf_init(&words, 4096);
        buf_add(&said, res.stderr_text, res.stderr_len);
        last_line(&said, &words);
        rc = err_set(err, ERR_NODE, "%s: ssh got no host key: %s", scope->who, buf_str(&words));
        buf_release(&said);
        buf_release(&words);
    }
    openssh_master_stop(&scratch);
    return rc;
}
