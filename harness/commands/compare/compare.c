/* kernsweep compare A B | RUN [--baseline NAME | --within | --by node|gpu]: compares runs cell by cell. */
#include "common/base/alloc.h"
#include "harness/commands/base/finish.h"
#include "harness/commands/base/revisions.h"
#include "harness/commands/compare/compare_output.h"
#include "harness/commands/compare/compare_places.h"
#include "reports/report.h"
#include "reports/tables/tables.h"
#include "reports/tables/terminal.h"
#include "results/judge/within.h"
#include "results/query/against.h"
#include "results/query/counted.h"
#include "results/query/find_run.h"
#include "results/query/report_queries.h"
#include "results/store/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct compare_args {
    const char *baseline, *threshold, *fail_on, *metric, *format, *reference, *by;
    bool all_metrics, within;
};

struct request {
    struct compare_options options;
    enum finish_fail_on fail_on;
    enum compare_format format;
    enum place_kind by;
};

static int parse_threshold(const char *text, struct compare_options *o, struct err *err)
{
    char *end;
    double v = strtod(text, &end);
    if (*end == '%' && end[1] == '\0')
        v /= 100;
    else if (*end || end == text)
        v = NAN;
    if (!(v > 0 && v < 10))
        return err_set(err, ERR_INPUT,
                       "--threshold: expected a fraction such as 0.05, or 5%%, found \"%.40s\"", text);
    o->regression = o->improvement = v;
    return 0;
}

static int parse_options(const struct cmd_env *env, const struct compare_args *a, size_t n_words,
                         struct request *req, struct err *err)
{
    *req = (struct request){.options = compare_defaults(), .format = COMPARE_TEXT};
    req->options.all_metrics = a->all_metrics;
    if (n_words == 2 && (a->baseline || a->within))
        return err_set(err, ERR_INPUT,
                       "compare: expected two runs A and B (A is the base), or one run, with --baseline NAME,"
                       " with --within, or alone to compare it with earlier runs of its plan");
    if (a->baseline && a->within)
        return err_set(err, ERR_INPUT, "compare: give --baseline or --within, not both");
    if (env->json && a->format)
        return err_set(err, ERR_INPUT, "compare: give --json or --format, not both");
    if (a->reference && !a->within)
        return err_set(err, ERR_INPUT, "compare: --reference needs --within");
    if (a->by &&
        (!place_kind_from_name(a->by, &req->by) || n_words == 2 || a->baseline || a->within || a->format))
        return err_set(
            err, ERR_INPUT,
            "compare: --by accepts node or gpu, for one run, without another base and without --format");
    if (a->threshold && parse_threshold(a->threshold, &req->options, err) != 0)
        return -1;
    if (a->format && !compare_format_from_name(a->format, &req->format))
        return err_set(err, ERR_INPUT, "--format: expected text, md, csv, junit or github, found \"%.40s\"",
                       a->format);
    return finish_fail_on_from_name(a->fail_on, &req->fail_on, err);
}

struct compared {
    struct comparison comparison;
    struct commit_range commits;          /* since the base, or without one since the previous night */
    struct commit_range commits_of_night; /* since the previous night, if that was not the base */
    struct counted counted;               /* in both builds */
    bool kernels;                         /* the run launched nothing but kernels (report_queries.h) */
};

static int too_few_nights(const struct against *a, const struct run_data *now, size_t needed, struct err *err)
{
    size_t nights = a->history.nights, changed = a->nights.changed;
    char others[64] = "";
    if (changed)
        snprintf(others, sizeof others, " (%zu run%s with local changes %s none)", changed,
                 text_plural((long long)changed), changed == 1 ? "is" : "are");
    return err_set(
        err, ERR_INPUT,
        "compare: %zu night%s of this plan%s%s %s stored before run %s%s, and at least %zu are needed "
        "to compare it with them: name a second run, or give --baseline NAME",
        nights, text_plural((long long)nights), *now->info.tag ? " with the tag " : "", now->info.tag,
        nights == 1 ? "is" : "are", now->info.run_id, others, needed);
}

/* Compares a run with another one, with a baseline, or with earlier runs of its plan. */
static int compare_stored(struct store *s, const struct compare_args *a, const char **words, size_t n,
                          const struct run_data *now, const struct request *req, struct compared *out,
                          struct err *err)
{
    AUTO(against_release) struct against against = {0};
    int64_t base = 0;
    if (n == 2 && store_find_run(s, words[0], &base, err) != 0)
        return -1;
    if ((n == 2        ? against_run(s, now, base, &req->options, &against, err)
         : a->baseline ? against_baseline(s, now, a->baseline, &req->options, &against, err)
                       : against_nights(s, now, &req->options, &against, err)) != 0)
        return -1;
    if (!against.has_base && against.history.nights < req->options.history_min)
        return too_few_nights(&against, now, req->options.history_min, err);
    return against_compare(&against, now, &out->comparison, err) != 0 ||
                   against_commits(s, &against, now, &out->commits, err) != 0 ||
                   against_commits_of_night(s, &against, now, &out->commits_of_night, err) != 0
               ? -1
               : counted_load(s, against_key(&against), now->info.key, &out->counted, err);
}

/* Called after the run has been loaded, since its plan may define metrics of its own. */
static int choose_metric(const struct compare_args *a, const struct run_data *now, struct request *req,
                         struct err *err)
{
    struct metric_set measured = {0};
    if (!a->metric)
        return 0;
    if (metric_parse(a->metric, &req->options.metric, err) != 0)
        return -1;
    run_data_measured(now, &measured);
    return measured.has[req->options.metric]
               ? 0
               : err_set(err, ERR_INPUT,
                         "--metric: run %s has no %s: `kernsweep show` lists what it measured",
                         now->info.run_id, a->metric);
}

/* The plan's threshold is the default, except with --within: it is meant for a variant on different nights,
 * whereas variants of one run are judged as in the run's own table. */
static int choose_options(struct store *s, const struct compare_args *a, const struct run_data *now,
                          struct request *req, struct err *err)
{
    if (choose_metric(a, now, req, err) != 0)
        return -1;
    return a->threshold || a->within ? 0 : against_plan_options(s, now, &req->options, err);
}

/* Finds the GPUs that changed by themselves since earlier nights; too few nights leave *out empty. */
static int compare_since(struct store *s, const struct run_data *run, const struct request *req,
                         struct comparison *out, struct err *err)
{
    AUTO(against_release) struct against against = {0};
    if (against_nights(s, run, &req->options, &against, err) != 0)
        return -1;
    return against.history.nights < req->options.history_min ? 0 : against_compare(&against, run, out, err);
}

static int compare_shared(const struct cmd_env *env, struct store *s, const struct compare_args *a,
                          const char *word, struct request *req, struct err *err)
{
    AUTO(run_data_release) struct run_data run = {0};
    AUTO(comparison_release) struct comparison since = {0};
    if (store_load_run(s, word, &run, err) != 0 || run_check_comparable(&run.info, err) != 0 ||
        choose_options(s, a, &run, req, err) != 0)
        return -1;
    if (!a->metric)
        req->options.metric = run_data_metric(&run);
    if (req->by == PLACE_GPU && compare_since(s, &run, req, &since, err) != 0)
        return -1;
    return compare_places(env, &run, req->by, &req->options, &since, err);
}

static int compare_variants_of(struct store *s, const struct compare_args *a, const struct run_data *run,
                               const struct request *req, struct comparison *out, struct err *err)
{
    size_t reference = 0;
    if (report_reference(s, run, a->reference, &reference, err) != 0)
        return -1;
    compare_within(run, reference, &req->options, out);
    if (out->count > 0)
        return 0;
    return err_set(err, ERR_INPUT,
                   "compare: --within: run %s has no variant to compare with %s: name a second run, or give"
                   " --baseline NAME",
                   run->info.run_id, run->variants[reference].name);
}

static int compare_run(struct store *s, const struct compare_args *a, const char **words, size_t n,
                       struct request *req, struct compared *out, struct err *err)
{
    AUTO(run_data_release) struct run_data now = {0};
    if (store_load_run(s, words[n - 1], &now, err) != 0 || run_check_comparable(&now.info, err) != 0 ||
        choose_options(s, a, &now, req, err) != 0 ||
        (a->within ? compare_variants_of(s, a, &now, req, &out->comparison, err)
                   : compare_stored(s, a, words, n, &now, req, out, err)) != 0)
        return -1;
    return report_kernels_alone(s, &now, &out->kernels, err);
}

/* With --within, a slower variant is only a failure if the caller asks for it. */
static int exit_code(const struct compare_args *a, const struct request *req, const struct comparison *c)
{
    if (a->within && !a->fail_on)
        return EXIT_DONE;
    return finish_code(c, req->fail_on);
}

/* These come before the commits and the table; other formats have their own places for them. */
static void add_tickets(const struct comparison *c, enum compare_format format, struct buf *out)
{
    size_t start = out->len;
    if (format == COMPARE_TEXT || format == COMPARE_MD)
        verdict_tickets(c, REPORT_EN, out);
    if (out->len > start)
        buf_puts(out, "\n\n");
}

static void add_commits(const struct compared *c, enum compare_format format, struct buf *out)
{
    struct md w = {.out = out, .lang = REPORT_EN};
    if (format == COMPARE_TEXT) {
        size_t start = out->len;
        range_print(&c->commits, "Commits", out);
        range_print(&c->commits_of_night, "Commits since the night before", out);
        if (out->len > start)
            buf_putc(out, '\n');
    } else if (format == COMPARE_MD && c->commits.kind != RANGE_NONE) {
        range_print_head(&c->commits, "Commits", out);
        buf_puts(out, "\n");
        commits_list(&w, &c->commits);
    }
}

static int print_comparison(const struct cmd_env *env, const struct request *req,
                            const struct compared *compared, int code, struct err *err)
{
    const struct comparison *c = &compared->comparison;
    if (env->json) {
        json_t *all = compare_encode(c, code);
        json_object_set_new(all, "commits", range_encode(&compared->commits));
        json_object_set_new(all, "commits_of_night", range_encode(&compared->commits_of_night));
        json_object_set_new(all, "counters", counters_encode(&compared->counted.changes));
        const struct cmd_rows cells = {"cells", c->count, compare_encode_cell, c};
        int rc = cmd_print_json_rows(all, &cells);
        return rc == EXIT_DONE ? code : rc;
    }
    AUTO(buf_release) struct buf text = {.max = REPORT_BYTES_MAX};
    add_tickets(c, req->format, &text);
    add_commits(compared, req->format, &text);
    if (req->format == COMPARE_TEXT) {
        terminal_comparison(c, compared->kernels, cmd_screen(stdout), &text);
        terminal_carried(c->carried, c->n_carried, &text);
        terminal_counters(&compared->counted.changes, &text);
    } else
        compare_output(c, req->format, req->fail_on == FAIL_ON_SUSPECTED, &text);
    if (!buf_ok(&text))
        return err_set(err, ERR_INTERNAL, "the comparison exceeds %zu bytes", text.max);
    if (req->format == COMPARE_TEXT)
        cmd_print_fitted(&text, stdout);
    else
        cmd_print(&text);
    return code;
}

static void compared_release(struct compared *c)
{
    comparison_release(&c->comparison);
    counted_release(&c->counted);
}

static int run_compare(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct compare_args *a = args;
    AUTO(store_close) struct store s = {0};
    struct request req;
    AUTO(compared_release) struct compared compared = {0};
    if (parse_options(env, a, words->n, &req, err) != 0 || cmd_store_open(env, &s, STORE_READ, err) != 0)
        return -1;
    if (a->by)
        return compare_shared(env, &s, a, words->v[0], &req, err);
    return compare_run(&s, a, words->v, words->n, &req, &compared, err) != 0
               ? -1
               : print_comparison(env, &req, &compared, exit_code(a, &req, &compared.comparison), err);
}

#define AT(member) ARG_AT(struct compare_args, member)

static const struct arg options[] = {
    {"--baseline", "NAME", AT(baseline), "compare with this stored baseline of the run's node and plan"},
    {"--within", NULL, AT(within), "compare the run's variants with one of them"},
    {"--reference", "VARIANT", AT(reference),
     "with --within: the variant to compare with (default: baseline)"},
    {"--by", "node|gpu", AT(by), "compare the machines, or the GPUs, that shared the run with each other"},
    {"--threshold", "X", AT(threshold),
     "smallest change that counts, 0.05 or 5% (default: the plan's); with 8 or more nights 2% already "
     "counts"},
    {"--metric", "METRIC", AT(metric), metric_help},
    {"--all-metrics", NULL, AT(all_metrics), "show the other metrics too"},
    {"--format", "FORMAT", AT(format), "text, md, csv, junit or github (annotations)"},
    {"--fail-on", "WHAT", AT(fail_on),
     "what counts as failure: regression (default; exit 4), suspected (also on its first night), failure "
     "(a broken cell, or one that still fails; exit 1, also with the first two) or none (default with "
     "--within)"},
};

const struct cmd cmd_compare = {
    .name = "compare",
    .summary = "compare two runs, or a run and a baseline, cell by cell",
    .usage = "A B | RUN [--baseline NAME | --within | --by node|gpu]",
    .about = "Compares two stored runs (A is the base), or a run with a baseline, with earlier nightly runs, "
             "or its variants with each other.",
    .options = ARG_TABLE(struct compare_args, options),
    .min_words = 1,
    .max_words = 2,
    .unlisted = CMD_NODE_OPTIONS,
    .run = run_compare,
};
