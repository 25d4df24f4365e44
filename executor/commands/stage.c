#include "executor/commands/commands.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/program_env.h"
#include "common/base/sha256.h"
#include "executor/workdir/cache.h"
#include "executor/workdir/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECE = 256 << 10, MESSAGE_MAX = 200 };
static const uint64_t stream_max = (uint64_t)16 << 30;

struct tar {
    pid_t pid;
    int in;       /* write end of its stdin; -1 when closed */
    int messages; /* memfd of its stderr */
};

static _Noreturn void exec_tar(const char *dir, int in, int messages)
{
    struct strvec env = {.v = NULL};
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(in, 0);
    dup2(null, 1);
    dup2(messages, 2);
    signal(SIGPIPE, SIG_DFL);
    program_env("tar", &env);
    environ = env.v;
    execlp("tar", "tar", "-x", "-f", "-", "-C", dir, "--no-same-owner", (char *)NULL);
    dprintf(2, "tar: %s\n", strerror(errno));
    _exit(127);
}

static int tar_start(struct tar *t, const char *dir, struct err *err)
{
    int in[2];
    t->messages = memfd_create("tar", MFD_CLOEXEC);
    if (t->messages < 0 || pipe2(in, O_CLOEXEC) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot make a pipe to tar");
    t->pid = fork();
    if (t->pid == 0)
        exec_tar(dir, in[0], t->messages);
    close(in[0]);
    t->in = in[1];
    return t->pid > 0 ? 0 : err_set_errno(err, ERR_INTERNAL, errno, "cannot start tar");
}

static void tar_close_input(struct tar *t)
{
    if (t->in >= 0)
        close(t->in);
    t->in = -1;
}

/* Waits for its end; reports its first message when it failed. */
static int tar_finish(struct tar *t, struct err *err)
{
    int status = 0;
    char text[MESSAGE_MAX + 1] = "";
    tar_close_input(t);
    if (t->pid > 0 && waitpid(t->pid, &status, 0) < 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot wait for tar");
    if (t->pid <= 0 || status == 0)
        return 0;
    (void)!pread(t->messages, text, MESSAGE_MAX, 0);
    text[strcspn(text, "\n")] = '\0';
    return err_set(err, ERR_NODE, "the source tree cannot be extracted: %s", *text ? text : "tar failed");
}

/* Bytes read, 0 at the end, -1. */
static ssize_t read_piece(int in_fd, double idle_s, char *data, struct err *err)
{
    struct pollfd p = {.fd = in_fd, .events = POLLIN};
    int64_t deadline_ns = clock_deadline_ns(idle_s);
    ssize_t n;
    do {
        int ready = poll(&p, 1, clock_left_ms(deadline_ns));
        if (ready == 0)
            return err_set(err, ERR_NODE,
                           "stdin: nothing has arrived for %.0f s: the source tree is incomplete; try again",
                           idle_s);
        n = ready > 0 ? read(in_fd, data, PIECE) : -1;
    } while (n < 0 && errno == EINTR);
    return n >= 0 ? n : err_set_errno(err, ERR_NODE, errno, "stdin: cannot read the source tree");
}

static int copy_stream(int in_fd, double idle_s, struct tar *t, char *hex, struct err *err)
{
    struct sha256 h;
    uint64_t total = 0;
    AUTO_FREE char *data = xmalloc(PIECE);
    ssize_t n;
    sha256_begin(&h);
    while ((n = read_piece(in_fd, idle_s, data, err)) > 0) {
        sha256_add(&h, data, (size_t)n);
        total += (size_t)n;
        if (total > stream_max)
            return err_set(err, ERR_INPUT, "the source tree is larger than %llu bytes",
                           (unsigned long long)stream_max);
        /* tar may exit at the end-of-archive mark and leave padding unread, which the hash needs. */
        if (t->in >= 0 && fs_write_all(t->in, data, (size_t)n) != 0)
            tar_close_input(t);
    }
    sha256_end(&h, hex);
    return n < 0 ? -1 : 0;
}

static int extract_stream(const char *dir, int in_fd, double idle_s, char *hex, struct err *err)
{
    struct tar t = {.pid = -1, .in = -1, .messages = -1};
    struct err ignored;
    int rc = tar_start(&t, dir, err);
    if (rc == 0)
        rc = copy_stream(in_fd, idle_s, &t, hex, err);
    if (tar_finish(&t, rc == 0 ? err : &ignored) != 0)
        rc = -1;
    if (t.messages >= 0)
        close(t.messages);
    return rc;
}

static int receive_tree(const char *sha256, const char *tmp, int in_fd, double idle_s, struct err *err)
{
    char hex[SHA256_HEX_LEN + 1];
    if (extract_stream(tmp, in_fd, idle_s, hex, err) != 0)
        return -1;
    if (strcmp(hex, sha256) != 0)
        return err_set(err, ERR_INPUT,
                       "the sources arrived with sha256 %.12s, expected %.12s: a file changed while they "
                       "were sent; try again, or list what belongs to them in source.include",
                       hex, sha256);
    return 0;
}

/* A tree that is there, but no longer as it was staged, is replaced. A concurrent staging of the same tree
 * may have come first. */
static int publish_tree(const struct layout *layout, const char *sha256, const char *tmp, const char *path,
                        struct err *err)
{
    char dir[FS_PATH_MAX];
    bool has;
    if (stage_has(layout, sha256, &has, err) != 0)
        return -1;
    if (!has && (layout_make(layout, dir, TREE_STAGED, err) != 0 || layout_discard(dir, sha256, err) != 0))
        return -1;
    if (cache_publish(tmp, path, err) != 0)
        return -1;
    return has ? 0 : tree_close(layout, TREE_STAGED, sha256, err);
}

static int tree_path(const struct layout *layout, const char *sha256, char *path, struct err *err)
{
    if (!sha256_is_hex(sha256))
        return err_set(err, ERR_INPUT, "--sha256: expected 64 lower-case hex digits");
    return layout_entry(layout, path, "src", sha256, err);
}

int stage(const struct layout *layout, const char *sha256, int in_fd, double idle_s, char *path,
          struct err *err)
{
    char tree[FS_PATH_MAX];
    AUTO(temporary_release) struct temporary tmp = {.fd = -1};
    if (tree_path(layout, sha256, path, err) != 0)
        return -1;
    bool has;
    if (stage_has(layout, sha256, &has, err) != 0)
        return -1;
    if (has)
        return 0;
    if (tree_temporary(layout, TREE_STAGED, &tmp, tree, err) != 0 || fs_mkdir_p(tree, 0700, err) != 0)
        return -1;
    int rc = receive_tree(sha256, tree, in_fd, idle_s, err);
    if (rc == 0)
        rc = publish_tree(layout, sha256, tree, path, err);
    cache_stamp(path);
    return rc;
}

int stage_has(const struct layout *layout, const char *sha256, bool *has, struct err *err)
{
    char path[FS_PATH_MAX], why[SEAL_REASON_MAX];
    if (tree_path(layout, sha256, path, err) != 0)
        return -1;
    cache_stamp(path);
    int intact = tree_check(layout, TREE_STAGED, sha256, why, err);
    *has = intact == 1;
    /* What is no seal will not become one: the tree is sealed anew. */
    return intact < 0 && err->kind != ERR_INPUT ? -1 : 0;
}
