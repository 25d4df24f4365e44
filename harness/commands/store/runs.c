/* kernsweep runs, kernsweep show: list the stored runs, show one of them. */
#include "results/store/runs.h"
#include "common/base/alloc.h"
#include "harness/commands/base/cmd.h"
#include "harness/commands/base/listing.h"
#include "harness/commands/base/revisions.h"
#include "harness/commands/store/runs_change.h"
#include "reports/render/table.h"
#include "reports/report.h"
#include "reports/tables/held.h"
#include "reports/tables/terminal.h"
#include "results/query/find_run.h"
#include "results/query/report_queries.h"
#include "results/store/details.h"
#include "results/store/run_folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_SHOWN = 20, COLUMNS_KEPT = 7 };

static json_t *encode_info(const struct run_info *r)
{
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:{s:i, s:i, s:i, s:i}}",
        "run_id", r->run_id, "ticket", r->ticket, "tag", r->tag, "purpose", run_purpose_name(r->purpose),
        "rejected", r->rejected, "date", r->date, "node", r->node, "mode", r->mode, "status",
        run_status_name(r->status), "started_at", r->started_at, "source_sha256", r->source_sha256, "bundle",
        r->bundle, "bundle_found", run_folder_may_be_of(r->bundle, r->run_id), "commit",
        revision_encode(&r->revision), "counts", "total", r->counts.total, "ok", r->counts.ok, "failed",
        r->counts.failed, "skipped", r->counts.skipped);
}

static enum cell_mark mark_of(enum run_status status)
{
    switch (status) {
    case RUN_COMPLETE:
        return MARK_NONE;
    case RUN_PARTIAL:
    case RUN_CANCELLED:
        return MARK_WARN;
    case RUN_BLOCKED:
    case RUN_STATUS_COUNT:
        break;
    }
    return MARK_BAD;
}

static void add_row(struct table *t, const struct run_info *r)
{
    char tests[32], why[RUN_REASON_MAX + 16];
    snprintf(tests, sizeof tests, "%d/%d ok", r->counts.ok, r->counts.total);
    snprintf(why, sizeof why, "%s%s", *r->rejected ? "rejected: " : "", r->rejected);
    table_code(t, r->run_id);
    table_code(t, r->date);
    table_code(t, r->node);
    table_code(t, r->ticket);
    table_text(t, run_purpose_name(r->purpose));
    table_marked(t, run_status_name(r->status), mark_of(r->status));
    table_marked(t, tests, r->counts.failed > 0 ? MARK_BAD : MARK_NONE);
    table_code(t, *r->revision.commit ? commit_short(r->revision.commit, r->revision.dirty).s : "-");
    table_code(t, why);
}

static void print_runs(const struct run_list *l, size_t shown)
{
    static const char *const titles[] = {"RUN",    "DATE",  "NODE",   "TICKET", "PURPOSE",
                                         "STATUS", "TESTS", "COMMIT", "NOTE"};
    struct table t;
    table_init(&t);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(&t, titles[i], false);
    for (size_t i = 0; i < shown; i++)
        add_row(&t, &l->runs[i]);
    table_drop_empty(&t, COLUMNS_KEPT);
    cmd_print_table(&t);
    table_release(&t);
}

static const char *const run_keys[] = {"date", "node", "ticket", "purpose", "status", "failed", NULL};
enum { KEY_DATE, KEY_NODE, KEY_TICKET, KEY_PURPOSE, KEY_STATUS, KEY_FAILED };

static int compare_by(size_t key, const struct run_info *x, const struct run_info *y)
{
    if (key == KEY_NODE)
        return strcmp(x->node, y->node);
    if (key == KEY_TICKET)
        return strcmp(x->ticket, y->ticket);
    if (key == KEY_PURPOSE)
        return strcmp(run_purpose_name(x->purpose), run_purpose_name(y->purpose));
    if (key == KEY_STATUS)
        return strcmp(run_status_name(x->status), run_status_name(y->status));
    return key == KEY_FAILED ? y->counts.failed - x->counts.failed : 0;
}

/* The store lists runs newest first, so a stable sort keeps that order for ties; the lists are short. */
static void sort_runs(struct run_list *l, size_t key)
{
    for (size_t i = 1; key != KEY_DATE && i < l->count; i++) {
        struct run_info held = l->runs[i];
        size_t at = i;
        for (; at > 0 && compare_by(key, &l->runs[at - 1], &held) > 0; at--)
            l->runs[at] = l->runs[at - 1];
        l->runs[at] = held;
    }
}

static int print_runs_json(const struct run_list *l, size_t shown)
{
    json_t *all = json_array();
    for (size_t i = 0; i < shown; i++)
        json_array_append_new(all, encode_info(&l->runs[i]));
    return cmd_print_json(all);
}

static int list_runs(struct cmd_env *env, struct store *s, const struct run_filter *filter,
                     const struct listing *how, struct err *err)
{
    struct run_list runs = {0};
    struct run_filter first = *filter;
    size_t all = 0;
    /* If the order is the store's own, only the runs that are shown need to be read. */
    if (how->key == KEY_DATE && how->limit != SIZE_MAX)
        first.limit = how->limit;
    if (runs_count(s, filter, &all, err) != 0 || runs_list(s, &first, &runs, err) != 0)
        return -1;
    sort_runs(&runs, how->key);
    size_t shown = runs.count < how->limit ? runs.count : how->limit;
    int rc = EXIT_DONE;
    if (env->json)
        rc = print_runs_json(&runs, shown);
    else if (shown > 0)
        print_runs(&runs, shown);
    listing_note(all - shown, how->key == KEY_DATE ? "older run" : "other run", env->notes);
    run_list_release(&runs);
    return rc;
}

/* Options that have no effect on these words are refused. */
static int check_use(const struct run_filter *f, const struct listing_args *how, const char *why,
                     const char **words, size_t n, struct err *err)
{
    if (n > 0 && (f->ticket || f->node || f->purpose || how->limit || how->sort || how->all))
        return err_set(err, ERR_INPUT, "runs %.20s: takes runs, and none of the options of the list",
                       words[0]);
    if (why && (n == 0 || strcmp(words[0], "reject") != 0))
        return err_set(err, ERR_INPUT, "runs: --why is an option of `runs reject`");
    return 0;
}

static int check_filter(const struct run_filter *f, struct err *err)
{
    enum run_purpose ignored;
    if (f->purpose && !run_purpose_from_name(f->purpose, &ignored))
        return err_set(err, ERR_INPUT,
                       "--purpose: expected sweep, confirm, noise, bisect, ab or search, found \"%.40s\"",
                       f->purpose);
    return 0;
}

struct runs_args {
    struct run_filter filter;
    struct listing_args listed;
    const char *why;
};

static int runs(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct runs_args *a = args;
    AUTO(store_close) struct store s = {0};
    struct listing how;
    if (check_use(&a->filter, &a->listed, a->why, words->v, words->n, err) != 0 ||
        check_filter(&a->filter, err) != 0 ||
        listing_parse(&a->listed, run_keys, RUNS_SHOWN, env->json, &how, err) != 0 ||
        cmd_store_open(env, &s, words->n ? STORE_CHANGE : STORE_READ, err) != 0)
        return -1;
    return words->n ? runs_change(env, &s, words->v, words->n, a->why, err)
                    : list_runs(env, &s, &a->filter, &how, err);
}

#define AT(member) ARG_AT(struct runs_args, member)

static const struct arg options_of_runs[] = {
    {"--ticket", "NAME", AT(filter.ticket), "only runs of this ticket"},
    {"--node", "NODE", AT(filter.node), "only runs on this node"},
    {"--purpose", "PURPOSE", AT(filter.purpose),
     "only runs made for this purpose: sweep confirm noise bisect ab search"},
    {"--sort", "KEY", AT(listed.sort),
     "date (default, newest first), node, ticket, purpose, status or failed"},
    {"--limit", "N", AT(listed.limit), "only the first N runs (a table: 20)"},
    {"--all", NULL, AT(listed.all), "every run"},
    {"--why", "TEXT", AT(why), "reject: the reason, which is shown with the run"},
};

const struct cmd cmd_runs = {
    .name = "runs",
    .summary = "list, remove or reject stored runs",
    .usage = "[options] | remove RUN... | reject RUN --why TEXT | unreject RUN",
    .about = "Lists the stored runs, newest first; removes runs from the store; rejects a run, which is then "
             "kept and shown but never compared.",
    .options = ARG_TABLE(struct runs_args, options_of_runs),
    .max_words = RUNS_CHANGE_WORDS,
    .unlisted = CMD_NODE_OPTIONS,
    .run = runs,
};

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

/* Returns null if the bundle has no window of activity. */
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
    return json_pack("{s:s, s:i, s:i, s:b, s:s, s:s, s:s, s:o, s:o, s:o}", "variant",
                     r->variants[t->variant].name, "context", t->context, "repetition", t->repetition,
                     "warmup", t->warmup, "status", status_name(t->status), "reason", t->reason, "attn_impl",
                     t->attn_impl, "contained", *t->contained ? json_string(t->contained) : json_null(),
                     "metrics", metrics, "activity", encode_activity(t));
}

/* Returns null if the bundle does not have it. */
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

/* Returns null without a container, or if the bundle does not have it. */
static json_t *encode_image(const struct run_variant *v)
{
    return *v->image ? json_pack("{s:s, s:s}", "name", v->image, "digest", v->image_digest) : json_null();
}

static json_t *encode_variants(const struct run_data *r, const struct run_details *d)
{
    json_t *out = json_array();
    for (size_t i = 0; i < r->n_variants; i++)
        json_array_append_new(
            out, json_pack("{s:s, s:s, s:s, s:o, s:o}", "variant", r->variants[i].name, "status",
                           status_name(r->variants[i].status), "reason", r->variants[i].reason, "code",
                           encode_code(&r->variants[i], i, d), "image", encode_image(&r->variants[i])));
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
    json_object_set_new(run, "carried", cmd_json_carried(r->carried, r->n_carried));
    json_object_set_new(run, "facts", facts);
    return run;
}

static int print_run(struct store *s, const struct run_data *r, struct err *err)
{
    size_t reference;
    bool kernels;
    AUTO(buf_release) struct buf text = {.max = REPORT_BYTES_MAX};
    if (report_reference(s, r, NULL, &reference, err) != 0 || report_kernels_alone(s, r, &kernels, err) != 0)
        return -1;
    printf("run %s  %s  node %s  %s  %s\n", r->info.run_id, r->info.date, r->info.node,
           run_purpose_name(r->info.purpose), run_status_name(r->info.status));
    if (*r->info.rejected)
        printf("rejected, never compared: %s\n", r->info.rejected);
    revision_print(&r->info.revision, &text);
    terminal_held(r, &text);
    buf_putc(&text, '\n');
    terminal_run(r, reference, kernels, cmd_screen(stdout), &text);
    terminal_own_metrics(r, cmd_screen(stdout), &text);
    terminal_activity(r, cmd_screen(stdout), &text);
    buf_putc(&text, '\n');
    terminal_scaling(r, kernels, cmd_screen(stdout), &text);
    cmd_print_fitted(&text, stdout);
    return 0;
}

static int print_run_json(struct store *s, const struct run_data *r, struct err *err)
{
    AUTO(details_release) struct run_details details = {0};
    return details_load(s, r->info.key, &details, err) != 0 ? -1 : cmd_print_json(encode_run(r, &details));
}

static int show(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    (void)args;
    AUTO(store_close) struct store s = {0};
    AUTO(run_data_release) struct run_data r = {0};
    if (cmd_store_open(env, &s, STORE_READ, err) != 0 || store_load_run(&s, words->v[0], &r, err) != 0)
        return -1;
    return env->json ? print_run_json(&s, &r, err) : print_run(&s, &r, err);
}

const struct cmd cmd_show = {
    .name = "show",
    .summary = "show one stored run, cell by cell",
    .usage = "RUN",
    .about = "Shows the cells and the scaling of one stored run; with --json, every test.",
    .min_words = 1,
    .max_words = 1,
    .unlisted = CMD_NODE_OPTIONS,
    .run = show,
};
