/* kernsweep status: shows the runs on a node, or on every node known to this store, as executors report
 * them. */
#include "common/base/json.h"
#include "harness/commands/base/listing.h"
#include "harness/commands/base/on_node.h"
#include "harness/plan/job.h"
#include "harness/session/sweep.h"
#include "reports/render/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FINISHED_SHOWN = 5 };

/* The ETA of a run in progress, the status of a complete one, the error of one that stopped. */
static void outlook(const json_t *run, struct buf *out)
{
    const json_t *left = json_object_get(run, "eta_s"), *current = json_object_get(run, "current");
    const char *state = json_text(run, "state");
    char eta[32];
    if (*state && strcmp(state, "running") != 0) {
        buf_puts(out, json_text(run, strcmp(state, "complete") == 0 ? "status" : "error"));
        return;
    }
    live_duration(json_is_number(left) ? json_number_value(left) : NAN, eta, sizeof eta);
    buf_printf(out, "ETA %s", eta);
    if (!json_is_object(current))
        return;
    buf_printf(out, "  %s ctx %lld", json_text(current, "variant"),
               (long long)json_integer_value(json_object_get(current, "context")));
    json_int_t flying = json_integer_value(json_object_get(run, "in_flight"));
    if (flying > 1)
        buf_printf(out, " and %lld more", (long long)flying - 1);
}

static enum cell_mark mark_of(const char *now)
{
    return !*now || strcmp(now, "COMPLETE") == 0 || strncmp(now, "ETA", 3) == 0 ? MARK_NONE
           : strcmp(now, "PARTIAL") == 0 || strcmp(now, "CANCELLED") == 0       ? MARK_WARN
                                                                                : MARK_BAD;
}

static void add_row(struct table *t, const json_t *run)
{
    char tests[48];
    AUTO(buf_release) struct buf now = {.max = 4096};
    outlook(run, &now);
    snprintf(tests, sizeof tests, "%lld/%lld",
             (long long)json_integer_value(json_object_get(run, "tests_done")),
             (long long)json_integer_value(json_object_get(run, "tests_total")));
    table_code(t, json_text(run, "run_id"));
    table_code(t, json_text(run, "node"));
    table_code(t, *json_text(run, "purpose") ? json_text(run, "purpose") : "-");
    table_code(t, json_text(run, "state"));
    table_text(t, tests);
    table_marked(t, now.len ? buf_str(&now) : "-", mark_of(buf_str(&now)));
}

static void print_runs(const json_t *runs)
{
    static const char *const titles[] = {"RUN", "NODE", "PURPOSE", "STATE", "TESTS", "NOW"};
    struct table t;
    size_t i;
    const json_t *run;
    if (json_array_size(runs) == 0)
        return;
    table_init(&t);
    for (i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(&t, titles[i], false);
    json_array_foreach(runs, i, run) add_row(&t, run);
    cmd_print_table(&t);
    table_release(&t);
}

struct status_query {
    struct cmd_env *env;
    const struct attach_args *args;
    const char *word; /* a run, or NULL for all */
    struct listing_args listed;
    struct listing how; /* limit: number of runs that are no longer in progress */
    json_t *all;
    struct runrec *places; /* the newest record per node and folder, whose connection settings are current */
    size_t n_places, room;
    int failed; /* nodes that could not be asked */
};

/* Describes a run whose start was interrupted before it reached the node. */
static json_t *encode_unstarted(const struct runrec *rec)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:n, s:n}", "run_id", rec->run_id, "ticket", rec->ticket,
                     "purpose", run_purpose_name(rec->purpose), "state", runrec_state_name(rec->state),
                     "tests_done", 0, "tests_total", 0, "current", "eta_s");
}

struct unstarted {
    const struct runrec *place;
    const char *word;
    json_t *runs;
};

static int add_unstarted(const struct runrec *rec, void *arg, struct err *err)
{
    const struct unstarted *u = arg;
    json_t *run;
    size_t i;
    (void)err;
    if (rec->state != RUNREC_STARTING || (u->word && strcmp(rec->run_id, u->place->run_id) != 0) ||
        strcmp(rec->node, u->place->node) != 0 || strcmp(rec->workdir, u->place->workdir) != 0)
        return 0;
    json_array_foreach(u->runs, i, run)
    {
        if (strcmp(json_text(run, "run_id"), rec->run_id) == 0)
            return 0;
    }
    json_array_append_new(u->runs, encode_unstarted(rec));
    return 0;
}

/* All runs on the connected node, or the named one, plus those whose start was interrupted. */
static json_t *runs_of_node(struct session *s, const struct runrec *rec, const struct status_query *st,
                            struct err *err)
{
    bool has = true;
    if (st->word && rec->state == RUNREC_STARTING && remote_has_run(&s->remote, rec->run_id, &has, err) != 0)
        return NULL;
    json_t *runs = has ? remote_runs(&s->remote, st->word ? rec->run_id : NULL, err) : json_array();
    struct unstarted u = {.place = rec, .word = st->word, .runs = runs};
    if (runs)
        runrec_each(st->env->db, add_unstarted, &u, NULL);
    return runs;
}

static int query_node(const struct runrec *rec, struct status_query *st, struct err *err)
{
    struct session_options opt;
    AUTO(session_close) struct session s = {0};
    attach_options(st->env, st->args, &opt);
    if (cmd_backend(st->env, &opt.backend, err) != 0 || session_attach(&s, rec, &opt, err) != 0)
        return -1;
    json_auto_t *runs = runs_of_node(&s, rec, st, err);
    json_t *run;
    size_t i;
    json_array_foreach(runs, i, run)
    {
        json_object_set_new(run, "node", json_string(rec->node));
        json_array_append(st->all, run);
    }
    return runs ? 0 : -1;
}

static int note_place(const struct runrec *rec, void *arg, struct err *err)
{
    struct status_query *st = arg;
    size_t i = 0;
    (void)err;
    while (i < st->n_places &&
           (strcmp(st->places[i].node, rec->node) != 0 || strcmp(st->places[i].workdir, rec->workdir) != 0))
        i++;
    ALLOC_GROW(st->places, i + 1, st->room);
    st->places[i] = *rec;
    st->n_places += i == st->n_places;
    return 0;
}

/* An unreachable node must not keep the others from being shown. */
static void query_one_of_several(const struct runrec *rec, struct status_query *st)
{
    struct runrec own = *rec;
    struct err err = {0};
    own.patience_s = 0;
    if (query_node(&own, st, &err) != 0) {
        cmd_fail(&err);
        st->failed++;
    }
}

/* Queries every node and folder in which a run of this store was started, each once. */
static int query_all_nodes(struct status_query *st, struct err *err)
{
    int rc = runrec_each(st->env->db, note_place, st, err);
    for (size_t i = 0; rc == 0 && i < st->n_places; i++)
        query_one_of_several(&st->places[i], st);
    free(st->places);
    return rc;
}

static int query_member(const struct runrec *rec, void *arg, struct err *err)
{
    (void)err;
    query_one_of_several(rec, arg);
    return 0;
}

static int query_sweep(const struct sweep_record *sweep, struct status_query *st, struct err *err)
{
    for (size_t i = 0; i < sweep->count; i++)
        if (*sweep->member[i].failure)
            fprintf(stderr, "%s: no run: %s\n", sweep->member[i].node, sweep->member[i].failure);
    return sweep_each(sweep, st->env->db, query_member, st, err);
}

static int query_status(struct status_query *st, struct err *err)
{
    struct runrec rec;
    struct sweep_record sweep;
    bool several = false;
    if (st->word && st->args->node)
        return err_set(err, ERR_INPUT,
                       "status: --node shows all runs on a node: name a run or a node, not both");
    if (st->args->workdir && !st->args->node)
        return err_set(err, ERR_INPUT, "--workdir: name its node, too, with --node");
    if (st->word && sweep_find(&sweep, st->env->db, st->word, &several, err) != 0)
        return -1;
    if (several)
        return query_sweep(&sweep, st, err);
    if (st->word)
        return runrec_find(&rec, st->env->db, st->word, err) != 0 ? -1 : query_node(&rec, st, err);
    if (st->args->node)
        return attach_record_of_node(st->env, st->args, &rec, err) != 0 ? -1 : query_node(&rec, st, err);
    return query_all_nodes(st, err);
}

static const char *const run_keys[] = {"date", "node", "ticket", "state", NULL};
static const char *const key_members[] = {"run_id", "node", "ticket", "state"};

/* Sorts newest first among equals; ids begin with the time. */
static int in_order(const void *a, const void *b, void *key)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    const char *name = key;
    int order = strcmp(name, "run_id") == 0 ? 0 : strcmp(json_text(x, name), json_text(y, name));
    return order ? order : job_run_id_compare(json_text(y, "run_id"), json_text(x, "run_id"));
}

static bool is_pending(const json_t *run)
{
    const char *state = json_text(run, "state");
    return strcmp(state, "running") == 0 || strcmp(state, "starting") == 0;
}

/* Sorts st->all, and keeps runs in progress and the newest of the others. Returns how many were dropped. */
static size_t arrange(struct status_query *st, size_t finished_max)
{
    size_t n = json_array_size(st->all), kept = 0, finished = 0;
    AUTO_FREE json_t **runs = xcalloc(n + 1, sizeof *runs);
    for (size_t i = 0; i < n; i++)
        runs[i] = json_array_get(st->all, i);
    qsort_r(runs, n, sizeof *runs, in_order, (void *)"run_id"); /* to find the newest ones */
    for (size_t i = 0; i < n; i++)
        if (is_pending(runs[i]) || finished++ < finished_max)
            runs[kept++] = runs[i];
    qsort_r(runs, kept, sizeof *runs, in_order, (void *)key_members[st->how.key]);
    json_t *all = json_array();
    for (size_t i = 0; i < kept; i++)
        json_array_append(all, runs[i]);
    json_decref(st->all);
    st->all = all;
    return n - kept;
}

static int print_status(struct status_query *st)
{
    bool few = (!st->word && !st->args->node) || st->listed.limit;
    size_t dropped = arrange(st, few ? st->how.limit : SIZE_MAX);
    if (st->env->json)
        return cmd_print_json(json_incref(st->all));
    print_runs(st->all);
    fflush(stdout);
    listing_note(dropped, "older run", st->env->notes);
    return EXIT_DONE;
}

struct status_args {
    struct attach_args at;
    struct listing_args listed;
};

static int status(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct status_args *a = args;
    struct status_query st = {.env = env, .args = &a->at, .word = words->v[0], .listed = a->listed};
    if (listing_parse(&st.listed, run_keys, FINISHED_SHOWN, false, &st.how, err) != 0)
        return -1;
    st.all = json_array();
    int rc = query_status(&st, err);
    if (rc == 0)
        rc = print_status(&st);
    json_decref(st.all);
    return rc == EXIT_DONE && st.failed ? EXIT_BLOCKED : rc;
}

#define AT(member) ARG_AT(struct status_args, member)

static const struct arg options[] = {
    {"--all", NULL, AT(listed.all), "all runs, not only those in progress and the newest"},
    {"--limit", "N", AT(listed.limit), "the newest N besides those in progress (default 5)"},
    {"--sort", "KEY", AT(listed.sort), "date (default, newest first), node, ticket or state"},
    {"--node", "NODE", AT(at.node), "all runs on this node"},
    {"--workdir", "DIR", AT(at.workdir), "kernsweep's folder on that node (default .kernsweep)"},
};

const struct cmd cmd_status = {
    .name = "status",
    .summary = "runs on a node and their progress",
    .usage = "[RUN] [options]",
    .about = "Shows the runs in progress and the newest others, on a node or on all nodes known to this "
             "store, with progress and ETA, newest first.",
    .options = ARG_TABLE(struct status_args, options),
    .max_words = 1,
    .run = status,
};
