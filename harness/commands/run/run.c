/* kernsweep run: runs a plan on a node, then fetches, stores, compares and reports the results. */
#include "common/base/json.h"
#include "common/base/text.h"
#include "harness/commands/base/changed.h"
#include "harness/commands/base/finish.h"
#include "harness/commands/base/keep_blocked.h"
#include "harness/commands/base/on_node.h"
#include "harness/commands/base/scratch_store.h"
#include "harness/commands/run/confirm_run.h"
#include "harness/commands/run/count_run.h"
#include "harness/commands/run/search_run.h"
#include "harness/commands/run/several_nodes.h"
#include "harness/plan/overrides.h"
#include "harness/plan/recorded.h"
#include "harness/session/installed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run_args {
    struct overrides overrides;
    const char *fail_on, *artifacts, *report, *plan;
    bool detach, dry_run, confirm, search, smoke;
    char standard[FS_PATH_MAX]; /* path of the installed plan, if that is used */
};

/* Finds the plan of `run NODE`: $KERNSWEEP_PLAN, that of the checkout, or the installed one. */
static int find_standard(struct run_args *a, const char *word, struct err *err)
{
    static const char here[] = "harness/plans/prefill.json";
    static const char *const places[] = {"../share/kernsweep/harness/plans/prefill.json", NULL};
    const char *named = getenv("KERNSWEEP_PLAN");
    bool found = true;
    if (named && *named)
        a->plan = named;
    else if (fs_exists(here))
        a->plan = here;
    else if (installed_find(places, a->standard, &found, err) != 0)
        return -1;
    else
        a->plan = a->standard;
    if (found && fs_exists(a->plan))
        return 0;
    return err_set(err, ERR_INPUT,
                   "%.200s: no such plan; if this is a node, give --plan FILE or set KERNSWEEP_PLAN", word);
}

static int find_plan(struct run_args *a, const char *word, struct err *err)
{
    if (a->plan) {
        a->overrides.node = a->overrides.node ? a->overrides.node : word;
        return 0;
    }
    if (fs_exists(word) || cmd_is_plan(word)) {
        a->plan = word;
        return 0;
    }
    if (a->overrides.node)
        return err_set(err, ERR_INPUT, "%.200s: no such plan", word);
    if (find_standard(a, word, err) != 0)
        return -1;
    a->overrides.node = word;
    return 0;
}

static int load_plan(struct plan *p, const struct run_args *a, struct err *err)
{
    if (plan_load(p, a->plan, err) != 0)
        return -1;
    if (overrides_apply(&a->overrides, p, err) != 0) {
        plan_release(p);
        return -1;
    }
    if (a->smoke) {
        plan_smoke(p);
        p->baseline = "";
        p->nodes.count = 0; /* use only the first node */
    }
    return 0;
}

/* Such a test is skipped if its cell is already known precisely enough. */
static bool is_perhaps(const json_t *test, int64_t warmup)
{
    const json_t *least = json_object_get(test, "least");
    return least &&
           json_integer_value(json_object_get(test, "repetition")) > json_integer_value(least) + warmup;
}

/* Prints the tests that would run; does not connect to the node. */
static int dry_run(struct cmd_env *env, const struct plan *p, const struct run_args *a)
{
    const struct job_request req = {
        .run_id = "dry-run", .date = a->overrides.date ? a->overrides.date : "", .fresh = a->overrides.fresh};
    json_t *job = job_encode(p, &req);
    if (env->json) {
        json_t *shown = recorded_without_secrets(job);
        json_decref(job);
        return cmd_print_json(shown);
    }
    char others[48] = "";
    if (p->nodes.count > 1)
        snprintf(others, sizeof others, " and %zu more", p->nodes.count - 1);
    printf("plan %s, node %s%s: %zu variant%s x %zu context%s, %zu test%s\n", p->file, p->node, others,
           p->variants.count, text_plural((long long)p->variants.count), p->matrix.count,
           text_plural((long long)p->matrix.count), plan_test_count(p),
           text_plural((long long)plan_test_count(p)));
    size_t i;
    json_t *test;
    json_array_foreach(json_object_get(job, "tests"), i, test)
    {
        printf("%4zu  %-16s ctx %-8lld run %-3lld time-out %g s%s\n", i + 1,
               json_string_value(json_object_get(test, "variant")),
               (long long)json_integer_value(json_object_get(test, "context")),
               (long long)json_integer_value(json_object_get(test, "repetition")),
               json_number_value(json_object_get(test, "timeout_s")),
               json_is_true(json_object_get(test, "warmup")) ? "  (warm-up)"
               : is_perhaps(test, p->matrix.warmup)          ? "  (if needed)"
                                                             : "");
    }
    json_decref(job);
    return EXIT_DONE;
}

static void print_pending(const struct cmd_env *env)
{
    AUTO(buf_release) struct buf text = {.max = 1 << 20};
    pending_command(env, &text);
    fprintf(stderr, "pending command: %s\n", buf_str(&text));
}

static int print_detached(const struct cmd_env *env, const struct session *s)
{
    attach_print_left(s);
    if (!env->json) {
        puts(s->rec.run_id);
        return EXIT_DONE;
    }
    return cmd_print_json(
        json_pack("{s:s, s:s, s:s}", "run_id", s->rec.run_id, "node", s->rec.node, "state", "running"));
}

static int check_search(const struct run_args *a, struct err *err)
{
    const char *other = !a->search              ? NULL
                        : a->detach             ? "--detach"
                        : a->confirm            ? "--confirm"
                        : a->overrides.changed  ? "--changed"
                        : a->overrides.budget   ? "--budget"
                        : a->dry_run            ? "--dry-run"
                        : a->smoke              ? "--smoke"
                        : a->report             ? "--report"
                        : a->fail_on            ? "--fail-on"
                        : a->overrides.repeat   ? "--repeat"
                        : a->overrides.tag      ? "--tag"
                        : a->overrides.baseline ? "--baseline"
                                                : NULL;
    return other ? err_set(err, ERR_INPUT, "run: --search cannot be combined with %s", other) : 0;
}

/* Checks options that do not depend on the plan, so that --dry-run reports them too. */
static int check_args(const struct cmd_env *env, const struct run_args *a, struct err *err)
{
    enum finish_fail_on fail_on;
    const char *backend;
    if (overrides_check(&a->overrides, err) != 0 || fs_check_output(a->report, err) != 0 ||
        finish_fail_on_from_name(a->fail_on, &fail_on, err) != 0 || cmd_backend(env, &backend, err) != 0)
        return -1;
    if (a->smoke && (a->detach || a->confirm || a->overrides.changed || a->overrides.budget))
        return err_set(err, ERR_INPUT,
                       "run: --smoke stores nothing, so it cannot be combined with --detach, --confirm, "
                       "--changed or --budget");
    if (!a->smoke && store_check_writable(env->db, err) != 0)
        return -1;
    return check_search(a, err);
}

static int run_search(struct cmd_env *env, const struct run_args *a, struct err *err)
{
    const struct attach_args where = {.artifacts = a->artifacts};
    struct session_options opt;
    attach_options(env, &where, &opt);
    opt.overrides = a->overrides;
    if (cmd_backend(env, &opt.backend, err) != 0)
        return -1;
    return search_run(env, a->plan, &opt, err);
}

/* Prints the table of a smoke run, which is no result: it uses a temporary store, and the run's record is
 * removed as well. The bundle stays. */
static int finish_smoke(struct cmd_env *env, struct session *s, const struct finish_options *fin,
                        struct err *err)
{
    struct scratch_store scratch = {0};
    struct runrec rec = s->rec;
    struct finish_options own = *fin;
    own.smoke = true;
    own.fail_on = own.fail_on == FAIL_ON_NONE ? FAIL_ON_NONE : FAIL_ON_FAILURE;
    int rc = scratch_store_begin(&scratch, env, err);
    if (rc == 0)
        rc = finish_run(env, &rec, &own, err);
    scratch_store_end(&scratch);
    if (rc >= 0) {
        fputs("a smoke run: nothing was added to the store\n", env->notes);
        runrec_remove(&s->rec, env->db, NULL);
    }
    return rc;
}

/* In a sweep of several nodes, the parent process prints the result. */
static int tell_detached(const struct cmd_env *env, const struct session *s, const struct node_part *part)
{
    if (!part)
        return print_detached(env, s);
    node_part_result(
        part, json_pack("{s:s, s:s, s:s}", "run_id", s->rec.run_id, "node", s->rec.node, "state", "running"));
    return EXIT_DONE;
}

static int fill_options(struct cmd_env *env, const struct run_args *a, const struct plan *p,
                        const struct node_part *part, struct session_options *opt, struct err *err)
{
    const struct attach_args where = {.artifacts = a->artifacts, .view = part ? &part->relay->view : NULL};
    attach_options(env, &where, opt);
    opt->overrides = a->overrides;
    opt->repeatable = true;
    opt->sweep = part ? part->sweep : NULL;
    if (a->smoke)
        opt->purpose = PURPOSE_CONFIRM;
    if (p->recorded) {
        opt->purpose = PURPOSE_CONFIRM; /* a repeated run must not count as a night */
        fprintf(opt->progress,
                "repeating run %s from its bundle: `latest` and histories leave the new run out\n",
                recorded_run_id(p->recorded));
    }
    return cmd_backend(env, &opt->backend, err);
}

static int start_run(struct cmd_env *env, const struct plan *p, const struct session_options *opt,
                     const struct node_part *part, struct session *s, struct err *err)
{
    if (session_start(s, p, opt, err) == 0)
        return 0;
    if (session_is_left(s, err))
        attach_print_left(s);
    else if (err->kind == ERR_NODE) {
        cmd_print_blockers(&s->preflight);
        if (!part)
            print_pending(env);
        keep_blocked(env, s, p, err);
    }
    return -1;
}

/* part: NULL for the only node. */
static int run_plan(struct cmd_env *env, const struct run_args *a, const struct plan *p,
                    const struct node_part *part, struct session *s, struct err *err)
{
    struct finish_options fin = {.report = part ? NULL : a->report, .quiet = part != NULL};
    struct session_options opt;
    if (finish_fail_on_from_name(a->fail_on, &fin.fail_on, err) != 0 ||
        fill_options(env, a, p, part, &opt, err) != 0 || start_run(env, p, &opt, part, s, err) != 0)
        return -1;
    if (a->detach)
        return tell_detached(env, s, part);
    if (session_follow(s, err) != 0 || session_collect(s, err) != 0) {
        attach_print_left(s);
        return -1;
    }
    if (a->smoke)
        return finish_smoke(env, s, &fin, err);
    AUTO(finish_release) struct finish f = {0};
    if (finish_compare(env, &s->rec, &fin, &f, err) != 0)
        return -1;
    if (a->confirm) {
        opt.view = NULL; /* not for the runs that confirm */
        opt.sweep = NULL;
        confirm_run(&f, p, &opt);
        count_run(&f, p, &opt);
    }
    return node_part_finish(env, &s->rec, &fin, &f, part, err);
}

struct several_run {
    const struct run_args *args;
    const struct plan *plan;
};

/* Runs in the process of one node. */
static int run_part(struct cmd_env *env, void *arg, const struct node_part *part, struct err *err)
{
    const struct several_run *r = arg;
    struct run_args a = *r->args;
    struct plan p = *r->plan;
    AUTO(session_close) struct session s = {0};
    a.overrides.node = p.node = part->node;
    p.nodes.count = 0;
    return run_plan(env, &a, &p, part, &s, err);
}

static int run_several(struct cmd_env *env, const struct run_args *a, const struct plan *p, struct err *err)
{
    struct sweep_record sweep;
    struct several_run r = {a, p};
    struct several_nodes n = {.env = env,
                              .sweep = &sweep,
                              .fn = run_part,
                              .arg = &r,
                              .report = a->report,
                              .detached = a->detach,
                              .reports = true};
    enum finish_fail_on ignored;
    if (finish_fail_on_from_name(a->fail_on, &ignored, err) != 0)
        return -1;
    sweep_begin(&sweep, p);
    return several_nodes(&n, err);
}

static int run(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    struct run_args *a = args;
    AUTO(plan_release) struct plan p = {0};
    AUTO(session_close) struct session s = {0};
    if (check_args(env, a, err) != 0 || find_plan(a, words->v[0], err) != 0 || load_plan(&p, a, err) != 0)
        return -1;
    if (a->smoke && p.nodes.count > 1)
        return err_set(err, ERR_INPUT, "run: --smoke runs on one node of the plan: name it with --node");
    return a->dry_run          ? dry_run(env, &p, a)
           : a->search         ? run_search(env, a, err)
           : p.nodes.count > 1 ? run_several(env, a, &p, err)
                               : run_plan(env, a, &p, NULL, &s, err);
}

#define AT(member) ARG_AT(struct run_args, member)

static const struct arg options[] = {
    {"--node", "NODE", AT(overrides.node), "ssh alias, [user@]host[:port] or local; overrides the plan"},
    {"--plan", "FILE", AT(plan), "the plan, if the argument is a node"},
    {"--variants", "LIST", AT(overrides.variants), "run only these variants, in this order: v3,v4"},
    {"--contexts", "LIST", AT(overrides.contexts), "run these contexts: 4096,8192"},
    {"--axis", "LIST", AT(overrides.axis),
     "run only points with these values of axes: block=64,128,dtype=bf16"},
    {"--repeat", "LIST", AT(overrides.repeat), "repetitions: 3, or per context: 4096:2,8192:1"},
    {"--mode", "MODE", AT(overrides.mode), "perf or debug; overrides the plan"},
    {"--date", "DATE", AT(overrides.date),
     "date of the run and of its bundle's folder (default: today in UTC)"},
    {"--tag", "TAG", AT(overrides.tag), "tag of the bundle; overrides the plan"},
    {"--baseline", "NAME", AT(overrides.baseline), "stored baseline to compare with; overrides the plan"},
    {"--fail-on", "WHAT", AT(fail_on),
     "what counts as failure: regression (default), suspected, failure or none"},
    {"--artifacts", "DIR", AT(artifacts), "folder for bundles (default ./artifacts_remote)"},
    {"--report", "FILE", AT(report), "file for the report (default next to the bundle)"},
    CHANGED_OPTIONS(struct run_args, overrides.),
    {"--confirm", NULL, AT(confirm),
     "measure suspects again, in alternation with the baseline's build, before reporting a regression"},
    {"--search", NULL, AT(search),
     "look for the best point: rounds with more repetitions of fewer points each"},
    {"--single-shot", NULL, AT(overrides.single_shot),
     "ignored: every test is always a separate process; accepted for old scripts"},
    {"--fresh", NULL, AT(overrides.fresh), "rebuild every variant, ignoring cached builds"},
    {"--detach", NULL, AT(detach), "return once the run has started"},
    {"--smoke", NULL, AT(smoke),
     "run each variant once, at its smallest context; keep the bundle but store nothing"},
    {"--dry-run", NULL, AT(dry_run), "list the tests without running them"},
};

const struct cmd cmd_run = {
    .name = "run",
    .summary = "run a plan's variants and contexts on a node",
    .usage = "PLAN|NODE [options]",
    .about = "Runs a plan on a node, stores the results, compares them and writes a report.",
    .options = ARG_TABLE(struct run_args, options),
    .min_words = 1,
    .max_words = 1,
    .run = run,
};
