/* kernsweep bench: measures commands against each other on a node, without a plan. */
#include "common/base/alloc.h"
#include "common/base/text.h"
#include "harness/commands/base/on_node.h"
#include "harness/commands/base/scratch_store.h"
#include "harness/commands/plan/bench_parameters.h"
#include "harness/commands/plan/bench_plan.h"
#include "reports/tables/bench_export.h"
#include "results/ingest/ingest.h"
#include "results/judge/within.h"
#include "results/store/run_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double stop_deadline_s = 60;

struct bench_args {
    struct bench_request request;
    const char *artifacts, *names, *parameters, *export_json;
    struct bench_commands commands; /* with parameters, what became of those on the command line */
    bool store, markdown;
};

static void say_it_goes_on(const struct runrec *rec, const struct err *err)
{
    AUTO(buf_release) struct buf where = {.max = 2 * FS_PATH_MAX};
    if (strcmp(rec->workdir, ".kernsweep") != 0) {
        buf_puts(&where, " --workdir ");
        text_shell_quote(&where, rec->workdir);
    }
    fprintf(stderr, "run %s may still be running on %s: `kernsweep cancel %s --node %s%s` (%s)\n",
            rec->run_id, rec->node, rec->run_id, rec->node, buf_str(&where), err->msg);
}

/* Stops a run that is no longer awaited, just as Ctrl-C would stop local commands. */
static void stop_run(struct cmd_env *env, const struct runrec *rec, const char *backend, bool quiet,
                     bool keep)
{
    static const volatile sig_atomic_t not_interrupted = 0;
    struct session s = {0};
    struct session_options opt;
    struct attach_args a = {.node = rec->node};
    struct err err = {0};
    const char *args[] = {"--run", rec->run_id, NULL};
    attach_options(env, &a, &opt);
    opt.interrupted = &not_interrupted;
    opt.backend = backend;
    json_t *answer = session_attach(&s, rec, &opt, &err) == 0
                         ? remote_call(&s.remote, "cancel", args, NULL, 0, stop_deadline_s, &err)
                         : NULL;
    if (answer && !keep)
        session_forget(&s);
    if (answer && !quiet)
        fprintf(stderr, "stopped run %s on %s\n", rec->run_id, rec->node);
    else if (!answer)
        say_it_goes_on(rec, &err);
    json_decref(answer);
    if (s.t)
        session_close(&s);
}

static int measure(struct cmd_env *env, const struct bench_args *a, const struct plan *p, struct session *s,
                   struct err *err)
{
    char artifacts[FS_PATH_MAX];
    struct session_options opt;
    struct attach_args where = {.artifacts = a->artifacts};
    if (!a->store && fs_beside(env->db, "artifacts", artifacts, err) != 0)
        return -1;
    if (!a->store)
        where.artifacts = artifacts;
    attach_options(env, &where, &opt);
    opt.needs_commands = true;
    opt.purpose = a->store ? PURPOSE_SWEEP : PURPOSE_CONFIRM;
    if (cmd_backend(env, &opt.backend, err) != 0)
        return -1;
    bool started = session_start(s, p, &opt, err) == 0;
    if (started && session_follow(s, err) == 0 && session_collect(s, err) == 0) {
        if (!a->store)
            session_forget(s);
        return 0;
    }
    if (!started && err->kind == ERR_NODE)
        cmd_print_blockers(&s->preflight);
    if (s->offered && (err->kind == ERR_INTERRUPTED || err->kind == ERR_INPUT))
        stop_run(env, &s->rec, opt.backend, err->kind == ERR_INPUT, a->store);
    return -1;
}

static void put_markdown(const struct table *t, struct buf *out)
{
    for (size_t i = 0; i < t->n_cols; i++)
        buf_printf(out, "| %s ", t->cols[i].title);
    buf_puts(out, "|\n");
    for (size_t i = 0; i < t->n_cols; i++)
        buf_puts(out, t->cols[i].right ? "| ---: " : "| --- ");
    buf_puts(out, "|");
    for (size_t i = 0; t->n_cols > 0 && i < t->n_cells; i++) {
        bool code = i % t->n_cols < 2;
        buf_puts(out, i % t->n_cols == 0 ? "\n| " : " ");
        buf_puts(out, code ? "`" : "");
        for (const char *s = t->cells[i].text; *s; s++) /* escape what would end the code span or the cell */
            buf_puts(out, *s == '`'                 ? "'"
                          : *s == '|'               ? "\\|"
                          : (unsigned char)*s < ' ' ? " "
                                                    : (const char[]){*s, '\0'});
        buf_puts(out, code ? "` |" : " |");
    }
    buf_putc(out, '\n');
}

static json_t *encode_row(const struct bench_row *row, enum metric m)
{
    json_t *values = json_array();
    for (size_t i = 0; i < row->n; i++)
        json_array_append_new(values, json_real(row->values[i]));
    const struct delta *d = row->delta;
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", row->name,
                     "command", row->command, "status", row->cell ? status_name(row->cell->status) : "",
                     "median", cmd_json_number(row->cell && row->n > 0 ? row->cell->median[m] : NAN), "low",
                     cmd_json_number(row->interval.low), "high", cmd_json_number(row->interval.high), "min",
                     cmd_json_number(row->least), "max", cmd_json_number(row->most), "user_s",
                     cmd_json_number(row->user_s), "system_s", cmd_json_number(row->system_s), "values",
                     values, "factor", cmd_json_number(d ? d->estimate.factor : NAN), "verdict",
                     d ? json_string(verdict_name(d->verdict)) : json_null());
}

static json_t *encode(const struct bench_table *t, int exit_code)
{
    enum metric m = run_data_metric(t->run);
    json_t *rows = json_array();
    for (size_t i = 0; i < t->run->n_variants; i++) {
        struct bench_row row;
        bench_row_fill(t, i, &row);
        json_array_append_new(rows, encode_row(&row, m));
        free(row.values);
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:i}", "run_id", t->run->info.run_id, "node",
                     t->run->info.node, "metric", metric_info(m)->name, "unit", metric_info(m)->unit,
                     "commands", rows, "exit_code", exit_code);
}

static int export_json(const struct bench_table *t, const struct bench_args *a, struct err *err)
{
    json_auto_t *root = bench_export(t, a->commands.values);
    AUTO_FREE char *text = json_dumps(root, JSON_INDENT(2));
    return fs_write_output(a->export_json, text, err);
}

static int print_result(struct cmd_env *env, const struct bench_args *a, const struct run_data *run,
                        const struct comparison *c, int code, struct err *err)
{
    const struct bench_table table = {
        .run = run, .comparison = c, .commands = a->request.command, .n_commands = a->request.count};
    if (a->export_json && export_json(&table, a, err) != 0)
        return -1;
    if (env->json)
        return cmd_print_json(encode(&table, code)) == EXIT_DONE ? code : EXIT_LOCAL;
    AUTO(buf_release) struct buf text = {.max = 1 << 20};
    AUTO(table_release) struct table shown = {0};
    bench_table_fill(&table, &shown);
    if (a->markdown)
        put_markdown(&shown, &text);
    else
        table_write_text(&shown, cmd_screen(stdout), &text);
    fputs(a->markdown ? "" : "\n", stdout);
    if (a->markdown)
        cmd_print(&text);
    else
        cmd_print_fitted(&text, stdout);
    if (a->store)
        printf("\nstored as run %s\n", run->info.run_id);
    return code;
}

static int exit_code(const struct run_data *run)
{
    if (run->info.status == RUN_BLOCKED)
        return EXIT_BLOCKED;
    bool failed =
        run->info.counts.failed > 0 || run->info.counts.skipped > 0 || run->info.status != RUN_COMPLETE;
    return failed ? EXIT_TEST_FAILED : EXIT_DONE;
}

static void print_reasons(const struct run_data *run)
{
    for (size_t i = 0; i < run->n_cells; i++)
        if (run->cells[i].status != STATUS_OK)
            fprintf(stderr, "%s: %s: %s\n", run->variants[run->cells[i].variant].name,
                    status_name(run->cells[i].status), run->cells[i].reason);
}

static int judge_and_print(struct cmd_env *env, const struct bench_args *a, struct session *s,
                           struct err *err)
{
    const struct ingest_options options = {.node = s->rec.node};
    const struct compare_options compare = compare_defaults();
    AUTO(store_close) struct store store = {0};
    AUTO(run_data_release) struct run_data run = {0};
    AUTO(comparison_release) struct comparison c = {0};
    struct ingest_result result;
    if (cmd_store_open(env, &store, STORE_WRITE, err) != 0 ||
        ingest_bundle(&store, s->rec.bundle, &options, &result, err) != 0 ||
        run_data_load(&store, result.key, &run, err) != 0)
        return -1;
    s->rec.state = RUNREC_INGESTED;
    if (runrec_save(&s->rec, env->db, err) != 0)
        return -1;
    bool pair = run.n_variants > 1;
    if (pair)
        compare_within(&run, 0, &compare, &c);
    print_reasons(&run);
    return print_result(env, a, &run, pair ? &c : NULL, exit_code(&run), err);
}

static int bench(struct cmd_env *env, const struct bench_args *a, struct err *err)
{
    AUTO(plan_release) struct plan p = {0};
    AUTO(scratch_store_end) struct scratch_store scratch = {0};
    AUTO(session_close) struct session s = {0};
    if (a->artifacts && !a->store)
        return err_set(err, ERR_INPUT, "--artifacts: nothing is kept without --store");
    if (bench_plan_make(&a->request, &p, err) != 0 ||
        (!a->store && scratch_store_begin(&scratch, env, err) != 0) || measure(env, a, &p, &s, err) != 0)
        return -1;
    return judge_and_print(env, a, &s, err);
}

/* Splits the names at commas, in place. */
static int take_names(struct bench_request *b, char *names, struct err *err)
{
    char *rest = names;
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        if (b->names == BENCH_COMMANDS_MAX)
            return err_set(err, ERR_INPUT, "--name: more than %d names", BENCH_COMMANDS_MAX);
        b->name[b->names++] = word;
    }
    return 0;
}

static int run_bench(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    struct bench_args *a = args;
    AUTO_FREE char *names = a->names ? xstrdup(a->names) : NULL;
    int rc = bench_commands_make(words->v, words->n, a->parameters, BENCH_COMMANDS_MAX, &a->commands, err);
    a->request.count = a->commands.text.n;
    a->request.parameters = a->commands.values;
    for (size_t i = 0; rc == 0 && i < a->request.count; i++)
        a->request.command[i] = a->commands.text.v[i];
    if (rc == 0 && names)
        rc = take_names(&a->request, names, err);
    rc = rc == 0 ? fs_check_output(a->export_json, err) : rc;
    rc = rc == 0 ? bench(env, a, err) : rc;
    bench_commands_release(&a->commands);
    return rc;
}

#define AT(member) ARG_AT(struct bench_args, member)

static const struct arg options[] = {
    {"--node", "NODE", AT(request.node),
     "where they run: local (default), an ssh alias or [user@]host[:port]"},
    {"--workdir", "DIR", AT(request.workdir), "kernsweep's folder on the node (default .kernsweep)"},
    {"--repeat", "N", AT(request.repeat),
     "measured runs of each command (default 10, with --until at most 100)"},
    {"--until", "PERCENT", AT(request.until),
     "run each only until the 95 % interval of a ratio of medians spans at most this to each side"},
    {"--warmup", "N", AT(request.warmup), "additional runs of each before these (default 0)"},
    {"--setup", "COMMAND", AT(request.setup), "run once for each before anything is measured (with sh -c)"},
    {"--prepare", "COMMAND", AT(request.prepare), "run before each run (with sh -c)"},
    {"--cleanup", "COMMAND", AT(request.cleanup), "run once for each after the last run (with sh -c)"},
    {"--ignore-failure", NULL, AT(request.ignore_failure), "a run counts whatever its exit code is"},
    {"--name", "LIST", AT(names), "names of the commands, in their order: old,new"},
    {"-L,--parameter", "LIST", AT(parameters),
     "measure each command for each value of its parameters: 'size=1,2 mode=x,y' for {size} and {mode}"},
    {"--shell", NULL, AT(request.shell), "run each command with sh -c: pipes, variables, redirections"},
    {"--sample", "FILE", AT(request.sample),
     "a sample of their output: compare by what init would read from it"},
    {"--pattern", "REGEX", AT(request.pattern),
     "regular expression: compare by what its named groups find in a line"},
    {"--unit", "UNIT", AT(request.unit), "unit of what --pattern finds"},
    {"--better", "WORD", AT(request.better), "less (default) or more of what --pattern finds"},
    {"--timeout", "SECONDS", AT(request.timeout), "time limit of one run (default 600)"},
    {"--markdown", NULL, AT(markdown), "print the table as Markdown"},
    {"--export-json", "FILE", AT(export_json),
     "write the wall times of all runs to FILE in the form of hyperfine 1"},
    {"--store", NULL, AT(store), "keep the run, its bundle and its results"},
    {"--ticket", "NAME", AT(request.ticket), "name of the series in the store (default bench)"},
    {"--artifacts", "DIR", AT(artifacts), "with --store: folder for bundles (default ./artifacts_remote)"},
};

const struct cmd cmd_bench = {
    .name = "bench",
    .summary = "measure commands against each other on a node, without a plan",
    .usage = "[options] COMMAND...",
    .about =
        "Measures commands against each other on a node: alternately, one process at a time, compared by "
        "wall time or by what they print. Needs no plan and keeps nothing.",
    .options = ARG_TABLE(struct bench_args, options),
    .defaults = &(const struct bench_args){.request = {.node = "local"}},
    .min_words = 1,
    .max_words = BENCH_COMMANDS_MAX,
    .run = run_bench,
};
