/* kernsweep watch: shows a run full-screen, or the runs of a sweep of several nodes, one at a time. A process
 * follows each run (watch_follow.h); this one draws and reads keys. Without a terminal, it prints the same
 * lines as `attach`. */
#include "harness/commands/base/on_node.h"
#include "harness/commands/run/watch_follow.h"
#include "harness/session/several.h"
#include "harness/session/sweep.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DRAW_MS = 250 };

struct watch {
    struct cmd_env *env;
    const struct attach_args *args;
    const char *word;
    struct session_view view;
    const char *run[PLAN_NODES_MAX]; /* the runs of a sweep of several nodes, or only the word */
    size_t count;
    char run_id[PLAN_NODES_MAX][JOB_RUN_ID_MAX], node[PLAN_NODES_MAX][256]; /* of a sweep */
    struct watch_follow *follow;
};

static void print_journal(void *arg, const char *line, size_t len)
{
    struct event e;
    if (event_decode(&e, line, len) == 0)
        live_event(arg, &e);
}

/* With --json, prints the journal itself, one object per line. */
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

/* The newest run of a plan started from here. Records may have its resolved path or the one given. */
static int run_of_plan(const struct watch *w, char *run_id, struct err *err)
{
    AUTO_FREE char *path = realpath(w->word, NULL);
    struct runrec rec;
    bool found;
    if (runrec_newest(&rec, w->env->db, path ? path : w->word, w->args->node, &found, err) != 0 ||
        (!found && runrec_newest(&rec, w->env->db, w->word, w->args->node, &found, err) != 0))
        return -1;
    if (!found)
        return err_set(err, ERR_INPUT,
                       "%.500s: no run of this plan was started from here: see `kernsweep runs`", w->word);
    snprintf(run_id, JOB_RUN_ID_MAX, "%s", rec.run_id);
    return 0;
}

/* Connects to a run in the local records, the newest run of a plan, or the newest run on a node. */
static int connect_to(struct watch *w, const char *word, const struct session_view *view, struct session *s,
                      struct err *err)
{
    char run_id[JOB_RUN_ID_MAX];
    struct runrec known;
    struct err ignored = {0};
    struct attach_args a = *w->args;
    a.view = view;
    if (cmd_is_plan(word)) {
        if (run_of_plan(w, run_id, err) != 0)
            return -1;
        word = run_id;
    }
    bool is_run = runrec_find(&known, w->env->db, word, &ignored) == 0;
    bool latest = strcmp(word, "latest") == 0;                         /* is a run, even if there is none */
    if (a.node || latest || (is_run && strcmp(known.node, word) != 0)) /* a ticket may be named as its node */
        return attach_open(w->env, &a, word, s, err);
    a.node = word;
    return attach_open(w->env, &a, NULL, s, err);
}

/* relay: receives the title; NULL: the title is printed as a note. */
static int follow(struct watch *w, const char *word, const struct session_view *view, struct relay *relay,
                  struct err *err)
{
    AUTO(session_close) struct session s = {0};
    char title[WATCH_LINE_MAX];
    if (connect_to(w, word, view, &s, err) != 0)
        return -1;
    snprintf(title, sizeof title, "%s on %.120s", s.rec.run_id, s.rec.node);
    if (relay)
        relay_send(relay, RELAY_TITLE, title, strlen(title));
    else if (view)
        view->note(view->arg, title);
    return session_follow(&s, err);
}

/* Runs in the process that serves a screen or the lines of a node. */
static int follow_relayed(void *arg, const char *word, struct relay *r)
{
    struct err err = {0};
    return follow(arg, word, &r->view, r, &err) == 0 ? EXIT_DONE : relay_fail(r, &err);
}

static int follow_node(void *arg, size_t index, struct relay *r)
{
    struct watch *w = arg;
    return follow_relayed(w, w->run[index], r);
}

static const char *ended_text(const struct watch_follow *f)
{
    return !f->ended ? NULL : *f->failure ? "no longer followed; q: quit" : "the run has ended; q: quit";
}

static void show_next(struct watch *w, struct watch_screen *screen, size_t *shown)
{
    size_t next = (*shown + 1) % w->count;
    void *terminal = screen->terminal;
    bool utf8 = screen->utf8, colour = screen->colour;
    w->follow[*shown].screen = *screen;
    *screen = w->follow[next].screen;
    screen->terminal = terminal;
    screen->utf8 = utf8;
    screen->colour = colour;
    screen->several = true;
    *shown = next;
}

static int read_all(struct watch *w, const struct pollfd *p, struct err *err)
{
    for (size_t i = 0; i < w->count; i++)
        if (p[i].revents && watch_follow_read(&w->follow[i], err) != 0)
            return -1;
    return 0;
}

/* Draws on every input and at least every DRAW_MS, until the user quits or the only run cannot be
 * followed. */
static int show_screen(struct watch *w, struct watch_screen *screen, struct err *err)
{
    struct pollfd p[PLAN_NODES_MAX + 1];
    size_t shown = 0;
    screen->several = w->count > 1;
    while (!*w->env->interrupted && !(w->count == 1 && *w->follow->failure)) {
        const struct watch_follow *f = &w->follow[shown];
        for (size_t i = 0; i < w->count; i++)
            p[i] = (struct pollfd){.fd = w->follow[i].ended ? -1 : w->follow[i].fd, .events = POLLIN};
        p[w->count] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
        watch_screen_draw(screen, f->model, f->title, ended_text(f));
        int ready = poll(p, w->count + 1, DRAW_MS);
        enum watch_key key = watch_screen_key(screen);
        if (key == WATCH_KEY_QUIT || (ready > 0 && (p[w->count].revents & (POLLHUP | POLLERR))))
            break;
        if (key == WATCH_KEY_NEXT && w->count > 1)
            show_next(w, screen, &shown);
        if (ready > 0 && read_all(w, p, err) != 0)
            return -1;
    }
    return 0;
}

static int watch_on(struct watch *w, struct watch_screen *screen, struct err *err)
{
    for (size_t i = 0; i < w->count; i++)
        if (watch_follow_start(&w->follow[i], w->run[i], follow_relayed, w, err) != 0)
            return -1;
    return show_screen(w, screen, err);
}

/* Prints plain lines, or the journal, for a file or another program. */
static int print_lines(struct watch *w, struct err *err)
{
    struct live live;
    live_init(&live, w->env->json ? stderr : stdout);
    live.progress = false;
    w->view = (struct session_view){
        .arg = &live, .line = w->env->json ? print_raw : print_journal, .note = print_note};
    return follow(w, w->run[0], &w->view, NULL, err);
}

static int print_nodes(struct watch *w, struct err *err)
{
    const char *labels[PLAN_NODES_MAX];
    int code = EXIT_DONE;
    if (w->env->json)
        return err_set(err, ERR_INPUT, "watch: --json prints one journal: name a run, such as %s", w->run[0]);
    AUTO_FREE struct several_end *ends = xcalloc(w->count, sizeof *ends);
    for (size_t i = 0; i < w->count; i++)
        labels[i] = w->node[i];
    const struct several s = {.labels = labels,
                              .count = w->count,
                              .fn = follow_node,
                              .arg = w,
                              .progress = stdout,
                              .interrupted = w->env->interrupted};
    if (several_run(&s, ends, err) != 0)
        return -1;
    for (size_t i = 0; i < w->count; i++) {
        code = several_worst(code, ends[i].code);
        json_decref(ends[i].result);
    }
    return code;
}

static int note_run(const struct runrec *rec, void *arg, struct err *err)
{
    struct watch *w = arg;
    (void)err;
    if (w->count == PLAN_NODES_MAX)
        return 0;
    snprintf(w->run_id[w->count], sizeof w->run_id[0], "%s", rec->run_id);
    w->run[w->count] = w->run_id[w->count];
    snprintf(w->node[w->count++], sizeof w->node[0], "%s", rec->node);
    return 0;
}

/* Lists the runs of the sweep of the word, or of the plan's newest run; without a sweep, only the word. */
static int choose_runs(struct watch *w, struct err *err)
{
    struct sweep_record sweep;
    struct runrec rec;
    struct err ignored = {0};
    char newest[JOB_RUN_ID_MAX] = "";
    const char *word = w->word;
    bool found = false;
    if (!w->args->node && cmd_is_plan(word) && run_of_plan(w, newest, &ignored) == 0 &&
        runrec_find(&rec, w->env->db, newest, &ignored) == 0 && *rec.sweep)
        word = rec.sweep;
    if (!w->args->node && sweep_find(&sweep, w->env->db, word, &found, err) != 0)
        return -1;
    if (found && sweep_each(&sweep, w->env->db, note_run, w, err) != 0)
        return -1;
    if (found && w->count == 0)
        return err_set(err, ERR_INPUT, "%s: none of its nodes has a run: see `kernsweep report %s`", sweep.id,
                       sweep.id);
    if (!found) {
        w->run[0] = w->word;
        w->count = 1;
    }
    return 0;
}

/* Explains, once the screen is closed, why the only run could not be followed. */
static int say_failure(const struct watch *w)
{
    const struct watch_follow *f = w->follow;
    if (*w->env->interrupted) {
        fprintf(stderr, "kernsweep: interrupted; the run%s\n", w->count > 1 ? "s continue" : " continues");
        return EXIT_INTERRUPTED;
    }
    if (w->count > 1 || !*f->failure)
        return EXIT_DONE;
    fprintf(stderr, "kernsweep: %s\n", f->failure);
    return f->code;
}

static int watch_screens(struct watch *w, struct watch_screen *screen, struct err *err)
{
    AUTO_FREE struct watch_follow *follows = xcalloc(w->count, sizeof *follows);
    w->follow = follows;
    for (size_t i = 0; i < w->count; i++)
        w->follow[i].fd = -1;
    int rc = watch_on(w, screen, err);
    watch_screen_close(screen);
    if (rc == 0)
        rc = say_failure(w);
    for (size_t i = 0; i < w->count; i++)
        watch_follow_end(&w->follow[i]);
    return rc;
}

static int watch(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    struct watch w = {.env = env, .args = args, .word = words->v[0]};
    struct watch_screen screen;
    const char *term = getenv("TERM");
    bool terminal = isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && term && strcmp(term, "dumb") != 0;
    if (choose_runs(&w, err) != 0)
        return -1;
    if (terminal && !env->json && watch_screen_open(&screen))
        return watch_screens(&w, &screen, err);
    return w.count > 1 ? print_nodes(&w, err) : print_lines(&w, err);
}

static const struct arg options[] = {ATTACH_OPTIONS(struct attach_args, )};

const struct cmd cmd_watch = {
    .name = "watch",
    .summary = "follow a run full-screen: matrix, running test, memory, log",
    .usage = "RUN|SWEEP|NODE|PLAN [options]",
    .about = "Shows the progress of a run: full-screen on a terminal, line by line otherwise, with --json as "
             "the journal's lines. Ending it does not affect the run.",
    .options = ARG_TABLE(struct attach_args, options),
    .min_words = 1,
    .max_words = 1,
    .run = watch,
};
