#include "harness/finish.h"

#include "reports/report.h"
#include "results/baseline.h"
#include "results/history.h"
#include "results/ingest.h"
#include "results/runs.h"

#include <stdio.h>
#include <string.h>

/* What finish_run() gathers; empty members are released as such. */
struct finish {
    struct store store;
    struct run_data run, base;
    struct history history;
    struct comparison comparison;
    bool compared;
};

int finish_fail_on_from_name(const char *name, enum finish_fail_on *out, struct err *err)
{
    if (!name || strcmp(name, "regression") == 0)
        *out = FAIL_ON_REGRESSION;
    else if (strcmp(name, "failure") == 0)
        *out = FAIL_ON_FAILURE;
    else if (strcmp(name, "none") == 0)
        *out = FAIL_ON_NONE;
    else
        return err_set(err, ERR_INPUT, "--fail-on: expected regression, failure or none, found \"%.40s\"",
                       name);
    return 0;
}

static int store_bundle(struct cmd_env *env, struct finish *f, struct runrec *rec, struct err *err)
{
    const struct ingest_options options = {.node = rec->node};
    struct ingest_result result;
    if (store_open(&f->store, env->db, STORE_WRITE, err) != 0 ||
        ingest_bundle(&f->store, rec->bundle, &options, &result, err) != 0)
        return -1;
    if (result.warnings > 0)
        fprintf(stderr, "ingest: %d oddities, the first: %s\n", result.warnings, result.warning);
    rec->state = RUNREC_INGESTED;
    return run_data_load(&f->store, result.key, &f->run, err) != 0 || runrec_save(rec, env->db, err) != 0 ? -1
                                                                                                          : 0;
}

static struct compare_options thresholds(const struct runrec *rec)
{
    struct compare_options o = compare_defaults();
    if (rec->threshold > 0)
        o.regression = o.improvement = rec->threshold;
    return o;
}

static int compare_with_baseline(struct finish *f, const struct runrec *rec, struct err *err)
{
    struct baseline b;
    const struct compare_options options = thresholds(rec);
    if (!*rec->baseline)
        return 0;
    if (baseline_resolve(&f->store, rec->baseline, &f->run.info, &b, err) != 0 ||
        run_data_load(&f->store, b.key, &f->base, err) != 0 ||
        history_for_run(&f->store, &f->run.info, false, &f->history, err) != 0 ||
        compare_runs(&f->base, &f->run, &f->history, &options, &f->comparison, err) != 0)
        return -1;
    f->compared = true;
    return 0;
}

static int print_tables(const struct finish *f, FILE *out, struct err *err)
{
    size_t reference;
    struct buf text;
    buf_init(&text, REPORT_BYTES_MAX);
    bool colour = cmd_colour(out);
    int rc = run_data_reference(&f->run, NULL, &reference, err);
    if (rc == 0)
        rc = report_run_text(&f->run, reference, colour, &text, err);
    if (rc == 0 && f->compared) {
        buf_putc(&text, '\n');
        rc = report_compare_text(&f->comparison, colour, &text, err);
    }
    if (rc == 0)
        fprintf(out, "\n%s", buf_str(&text));
    buf_release(&text);
    return rc;
}

static int write_report(struct finish *f, const struct runrec *rec, const char *path, struct err *err)
{
    struct report_request req = report_defaults();
    struct buf text;
    buf_init(&text, REPORT_BYTES_MAX);
    req.store = &f->store;
    req.run = f->run.info.run_id;
    req.baseline = f->compared ? rec->baseline : NULL;
    req.compare = thresholds(rec);
    int rc = report_render(&req, &text, err);
    if (rc == 0 && !buf_ok(&text))
        rc = err_set(err, ERR_INTERNAL, "%s: no memory for the report", path);
    if (rc == 0)
        rc = fs_write_file(path, buf_str(&text), text.len, 0644, err);
    buf_release(&text);
    return rc;
}

static int exit_code(const struct finish *f, enum finish_fail_on fail_on)
{
    bool failed = f->run.info.counts.failed > 0 || f->run.info.status != RUN_COMPLETE;
    for (size_t i = 0; i < f->run.n_variants; i++)
        failed = failed || f->run.variants[i].status != STATUS_OK;
    if (fail_on == FAIL_ON_REGRESSION && f->compared && comparison_regressed(&f->comparison))
        return EXIT_REGRESSION;
    return failed && fail_on != FAIL_ON_NONE ? EXIT_TEST_FAILED : EXIT_DONE;
}

static json_t *summary(const struct finish *f, const struct runrec *rec, const char *report, int code)
{
    json_t *verdicts = json_object();
    for (int v = 0; f->compared && v < VERDICT_COUNT; v++)
        json_object_set_new(verdicts, verdict_name((enum verdict)v), json_integer(f->comparison.verdicts[v]));
    const struct run_counts *n = &f->run.info.counts;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:{s:i, s:i, s:i, s:i}, s:o, s:i}", "run_id",
                     rec->run_id, "status", run_status_name(f->run.info.status), "node", rec->node, "bundle",
                     rec->bundle, "report", report, "baseline", f->compared ? f->comparison.base_id : "",
                     "counts", "total", n->total, "ok", n->ok, "failed", n->failed, "skipped", n->skipped,
                     "verdicts", verdicts, "exit_code", code);
}

static void release(struct finish *f)
{
    if (f->compared)
        comparison_release(&f->comparison);
    history_release(&f->history);
    run_data_release(&f->base);
    run_data_release(&f->run);
    store_close(&f->store);
}

int finish_run(struct cmd_env *env, struct runrec *rec, const struct finish_options *opt, struct err *err)
{
    struct finish f = {0};
    char report[FS_PATH_MAX];
    int n = opt->report ? snprintf(report, sizeof report, "%s", opt->report)
                        : snprintf(report, sizeof report, "%s.md", rec->bundle);
    int rc = n < 0 || n >= FS_PATH_MAX ? err_set(err, ERR_INPUT, "--report: path too long") : 0;
    if (rc == 0)
        rc = store_bundle(env, &f, rec, err);
    struct err compare_err = {0};
    bool refused = rc == 0 && compare_with_baseline(&f, rec, &compare_err) != 0;
    if (rc == 0)
        rc = write_report(&f, rec, report, err);
    if (rc == 0)
        rc = print_tables(&f, env->json ? stderr : stdout, err);
    if (rc == 0) {
        rc = exit_code(&f, opt->fail_on);
        fprintf(env->json ? stderr : stdout, "\nbundle  %s\nreport  %s\n", rec->bundle, report);
        if (env->json)
            cmd_print_json(summary(&f, rec, report, rc));
    }
    release(&f);
    if (rc >= 0 && refused) {
        *err = compare_err;
        return err_wrap(err, "the run is stored, but not compared with the baseline");
    }
    return rc;
}
