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
    bool left; /* its reader is gone */
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

int cmd_export(struct cmd_env *env, int argc, char **argv)
{
    const char *name = NULL, *words[1];
    const struct arg options[] = {
        {"--format", "FORMAT", &name, NULL, "csv (default), json, jsonl, sql or openmetrics"},
    };
    struct args spec = {.command = "export",
                        .usage = "[RUN]",
                        .about = "Writes the tests of a run or of all runs, their medians for Prometheus "
                                 "(OpenMetrics), or the store as "
                                 "SQL, to standard output.",
                        .options = options,
                        .n_options = sizeof options / sizeof *options,
                        .max_words = 1};
    struct err err = {0};
    struct store s = {0};
    struct output out = {.file = stdout};
    enum export_format format;
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, words, &n, &err);
    if (rc == 1)
        return EXIT_DONE;
    if (rc == 0 && env->json && name && strcmp(name, "json") != 0)
        rc = err_set(&err, ERR_INPUT, "export: --json and --format %.40s exclude each other", name);
    if (!name)
        name = env->json ? "json" : "csv";
    if (rc == 0 && !export_format_from_name(name, &format))
        rc = err_set(&err, ERR_INPUT,
                     "--format: expected csv, json, jsonl, sql or openmetrics, found \"%.40s\"", name);
    if (rc == 0)
        rc = cmd_store_open(env, &s, STORE_READ, &err);
    if (rc == 0)
        rc = export_run_or_all(&s, words, n, format, &out, &err);
    if (out.left || (rc == 0 && cmd_reader_left()))
        rc = EXIT_DONE; /* as in `| head` */
    else if (rc == 0 && fflush(stdout) != 0)
        rc = err_set_errno(&err, ERR_STORAGE, errno, "cannot write the export");
    store_close(&s);
    return rc < 0 ? cmd_fail(&err) : rc;
}
