/* kernsweep runs, kernsweep show: list the stored runs, show one of them. */
#include "results/store/runs.h"
#include "harness/commands/cmd.h"
#include "harness/commands/revisions.h"
#include "harness/commands/runs_change.h"
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
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:{s:i, s:i, s:i, s:i}}", "run_id",
        r->run_id, "ticket", r->ticket, "tag", r->tag, "purpose", run_purpose_name(r->purpose), "rejected",
        r->rejected, "date", r->date, "node", r->node, "mode", r->mode, "status", run_status_name(r->status),
        "started_at", r->started_at, "source_sha256", r->source_sha256, "bundle", r->bundle, "commit",
        revision_encode(&r->revision), "counts", "total", r->counts.total, "ok", r->counts.ok, "failed",
        r->counts.failed, "skipped", r->counts.skipped);
}

static void print_info(const struct run_info *r)
{
    char tests[32];
    snprintf(tests, sizeof tests, "%d/%d ok", r->counts.ok, r->counts.total);
    printf("%-44s %-10s %-16s %-16s %-7s %-9s %-10s %s%s%s\n", r->run_id, r->date, r->node, r->ticket,
           run_purpose_name(r->purpose), run_status_name(r->status), tests,
           *r->revision.commit ? commit_short(r->revision.commit, r->revision.dirty).s : "-",
           *r->rejected ? " rejected: " : "", r->rejected);
}

static int list_runs(struct cmd_env *env, struct store *s, const struct run_filter *filter, struct err *err)
{
    struct run_list runs = {0};
    if (runs_list(s, filter, &runs, err) != 0)
        return -1;
    json_t *all = json_array();
    if (!env->json && runs.count > 0)
        printf("%-44s %-10s %-16s %-16s %-7s %-9s %-10s %s\n", "RUN", "DATE", "NODE", "TICKET", "PURPOSE",
               "STATUS", "TESTS", "COMMIT");
    for (size_t i = 0; i < runs.count; i++)
        if (env->json)
            json_array_append_new(all, encode_info(&runs.runs[i]));
        else
            print_info(&runs.runs[i]);
    int rc = env->json ? cmd_print_json(json_incref(all)) : EXIT_DONE;
    json_decref(all);
    run_list_release(&runs);
    return rc;
}

/* Options that the words of the command line leave no use for are refused, not ignored. */
static int check_use(const struct run_filter *f, const char *limit, const char *why, const char **words,
                     size_t n, struct err *err)
{
    if (n > 0 && (f->ticket || f->node || f->purpose || limit))
        return err_set(err, ERR_INPUT,
                       "runs %.20s: takes runs, and no --ticket, --node, --purpose or --limit", words[0]);
    if (why && (n == 0 || strcmp(words[0], "reject") != 0))
        return err_set(err, ERR_INPUT, "runs: --why belongs to `runs reject`");
    return 0;
}

static int check_filter(struct run_filter *f, const char *limit, struct err *err)
{
    enum run_purpose ignored;
    f->limit = limit ? strtoul(limit, NULL, 10) : 0;
    if (limit && f->limit == 0)
        return err_set(err, ERR_INPUT, "--limit: expected a number from 1, found \"%.40s\"", limit);
    if (f->purpose && !run_purpose_from_name(f->purpose, &ignored))
        return err_set(err, ERR_INPUT, "--purpose: expected sweep, confirm, noise or bisect, found \"%.40s\"",
                       f->purpose);
    return 0;
}

int cmd_runs(struct cmd_env *env, int argc, char **argv)
{
    struct run_filter filter = {0};
    const char *limit = NULL, *why = NULL;
    const struct arg options[] = {
        {"--ticket", "NAME", &filter.ticket, NULL, "only runs of this ticket"},
        {"--node", "NODE", &filter.node, NULL, "only runs on this node"},
        {"--purpose", "PURPOSE", &filter.purpose, NULL,
         "only runs made for this purpose: sweep confirm noise bisect"},
        {"--limit", "N", &limit, NULL, "only the newest N runs"},
        {"--why", "TEXT", &why, NULL, "reject: the reason, which is shown with the run"},
    };
    struct args spec = {.command = "runs",
                        .usage = "[options] | remove RUN... | reject RUN --why TEXT | unreject RUN",
                        .about = "Lists the stored runs, newest first; removes runs from the store; rejects a"
                                 " run, which is then kept and shown but never compared.",
                        .options = options,
                        .n_options = sizeof options / sizeof *options,
                        .max_words = RUNS_CHANGE_WORDS};
    struct err err = {0};
    struct store s = {0};
    const char *words[RUNS_CHANGE_WORDS];
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, words, &n, &err);
    if (rc == 1)
        return EXIT_DONE;
    if (rc == 0)
        rc = check_use(&filter, limit, why, words, n, &err);
    if (rc == 0)
        rc = check_filter(&filter, limit, &err);
    if (rc == 0)
        rc = cmd_store_open(env, &s, n ? STORE_WRITE : STORE_READ, &err);
    if (rc == 0)
        rc = n ? runs_change(env, &s, words, n, why, &err) : list_runs(env, &s, &filter, &err);
    store_close(&s);
    return rc < 0 ? cmd_fail(&err) : rc;
}

static json_t *encode_reasons(const char *names)
{
    json_t *out = json_array();
    for (const char *p = names; *p;) {
        size_t len = strcspn(p, " ");
        json_array_append_new(out, json_stringn(p, len));
        p += len + (p[len] == ' ');
    }
    return out;
}

/* null where no window is known: the bundle does not have it. */
static json_t *encode_activity(const struct run_test *t)
{
    const struct run_activity *a = &t->activity;
    if (!*a->window)
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "window", a->window, "sclk_p5_mhz",
                     cmd_json_number(a->sclk_p5_mhz), "mclk_mhz", cmd_json_number(a->mclk_mhz), "mclk_p5_mhz",
                     cmd_json_number(a->mclk_p5_mhz), "power_w", cmd_json_number(a->power_w), "temp_c",
                     cmd_json_number(a->temp_c), "throttled_s", cmd_json_number(a->throttled_s), "throttle",
                     isnan(a->throttled_s) ? json_null() : encode_reasons(a->throttle), "joules_from",
                     isnan(t->value[METRIC_JOULES])
                         ? json_null()
                         : json_string(a->joules_measured ? "accumulator" : "power"),
                     "neighbours", a->neighbours < 0 ? json_null() : json_integer(a->neighbours));
}

static json_t *encode_test(const struct run_data *r, const struct run_test *t)
{
    json_t *metrics = json_object();
    for (int m = 0; m < METRIC_COUNT; m++)
        if (isfinite(t->value[m]))
            json_object_set_new(metrics, metric_info((enum metric)m)->name, cmd_json_number(t->value[m]));
    return json_pack("{s:s, s:i, s:i, s:b, s:s, s:s, s:s, s:o, s:o}", "variant", r->variants[t->variant].name,
                     "context", t->context, "repetition", t->repetition, "warmup", t->warmup, "status",
                     status_name(t->status), "reason", t->reason, "attn_impl", t->attn_impl, "metrics",
                     metrics, "activity", encode_activity(t));
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
    printf("run %s  %s  node %s  %s  %s\n", r->info.run_id, r->info.date, r->info.node,
           run_purpose_name(r->info.purpose), run_status_name(r->info.status));
    if (*r->info.rejected)
        printf("rejected, never compared: %s\n", r->info.rejected);
    revision_print(&r->info.revision, &text);
    buf_putc(&text, '\n');
    int rc = run_data_reference(r, NULL, &reference, err);
    if (rc == 0)
        rc = report_kernels_alone(s, r, &kernels, err);
    if (rc == 0)
        rc = terminal_run(r, reference, kernels, cmd_colour(stdout), &text, err);
    if (rc == 0)
        rc = terminal_own_metrics(r, cmd_colour(stdout), &text, err);
    if (rc == 0)
        rc = terminal_activity(r, cmd_colour(stdout), &text, err);
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
