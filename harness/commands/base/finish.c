#include "harness/commands/base/finish.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "harness/commands/base/revisions.h"
#include "reports/report.h"
#include "reports/tables/terminal.h"
#include "results/ingest/ingest.h"
#include "results/query/causes_store.h"
#include "results/query/report_queries.h"
#include "results/store/baseline.h"
#include "results/store/run_load.h"
#include "results/store/runs.h"

#include <stdio.h>
#include <string.h>

int finish_fail_on_from_name(const char *name, enum finish_fail_on *out, struct err *err)
{
    if (!name || strcmp(name, "regression") == 0)
        *out = FAIL_ON_REGRESSION;
    else if (strcmp(name, "suspected") == 0)
        *out = FAIL_ON_SUSPECTED;
    else if (strcmp(name, "failure") == 0)
        *out = FAIL_ON_FAILURE;
    else if (strcmp(name, "none") == 0)
        *out = FAIL_ON_NONE;
    else
        return err_set(err, ERR_INPUT,
                       "--fail-on: expected regression, suspected, failure or none, found \"%.40s\"", name);
    return 0;
}

static int store_bundle(struct cmd_env *env, struct finish *f, struct runrec *rec, struct err *err)
{
    const struct ingest_options options = {.node = rec->node};
    struct ingest_result result;
    if (cmd_store_open(env, &f->store, STORE_WRITE, err) != 0 ||
        ingest_bundle(&f->store, rec->bundle, &options, &result, err) != 0)
        return -1;
    cmd_print_warnings("ingest", result.warnings, result.warning);
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

static int compare_with_against(struct finish *f, struct err *err)
{
    if (against_compare(&f->against, &f->run, &f->comparison, err) != 0 ||
        against_commits(&f->store, &f->against, &f->run, &f->commits, err) != 0 ||
        against_commits_of_night(&f->store, &f->against, &f->run, &f->commits_of_night, err) != 0)
        return -1;
    f->compared = true;
    return 0;
}

/* Without a baseline, a run is judged by the plan's earlier nights if there are enough of them. */
static int compare_with_nights(struct finish *f, const struct compare_options *options, struct err *err)
{
    if (f->run.info.purpose != PURPOSE_SWEEP || f->run.info.status == RUN_BLOCKED)
        return 0;
    if (against_nights(&f->store, &f->run, options, &f->against, err) != 0)
        return -1;
    if (f->against.history.nights < options->history_min)
        return 0;
    return compare_with_against(f, err);
}

static int compare_with_baseline(struct finish *f, const struct runrec *rec, const struct finish_options *opt,
                                 struct err *err)
{
    const struct compare_options options = thresholds(rec);
    if (!*rec->baseline)
        return compare_with_nights(f, &options, err);
    if (against_baseline(&f->store, &f->run, rec->baseline, &options, &f->against, err) != 0)
        return -1;
    f->is_base = opt->first_is_base && f->against.base.info.key == f->run.info.key;
    if (f->is_base)
        return 0;
    return compare_with_against(f, err);
}

/* Appends lines such as "build failed: variant b: exit code 1" with the path of the log. */
static void list_failed_variants(const struct finish *f, const char *bundle, struct buf *out)
{
    for (size_t i = 0; i < f->run.n_variants; i++) {
        const struct run_variant *v = &f->run.variants[i];
        bool build = v->status == STATUS_BUILD_FAILED;
        struct err ignored = {0};
        char folder[FS_PATH_MAX], log[FS_PATH_MAX];
        if (!build && v->status != STATUS_GATE_FAILED)
            continue;
        buf_printf(out, "%s failed: variant %s: ", build ? "build" : "gate", v->name);
        text_printable(out, v->reason, strlen(v->reason), RUN_REASON_MAX);
        if (fs_join(folder, &ignored, bundle, v->name) == 0 &&
            fs_join(log, &ignored, folder, build ? "build.log" : "gate.log") == 0 && fs_exists(log))
            buf_printf(out, " (log: %s)", log);
        buf_putc(out, '\n');
    }
}

static int print_tables(struct finish *f, const struct runrec *rec, bool smoke, FILE *out, struct err *err)
{
    size_t reference;
    bool kernels;
    const struct screen screen = cmd_screen(out);
    AUTO(buf_release) struct buf text = {.max = REPORT_BYTES_MAX};
    if (report_reference(&f->store, &f->run, NULL, &reference, err) != 0 ||
        report_kernels_alone(&f->store, &f->run, &kernels, err) != 0)
        return -1;
    if (smoke)
        terminal_single_shots(&f->run, kernels, screen, &text);
    else
        terminal_run(&f->run, reference, kernels, screen, &text);
    list_failed_variants(f, rec->bundle, &text);
    if (f->compared) {
        buf_putc(&text, '\n');
        range_print(&f->commits, "Commits", &text);
        range_print(&f->commits_of_night, "Commits since the night before", &text);
        terminal_comparison(&f->comparison, kernels, screen, &text);
    }
    fputc('\n', out);
    cmd_print_fitted(&text, out);
    return 0;
}

static struct report_request request_of(struct finish *f, const struct runrec *rec)
{
    struct report_request req = report_defaults();
    req.store = &f->store;
    req.run = f->run.info.run_id;
    req.n_langs = 0; /* the plan's */
    if (f->compared) {
        req.baseline = rec->baseline;
        req.held_against = &f->against;
        req.comparison = &f->comparison;
    }
    req.compare = thresholds(rec);
    return req;
}

int finish_html_beside(const char *report, char *out, struct err *err)
{
    size_t len = strlen(report);
    if (len > 3 && strcmp(report + len - 3, ".md") == 0)
        len -= 3;
    int n = snprintf(out, FS_PATH_MAX, "%.*s.html", (int)len, report);
    return n > 0 && n < FS_PATH_MAX ? 0 : err_set(err, ERR_INPUT, "--report: path too long");
}

/* Writes the Markdown report, with its plots in a folder next to it, and the HTML report. */
static int write_reports(struct finish *f, const struct runrec *rec, const struct finish_options *opt,
                         const char *report, struct err *err)
{
    char page[FS_PATH_MAX], plots[FS_PATH_MAX], href[FS_PATH_MAX], folder[FS_PATH_MAX];
    struct report_request req = request_of(f, rec);
    req.kind = opt->night ? REPORT_NIGHTLY : req.kind;
    AUTO(buf_release) struct buf markdown = {.max = REPORT_BYTES_MAX};
    AUTO(buf_release) struct buf html = {.max = REPORT_BYTES_MAX};
    if (finish_html_beside(report, page, err) != 0 || report_assets_beside(report, plots, href, err) != 0)
        return -1;
    req.asset_dir = plots;
    req.asset_href = href;
    if (report_folder(report, folder))
        req.beside = folder;
    if (report_render_both(&req, &markdown, &html, err) != 0 ||
        fs_write_output(report, buf_str(&markdown), err) != 0)
        return -1;
    return fs_write_output(opt->html ? opt->html : page, buf_str(&html), err);
}

int finish_code(const struct comparison *c, enum finish_fail_on fail_on)
{
    bool suspected = fail_on == FAIL_ON_SUSPECTED;
    if ((suspected && c->verdicts[VERDICT_SUSPECTED] > 0) ||
        ((suspected || fail_on == FAIL_ON_REGRESSION) && comparison_regressed(c)))
        return EXIT_REGRESSION;
    bool failing = c->verdicts[VERDICT_FAILING] + c->verdicts[VERDICT_BROKEN] > 0;
    return failing && fail_on != FAIL_ON_NONE ? EXIT_TEST_FAILED : EXIT_DONE;
}

static int exit_code(const struct finish *f, enum finish_fail_on fail_on)
{
    if (f->run.info.status == RUN_BLOCKED) /* nothing was measured, so --fail-on does not apply */
        return EXIT_BLOCKED;
    bool failed = f->run.info.counts.failed > 0 || f->run.info.status != RUN_COMPLETE;
    for (size_t i = 0; i < f->run.n_variants; i++)
        failed = failed || f->run.variants[i].status != STATUS_OK;
    int compared = f->compared ? finish_code(&f->comparison, fail_on) : EXIT_DONE;
    if (compared != EXIT_DONE)
        return compared;
    return failed && fail_on != FAIL_ON_NONE ? EXIT_TEST_FAILED : EXIT_DONE;
}

/* A night's news are the commits since the previous night, even if the base is older. */
static const struct commit_range *news_of(const struct finish *f)
{
    return f->commits_of_night.kind != RANGE_NONE ? &f->commits_of_night : &f->commits;
}

static json_t *encode_lines(const struct finish *f)
{
    AUTO(buf_release) struct buf commits = {.max = 1024};
    range_phrase(news_of(f), REPORT_EN, &commits);
    json_t *lines = digest_lines(&f->run, f->compared ? &f->comparison : NULL, buf_str(&commits));
    return lines;
}

static json_t *encode_summary(const struct finish *f, const struct runrec *rec, const char *report, int code)
{
    json_t *verdicts = json_object();
    for (int v = 0; f->compared && v < VERDICT_COUNT; v++)
        json_object_set_new(verdicts, verdict_name((enum verdict)v), json_integer(f->comparison.verdicts[v]));
    const struct run_counts *n = &f->run.info.counts;
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:{s:i, s:i, s:i, s:i}, s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "run_id",
        rec->run_id, "status", run_status_name(f->run.info.status), "node", rec->node, "bundle", rec->bundle,
        "report", report, "baseline", f->compared ? f->comparison.base_id : "", "counts", "total", n->total,
        "ok", n->ok, "failed", n->failed, "skipped", n->skipped, "verdicts", verdicts, "commit",
        revision_encode(&f->run.info.revision), "commits", range_encode(&f->commits), "commits_of_night",
        range_encode(&f->commits_of_night), "lines", encode_lines(f), "carried",
        cmd_json_carried(f->run.carried, f->run.n_carried), "exit_code", code);
}

/* Whether the run's plan, node and mode have no baseline of that name yet. */
static bool baseline_unset(struct finish *f, const char *name)
{
    AUTO(baseline_list_release) struct baseline_list known = {0};
    const struct run_info *run = &f->run.info;
    struct err ignored = {0};
    bool unset = baseline_list(&f->store, &known, &ignored) == 0;
    for (size_t i = 0; i < known.count; i++) {
        const struct baseline *b = &known.items[i];
        unset = unset && !(strcmp(b->name, name) == 0 && strcmp(b->ticket, run->ticket) == 0 &&
                           strcmp(b->node, run->node) == 0 && strcmp(b->mode, run->mode) == 0);
    }
    return unset;
}

static void fill_result(const struct finish *f, const struct runrec *rec, const char *report, int code,
                        struct finish_result *out)
{
    out->status = f->run.info.status;
    out->counts = f->run.info.counts;
    out->compared = f->compared;
    if (f->compared)
        digest_verdicts(&f->comparison, out->verdicts);
    out->summary = encode_summary(f, rec, report, code);
}

static int print_outcome(struct cmd_env *env, struct finish *f, const struct runrec *rec, const char *report,
                         const struct finish_options *opt, struct err *err)
{
    FILE *out = env->json ? env->notes : stdout;
    if (!opt->quiet && print_tables(f, rec, opt->smoke, out, err) != 0)
        return -1;
    int code = exit_code(f, opt->fail_on);
    fprintf(out, "\nbundle  %s\n", rec->bundle);
    if (!opt->smoke)
        fprintf(out, "report  %s\n", report);
    if (env->json)
        cmd_print_json(encode_summary(f, rec, report, code));
    return code;
}

static int report_path(const struct runrec *rec, const struct finish_options *opt, char out[FS_PATH_MAX],
                       struct err *err)
{
    int n = opt->report ? snprintf(out, FS_PATH_MAX, "%s", opt->report)
                        : snprintf(out, FS_PATH_MAX, "%s.md", rec->bundle);
    return n < 0 || n >= FS_PATH_MAX ? err_set(err, ERR_INPUT, "--report: path too long") : 0;
}

/* Even with --quiet: the name may be mistyped, and the exit code does not show it. */
static void note_unset(const struct finish *f, const struct runrec *rec)
{
    AUTO(buf_release) struct buf text = {.max = sizeof *rec};
    buf_printf(
        &text,
        "note: %s has no baseline \"%s\" on %s yet, so nothing was compared: `kernsweep baseline set %s "
        "%s` makes this run the baseline\n",
        f->run.info.ticket, rec->baseline, rec->node, rec->baseline, rec->run_id);
    cmd_print_fitted(&text, stderr);
}

int finish_compare(struct cmd_env *env, struct runrec *rec, const struct finish_options *opt,
                   struct finish *f, struct err *err)
{
    char report[FS_PATH_MAX];
    *f = (struct finish){0};
    if (report_path(rec, opt, report, err) != 0 || store_bundle(env, f, rec, err) != 0)
        return -1;
    if (opt->smoke || compare_with_baseline(f, rec, opt, &f->failure) == 0)
        return 0;
    bool unset = baseline_unset(f, rec->baseline);
    f->is_base = unset && opt->first_is_base && f->run.info.purpose == PURPOSE_SWEEP &&
                 baseline_set(&f->store, rec->baseline, f->run.info.key, false, &f->failure) == 0;
    if (f->is_base)
        cmd_note_lacking(env->notes, &f->run);
    unset = unset && !opt->first_is_base;
    if (unset && f->run.info.counts.ok > 0)
        note_unset(f, rec);
    if (f->is_base || unset)
        f->failure = (struct err){0};
    else
        err_wrap(&f->failure, "the run is stored, but not compared with the baseline");
    return 0;
}

int finish_report(struct cmd_env *env, struct runrec *rec, const struct finish_options *opt, struct finish *f,
                  struct finish_result *result, struct err *err)
{
    char report[FS_PATH_MAX];
    if (f->failure.kind == ERR_INTERRUPTED) { /* what it tells would not be all */
        *err = f->failure;
        return -1;
    }
    if (result)
        result->became_baseline = f->is_base;
    if (f->compared &&
        causes_save(&f->store, f->run.info.key, f->against.has_base ? f->against.base.info.key : 0,
                    &f->comparison, err) != 0)
        return -1;
    if (report_path(rec, opt, report, err) != 0 ||
        (!opt->smoke && write_reports(f, rec, opt, report, err) != 0))
        return -1;
    int code = print_outcome(env, f, rec, report, opt, err);
    if (code >= 0 && result)
        fill_result(f, rec, report, code, result);
    if (code < 0 || f->failure.kind == ERR_NONE)
        return code;
    if (!result) {
        *err = f->failure;
        return -1;
    }
    int failed = cmd_fail(&f->failure); /* the report has been written nevertheless */
    return code == EXIT_DONE ? failed : code;
}

void finish_release(struct finish *f)
{
    comparison_release(&f->comparison);
    against_release(&f->against);
    run_data_release(&f->run);
    store_close(&f->store);
}

int finish_run(struct cmd_env *env, struct runrec *rec, const struct finish_options *opt, struct err *err)
{
    AUTO(finish_release) struct finish f = {0};
    if (finish_compare(env, rec, opt, &f, err) != 0)
        return -1;
    return finish_report(env, rec, opt, &f, NULL, err);
}
