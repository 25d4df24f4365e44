#include "harness/session.h"

#include "common/clock.h"
#include "common/json.h"
#include "common/text.h"
#include "harness/bundle_dir.h"
#include "harness/installed.h"
#include "results/manifest.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double submit_deadline_s = 60;
static const double probe_deadline_s = 60;
enum { RESUMES_MAX = 3 };

static const char *pick(const char *first, const char *second)
{
    return first ? first : second;
}

static void say(struct session *s, const char *line)
{
    if (s->opt.view)
        s->opt.view->note(s->opt.view->arg, line);
    else
        live_note(&s->live, line);
}

static void notice(void *arg, const char *line)
{
    say(arg, line);
}

static void init(struct session *s, const struct session_options *opt)
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
                           "no kernsweep-executor beside %.500s: build it, or set KERNSWEEP_EXECUTOR", out);
}

static int connect_node(struct session *s, struct err *err)
{
    const struct transport_target target = {.node = s->rec.node,
                                            .ssh_config = *s->rec.ssh_config ? s->rec.ssh_config : NULL,
                                            .backend = s->opt.backend,
                                            .connect_timeout_s = s->rec.connect_timeout_s,
                                            .patience_s = s->rec.patience_s,
                                            .notice = notice,
                                            .notice_arg = s,
                                            .interrupted = s->opt.interrupted};
    if (session_find_executor(s->executor, err) != 0 || transport_open(&s->t, &target, err) != 0)
        return -1;
    return remote_init(&s->remote, s->t, s->rec.workdir, s->executor, err);
}

static int set_text(char *out, size_t cap, const char *what, const char *text, struct err *err)
{
    if (strlen(text) >= cap)
        return err_set(err, ERR_INPUT, "%s: longer than %zu bytes", what, cap - 1);
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

static int fill_record(struct session *s, const struct plan *p, const char *date, struct err *err)
{
    struct runrec *r = &s->rec;
    char *config = s->opt.ssh_config ? realpath(s->opt.ssh_config, NULL) : strdup("");
    if (!config)
        return err_set(err, ERR_INPUT, "--ssh-config: cannot find %.500s", s->opt.ssh_config);
    job_run_id(p->ticket, r->run_id);
    int rc =
        set_text(r->ssh_config, sizeof r->ssh_config, "--ssh-config", config, err) ||
                set_text(r->node, sizeof r->node, "node", pick(s->opt.node, p->node), err) ||
                set_text(r->workdir, sizeof r->workdir, "workdir", p->workdir, err) ||
                set_text(r->plan, sizeof r->plan, "plan", p->file, err) ||
                set_text(r->ticket, sizeof r->ticket, "ticket", p->ticket, err) ||
                set_text(r->baseline, sizeof r->baseline, "baseline", pick(s->opt.baseline, p->baseline), err)
            ? -1
            : 0;
    free(config);
    r->threshold = p->threshold;
    r->connect_timeout_s = p->connect_timeout_s;
    r->patience_s = p->patience_s;
    if (rc != 0)
        return -1;
    return bundle_dir_reserve(r->bundle, s->opt.artifacts, date, p->ticket, pick(s->opt.tag, p->tag), err);
}

/* A tree of an earlier run, which nobody here may have any more. */
static int use_staged(struct session *s, char *sha, struct err *err)
{
    bool have;
    memcpy(sha, s->opt.source_sha256, SHA256_HEX_LEN + 1);
    if (remote_has(&s->remote, sha, &have, err) != 0)
        return -1;
    return have ? 0 : err_set(err, ERR_NODE, "node %s no longer has the sources %.12s", s->rec.node, sha);
}

static int stage_source(struct session *s, const struct plan *p, char *sha, struct err *err)
{
    static const char *const skip[] = {"build", ".git", NULL};
    const struct tar_tree tree = {.root = p->source_dir, .include = p->include, .skip = skip};
    uint64_t size, pushed;
    if (tar_tree_hash(&tree, sha, &size, err) != 0)
        return err_wrap(err, "source tree %s", p->source_dir);
    if (remote_stage(&s->remote, &tree, sha, &pushed, err) != 0)
        return -1;
    char line[256];
    snprintf(line, sizeof line,
             pushed ? "source %.12s pushed (%.1f KiB)" : "source %.12s is on the node already", sha,
             (double)pushed / 1024);
    say(s, line);
    return 0;
}

static int submit(struct session *s, const struct plan *p, const char *sha, const char *date, struct err *err)
{
    const struct job_request req = {.run_id = s->rec.run_id,
                                    .date = date,
                                    .tag = pick(s->opt.tag, p->tag),
                                    .mode = pick(s->opt.mode, p->mode),
                                    .node = s->rec.node,
                                    .source_sha256 = sha,
                                    .fresh = s->opt.fresh,
                                    .preflight = preflight_encode(&s->preflight, PREFLIGHT_WARNING)};
    json_t *body = json_pack("{s:O, s:o}", "plan", p->root, "job", job_encode(p, &req));
    json_decref(req.preflight);
    struct buf text;
    buf_init(&text, REMOTE_MAX_JSON);
    int rc = body ? json_encode(body, &text, err) : err_set(err, ERR_INTERNAL, "no memory for the job");
    json_decref(body);
    if (rc == 0) {
        json_t *answer = remote_call(&s->remote, "submit", NULL, buf_str(&text), text.len,
                                     submit_deadline_s + p->lock_wait_s, err);
        rc = answer ? 0 : -1;
        json_decref(answer);
    }
    buf_release(&text);
    return rc;
}

static void today(char *out, size_t cap)
{
    time_t now = time(NULL);
    struct tm tm;
    localtime_r(&now, &tm);
    strftime(out, cap, "%Y-%m-%d", &tm);
}

/* Seconds since the epoch of "2026-02-14T03:15:09.123Z"; NaN for anything else. */
static double parse_time(const char *text)
{
    struct tm tm = {0};
    double seconds;
    if (!text || sscanf(text, "%4d-%2d-%2dT%2d:%2d:%lfZ", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
                        &tm.tm_min, &seconds) != 6)
        return NAN;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return (double)timegm(&tm) + seconds;
}

json_t *session_preflight(struct session *s, const char *model, int64_t largest_context,
                          struct preflight *out, struct err *err)
{
    const char *args[] = {"--model", model, NULL};
    double before = clock_real_s();
    json_t *node = remote_call(&s->remote, "probe", model ? args : NULL, NULL, 0, probe_deadline_s, err);
    double after = clock_real_s();
    if (!node)
        return NULL;
    const char *time = json_string_value(json_object_get(node, "time"));
    const struct preflight_needs needs = {.largest_context = largest_context,
                                          .clock_offset_s = parse_time(time) - (before + after) / 2,
                                          .clock_error_s = (after - before) / 2};
    preflight_check(out, node, &needs);
    return node;
}

/* Warnings are told and go into the job, for node.json; a blocker is the end. */
static int check_node(struct session *s, const struct plan *p, struct err *err)
{
    struct preflight *found = &s->preflight;
    char line[2 * PREFLIGHT_TEXT_MAX + 64];
    json_t *node =
        session_preflight(s, p->scheduler.on ? NULL : p->model, plan_largest_context(p), found, err);
    if (!node)
        return -1;
    json_decref(node);
    const struct finding *blocker = NULL;
    for (size_t i = 0; i < found->count; i++) {
        const struct finding *f = &found->findings[i];
        snprintf(line, sizeof line, "warning: %s: %s (%s)", f->subject, f->text, f->remedy);
        if (f->level == PREFLIGHT_WARNING)
            say(s, line);
        if (f->level == PREFLIGHT_BLOCKER && !blocker)
            blocker = f;
    }
    return blocker ? err_set(err, ERR_NODE, "node %s is not fit for this run: %s: %s; %s", s->rec.node,
                             blocker->subject, blocker->text, blocker->remedy)
                   : 0;
}

static int reconnect(struct session *s, const struct err *why, struct err *err)
{
    char line[ERR_MSG_MAX + 64];
    snprintf(line, sizeof line, "%s; connecting again%s", why->msg,
             s->rec.state == RUNREC_RUNNING ? ", the run goes on" : "");
    say(s, line);
    event_stream_rewind(&s->stream);
    return transport_reconnect(s->t, err);
}

/* Up to the run's start. Every step can be done again: what is on the node already stays as it is. */
static int prepare_and_submit(struct session *s, const struct plan *p, const char *date, struct err *err)
{
    char sha[SHA256_HEX_LEN + 1];
    bool sources = p->source_dir || s->opt.source_sha256;
    if (remote_install(&s->remote, s->executor, err) != 0 ||
        (s->preflight.count == 0 && check_node(s, p, err) != 0))
        return -1;
    if (sources && (s->opt.source_sha256 ? use_staged(s, sha, err) : stage_source(s, p, sha, err)) != 0)
        return -1;
    return runrec_save(&s->rec, s->opt.db, err) != 0 ? -1 : submit(s, p, sources ? sha : NULL, date, err);
}

static int start_on_node(struct session *s, const struct plan *p, const char *date, struct err *err)
{
    char line[512];
    if (connect_node(s, err) != 0)
        return -1;
    snprintf(line, sizeof line, "node %s (%s)", transport_describe(s->t), transport_backend_name(s->t));
    say(s, line);
    for (int tries = 0; prepare_and_submit(s, p, date, err) != 0; tries++) {
        struct err why = *err;
        if (!s->remote.link_lost || err->kind != ERR_NODE || tries == RESUMES_MAX ||
            reconnect(s, &why, err) != 0)
            return -1;
    }
    s->rec.state = RUNREC_RUNNING;
    snprintf(line, sizeof line, "run %s started", s->rec.run_id);
    say(s, line);
    return runrec_save(&s->rec, s->opt.db, err);
}

int session_start(struct session *s, const struct plan *p, const struct session_options *opt, struct err *err)
{
    char date[16];
    init(s, opt);
    today(date, sizeof date);
    if (opt->date)
        snprintf(date, sizeof date, "%s", opt->date);
    if (fill_record(s, p, date, err) != 0)
        return -1;
    if (start_on_node(s, p, date, err) == 0)
        return 0;
    rmdir(s->rec.bundle); /* only the empty reservation; a started run keeps its record */
    return -1;
}

int session_attach(struct session *s, const struct runrec *rec, const struct session_options *opt,
                   struct err *err)
{
    init(s, opt);
    s->rec = *rec;
    return connect_node(s, err) == 0 ? remote_install(&s->remote, s->executor, err) : -1;
}

/* A replayed journal says that a wait began, but not whether it lasts: time counts from when it is read, and
 * again from whatever moves in the meantime. */
static void note_stall(struct session *s, const struct event *e)
{
    if (e->stall == STALL_ENDS)
        s->stalled_s = (double)NAN;
    else if (e->stall == STALL_BEGINS || (e->type != EVENT_NODE && !isnan(s->stalled_s)))
        s->stalled_s = clock_mono_s();
    if (e->stall != STALL_BEGINS)
        return;
    s->stall_patience_s = e->patience_s;
    snprintf(s->stall, sizeof s->stall, "%s", e->reason);
}

/* transport_write_fn: the journal's stream, which has keep-alives in it. */
static int on_stream(void *arg, const char *data, size_t len, struct err *err)
{
    struct session *s = arg;
    if (event_stream_write(&s->stream, data, len, err) != 0)
        return -1;
    if (clock_mono_s() - s->stalled_s > s->stall_patience_s) /* never true of a NaN */
        return err_set(err, ERR_NODE, "%s: nothing moved for %g s: %s", transport_describe(s->t),
                       s->stall_patience_s, s->stall);
    return 0;
}

static int on_line(void *arg, const char *line, size_t len, struct err *err)
{
    struct session *s = arg;
    struct event e;
    if (event_decode(&e, line, len, err) != 0)
        return -1;
    if (e.type == EVENT_SUITE_END)
        snprintf(s->run_status, sizeof s->run_status, "%s", e.status);
    note_stall(s, &e);
    if (s->opt.view)
        s->opt.view->line(s->opt.view->arg, line, len);
    else
        live_event(&s->live, &e);
    return 0;
}

static int restart_executor(struct session *s, int *resumes, struct err *err)
{
    if (++*resumes > RESUMES_MAX)
        return err_set(err, ERR_NODE,
                       "%s: the executor of run %s died %d times: see executor.log in its folder there",
                       transport_describe(s->t), s->rec.run_id, RESUMES_MAX);
    say(s, "the executor on the node is gone; starting it again where it stopped");
    event_stream_rewind(&s->stream);
    return remote_resume(&s->remote, s->rec.run_id, err);
}

int session_follow(struct session *s, struct err *err)
{
    int resumes = 0;
    event_stream_init(&s->stream, on_line, s);
    s->stalled_s = (double)NAN;
    for (;;) {
        bool alive;
        int64_t before = s->stream.offset;
        int rc = remote_follow(&s->remote, s->rec.run_id, before, on_stream, s, &alive, err);
        if (s->stream.offset > before)
            resumes = 0;
        if (rc == 0 && alive)
            return 0;
        if (rc == 0)
            rc = restart_executor(s, &resumes, err);
        else if (s->remote.link_lost && err->kind == ERR_NODE) {
            struct err why = *err;
            rc = reconnect(s, &why, err);
        }
        if (rc != 0)
            return -1;
    }
}

static int pull_into(struct session *s, const char *partial, struct err *err)
{
    for (int tries = 0;; tries++) {
        if (fs_remove_tree(partial, err) != 0)
            return -1;
        if (remote_pack(&s->remote, s->rec.run_id, partial, err) == 0)
            return 0;
        if (!s->remote.link_lost || err->kind != ERR_NODE || tries == RESUMES_MAX)
            return -1;
        struct err why = *err;
        if (reconnect(s, &why, err) != 0)
            return -1;
    }
}

/* Pulled by a command that was killed before it could write that down. */
static bool collected_before(const struct session *s)
{
    char manifest[FS_PATH_MAX];
    struct err ignored = {0};
    return fs_join(manifest, NULL, s->rec.bundle, "manifest.json") == 0 && fs_exists(manifest) &&
           manifest_verify(s->rec.bundle, s->rec.run_id, &ignored) == 0;
}

int session_collect(struct session *s, struct err *err)
{
    char partial[FS_PATH_MAX];
    if (collected_before(s)) {
        s->rec.state = RUNREC_PULLED;
        return runrec_save(&s->rec, s->opt.db, err);
    }
    int n = snprintf(partial, sizeof partial, "%s.partial", s->rec.bundle);
    if (n < 0 || n >= FS_PATH_MAX)
        return err_set(err, ERR_INPUT, "path too long: %.200s", s->rec.bundle);
    int rc = pull_into(s, partial, err);
    if (rc == 0)
        rc = manifest_verify(partial, s->rec.run_id, err);
    if (rc == 0)
        rc = fs_rename(partial, s->rec.bundle, err);
    if (rc != 0) {
        fs_remove_tree(partial, NULL);
        return -1;
    }
    s->rec.state = RUNREC_PULLED;
    return runrec_save(&s->rec, s->opt.db, err);
}

void session_close(struct session *s)
{
    live_end(&s->live);
    event_stream_release(&s->stream);
    transport_close(s->t);
    s->t = NULL;
}
