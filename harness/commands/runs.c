/* kernsweep runs, kernsweep show: list the stored runs, show one of them. */
#include "results/store/runs.h"
#include "harness/commands/cmd.h"
#include "reports/report.h"
#include "reports/tables/terminal.h"
#include "results/query/find_run.h"
#include "results/query/report_queries.h"
#include "results/store/details.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *encode_info(const struct run_info *r)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:{s:i, s:i, s:i, s:i}}", "run_id",
                     r->run_id, "ticket", r->ticket, "tag", r->tag, "date", r->date, "node", r->node, "mode",
                     r->mode, "status", run_status_name(r->status), "started_at", r->started_at,
                     "source_sha256", r->source_sha256, "bundle", r->bundle, "counts", "total",
                     r->counts.total, "ok", r->counts.ok, "failed", r->counts.failed, "skipped",
                     r->counts.skipped);
}

static int list_runs(struct cmd_env *env, struct store *s, const struct run_filter *filter, struct err *err)
{
    struct run_list runs = {0};
    if (runs_list(s, filter, &runs, err) != 0)
        return -1;
    json_t *all = json_array();
    for (size_t i = 0; i < runs.count; i++) {
        const struct run_info *r = &runs.runs[i];
        if (env->json)
            json_array_append_new(all, encode_info(r));
        else
            printf("%-44s %-10s %-16s %-16s %-9s %d/%d ok\n", r->run_id, r->date, r->node, r->ticket,
                   run_status_name(r->status), r->counts.ok, r->counts.total);
    }
    int rc = env->json ? cmd_print_json(json_incref(all)) : EXIT_DONE;
    json_decref(all);
    run_list_release(&runs);
    return rc;
}

int cmd_runs(struct cmd_env *env, int argc, char **argv)
{
    struct run_filter filter = {0};
    const char *limit = NULL;
    const struct arg options[] = {
        {"--ticket", "NAME", &filter.ticket, NULL, "only runs of this ticket"},
        {"--node", "NODE", &filter.node, NULL, "only runs on this node"},
        {"--limit", "N", &limit, NULL, "only the newest N runs"},
    };
    struct args spec = {.command = "runs",
                        .usage = "[options]",
                        .about = "Lists the stored runs, newest first.",
                        .options = options,
                        .n_options = sizeof options / sizeof *options};
    struct err err = {0};
    struct store s = {0};
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, NULL, &n, &err);
    if (rc == 1)
        return EXIT_DONE;
    if (limit)
        filter.limit = strtoul(limit, NULL, 10);
    if (rc == 0 && limit && filter.limit == 0)
        rc = err_set(&err, ERR_INPUT, "--limit: expected a number from 1, found \"%.40s\"", limit);
    if (rc == 0)
        rc = cmd_store_open(env, &s, STORE_READ, &err);
    if (rc == 0)
        rc = list_runs(env, &s, &filter, &err);
    store_close(&s);
    return rc < 0 ? cmd_fail(&err) : rc;
}

static json_t *encode_test(const struct run_data *r, const struct run_test *t)
{
    json_t *metrics = json_object();
    for (int m = 0; m < METRIC_COUNT; m++)
        if (isfinite(t->value[m]))
            json_object_set_new(metrics, metric_info((enum metric)m)->name, cmd_json_number(t->value[m]));
    return json_pack("{s:s, s:i, s:i, s:b, s:s, s:s, s:s, s:o}", "variant", r->variants[t->variant].name,
                     "context", t->context, "repetition", t->repetition, "warmup", t->warmup, "status",
                     status_name(t->status), "reason", t->reason, "attn_impl", t->attn_impl, "metrics",
                     metrics);
}

/* null where the bundle does not have it. */
static json_t *encode_code(const struct run_variant *v, size_t variant, const struct run_details *d)
{
    json_t *kernels = json_object();
    for (size_t i = 0; i < d->n_kernels; i++)
        if (d->kernels[i].variant == variant)
            json_object_set_new(kernels, d->kernels[i].name, json_string(d->kernels[i].sha256));
    if (*v->code_sha256)
        return json_pack("{s:s, s:s, s:o}", "sha256", v->code_sha256, "kind",
                         v->code_of_device ? "device" : "files", "kernels", kernels);
    json_decref(kernels);
    return json_null();
}

static json_t *encode_variants(const struct run_data *r, const struct run_details *d)
{
    json_t *out = json_array();
    for (size_t i = 0; i < r->n_variants; i++)
        json_array_append_new(out,
                              json_pack("{s:s, s:s, s:s, s:o}", "variant", r->variants[i].name, "status",
                                        status_name(r->variants[i].status), "reason", r->variants[i].reason,
                                        "code", encode_code(&r->variants[i], i, d)));
    return out;
}

static json_t *encode_run(const struct run_data *r, const struct run_details *d)
{
    json_t *tests = json_array(), *facts = json_object();
    for (size_t i = 0; i < r->n_tests; i++)
        json_array_append_new(tests, encode_test(r, &r->tests[i]));
    for (size_t i = 0; i < r->n_facts; i++)
        json_object_set_new(facts, r->facts[i].key, json_string(r->facts[i].value));
    json_t *run = encode_info(&r->info);
    json_object_set_new(run, "variants", encode_variants(r, d));
    json_object_set_new(run, "tests", tests);
    json_object_set_new(run, "facts", facts);
    return run;
}

static int print_run(struct store *s, const struct run_data *r, struct err *err)
{
    size_t reference;
    bool kernels;
    struct buf text;
    buf_init(&text, REPORT_BYTES_MAX);
    printf("run %s  %s  node %s  %s\n\n", r->info.run_id, r->info.date, r->info.node,
           run_status_name(r->info.status));
    int rc = run_data_reference(r, NULL, &reference, err);
    if (rc == 0)
        rc = report_kernels_alone(s, r, &kernels, err);
    if (rc == 0)
        rc = terminal_run(r, reference, kernels, cmd_colour(stdout), &text, err);
    if (rc == 0) {
        buf_putc(&text, '\n');
        rc = terminal_scaling(r, kernels, cmd_colour(stdout), &text, err);
    }
    cmd_print(&text);
    buf_release(&text);
    return rc;
}

static int print_run_json(struct store *s, const struct run_data *r, struct err *err)
{
    struct run_details details;
    int rc = details_load(s, r->info.key, &details, err);
    if (rc == 0)
        rc = cmd_print_json(encode_run(r, &details));
    details_release(&details);
    return rc;
}

int cmd_show(struct cmd_env *env, int argc, char **argv)
{
    struct args spec = {.command = "show",
                        .usage = "RUN",
                        .about =
                            "Shows the cells and the scaling of one stored run; with --json, every test.",
                        .min_words = 1,
                        .max_words = 1};
    struct err err = {0};
    struct store s = {0};
    struct run_data r = {0};
    const char *word;
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, &word, &n, &err);
    if (rc == 1)
        return EXIT_DONE;
    if (rc == 0)
        rc = cmd_store_open(env, &s, STORE_READ, &err);
    if (rc == 0)
        rc = store_load_run(&s, word, &r, &err);
    if (rc == 0)
        rc = env->json ? print_run_json(&s, &r, &err) : print_run(&s, &r, &err);
    run_data_release(&r);
    store_close(&s);
    return rc < 0 ? cmd_fail(&err) : rc;
}
