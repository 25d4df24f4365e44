/* transport_probe: run one command through a transport, for the test scripts: send a known stream, hash the
 * output, and print the results of the call as key=value lines.
 *
 *   transport_probe [OPTIONS] NODE WORD...
 *   --backend auto|local|libssh2|openssh   --ssh-config FILE   --connect-timeout S   --patience S
 *   --deadline S   --stall S   --least BYTES   --send BYTES   --stdout FILE   --times N (the same command, N
 * times)
 *   --push DIR (send a tar of it)   --pull DIR (the output is a tar: extract it there)
 *   --trust show|store (instead of a command: the host's key)
 *   --no-hash (of what is sent and received, as a transfer of the command's own)
 *   --mark FILE (created at the first output)   --reconnect (and repeat once after a lost link)
 */
#include "common/base/clock.h"
#include "common/base/sha256.h"
#include "harness/session/connect.h"
#include "harness/ssh/trust.h"
#include "harness/transport/tarstream.h"
#include "harness/transport/transport.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct probe {
    const char *backend;
    struct transport_target target;
    double deadline_s, stall_s;
    uint64_t least_bytes;
    uint64_t send, sent;
    long times;
    bool reconnect;
    const char *mark, *stdout_file, *trust, *push, *pull;
    struct tar_writer *writer;
    struct tar_extractor *extractor;
    FILE *copy;
    bool unhashed;
    struct sha256 in, out;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    interrupted = number;
}

static void show_notice(void *arg, const char *line)
{
    (void)arg;
    printf("notice=%s\n", line);
}

static ssize_t read_tree(void *arg, void *data, size_t cap, struct err *err)
{
    struct probe *p = arg;
    ssize_t n = tar_writer_read(p->writer, data, cap, err);
    if (n > 0 && !p->unhashed)
        sha256_add(&p->in, data, (size_t)n);
    return n;
}

/* Bytes that are cheap to make and do not repeat within a file. */
static ssize_t make_input(void *arg, void *data, size_t cap, struct err *err)
{
    struct probe *p = arg;
    (void)err;
    size_t n = cap;
    if (n > p->send - p->sent)
        n = (size_t)(p->send - p->sent);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (p->sent + i) * 0x9e3779b97f4a7c15u;
        ((unsigned char *)data)[i] = (unsigned char)(x >> 56);
    }
    sha256_add(&p->in, data, n);
    p->sent += n;
    return (ssize_t)n;
}

static int take_output(void *arg, const char *data, size_t len, struct err *err)
{
    struct probe *p = arg;
    if (!p->unhashed)
        sha256_add(&p->out, data, len);
    if (p->extractor && tar_extractor_write(p->extractor, data, len, err))
        return -1;
    if (p->copy && fwrite(data, 1, len, p->copy) != len)
        return err_set(err, ERR_STORAGE, "%s: cannot write", p->stdout_file);
    if (p->mark)
        close(open(p->mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return 0;
}

static const char *kind_name(enum err_kind kind)
{
    switch (kind) {
    case ERR_NONE:
        return "none";
    case ERR_INPUT:
        return "input";
    case ERR_NODE:
        return "node";
    case ERR_STORAGE:
        return "storage";
    case ERR_INTERNAL:
        return "internal";
    case ERR_INTERRUPTED:
        return "interrupted";
    }
    return "?";
}

static void show_error(const struct err *err)
{
    printf("kind=%s\nerror=%s\n", kind_name(err->kind), err->msg);
}

static int open_trees(struct probe *p, struct err *err)
{
    const struct tar_tree tree = {.root = p->push};
    if (p->push && tar_writer_open(&p->writer, &tree, err))
        return -1;
    return p->pull ? tar_extractor_open(&p->extractor, p->pull, NULL, err) : 0;
}

static int close_trees(struct probe *p, int rc, struct err *err)
{
    if (rc == 0 && p->extractor)
        rc = tar_extractor_finish(p->extractor, err);
    tar_extractor_close(p->extractor);
    tar_writer_close(p->writer);
    p->extractor = NULL;
    p->writer = NULL;
    return rc;
}

static int run_once(struct probe *p, struct transport *t, const char *const *argv,
                    struct transport_result *res)
{
    struct transport_cmd cmd = {.argv = argv,
                                .read = p->push   ? read_tree
                                        : p->send ? make_input
                                                  : NULL,
                                .read_arg = p,
                                .on_stdout = take_output,
                                .on_stdout_arg = p,
                                .deadline_s = p->deadline_s,
                                .stall_s = p->stall_s,
                                .least_bytes = p->least_bytes};
    struct err err = {0};
    char in[SHA256_HEX_LEN + 1], out[SHA256_HEX_LEN + 1];
    p->sent = 0;
    sha256_begin(&p->in);
    sha256_begin(&p->out);
    double began_s = clock_mono_s();
    int rc = open_trees(p, &err);
    if (rc == 0)
        rc = transport_exec(t, &cmd, res, &err);
    rc = close_trees(p, rc, &err);
    sha256_end(&p->in, in);
    sha256_end(&p->out, out);
    printf("rc=%d\nexited=%d\nexit_code=%d\nsignal=%s\nlink_lost=%d\ntimed_out=%d\n", rc, res->exited,
           res->exit_code, res->signal, res->link_lost, res->timed_out);
    printf("sent=%llu\nreceived=%llu\nstderr_len=%zu\nin_sha256=%s\nout_sha256=%s\nseconds=%.3f\n",
           (unsigned long long)res->bytes_sent, (unsigned long long)res->bytes_received, res->stderr_len, in,
           out, clock_mono_s() - began_s);
    if (rc < 0)
        show_error(&err);
    return rc;
}

static int probe(struct probe *p, const char *const *argv)
{
    struct transport *t;
    struct err err = {0};
    if (transport_open(&t, &p->target, &err)) {
        show_error(&err);
        return 1;
    }
    printf("backend=%s\ndescribe=%s\nfingerprint=%s\n", transport_backend_name(t), transport_describe(t),
           transport_fingerprint(t));
    struct transport_result res = {0};
    int rc = 0;
    for (long i = 0; i < p->times && rc == 0; i++)
        rc = run_once(p, t, argv, &res);
    if (rc && res.link_lost && p->reconnect) {
        if (transport_reconnect(t, &err))
            show_error(&err);
        else
            rc = run_once(p, t, argv, &res);
    }
    transport_close(t);
    return rc ? 1 : 0;
}

static int show_host_key(const struct probe *p)
{
    static const char *const names[] = {[KNOWN_UNKNOWN] = "unknown",
                                        [KNOWN_MATCH] = "known",
                                        [KNOWN_CHANGED] = "changed",
                                        [KNOWN_IS_REVOKED] = "revoked"};
    struct ssh_hostkey key;
    struct err err = {0};
    int rc = ssh_hostkey_fetch(&p->target, &key, &err);
    if (rc == 0)
        printf("trust=%s\nname=%s\ntype=%s\nfingerprint=%s\nfile=%s\n", names[key.trust], key.name, key.type,
               key.fingerprint, key.known_hosts);
    if (rc == 0 && strcmp(p->trust, "store") == 0)
        rc = ssh_hostkey_store(&key, &err);
    if (rc)
        show_error(&err);
    return rc ? 1 : 0;
}

static int take_option(struct probe *p, const char *name, const char *value)
{
    if (strcmp(name, "--backend") == 0)
        p->backend = value;
    else if (strcmp(name, "--ssh-config") == 0)
        p->target.ssh_config = value;
    else if (strcmp(name, "--connect-timeout") == 0)
        p->target.connect_timeout_s = strtod(value, NULL);
    else if (strcmp(name, "--patience") == 0)
        p->target.patience_s = strtod(value, NULL);
    else if (strcmp(name, "--deadline") == 0)
        p->deadline_s = strtod(value, NULL);
    else if (strcmp(name, "--stall") == 0)
        p->stall_s = strtod(value, NULL);
    else if (strcmp(name, "--least") == 0)
        p->least_bytes = strtoull(value, NULL, 10);
    else if (strcmp(name, "--send") == 0)
        p->send = strtoull(value, NULL, 10);
    else if (strcmp(name, "--times") == 0)
        p->times = strtol(value, NULL, 10);
    else if (strcmp(name, "--mark") == 0)
        p->mark = value;
    else if (strcmp(name, "--push") == 0)
        p->push = value;
    else if (strcmp(name, "--pull") == 0)
        p->pull = value;
    else if (strcmp(name, "--trust") == 0)
        p->trust = value;
    else if (strcmp(name, "--stdout") == 0)
        p->stdout_file = value;
    else
        return -1;
    return 0;
}

int main(int argc, char **argv)
{
    struct probe p = {.times = 1};
    int i = 1;
    p.target.notice = show_notice;
    p.target.interrupted = &interrupted;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--reconnect") == 0)
            p.reconnect = true;
        else if (strcmp(argv[i], "--no-hash") == 0)
            p.unhashed = true;
        else if (i + 1 >= argc || take_option(&p, argv[i], argv[i + 1]))
            return 2;
        else
            i++;
    }
    if (i + (p.trust ? 1 : 2) > argc)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    p.target.node = argv[i];
    struct err err = {0};
    bool any = p.trust && (!p.backend || strcmp(p.backend, "auto") == 0);
    if (!any && connect_choose(p.backend, &p.target, &err)) {
        show_error(&err);
        return 1;
    }
    if (p.trust)
        return show_host_key(&p);
    p.copy = p.stdout_file ? fopen(p.stdout_file, "we") : NULL;
    int rc = probe(&p, (const char *const *)&argv[i + 1]);
    if (p.copy && fclose(p.copy) != 0)
        rc = 1;
    return rc;
}
