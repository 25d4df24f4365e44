/* kernsweep export: stored tests as CSV, JSON or JSON Lines, medians for OpenMetrics; the whole store as SQL.
 */
#include "results/query/export.h"
#include "harness/commands/base/cmd.h"
#include "results/query/find_run.h"
#include "results/query/openmetrics.h"
#include "results/store/runs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct output {
    FILE *file;
    bool left; /* the reader is gone */
};

static int write_out(void *arg, const char *data, size_t len, struct err *err)
{
    struct output *out = arg;
    if (fwrite(data, 1, len, out->file) == len)
        return 0;
    out->left = errno == EPIPE;
    return err_set_errno(err, ERR_STORAGE, errno, "cannot write the export");
}

static int export_run_or_all(struct store *s, const char **words, size_t n, enum export_format format,
                             struct output *out, struct err *err)
{
    int64_t key = 0;
    if (format == EXPORT_SQL && n)
        return err_set(err, ERR_INPUT, "export: --format sql exports the whole store: name no run");
    if (n && store_find_run(s, words[0], &key, err) != 0)
        return -1;
    if (format == EXPORT_OPENMETRICS)
        return openmetrics_export(s, key, write_out, out, err);
    return format == EXPORT_SQL ? export_sql(s, write_out, out, err)
                                : export_tests(s, key, format, write_out, out, err);
}

struct export_args {
    const char *format;
};

static int run_export(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct export_args *a = args;
    const char *name = a->format ? a->format : env->json ? "json" : "csv";
    AUTO(store_close) struct store s = {0};
    struct output out = {.file = NULL};
    enum export_format format;
    if (env->json && strcmp(name, "json") != 0)
        return err_set(err, ERR_INPUT, "export: give --json or --format %.40s, not both", name);
    if (!export_format_from_name(name, &format))
        return err_set(err, ERR_INPUT,
                       "--format: expected csv, json, jsonl, sql or openmetrics, found \"%.40s\"", name);
    if (cmd_store_open(env, &s, STORE_READ, err) != 0)
        return -1;
    out.file = cmd_output_begin(&s);
    int rc = export_run_or_all(&s, words->v, words->n, format, &out, err);
    bool printed = cmd_output_end(out.file, &s) == 0;
    if (out.left || (rc == 0 && !printed && errno == EPIPE))
        return EXIT_DONE; /* the reader is gone, as with `| head` */
    return rc == 0 && !printed ? err_set_errno(err, ERR_STORAGE, errno, "cannot write the export") : rc;
}

#define AT(member) ARG_AT(struct export_args, member)

static const struct arg options[] = {
    {"--format", "FORMAT", AT(format), "csv (default), json, jsonl, sql or openmetrics"},
};

const struct cmd cmd_export = {
    .name = "export",
    .summary = "export stored tests as CSV or JSON, or the store as SQL",
    .usage = "[RUN]",
    .about = "Writes the tests of a run or of all runs, their medians for Prometheus (OpenMetrics), or the "
             "store as SQL, to standard output.",
    .options = ARG_TABLE(struct export_args, options),
    .max_words = 1,
    .unlisted = CMD_NODE_OPTIONS,
    .run = run_export,
};
