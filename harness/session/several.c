#include "harness/session/several.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/json.h"
#include "harness/session/node_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DRAW_MS = 250, TOLD_MS = 20 };
/* After an interruption, a session that does not end in time is killed, since its run can be followed
 * again, and one that survives even that is left behind. Both times together stay below a second, for
 * whoever pressed Ctrl-C. */
static const double end_patience_s = 0.7, kill_patience_s = 0.2;
/* A session that has closed its pipes has nothing left to do. */
static const double exit_patience_s = 5;

struct child {
    struct gathering *all;
    size_t index;
    pid_t pid;
    bool exited;
    bool left;      /* abandoned: it does not end although it was killed */
    double done_at; /* monotonic time when both pipes were closed; 0: not yet */
    int status;
    int relay, text; /* the parent's ends of the two pipes; -1 once closed */
    struct event_stream from_relay, from_text;
    struct several_end *end;
};

struct gathering {
    const struct several *s;
    struct node_rows rows;
    struct child *children;
    bool told;      /* the children know of the interruption */
    double told_at; /* monotonic */
};

int several_worst(int a, int b)
{
    static const int order[] = {EXIT_DONE,  EXIT_TEST_FAILED, EXIT_BLOCKED,    EXIT_REGRESSION,
                                EXIT_USAGE, EXIT_LOCAL,       EXIT_INTERRUPTED};
    for (size_t i = sizeof order / sizeof *order; i-- > 0;)
        if (a == order[i] || b == order[i])
            return order[i];
    return EXIT_LOCAL;
}

static int on_relay(void *arg, const char *line, size_t len, struct err *err)
{
    struct child *c = arg;
    struct event e;
    struct err ignored = {0};
    char text[ERR_MSG_MAX];
    (void)err;
    snprintf(text, sizeof text, "%.*s", (int)len - 1, line + 1);
    switch ((enum relay_tag)line[0]) {
    case RELAY_JOURNAL:
        if (event_decode(&e, line + 1, len - 1) == 0)
            node_rows_event(&c->all->rows, c->index, &e);
        break;
    case RELAY_NOTE:
    case RELAY_TITLE:
        node_rows_line(&c->all->rows, c->index, line + 1, len - 1);
        break;
    case RELAY_FAILED:
        c->end->code = relay_failure(text, c->end->failure);
        node_rows_line(&c->all->rows, c->index, c->end->failure, strlen(c->end->failure));
        node_rows_state(&c->all->rows, c->index, c->end->failure);
        break;
    case RELAY_RESULT:
        json_decref(c->end->result);
        c->end->result = json_parse(line + 1, len - 1, "a node's result", &ignored);
        break;
    }
    return 0;
}

static int on_text(void *arg, const char *line, size_t len, struct err *err)
{
    struct child *c = arg;
    (void)err;
    node_rows_line(&c->all->rows, c->index, line, len);
    return 0;
}

/* The child must hold the only copies of its ends of the pipes, so that the parent notices when it is gone.
 */
static void be_child(const struct gathering *g, size_t index, pid_t parent, int relay, int text)
{
    struct relay r;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (size_t i = 0; i < index; i++) {
        close(g->children[i].relay);
        close(g->children[i].text);
    }
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
        dup2(text, STDERR_FILENO) < 0 || relay_open(&r, relay) != 0 || getppid() != parent)
        _exit(EXIT_LOCAL);
    close(text);
    int code = g->s->fn(g->s->arg, index, &r);
    fflush(NULL);
    _exit(code);
}

static int start(struct gathering *g, size_t index, struct several_end *end, struct err *err)
{
    struct child *c = &g->children[index];
    int relay[2], text[2];
    pid_t parent = getpid();
    if (pipe2(relay, O_CLOEXEC) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "no pipe for node %s", g->s->labels[index]);
    if (pipe2(text, O_CLOEXEC) != 0) {
        close(relay[0]);
        close(relay[1]);
        return err_set_errno(err, ERR_INTERNAL, errno, "no pipe for node %s", g->s->labels[index]);
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(relay[0]);
        close(text[0]);
        be_child(g, index, parent, relay[1], text[1]);
    }
    int failed = errno;
    close(relay[1]);
    close(text[1]);
    *c = (struct child){.all = g, .index = index, .pid = pid, .relay = relay[0], .text = text[0], .end = end};
    *end = (struct several_end){.code = EXIT_LOCAL};
    event_stream_init(&c->from_relay, on_relay, c);
    event_stream_init(&c->from_text, on_text, c);
    return pid < 0 ? err_set_errno(err, ERR_INTERNAL, failed, "no process for node %s", g->s->labels[index])
                   : 0;
}

/* A process that the child has started, such as an ssh that shares its connection, may keep the pipe open
 * after the child's end. */
static void read_from(const struct child *c, int *fd, short ready, struct event_stream *lines)
{
    struct err err = {0};
    if (*fd < 0 || (!ready && !c->exited) || (ready && relay_read(*fd, lines, &err) > 0))
        return;
    close(*fd);
    *fd = -1;
}

static void signal_all(struct gathering *g, int number)
{
    for (size_t i = 0; i < g->s->count; i++)
        if (g->children[i].pid > 0 && !g->children[i].exited)
            kill(g->children[i].pid, number);
}

static void tell_to_end(struct gathering *g)
{
    signal_all(g, SIGTERM);
    g->told = true;
    g->told_at = clock_mono_s();
}

/* Sets since when the child should be ending by itself and how long it may take; false: it may go on. */
static bool must_end(const struct gathering *g, const struct child *c, double *since, double *patience)
{
    *since = g->told ? g->told_at : c->done_at;
    *patience = g->told ? end_patience_s : exit_patience_s;
    return c->pid > 0 && !c->exited && (g->told || c->done_at > 0);
}

static void heed(struct gathering *g)
{
    double since, patience;
    if (!g->told && g->s->interrupted && *g->s->interrupted)
        tell_to_end(g);
    for (size_t i = 0; i < g->s->count; i++) {
        struct child *c = &g->children[i];
        if (!must_end(g, c, &since, &patience))
            continue;
        double waited = clock_mono_s() - since;
        if (waited > patience)
            kill(c->pid, SIGKILL);
        c->left = waited > patience + kill_patience_s;
    }
}

/* Returns whether any child is still running or may still send something. */
static bool read_all(struct gathering *g, struct pollfd *p)
{
    nfds_t n = 0;
    for (size_t i = 0; i < g->s->count; i++) {
        p[n++] = (struct pollfd){.fd = g->children[i].relay, .events = POLLIN};
        p[n++] = (struct pollfd){.fd = g->children[i].text, .events = POLLIN};
    }
    poll(p, n, g->told ? TOLD_MS : DRAW_MS);
    bool open = false;
    for (size_t i = 0; i < g->s->count; i++) {
        struct child *c = &g->children[i];
        read_from(c, &c->text, p[2 * i + 1].revents, &c->from_text);
        read_from(c, &c->relay, p[2 * i].revents, &c->from_relay);
        if (c->pid > 0 && !c->exited)
            c->exited = waitpid(c->pid, &c->status, WNOHANG) == c->pid;
        bool silent = c->relay < 0 && c->text < 0;
        if (silent && c->done_at <= 0)
            c->done_at = clock_mono_s();
        open = open || (!c->left && (!silent || (c->pid > 0 && !c->exited)));
    }
    return open;
}

static void close_pipes(struct child *c)
{
    int *const fds[] = {&c->relay, &c->text};
    for (size_t i = 0; i < 2; i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

static void note_end(const struct gathering *g, struct child *c)
{
    close_pipes(c);
    if (c->pid <= 0)
        return;
    if (c->exited && WIFEXITED(c->status))
        c->end->code = WEXITSTATUS(c->status);
    else if (g->told)
        c->end->code = EXIT_INTERRUPTED;
    else if (!c->exited && !*c->end->failure)
        snprintf(c->end->failure, sizeof c->end->failure,
                 "the process %ld that followed this node does not end, though it was killed", (long)c->pid);
    else if (!*c->end->failure)
        snprintf(c->end->failure, sizeof c->end->failure,
                 "the process that followed this node was killed by signal %d", WTERMSIG(c->status));
}

static int gather(struct gathering *g, struct several_end *ends, struct err *err)
{
    size_t n = g->s->count;
    AUTO_FREE struct pollfd *p = xcalloc(2 * n, sizeof *p);
    int rc = 0;
    for (size_t i = 0; i < n; i++) {
        g->children[i].relay = g->children[i].text = -1;
        ends[i] = (struct several_end){.code = EXIT_LOCAL};
    }
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = start(g, i, &ends[i], err);
    if (rc != 0)
        tell_to_end(g);
    while (read_all(g, p)) {
        heed(g);
        node_rows_draw(&g->rows);
    }
    for (size_t i = 0; i < n; i++)
        note_end(g, &g->children[i]);
    return rc;
}

int several_run(const struct several *s, struct several_end *ends, struct err *err)
{
    AUTO_FREE struct child *children = xcalloc(s->count, sizeof *children);
    struct gathering g = {.s = s, .children = children};
    node_rows_open(&g.rows, s->progress, s->labels, s->count);
    int rc = gather(&g, ends, err);
    for (size_t i = 0; i < s->count; i++) {
        event_stream_release(&children[i].from_relay);
        event_stream_release(&children[i].from_text);
    }
    node_rows_close(&g.rows);
    return rc;
}
