#include "harness/session/connect.h"
#include "harness/session/internal.h"

#include "common/base/clock.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "harness/session/bundle_dir.h"
#include "harness/session/installed.h"
#include "results/ingest/bundle/manifest.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double other_pull_s = 3600, forget_deadline_s = 60;
static const double line_limit_s = 60; /* the executor sends at least an empty line every 2 s */

enum {
    READINGS_MAX = 3,         /* times that a journal is read again whose end was lost */
    PULLS_MAX = 3,            /* consecutive ones that bring less than PULL_PROGRESS */
    PULL_PROGRESS = 64 << 10, /* bytes */
};

bool session_is_left(const struct session *s, const struct err *err)
{
    return s->rec.state == RUNREC_RUNNING || (s->offered && err->kind == ERR_INTERRUPTED);
}

void session_describe_left(const struct session *s, char out[SESSION_LEFT_MAX])
{
    const char *id = s->rec.run_id,
               *state = s->rec.state == RUNREC_RUNNING ? "has not ended" : "may have started";
    snprintf(
        out, SESSION_LEFT_MAX,
        "run %.80s %s on %.100s: `kernsweep attach %.80s` follows it, `kernsweep cancel %.80s` cancels it",
        id, state, s->rec.node, id, id);
}

void session_say(struct session *s, const char *line)
{
    if (s->opt.view)
        s->opt.view->note(s->opt.view->arg, line);
    else
        live_note(&s->live, line);
}

static void on_notice(void *arg, const char *line)
{
    session_say(arg, line);
}

void session_init(struct session *s, const struct session_options *opt)
{
    *s = (struct session){.opt = *opt};
    live_init(&s->live, opt->progress);
}

int session_find_executor(char *out, struct err *err)
{
    static const char *const places[] = {"kernsweep-executor", "../libexec/kernsweep/kernsweep-executor",
                                         NULL};
    const char *named = getenv("KERNSWEEP_EXECUTOR");
    bool found;
    if (named && *named) {
        if (access(named, R_OK) != 0)
            return err_set(err, ERR_INPUT, "KERNSWEEP_EXECUTOR: cannot read %.500s", named);
        return fs_join(out, err, "", named);
    }
    if (installed_find(places, out, &found, err) != 0)
        return err_wrap(err, "set KERNSWEEP_EXECUTOR");
    return found ? 0
                 : err_set(err, ERR_STORAGE,
                           "no kernsweep-executor next to %.500s: build it, or set KERNSWEEP_EXECUTOR", out);
}

int session_connect(struct session *s, struct err *err)
{
    struct transport_target target = {.node = s->rec.node,
                                      .ssh_config = *s->rec.ssh_config ? s->rec.ssh_config : NULL,
                                      .connect_timeout_s = s->rec.connect_timeout_s,
                                      .patience_s = s->rec.patience_s,
                                      .notice = on_notice,
                                      .notice_arg = s,
                                      .interrupted = s->opt.interrupted};
    if (session_find_executor(s->executor, err) != 0 || connect_choose(s->opt.backend, &target, err) != 0 ||
        transport_open(&s->t, &target, err) != 0)
        return -1;
    return remote_init(&s->remote, s->t, s->rec.workdir, s->executor, err);
}

int session_reconnect(struct session *s, const struct err *why, struct err *err)
{
    char line[ERR_MSG_MAX + 64];
    snprintf(line, sizeof line, "%s; reconnecting%s", why->msg,
             s->rec.state == RUNREC_RUNNING ? ", the run continues" : "");
    session_say(s, line);
    event_stream_rewind(&s->stream);
    return transport_reconnect(s->t, err);
}

int session_attach(struct session *s, const struct runrec *rec, const struct session_options *opt,
                   struct err *err)
{
    session_init(s, opt);
    s->rec = *rec;
    return session_connect(s, err) == 0 ? remote_install(&s->remote, s->executor, err) : -1;
}

/* A replayed journal shows that a wait began but not whether it still lasts. The time is therefore counted
 * from when the event is read, and starts anew with every later event. */
static void note_stall(struct session *s, const struct event *e)
{
    if (e->stall.state == STALL_ENDS)
        s->stalled_s = (double)NAN;
    else if (e->stall.state == STALL_BEGINS || (e->type != EVENT_NODE && !isnan(s->stalled_s)))
        s->stalled_s = clock_mono_s();
    if (e->stall.state != STALL_BEGINS)
        return;
    s->stall_patience_s = e->stall.patience_s;
    snprintf(s->stall, sizeof s->stall, "%s", e->reason);
}

static int look_after(struct session *s, struct err *err)
{
    char what[WATCHDOG_TEXT_MAX];
    enum watchdog_verdict v = watchdog_look(&s->watchdog, s->rec.patience_s, clock_mono_s(), what);
    if (v == WATCHDOG_TELL)
        session_say(s, what);
    if (v == WATCHDOG_GIVE_UP)
        return err_set(err, ERR_NODE,
                       "%s: %s; `kernsweep cancel %s` ends the run, `kernsweep attach %s` waits again",
                       transport_describe(s->t), what, s->rec.run_id, s->rec.run_id);
    return 0;
}

/* Some keep-alive lines report that the executor is stopped. */
static void on_aside(void *arg, const char *line)
{
    struct session *s = arg;
    bool stopped = strncmp(line, FOLLOW_STOPPED, strlen(FOLLOW_STOPPED)) == 0;
    s->heard_s = clock_mono_s();
    watchdog_stopped(&s->watchdog, stopped ? strtol(line + strlen(FOLLOW_STOPPED), NULL, 10) : 0);
}

/* A transport_write_fn, which also receives keep-alives, so it checks all time limits. */
static int on_stream(void *arg, const char *data, size_t len, struct err *err)
{
    struct session *s = arg;
    if (event_stream_write(&s->stream, data, len, err) != 0)
        return -1;
    if (clock_mono_s() - s->stalled_s > s->stall_patience_s) /* false for NaN */
        return err_set(err, ERR_NODE, "%s: nothing moved for %g s: %s", transport_describe(s->t),
                       s->stall_patience_s, s->stall);
    if (clock_mono_s() - s->heard_s > line_limit_s)
        return err_set(err, ERR_NODE,
                       "%s: sent no complete line of the journal for %g s; is the node overloaded?",
                       transport_describe(s->t), line_limit_s);
    return look_after(s, err);
}

/* Only events whose work a restarted executor does not repeat count as progress. */
static bool finishes_something(enum event_type type)
{
    return type == EVENT_BUILD_END || type == EVENT_GATE || type == EVENT_TEST_END ||
           type == EVENT_TEST_SKIP || type == EVENT_SUITE_END;
}

/* Shells use exit code 127 for a command that was not found; the executor says so. */
static bool lacks_command(const struct event *e)
{
    bool not_there = strncmp(e->reason, "cannot start ", strlen("cannot start ")) == 0 &&
                     strstr(e->reason, strerror(ENOENT));
    return e->type == EVENT_TEST_END && strcmp(e->status, "FAIL") == 0 &&
           (not_there || strncmp(e->reason, "exit code 127", strlen("exit code 127")) == 0);
}

/* A node that lost power may have lost the end of the journal and written other events in its place. A gap
 * that is still there when the journal is read again is its own. */
static int check_order(struct session *s, const struct event *e, struct err *err)
{
    bool continues = s->seq == 0 || e->seq == 0 || e->seq - 1 == s->seq;
    bool known = s->gap_from == s->seq && s->gap_to == e->seq;
    s->misread = !continues && !known && s->readings < READINGS_MAX;
    if (!s->misread) {
        s->seq = e->seq;
        return 0;
    }
    s->gap_from = s->seq;
    s->gap_to = e->seq;
    return err_set(err, ERR_INTERNAL, "events.jsonl: event %lld follows event %lld", (long long)e->seq,
                   (long long)s->seq);
}

/* Tests can write to the journal, too. What they wrote stays in the bundle's copy. */
static int pass_over(struct session *s, const char *line, size_t len)
{
    char shown[120], text[320];
    s->passed_over++;
    if (s->odd_told)
        return 0;
    s->odd_told = true;
    text_printable_fixed(shown, sizeof shown, line, len < 100 ? len : 100);
    snprintf(text, sizeof text,
             "note: events.jsonl has a line that is not an event (did a test write to it?); such lines are "
             "skipped: \"%s\"",
             shown);
    session_say(s, text);
    return 0;
}

static int on_line(void *arg, const char *line, size_t len, struct err *err)
{
    struct session *s = arg;
    struct event e;
    int decoded = event_decode(&e, line, len);
    if (decoded < 0)
        return pass_over(s, line, len);
    if (check_order(s, &e, err) != 0)
        return -1;
    s->heard_s = clock_mono_s();
    if (decoded > 0)
        return 0;
    if (e.type == EVENT_SUITE_END)
        snprintf(s->run_status, sizeof s->run_status, "%s", e.status);
    if (finishes_something(e.type))
        restarts_progress(&s->restarts);
    watchdog_event(&s->watchdog, e.type, *e.host != '\0', s->heard_s);
    note_stall(s, &e);
    if (s->opt.view)
        s->opt.view->line(s->opt.view->arg, line, len);
    else
        live_event(&s->live, &e);
    if (s->opt.needs_commands && lacks_command(&e))
        return err_set(err, ERR_INPUT, "%s: command not found on %s (%s)", e.variant, s->rec.node, e.reason);
    return 0;
}

static int give_up(struct session *s, struct err *err)
{
    char last[ERR_MSG_MAX / 2];
    s->hopeless = true;
    remote_last_words(&s->remote, s->rec.run_id, last, sizeof last);
    return err_set(
        err, ERR_NODE,
        "%s: the executor of run %s keeps ending%s%s%s: `kernsweep cancel %s` ends the run, `attach` "
        "tries once more",
        transport_describe(s->t), s->rec.run_id, *last ? "; its last words: \"" : "", last, *last ? "\"" : "",
        s->rec.run_id);
}

static int restart_executor(struct session *s, struct err *err)
{
    if (!restarts_allow(&s->restarts, clock_mono_s()))
        return give_up(s, err);
    session_say(s, "the executor on the node is gone; resuming the run where it stopped");
    event_stream_rewind(&s->stream);
    return remote_resume(&s->remote, s->rec.run_id, err);
}

static void tell_passed_over(struct session *s)
{
    char text[128];
    snprintf(text, sizeof text, "note: %zu lines of events.jsonl are not events and were skipped",
             s->passed_over);
    if (s->passed_over > 1)
        session_say(s, text);
}

static void read_anew(struct session *s)
{
    s->misread = false;
    s->readings++;
    s->seq = 0;
    s->passed_over = 0;
    *s->run_status = '\0';
    s->stalled_s = (double)NAN;
    s->stream.offset = 0;
    event_stream_rewind(&s->stream);
    session_say(s,
                "the node has lost the end of the run's journal (was it down?): reading it from the start");
}

int session_follow(struct session *s, struct err *err)
{
    event_stream_init(&s->stream, on_line, s);
    s->stream.on_aside = on_aside;
    s->stalled_s = (double)NAN;
    for (;;) {
        bool alive;
        s->heard_s = clock_mono_s();
        watchdog_begin(&s->watchdog, s->heard_s);
        int rc = remote_follow(&s->remote, s->rec.run_id, s->stream.offset, on_stream, s, &alive, err);
        if (rc == 0 && alive) {
            tell_passed_over(s);
            return 0;
        }
        if (rc == 0)
            rc = restart_executor(s, err);
        else if (s->misread) {
            read_anew(s);
            rc = 0;
        } else if (s->remote.link_lost && err->kind == ERR_NODE) {
            struct err why = *err;
            rc = session_reconnect(s, &why, err);
        }
        if (rc != 0) {
            live_end(&s->live); /* the error message starts on its own line */
            return -1;
        }
    }
}

/* A transfer that was cut off continues where it ended, as long as it makes progress. */
static int receive(struct session *s, struct tar_extractor *x, struct err *err)
{
    uint64_t before = 0;
    for (int vain = 0; vain <= PULLS_MAX;) {
        if (remote_pack(&s->remote, s->rec.run_id, x, err) == 0)
            return tar_extractor_finish(x, err);
        if (!s->remote.link_lost || err->kind != ERR_NODE)
            return -1;
        uint64_t now = tar_extractor_received(x);
        vain = now - before >= PULL_PROGRESS ? 0 : vain + 1;
        before = now;
        struct err why = *err;
        if (session_reconnect(s, &why, err) != 0)
            return -1;
    }
    return -1;
}

static int pull_into(struct session *s, const char *partial, struct err *err)
{
    struct tar_extractor *x;
    if (fs_remove_tree(partial, err) != 0 || tar_extractor_open(&x, partial, NULL, err) != 0)
        return -1;
    int rc = receive(s, x, err);
    tar_extractor_close(x);
    return rc;
}

/* A command may have been killed after pulling the bundle and before saving the record. */
static bool collected_before(const struct session *s)
{
    char manifest[FS_PATH_MAX];
    struct err ignored = {0};
    return fs_join(manifest, NULL, s->rec.bundle, "manifest.json") == 0 && fs_exists(manifest) &&
           manifest_verify(s->rec.bundle, s->rec.run_id, &ignored) == 0;
}

static int pull_whole(struct session *s, const char *partial, struct err *err)
{
    return pull_into(s, partial, err) != 0 ? -1 : manifest_verify(partial, s->rec.run_id, err);
}

static int pull_bundle(struct session *s, struct err *err)
{
    char partial[FS_PATH_MAX];
    if (collected_before(s))
        return 0;
    int n = snprintf(partial, sizeof partial, "%s.partial", s->rec.bundle);
    if (n < 0 || n >= FS_PATH_MAX)
        return err_set(err, ERR_INPUT, "path too long: %.200s", s->rec.bundle);
    int rc = pull_whole(s, partial, err);
    if (rc != 0 && s->remote.no_program) /* a test has removed or damaged the executor */
        rc = remote_install(&s->remote, s->executor, err) != 0 ? -1 : pull_whole(s, partial, err);
    if (rc != 0 && err->kind == ERR_INPUT) /* a file changed on its way; the node now omits it */
        rc = pull_whole(s, partial, err);
    if (rc == 0)
        rc = fs_rename(partial, s->rec.bundle, err);
    if (rc != 0)
        fs_remove_tree(partial, NULL);
    s->hopeless = rc != 0 && !s->remote.link_lost && (err->kind == ERR_NODE || err->kind == ERR_INPUT);
    return rc;
}

static bool on_busy(void *arg, bool first)
{
    struct session *s = arg;
    if (first)
        session_say(s, "another command is pulling this run: waiting for it");
    return s->opt.interrupted && *s->opt.interrupted;
}

int session_collect(struct session *s, struct err *err)
{
    int fd;
    if (bundle_dir_lock(&fd, s->rec.bundle, other_pull_s, on_busy, s, err) != 0)
        return -1;
    int rc = pull_bundle(s, err);
    if (fd >= 0)
        close(fd);
    if (rc != 0)
        return -1;
    s->rec.state = RUNREC_PULLED;
    return runrec_save(&s->rec, s->opt.db, err);
}

void session_forget(struct session *s)
{
    const char *args[] = {"--run", s->rec.run_id, NULL};
    struct err ignored = {0};
    json_decref(remote_call(&s->remote, "forget", args, NULL, 0, forget_deadline_s, &ignored));
}

void session_close(struct session *s)
{
    live_end(&s->live);
    event_stream_release(&s->stream);
    transport_close(s->t);
    s->t = NULL;
    json_decref(s->gpu_groups);
    s->gpu_groups = NULL;
}
