/* kernsweep compare A B | RUN --baseline NAME: cell by cell, with the evidence. */
#include "harness/finish.h"
#include "reports/report.h"
#include "results/baseline.h"
#include "results/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct compare_args {
    const char *baseline, *threshold, *fail_on;
    bool all_metrics;
};

/* Both sides and what came of them. */
struct sides {
    struct run_data base, now;
    struct history history;
    struct comparison result;
    bool compared;
};

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *encode_delta(const struct delta *d)
{
    return json_pack(
        "{s:s, s:s, s:i, s:s, s:s, s:o, s:o, s:i, s:i, s:o, s:o, s:s, s:o, s:o, s:o, s:i, s:o, s:o, s:o, "
        "s:o, s:o, s:s}",
        "variant", d->variant, "attn_impl", d->attn_impl, "context", d->context, "metric",
        metric_info(d->metric)->name, "verdict", verdict_name(d->verdict), "base_median",
        number(d->base_median), "now_median", number(d->now_median), "base_n", d->base_n, "now_n", d->now_n,
        "ratio", number(d->ratio), "factor", number(d->factor), "method", compare_method_name(d->method),
        "threshold", number(d->threshold), "noise_floor", number(d->noise_floor), "detectable",
        number(d->detectable), "history_n", d->history_n, "z", number(d->z), "p", number(d->p), "p_adjusted",
        number(d->p_adjusted), "ratio_low", number(d->ratio_low), "ratio_high", number(d->ratio_high),
        "reason", d->reason);
}

static int print_json(const struct comparison *c, int code)
{
    json_t *cells = json_array(), *facts = json_array(), *verdicts = json_object();
    for (size_t i = 0; i < c->count; i++)
        json_array_append_new(cells, encode_delta(&c->deltas[i]));
    for (size_t i = 0; i < c->n_facts; i++)
        json_array_append_new(facts, json_pack("{s:s, s:s, s:s}", "key", c->facts[i].key, "base",
                                               c->facts[i].base, "now", c->facts[i].now));
    for (int v = 0; v < VERDICT_COUNT; v++)
        json_object_set_new(verdicts, verdict_name((enum verdict)v), json_integer(c->verdicts[v]));
    int rc = cmd_print_json(json_pack("{s:s, s:s, s:o, s:o, s:o, s:i, s:i}", "base", c->base_id, "now",
                                      c->now_id, "cells", cells, "facts", facts, "verdicts", verdicts,
                                      "tested", (int)c->tested, "exit_code", code));
    return rc == EXIT_DONE ? code : rc;
}

static int load(struct store *s, const struct compare_args *a, const char **words, size_t n,
                struct sides *sides, struct err *err)
{
    struct baseline b;
    if ((n == 2) == (a->baseline != NULL))
        return err_set(err, ERR_INPUT,
                       "compare: give two runs (A is the base), or one run and --baseline NAME");
    if (store_load_run(s, words[n - 1], &sides->now, err) != 0)
        return -1;
    if (n == 2)
        return store_load_run(s, words[0], &sides->base, err);
    if (baseline_resolve(s, a->baseline, &sides->now.info, &b, err) != 0 ||
        run_data_load(s, b.key, &sides->base, err) != 0)
        return -1;
    return history_for_run(s, &sides->now.info, a->all_metrics, &sides->history, err);
}

static int set_threshold(struct compare_options *o, const char *text, struct err *err)
{
    if (!text)
        return 0;
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

static int compare(struct cmd_env *env, const struct compare_args *a, struct sides *sides, struct err *err)
{
    struct compare_options o = compare_defaults();
    o.all_metrics = a->all_metrics;
    enum finish_fail_on fail_on;
    if (set_threshold(&o, a->threshold, err) != 0 ||
        finish_fail_on_from_name(a->fail_on, &fail_on, err) != 0 ||
        compare_runs(&sides->base, &sides->now, &sides->history, &o, &sides->result, err) != 0)
        return -1;
    sides->compared = true;
    bool worse = fail_on == FAIL_ON_REGRESSION && comparison_regressed(&sides->result);
    int code = worse ? EXIT_REGRESSION : EXIT_DONE;
    if (env->json)
        return print_json(&sides->result, code);
    struct buf text;
    buf_init(&text, REPORT_BYTES_MAX);
    int rc = report_compare_text(&sides->result, cmd_colour(stdout), &text, err);
    cmd_print(&text);
    buf_release(&text);
    return rc == 0 ? code : -1;
}

int cmd_compare(struct cmd_env *env, int argc, char **argv)
{
    struct compare_args a = {0};
    const struct arg options[] = {
        {"--baseline", "NAME", &a.baseline, NULL,
         "the stored baseline of the run's node and plan is the base"},
        {"--threshold", "X", &a.threshold, NULL, "relative change that matters: 0.05 or 5%"},
        {"--fail-on", "WHAT", &a.fail_on, NULL, "regression (default: exit 4), failure or none"},
        {"--all-metrics", NULL, NULL, &a.all_metrics, "not only prefill_s"},
    };
    struct args spec = {.command = "compare",
                        .usage = "A B | RUN --baseline NAME",
                        .about = "Compares two stored runs, A being the base, or a run with a baseline.",
                        .options = options,
                        .n_options = sizeof options / sizeof *options,
                        .min_words = 1,
                        .max_words = 2};
    struct err err = {0};
    struct store s = {0};
    struct sides sides = {0};
    const char *words[2];
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, words, &n, &err);
    if (rc == 1)
        return EXIT_DONE;
    if (rc == 0)
        rc = cmd_store_open(env, &s, STORE_READ, &err);
    if (rc == 0)
        rc = load(&s, &a, words, n, &sides, &err);
    if (rc == 0)
        rc = compare(env, &a, &sides, &err);
    if (sides.compared)
        comparison_release(&sides.result);
    history_release(&sides.history);
    run_data_release(&sides.base);
    run_data_release(&sides.now);
    store_close(&s);
    return rc < 0 ? cmd_fail(&err) : rc;
}
