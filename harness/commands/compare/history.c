/* kernsweep history: shows one cell over all stored runs, and when it changed. */
#include "harness/commands/base/cmd.h"
#include "harness/commands/base/listing.h"
#include "harness/commands/base/revisions.h"
#include "reports/report.h"
#include "results/query/timeline.h"
#include "results/store/run_load.h"
#include "results/store/runs.h"

#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_SHOWN = 30 };

struct history_args {
    const char *variant, *context, *node, *ticket, *mode, *tag, *metric, *nights, *gpu;
    struct listing_args listed;
};

static int parse_filter(const struct history_args *a, struct timeline_filter *f, struct err *err)
{
    int64_t context = 0, nights = 0;
    if (cmd_number("--context", a->context, 0, 1 << 30, &context, err) != 0 ||
        cmd_number("--nights", a->nights, 1, 1000000, &nights, err) != 0)
        return -1;
    *f = (struct timeline_filter){.variant = a->variant,
                                  .context = (int)context,
                                  .node = a->node,
                                  .ticket = a->ticket,
                                  .mode = a->mode,
                                  .tag = a->tag,
                                  .metric = a->metric,
                                  .gpu = a->gpu,
                                  .nights = (size_t)nights};
    return 0;
}

/* The newest run of the plan tells which variant and context there are, where it has only one. */
static int fill_in_cell(struct store *s, const struct history_args *a, struct run_data *newest,
                        struct timeline_filter *f, struct err *err)
{
    const struct run_filter filter = {.ticket = a->ticket,
                                      .node = a->node,
                                      .mode = a->mode,
                                      .purpose = run_purpose_name(PURPOSE_SWEEP),
                                      .limit = 1};
    AUTO(run_list_release) struct run_list runs = {0};
    if (a->variant && a->context)
        return 0;
    if (runs_list(s, &filter, &runs, err) != 0 ||
        (runs.count > 0 && run_data_load(s, runs.runs[0].key, newest, err) != 0))
        return -1;
    const struct cell *only = newest->n_cells ? &newest->cells[0] : NULL;
    if (!only)
        return err_set(err, ERR_INPUT, "history: no run has a cell: give --variant and --context");
    for (size_t i = 0; i < newest->n_cells; i++) {
        const struct cell *c = &newest->cells[i];
        if (!a->variant && c->variant != only->variant)
            return err_set(
                err, ERR_INPUT, "history: --variant is needed: run %s has several, such as %s and %s",
                newest->info.run_id, newest->variants[only->variant].name, newest->variants[c->variant].name);
        if (!a->context && c->context != only->context)
            return err_set(err, ERR_INPUT,
                           "history: --context is needed: run %s has several, such as %d and %d",
                           newest->info.run_id, only->context, c->context);
    }
    f->variant = a->variant ? a->variant : newest->variants[only->variant].name;
    f->context = a->context ? f->context : only->context;
    return 0;
}

static json_t *encode_facts(const struct fact_list *l)
{
    json_t *facts = json_array();
    for (size_t i = 0; i < l->count; i++)
        json_array_append_new(facts, json_pack("{s:s, s:s, s:s}", "key", l->items[i].key, "before",
                                               l->items[i].base, "after", l->items[i].now));
    return facts;
}

static json_t *encode_change(const struct timeline *t, const struct timeline_change *c)
{
    const struct change *x = &c->change;
    const struct timeline_point *p = &t->points[x->at], *last = &t->points[x->last];
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:o, s:o}", "run_id",
                     p->run_id, "date", p->date, "source_sha256", p->source_sha256, "last_run_id",
                     last->run_id, "last_source_sha256", last->source_sha256, "before", x->before, "after",
                     x->after, "ratio", x->ratio, "ratio_low", x->ratio_low, "ratio_high", x->ratio_high, "p",
                     x->p, "device_changed", x->forced, "facts", encode_facts(&c->facts), "commits",
                     range_encode(&c->commits));
}

static json_t *encode(const struct timeline *t)
{
    json_t *points = json_array(), *changes = json_array();
    for (size_t i = 0; i < t->count; i++) {
        const struct timeline_point *p = &t->points[i];
        json_array_append_new(
            points,
            json_pack("{s:s, s:s, s:s, s:s, s:f, s:i, s:b, s:o, s:o, s:o}", "run_id", p->run_id, "date",
                      p->date, "tag", p->tag, "source_sha256", p->source_sha256, "median", p->median, "n",
                      p->n, "odd", p->odd, "commit", revision_encode(&p->commits.to), "commits",
                      range_encode(&p->commits), "gpu", *p->gpu ? json_string(p->gpu) : json_null()));
    }
    for (size_t i = 0; i < t->n_changes; i++)
        json_array_append_new(changes, encode_change(t, &t->changes[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:o, s:o, s:i}", "node", t->node, "ticket", t->ticket,
                     "mode", t->mode, "variant", t->variant, "context", t->context, "metric",
                     metric_info(t->metric)->name, "points", points, "changes", changes, "left_out",
                     (int)t->left_out);
}

/* Prints one character per run, as tall as its median; ASCII unless the locale is UTF-8. */
static void print_sparkline(const struct timeline *t)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < t->count; i++) {
        low = fmin(low, t->points[i].median);
        high = fmax(high, t->points[i].median);
    }
    for (size_t i = 0; i < t->count; i++) {
        double height = high > low ? (t->points[i].median - low) / (high - low) : 0;
        size_t step = (size_t)fmin(7, 8 * height);
        fputs(utf8 ? bars[step] : plain[step], stdout);
    }
    printf("  %.6g to %.6g %s\n\n", low, high, metric_info(t->metric)->unit);
}

/* The digits of a hash by which commands name it. */
static int shown_of(const char *value)
{
    bool is_hash = strlen(value) == SHA256_HEX_LEN && strspn(value, "0123456789abcdef") == SHA256_HEX_LEN;
    return is_hash ? 12 : 60;
}

static void print_commits(const struct commit_range *r)
{
    AUTO(buf_release) struct buf text = {.max = 1 << 16};
    range_print(r, "    commits", &text);
    cmd_print_fitted(&text, stdout);
}

static void print_fact(const struct fact_change *f)
{
    printf("    %s: %.*s -> %.*s\n", f->key, shown_of(f->base), *f->base ? f->base : "-", shown_of(f->now),
           *f->now ? f->now : "-");
}

static void print_change(const struct timeline *t, const struct timeline_change *c)
{
    const struct change *x = &c->change;
    const struct timeline_point *p = &t->points[x->at], *last = &t->points[x->last];
    printf("%s on %s: %.6g -> %.6g %s (%+.1f %%, 95 %% interval %+.1f to %+.1f %%",
           x->forced ? "another GPU" : "changed", p->date, x->before, x->after, metric_info(t->metric)->unit,
           100 * (x->ratio - 1), 100 * (x->ratio_low - 1), 100 * (x->ratio_high - 1));
    if (!x->forced)
        printf(", p %.2g", x->p);
    printf(")\n    between run %s\n    and run     %s\n", last->run_id, p->run_id);
    print_commits(&c->commits);
    for (size_t i = 0; i < c->facts.count; i++)
        print_fact(&c->facts.items[i]);
}

static const char *odd_text(const struct timeline_point *p, bool newest)
{
    if (!p->odd)
        return "";
    if (!(p->median > 0))
        return "(not positive: no changes are sought with it)";
    return newest ? "(the newest night: no later one shows whether it lasts)" : "(a single night, set aside)";
}

/* Against the night before; "-" for the first. */
static void add_change(const struct timeline *t, const struct timeline_point *p, struct table *out)
{
    double before = p > t->points ? p[-1].median : (double)NAN, ratio = p->median / before;
    table_text(out, isfinite(ratio) && before > 0 ? num_change(ratio - 1).s : NUM_NONE);
}

static void add_point(const struct timeline *t, const struct timeline_point *p, struct table *out)
{
    AUTO(buf_release) struct buf commits = {.max = 1024};
    char source[16], median[32];
    range_or_commit(&p->commits, &commits);
    snprintf(source, sizeof source, "%.12s", p->source_sha256);
    snprintf(median, sizeof median, "%#.6g", p->median);
    table_text(out, p->date);
    table_text(out, median);
    add_change(t, p, out);
    table_text(out, num_int(p->n).s);
    table_text(out, commits.len ? buf_str(&commits) : *source ? source : NUM_NONE);
    table_code(out, p->run_id);
    table_code(out, p->tag);
    table_text(out, odd_text(p, p == &t->points[t->count - 1]));
}

static const char *const point_keys[] = {"date", "median", NULL};

static int by_median(const void *a, const void *b)
{
    const struct timeline_point *x = *(const struct timeline_point *const *)a,
                                *y = *(const struct timeline_point *const *)b;
    return x->median != y->median ? (x->median > y->median ? 1 : -1) : strcmp(x->run_id, y->run_id);
}

/* Adds the newest `limit` points by time, or all of them by their medians. */
static void add_rows(const struct timeline *t, const struct listing *how, struct table *out)
{
    size_t skip = how->limit < t->count ? t->count - how->limit : 0, n = t->count - skip;
    AUTO_FREE const struct timeline_point **rows = xcalloc(n + 1, sizeof *rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = &t->points[skip + i];
    if (how->key)
        qsort(rows, n, sizeof *rows, by_median);
    for (size_t i = 0; i < n; i++)
        add_point(t, rows[i], out);
}

static void print_points(const struct timeline *t, const struct listing *how)
{
    AUTO(table_release) struct table table = {0};
    AUTO(buf_release) struct buf text = {.max = REPORT_BYTES_MAX};
    const char *unit = metric_info(t->metric)->unit;
    char median[64];
    snprintf(median, sizeof median, "Median%s%.32s%s", *unit ? " (" : "", unit, *unit ? ")" : "");
    table_column(&table, "Date", false);
    table_column(&table, median, true);
    table_column(&table, "Change", true);
    table_column(&table, "n", true);
    table_note(&table, "Commits or sources");
    table_column(&table, "Run", false);
    table_column(&table, "Tag", false);
    table_note(&table, "Note");
    add_rows(t, how, &table);
    table_drop_empty(&table, 3);
    table_write_text(&table, cmd_screen(stdout), &text);
    cmd_print_fitted(&text, stdout);
}

static void print_text(const struct timeline *t, const struct listing *how, FILE *notes)
{
    fputs(t->variant, stdout);
    if (t->context)
        printf(" at %d", t->context);
    printf(", %s, plan %s on %s (%s): %zu run%s\n\n", metric_info(t->metric)->name, t->ticket, t->node,
           t->mode, t->count, t->count == 1 ? "" : "s");
    if (t->left_out)
        printf("Of GPU %s; %zu value%s of other GPUs %s left out (--gpu chooses)\n\n",
               t->count ? t->points[t->count - 1].gpu : "", t->left_out, text_plural((long long)t->left_out),
               t->left_out == 1 ? "is" : "are");
    if (t->changed)
        printf("%zu run%s with local changes %s no night%s\n\n", t->changed,
               text_plural((long long)t->changed), t->changed == 1 ? "is" : "are",
               text_plural((long long)t->changed));
    if (t->count) {
        print_sparkline(t);
        print_points(t, how);
    }
    if (t->n_changes)
        putchar('\n');
    for (size_t i = 0; i < t->n_changes; i++)
        print_change(t, &t->changes[i]);
    fflush(stdout);
    listing_note(how->limit < t->count ? t->count - how->limit : 0, "older run", notes);
}

static int history(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    (void)words;
    const struct history_args *a = args;
    const struct changes_options changes = changes_defaults();
    AUTO(store_close) struct store s = {0};
    AUTO(timeline_release) struct timeline t = {0};
    AUTO(run_data_release) struct run_data newest = {0};
    struct timeline_filter filter;
    struct listing how;
    if (parse_filter(a, &filter, err) != 0 ||
        listing_parse(&a->listed, point_keys, ROWS_SHOWN, env->json, &how, err) != 0 ||
        cmd_store_open(env, &s, STORE_READ, err) != 0 || fill_in_cell(&s, a, &newest, &filter, err) != 0 ||
        timeline_load(&s, &filter, &changes, &t, err) != 0)
        return -1;
    if (env->json)
        return cmd_print_json(encode(&t));
    print_text(&t, &how, env->notes);
    return EXIT_DONE;
}

#define AT(member) ARG_AT(struct history_args, member)

static const struct arg options[] = {
    {"--variant", "NAME", AT(variant), "variant of the cell (default: the only one)"},
    {"--context", "N", AT(context), "context of the cell (default: the only one)"},
    {"--node", "NODE", AT(node), "select the node, if measured on several"},
    {"--ticket", "NAME", AT(ticket), "select the plan's ticket, if measured by several plans"},
    {"--mode", "MODE", AT(mode), "perf or debug, if measured in both"},
    {"--tag", "TAG", AT(tag), "only runs with this tag"},
    {"--metric", "METRIC", AT(metric), metric_help},
    {"--gpu", "ID", AT(gpu), "only what was measured on this GPU: the beginning or end of its id"},
    {"--nights", "N", AT(nights), "only the newest N nights, as if there were no others"},
    {"--limit", "N", AT(listed.limit), "rows of the table, the newest (default 30)"},
    {"--all", NULL, AT(listed.all), "every run in the table"},
    {"--sort", "KEY", AT(listed.sort), "date (default, oldest first) or median"},
};

const struct cmd cmd_history = {
    .name = "history",
    .summary = "show one cell over all stored runs, and when it changed",
    .usage = "[--variant V] [--context C]",
    .about = "Shows one cell over all stored runs, and the runs at which its level changed.",
    .options = ARG_TABLE(struct history_args, options),
    .unlisted = CMD_NODE_OPTIONS,
    .run = history,
};
