/* kernsweep nightly PLAN: one command for cron or a timer. Every step can be repeated: an interrupted nightly
 * run resumes where it stopped, from the run's record (runrec.h). */
#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/json.h"
#include "harness/commands/base/changed.h"
#include "harness/commands/base/finish.h"
#include "harness/commands/base/keep_blocked.h"
#include "harness/commands/base/on_node.h"
#include "harness/commands/nightly/nightly_bisect.h"
#include "harness/commands/nightly/nightly_install.h"
#include "harness/commands/nightly/nightly_news.h"
#include "harness/commands/nightly/nightly_nodes.h"
#include "harness/commands/nightly/nightly_prune.h"
#include "harness/commands/run/confirm_run.h"
#include "harness/commands/run/count_run.h"
#include "harness/nightly/board.h"
#include "harness/nightly/lock.h"
#include "harness/nightly/nights.h"
#include "harness/nightly/notify.h"
#include "harness/nightly/open_cells.h"
#include "harness/session/measure.h"
#include "results/query/history_load.h"
#include "results/store/runs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct nightly {
    struct cmd_env *env;
    const struct nightly_args *args;
    const struct node_part *part; /* the node's part if there are several nodes, or NULL */
    struct plan plan;
    struct session session;
    struct night_findings found;
    struct night night;
    struct nightly_lock lock;
    struct nightly_state state;
    json_t *board; /* for the index page; NULL: nothing was measured */
    bool again;    /* second attempt to store, compare and report a run */
    char night_time[CLOCK_ISO_LEN + 1];
    char date[CLOCK_DAY_LEN + 1]; /* day of night_time, for its folder and runs */
};

/* Cells that earlier nights left open are measured whatever the store says of them. */
static int find_changed(const void *arg, const struct plan *p, struct changed_hints *out, struct err *err)
{
    const struct nightly *n = arg;
    if (changed_load(n->env, p, out, err) != 0)
        return -1;
    for (size_t i = 0; i < out->count; i++)
        if (open_cells_find(n->state.open, out->item[i].variant, (int)out->item[i].context))
            out->item[i].open = true;
    return 0;
}

static void fill_options(const struct nightly *n, struct session_options *opt)
{
    const struct attach_args a = {.artifacts = n->args->artifacts,
                                  .view = n->part ? &n->part->relay->view : NULL};
    attach_options(n->env, &a, opt);
    opt->overrides.node = n->part ? n->part->node : n->args->node;
    opt->overrides.tier = n->args->tier;
    opt->overrides.budget = n->args->budget;
    opt->overrides.changed = n->args->changed || json_object_get(n->plan.root, "changed");
    opt->find_changed = find_changed;
    opt->find_changed_arg = n;
    opt->sweep = n->part ? n->part->sweep : NULL;
}

/* Runs on other nodes count as well, unless the plan has nodes of its own. */
static const char *own_node(const struct nightly *n)
{
    return plan_has_nodes(&n->plan) ? n->plan.node : NULL;
}

/* Connects to the interrupted run. *found: whether there is one. */
static int resume(struct nightly *n, const struct session_options *opt, bool *found, struct err *err)
{
    struct runrec rec;
    *found = true;
    int rc = *n->state.run_id ? runrec_find(&rec, n->env->db, n->state.run_id, err)
                              : runrec_newest(&rec, n->env->db, n->plan.file, own_node(n), found, err);
    if (rc == 0 && *found && *rec.set_aside)
        *found = false;
    if (rc != 0 || (!*n->state.run_id && (!*found || rec.state == RUNREC_INGESTED))) {
        *found = false;
        return rc;
    }
    *found = true;
    if (rec.state >= RUNREC_PULLED) {
        n->session.rec = rec;
        return 0;
    }
    if (session_attach(&n->session, &rec, opt, err) != 0 ||
        remote_has_run(&n->session.remote, rec.run_id, found, err) != 0)
        return -1;
    if (!*found) {
        session_close(&n->session);
        if (rec.state == RUNREC_STARTING && runrec_remove(&rec, n->env->db, err) != 0)
            return -1;
    }
    fprintf(opt->progress,
            *found ? "resuming run %s\n" : "the node does not know run %s: starting a new one\n", rec.run_id);
    return 0;
}

/* Measures, or resumes measuring, until the bundle has arrived. The run is then saved as the one of this
 * night, so that it is not measured again if a later step is interrupted. */
static int measure(struct nightly *n, const struct session_options *opt, struct err *err)
{
    bool found;
    if (measure_settle_all(n->plan.file, own_node(n), opt, err) != 0 || resume(n, opt, &found, err) != 0)
        return -1;
    if (!found && session_start(&n->session, &n->plan, opt, err) != 0) {
        cmd_print_blockers(&n->session.preflight);
        keep_blocked(n->env, &n->session, &n->plan, err);
        return -1;
    }
    if (n->session.rec.state < RUNREC_PULLED &&
        (session_follow(&n->session, err) != 0 || session_collect(&n->session, err) != 0))
        return -1;
    if (*n->state.run_id)
        return 0;
    snprintf(n->state.run_id, sizeof n->state.run_id, "%s", n->session.rec.run_id);
    snprintf(n->state.night, sizeof n->state.night, "%s", n->night_time);
    return nightly_lock_save(&n->lock, &n->state, err);
}

/* The board is not worth failing the night, so an error is only printed. */
static void note_board(struct nightly *n, struct finish *f)
{
    struct err err = {0};
    const struct board_night b = {.store = &f->store,
                                  .run = &f->run,
                                  .comparison = f->compared ? &f->comparison : NULL,
                                  .open = night_open_cells(&n->found, &n->state),
                                  .night = n->night_time};
    n->board = board_encode(&b, &err);
    if (!n->board)
        cmd_fail(&err);
}

/* Called after the night's report has been written, so that it exists whatever happens here. Returns whether
 * anything was searched for, which the report is then to tell. */
static bool search_commits(struct nightly *n, struct finish *f, const struct session_options *opt)
{
    const struct nightly_bisect b = {.plan = &n->plan, .opt = opt, .open_before = n->state.open};
    struct err err = {0};
    n->found.commits = json_array();
    n->found.unsearched = nightly_bisect(&b, f, n->found.commits);
    if (!f->compared || json_array_size(n->found.commits) == 0)
        return false;
    if (against_explain(&f->against, &f->run, &f->comparison, &err) == 0)
        return true;
    cmd_fail(&err);
    return false;
}

static int compare_and_report(struct nightly *n, const struct session_options *options, struct err *err)
{
    struct session_options others = *options; /* for the runs that confirm and search */
    const struct session_options *opt = &others;
    others.view = NULL;
    others.sweep = NULL;
    const struct runrec *rec = &n->session.rec;
    AUTO(finish_release) struct finish f = {0};
    if (nights_open(&n->night, n->args->reports, n->date, rec->run_id, err) != 0)
        return -1;
    const struct finish_options fin = {.report = n->night.markdown,
                                       .html = n->night.html,
                                       .fail_on = FAIL_ON_REGRESSION,
                                       .night = true,
                                       .quiet = true,
                                       .first_is_base = true};
    if (finish_compare(n->env, &n->session.rec, &fin, &f, err) != 0)
        return -1;
    if (f.failure.kind == ERR_STORAGE) { /* a report from a damaged store would be wrong */
        *err = f.failure;
        return -1;
    }
    confirm_run(&f, &n->plan, opt);
    count_run(&f, &n->plan, opt);
    if (f.compared)
        night_findings_compare(&n->found, &n->state, &f.comparison, n->date);
    int rc = finish_report(n->env, &n->session.rec, &fin, &f, &n->found.result, err);
    if (rc >= 0 && search_commits(n, &f, opt)) {
        json_decref(n->found.result.summary);
        n->found.result.summary = NULL;
        rc = finish_report(n->env, &n->session.rec, &fin, &f, &n->found.result, err);
    }
    note_board(n, &f);
    if (rc >= 0 && *n->env->interrupted)
        return err_set(err, ERR_INTERRUPTED, "interrupted");
    return rc;
}

static json_t *summarise(const struct nightly *n, int code, unsigned news, const char *text)
{
    char words[64];
    notify_news_text(news, words);
    const json_t *measured = n->found.result.summary;
    json_t *s = measured ? json_deep_copy(measured) : json_object();
    json_object_set_new(s, "night", json_string(n->night_time));
    json_object_set_new(s, "ticket", json_string(n->plan.settings.ticket));
    json_object_set_new(s, "node", json_string(n->plan.node));
    json_object_set_new(s, "plan", json_string(n->plan.file));
    json_object_set_new(s, "news", json_string(words));
    json_object_set_new(s, "headline", json_string(text));
    night_add_lines(&n->found, &n->state, code, news, json_object_get(s, "lines"));
    json_object_set_new(s, "has_report", json_boolean(code >= 0));
    json_object_set_new(s, "report_html", json_string(code >= 0 ? n->night.html : ""));
    return s;
}

/* A damaged store or a full disk may be repaired by the next night, which then completes the run, but only
 * once, so that a lasting failure does not prevent further nights. */
static bool is_ended_by_next_night(const struct nightly *n, int code, const struct err *err)
{
    return code < 0 && err->kind == ERR_STORAGE && *n->state.run_id && !n->again;
}

/* A blocked night gets a folder too, so that the index lists it. */
static int open_blocked(struct nightly *n, struct err *err)
{
    char name[80], sha[SHA256_HEX_LEN + 1] = "", of_node[16] = "";
    if (plan_has_nodes(&n->plan)) {
        sha256_of(n->plan.node, strlen(n->plan.node), sha);
        snprintf(of_node, sizeof of_node, "-%.6s", sha);
    }
    snprintf(name, sizeof name, "%.32s-blocked-%.2s%.2s%.2s%s", n->plan.settings.ticket, n->night_time + 11,
             n->night_time + 14, n->night_time + 17, of_node);
    return nights_open(&n->night, n->args->reports, n->date, name, err);
}

/* -1 if it was interrupted before all were told. */
static int notify(struct nightly *n, unsigned news, const json_t *summary, int code)
{
    struct err err = {0};
    if (n->state.notified)
        return 0;
    if (notify_all(n->plan.nightly.notify, news, summary, code >= 0 ? n->night.markdown : "", &err) > 0) {
        cmd_fail(&err);
        if (*n->env->interrupted)
            return -1;
    }
    n->state.notified = true;
    if (*n->state.run_id && nightly_lock_save(&n->lock, &n->state, &err) != 0)
        cmd_fail(&err);
    return 0;
}

/* The nights of several nodes write the same index. Returns -1 if the folder cannot be locked, in which case
 * it is written without a lock. */
static int lock_index(const char *reports)
{
    int fd = fs_mkdir_p(reports, 0755, NULL) == 0 ? open(reports, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0)
        flock(fd, LOCK_EX);
    return fd;
}

/* What a notification says, for those who read the log instead. */
static void print_lines(const json_t *lines, FILE *out)
{
    size_t i;
    const json_t *line;
    json_array_foreach(lines, i, line) fprintf(out, "  %s\n", json_string_value(line));
}

/* Records the outcome, notifies people and prunes. Failures here do not change the outcome; a night that is
 * interrupted before all are told stays open, and the next one closes it. */
static int close_night(struct nightly *n, int code, struct err *outcome)
{
    struct err err = {0};
    char text[ERR_MSG_MAX];
    const unsigned ended = night_ended(&n->found, code, outcome);
    const unsigned news = night_news(&n->found, &n->state, ended);
    night_headline(&n->found, code, outcome, text, sizeof text);
    json_auto_t *summary = summarise(n, code, news, text);
    int index = lock_index(n->args->reports);
    if ((code < 0 && open_blocked(n, &err) != 0) ||
        nights_close(&n->night, n->args->reports, summary, n->board, &err) != 0)
        cmd_fail(&err);
    if (index >= 0)
        close(index);
    if (notify(n, news, summary, code) != 0)
        return err_set(outcome, ERR_INTERRUPTED, "interrupted");
    nightly_prune(n->env, &n->plan, own_node(n), &n->session);
    struct nightly_state after = night_state_after(&n->found, &n->state, ended, news);
    if (is_ended_by_next_night(n, code, outcome)) {
        memcpy(after.run_id, n->state.run_id, sizeof after.run_id);
        memcpy(after.night, n->state.night, sizeof after.night);
    }
    nightly_state_release(&n->state);
    n->state = after;
    if (nightly_lock_save(&n->lock, &n->state, &err) != 0)
        cmd_fail(&err);
    fprintf(n->env->notes, "nightly run of %s: %s\n", n->plan.settings.ticket, text);
    print_lines(json_object_get(summary, "lines"), n->env->notes);
    return code;
}

/* A run that can never be collected or stored must not prevent the next night. */
static void set_aside(struct nightly *n, const struct err *why)
{
    struct runrec *rec = &n->session.rec;
    struct err err = {0};
    bool stored_never = rec->state == RUNREC_PULLED && why->kind == ERR_INPUT;
    if (!*rec->run_id || (!n->session.hopeless && !stored_never))
        return;
    snprintf(rec->set_aside, sizeof rec->set_aside, "%.500s", why->msg);
    if (runrec_save(rec, n->env->db, &err) != 0)
        cmd_fail(&err);
    else
        fprintf(
            stderr,
            "run %s is set aside: the next night starts a new one; `kernsweep attach %s` tries it again\n",
            rec->run_id, rec->run_id);
}

/* A resumed night keeps its start time and therefore its folder. */
static void set_night_time(struct nightly *n)
{
    nightly_lock_load(&n->lock, &n->state);
    n->again = *n->state.run_id;
    if (n->again)
        snprintf(n->night_time, sizeof n->night_time, "%s", n->state.night);
    else
        clock_iso8601(clock_real_s(), n->night_time);
    snprintf(n->date, sizeof n->date, "%.*s", CLOCK_DAY_LEN, n->night_time);
}

static int run_night(struct nightly *n, const char *file, struct err *err)
{
    struct session_options opt;
    if (nightly_load_plan(&n->plan, file, err) != 0)
        return -1;
    fill_options(n, &opt);
    if (cmd_backend(n->env, &opt.backend, err) != 0 || overrides_apply(&opt.overrides, &n->plan, err) != 0 ||
        plan_one_node(&n->plan, err) != 0 || store_check_writable(n->env->db, err) != 0 ||
        nightly_lock_take(&n->lock, n->env->db, &n->plan, err) != 0)
        return -1;
    set_night_time(n);
    opt.overrides.date = n->date;
    int code = measure(n, &opt, err);
    if (code == 0)
        code = compare_and_report(n, &opt, err);
    if (code < 0 && err->kind == ERR_INTERRUPTED) {
        if (n->session.rec.state <= RUNREC_RUNNING)
            attach_print_left(&n->session);
    } else {
        if (code < 0)
            set_aside(n, err);
        code = close_night(n, code, err);
    }
    nightly_lock_release(&n->lock);
    return code;
}

static void release(struct nightly *n)
{
    if (n->session.opt.progress)
        session_close(&n->session);
    night_findings_release(&n->found);
    json_decref(n->board);
    nightly_state_release(&n->state);
    plan_release(&n->plan);
}

struct several_nights {
    const struct nightly_args *args;
    const char *file;
};

/* Runs in the process of one node. */
static int night_part(struct cmd_env *env, void *arg, const struct node_part *part, struct err *err)
{
    const struct several_nights *all = arg;
    struct nightly n = {.env = env, .args = all->args, .part = part};
    int code = run_night(&n, all->file, err);
    node_part_result(part, n.found.result.summary);
    n.found.result.summary = NULL;
    release(&n);
    return code;
}

/* Runs the night on the only node, or on all nodes of the plan at once. */
static int run_plan(struct cmd_env *env, const struct nightly_args *a, const char *file, struct err *err)
{
    struct several_nights all = {a, file};
    bool several = false;
    if (!a->node && nightly_nodes_named(file, &several, err) != 0)
        return -1;
    if (several)
        return nightly_nodes(env, file, night_part, &all, err);
    struct nightly n = {.env = env, .args = a};
    int rc = run_night(&n, file, err);
    release(&n);
    return rc;
}

static int nightly(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct nightly_args *a = args;
    const char *word = words->v[0];
    if (a->install_timer && a->remove_timer)
        return err_set(err, ERR_INPUT, "nightly: give --install-timer or --remove-timer, not both");
    if (a->at && !a->install_timer)
        return err_set(err, ERR_INPUT, "nightly: --at needs --install-timer");
    if (overrides_check(&(struct overrides){.tier = a->tier, .budget = a->budget}, err) != 0)
        return -1;
    return a->remove_timer    ? nightly_uninstall(word, err)
           : a->install_timer ? nightly_install(env, a, word, err)
                              : run_plan(env, a, word, err);
}

#define AT(member) ARG_AT(struct nightly_args, member)

static const struct arg options[] = {
    {"--node", "NODE", AT(node), "override the plan's node"},
    {"--artifacts", "DIR", AT(artifacts), "folder for bundles (default ./artifacts_remote)"},
    {"--reports", "DIR", AT(reports), "folder for reports and their index (default ./nightly_reports)"},
    CHANGED_OPTIONS(struct nightly_args, ),
    {"--install-timer", NULL, AT(install_timer),
     "run the plan every night, by a systemd user timer or a line in the crontab"},
    {"--at", "TIME", AT(at), "with --install-timer: time of day, local time (default 02:30)"},
    {"--remove-timer", NULL, AT(remove_timer),
     "remove the timer of PLAN: a path, even if the file no longer exists, or a timer's name"},
};

const struct cmd cmd_nightly = {
    .name = "nightly",
    .summary = "scheduled run: start or resume, compare, report, notify, prune",
    .usage = "PLAN [options]",
    .about = "Starts a run of a plan, or resumes one that was interrupted, compares it with its baseline and "
             "history, writes a report, notifies people and prunes. Meant for unattended use.",
    .options = ARG_TABLE(struct nightly_args, options),
    .defaults = &(const struct nightly_args){.artifacts = "artifacts_remote", .reports = "nightly_reports"},
    .min_words = 1,
    .max_words = 1,
    .run = nightly,
};
