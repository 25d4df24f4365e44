/* kernsweep watch: shows a run full-screen. A child process follows the run, reconnecting if needed, and
 * passes the journal's lines to this one, which draws and reads keys, so that neither has to wait for the
 * other. Without a terminal, it prints the same lines as `attach`. */
#include "common/base/text.h"
#include "harness/commands/on_node.h"
#include "harness/watch/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DRAW_MS = 250, END_MS = 3000, SLICE_MS = 50 };

/* Each line from the child begins with a tag. */
enum tag { TAG_JOURNAL = 'J', TAG_NOTE = 'N', TAG_TITLE = 'T', TAG_FAILED = 'F' };

struct watch {
    struct cmd_env *env;
    const struct attach_args *args;
    const char *word;
    struct session_view view;
    FILE *out; /* the child's end of the pipe */
    /* used by the parent */
    struct watch_model *model;
    char title[WATCH_LINE_MAX];
    char failure[ERR_MSG_MAX];
    enum exit_code failure_code;
    bool failed;
};

static void send_line(struct watch *w, enum tag tag, const char *text, size_t len)
{
    putc((int)tag, w->out);
    for (size_t i = 0; i < len; i++)
        putc(text[i] == '\n' ? ' ' : text[i], w->out);
    putc('\n', w->out);
    fflush(w->out);
}

static void send_journal(void *arg, const char *line, size_t len)
{
    send_line(arg, TAG_JOURNAL, line, len);
}

static void send_note(void *arg, const char *text)
{
    send_line(arg, TAG_NOTE, text, strlen(text));
}

static void print_journal(void *arg, const char *line, size_t len)
{
    struct event e;
    struct err ignored = {0};
    if (event_decode(&e, line, len, &ignored) == 0)
        live_event(arg, &e);
}

/* --json: the journal itself, one object per line. */
static void print_raw(void *arg, const char *line, size_t len)
{
    (void)arg;
    fwrite(line, 1, len, stdout);
    if (len == 0 || line[len - 1] != '\n')
        putchar('\n');
    fflush(stdout);
}

static void print_note(void *arg, const char *text)
{
    live_note(arg, text);
}

/* The newest run of a plan that was started from here; records have the resolved path, or the one given. */
static int run_of_plan(const struct watch *w, char *run_id, struct err *err)
{
    char *path = realpath(w->word, NULL);
    struct runrec rec;
    bool found;
    int rc = runrec_newest(&rec, w->env->db, path ? path : w->word, NULL, &found, err);
    if (rc == 0 && !found)
        rc = runrec_newest(&rec, w->env->db, w->word, NULL, &found, err);
    free(path);
    if (rc == 0 && !found)
        rc = err_set(err, ERR_INPUT,
                     "%.500s: no run of this plan was started from here: see `kernsweep runs`", w->word);
    snprintf(run_id, JOB_RUN_ID_MAX, "%s", rc == 0 ? rec.run_id : "");
    return rc;
}

/* Connects to a run known here, the newest run of a plan, or the newest run on a node. */
static int connect_to(struct watch *w, const struct session_view *view, struct session *s, struct err *err)
{
    char run_id[JOB_RUN_ID_MAX];
    struct runrec known;
    struct err ignored = {0};
    struct attach_args a = *w->args;
    const char *word = w->word;
    a.view = view;
    if (cmd_is_plan(word)) {
        if (run_of_plan(w, run_id, err) != 0)
            return -1;
        word = run_id;
    }
    if (a.node || runrec_find(&known, w->env->db, word, &ignored) == 0)
        return attach_open(w->env, &a, word, s, err);
    a.node = word;
    return attach_open_newest(w->env, &a, s, err);
}

static int follow(struct watch *w, const struct session_view *view, struct err *err)
{
    struct session s = {0};
    char title[WATCH_LINE_MAX];
    int rc = connect_to(w, view, &s, err);
    if (rc == 0) {
        snprintf(title, sizeof title, "%s on %.120s", s.rec.run_id, s.rec.node);
        if (w->out)
            send_line(w, TAG_TITLE, title, strlen(title));
        else
            view->note(view->arg, title);
        rc = session_follow(&s, err);
    }
    if (s.t)
        session_close(&s);
    return rc;
}

/* The child. It must not write to the terminal, only to the pipe. */
static void be_follower(struct watch *w, int fd)
{
    struct err err = {0};
    char text[ERR_MSG_MAX + 8];
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; null >= 0 && i < 3; i++)
        dup2(null, i);
    w->out = fdopen(fd, "w");
    if (!w->out)
        _exit(EXIT_LOCAL);
    w->view = (struct session_view){.arg = w, .line = send_journal, .note = send_note};
    int code = follow(w, &w->view, &err) == 0 ? EXIT_DONE : (int)exit_code_of(&err);
    snprintf(text, sizeof text, "%d %s", code, err.msg);
    if (code != EXIT_DONE)
        send_line(w, TAG_FAILED, text, strlen(text));
    _exit(code);
}

/* Handles a line from the pipe. Only our child writes there, but the contents come from a node. */
static int handle_line(void *arg, const char *line, size_t len, struct err *err)
{
    struct watch *w = arg;
    struct event e;
    const char *reason;
    char text[ERR_MSG_MAX];
    snprintf(text, sizeof text, "%.*s", (int)len - 1, line + 1);
    switch ((enum tag)line[0]) {
    case TAG_JOURNAL:
        if (event_decode(&e, line + 1, len - 1, err) != 0)
            return -1;
        watch_model_event(w->model, &e);
        break;
    case TAG_NOTE:
        watch_model_note(w->model, text);
        break;
    case TAG_TITLE:
        text_printable_fixed(w->title, sizeof w->title, text, strlen(text));
        break;
    case TAG_FAILED:
        w->failed = true;
        w->failure_code = (enum exit_code)strtol(text, NULL, 10);
        reason = text + strcspn(text, " ");
        text_printable_fixed(w->failure, sizeof w->failure, reason, strlen(reason));
        break;
    }
    return 0;
}

/* Returns 1 if there may be more, 0 at the end, -1 with err. */
static int read_pipe(int fd, struct event_stream *lines, struct err *err)
{
    char data[16384];
    ssize_t n = read(fd, data, sizeof data);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? 1 : err_set_errno(err, ERR_INTERNAL, errno, "the pipe");
    if (n == 0)
        return 0;
    return event_stream_write(lines, data, (size_t)n, err) == 0 ? 1 : -1;
}

/* Draws at every input, and at least every DRAW_MS, until the user quits. */
static int show_screen(struct watch *w, struct watch_screen *screen, int fd, struct err *err)
{
    struct event_stream lines;
    const char *ended = NULL;
    int rc = 1;
    event_stream_init(&lines, handle_line, w);
    while (!*w->env->interrupted && !w->failed && rc >= 0) {
        struct pollfd p[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = ended ? -1 : fd, .events = POLLIN}};
        watch_screen_draw(screen, w->model, w->title, ended);
        int ready = poll(p, 2, DRAW_MS);
        if (watch_screen_key(screen) == WATCH_KEY_QUIT || (ready > 0 && (p[0].revents & (POLLHUP | POLLERR))))
            break;
        if (ready > 0 && p[1].revents && (rc = read_pipe(fd, &lines, err)) == 0)
            ended = "the run has ended; q: quit";
    }
    event_stream_release(&lines);
    return rc < 0 ? -1 : 0;
}

/* The follower has nothing to save, so it may be killed if SIGTERM does not end it. */
static void end_follower(pid_t pid)
{
    kill(pid, SIGTERM);
    for (int waited = 0; waited < END_MS; waited += SLICE_MS) {
        pid_t got = waitpid(pid, NULL, WNOHANG);
        if (got == pid || (got < 0 && errno != EINTR))
            return;
        poll(NULL, 0, SLICE_MS);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static int watch_on(struct watch *w, struct watch_screen *screen, struct err *err)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "watch: no pipe");
    pid_t pid = fork();
    if (pid == 0)
        be_follower(w, fds[1]);
    close(fds[1]);
    int rc = pid < 0 ? err_set_errno(err, ERR_INTERNAL, errno, "watch: cannot fork") : 0;
    if (rc == 0)
        rc = show_screen(w, screen, fds[0], err);
    close(fds[0]);
    if (pid > 0)
        end_follower(pid);
    return rc;
}

/* Plain lines or the journal, for a file or another program. */
static int print_lines(struct watch *w, struct err *err)
{
    struct live live;
    live_init(&live, w->env->json ? stderr : stdout);
    live.progress = false;
    w->view = (struct session_view){
        .arg = &live, .line = w->env->json ? print_raw : print_journal, .note = print_note};
    return follow(w, &w->view, err);
}

static int watch_run(struct watch *w, struct err *err)
{
    struct watch_screen screen;
    const char *term = getenv("TERM");
    bool terminal = isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && term && strcmp(term, "dumb") != 0;
    if (!terminal || w->env->json || !watch_screen_open(&screen))
        return print_lines(w, err);
    w->model = watch_model_new();
    snprintf(w->title, sizeof w->title, "%.200s", w->word);
    int rc = w->model ? watch_on(w, &screen, err) : err_set(err, ERR_INTERNAL, "watch: no memory");
    watch_screen_close(&screen);
    watch_model_free(w->model);
    if (rc == 0 && *w->env->interrupted) {
        fputs("kernsweep: interrupted; the run continues\n", stderr);
        return EXIT_INTERRUPTED;
    }
    if (rc == 0 && w->failed) {
        fprintf(stderr, "kernsweep: %s\n", w->failure + (*w->failure == ' '));
        return (int)w->failure_code;
    }
    return rc;
}

int cmd_watch(struct cmd_env *env, int argc, char **argv)
{
    struct attach_args a = {0};
    const struct arg options[] = {
        {"--node", "NODE", &a.node, NULL, "node of a run that was started on another machine"},
        {"--workdir", "DIR", &a.workdir, NULL, "kernsweep's folder on that node (default .kernsweep)"},
    };
    struct args spec = {
        .command = "watch",
        .usage = "RUN|NODE|PLAN [options]",
        .about =
            "Shows the progress of a run: full-screen on a terminal, line by line otherwise, with --json "
            "as the journal's lines. The run does not depend on it.",
        .options = options,
        .n_options = sizeof options / sizeof *options,
        .min_words = 1,
        .max_words = 1};
    struct err err = {0};
    struct watch w = {.env = env, .args = &a};
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, &w.word, &n, &err);
    if (rc == 1)
        return EXIT_DONE;
    if (rc == 0)
        rc = watch_run(&w, &err);
    return rc < 0 ? cmd_fail(&err) : rc;
}
