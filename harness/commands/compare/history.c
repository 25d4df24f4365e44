/* kernsweep history: shows one cell over all stored runs, and when it changed. */
#include "harness/commands/base/cmd.h"
#include "harness/commands/base/listing.h"
#include "harness/commands/base/revisions.h"
#include "results/query/timeline.h"

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
    if (!a->variant || !a->context)
        return err_set(err, ERR_INPUT, "history: --variant and --context are required");
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

static void print_source(const struct timeline_point *p)
{
    printf("%s%s%.12s", p->run_id, *p->source_sha256 ? ", source " : "", p->source_sha256);
}

static void print_commits(const struct commit_range *r)
{
    AUTO(buf_release) struct buf text = {.max = 1 << 16};
    range_print(r, "    commits", &text);
    cmd_print(&text);
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
    printf(")\n    between run ");
    print_source(last);
    printf(" and run ");
    print_source(p);
    putchar('\n');
    print_commits(&c->commits);
    for (size_t i = 0; i < c->facts.count; i++)
        printf("    %s: %.60s -> %.60s\n", c->facts.items[i].key,
               *c->facts.items[i].base ? c->facts.items[i].base : "-",
               *c->facts.items[i].now ? c->facts.items[i].now : "-");
}

/* The width of the column of commits; 0 if no night has any. */
static int commits_width(const struct timeline *t)
{
    size_t width = 0;
    AUTO(buf_release) struct buf text = {.max = 1024};
    for (size_t i = 0; i < t->count; i++) {
        buf_clear(&text);
        range_or_commit(&t->points[i].commits, &text);
        width = text.len > width ? text.len : width;
    }
    return width > 0 && width < sizeof "Commits" ? (int)sizeof "Commits" : (int)width;
}

static const char *odd_text(const struct timeline_point *p, bool newest)
{
    if (!p->odd)
        return "";
    if (!(p->median > 0))
        return "  (not positive: no changes are sought with it)";
    return newest ? "  (the newest night: no later one shows whether it lasts)"
                  : "  (a single night, set aside)";
}

static void print_point(const struct timeline_point *p, bool newest, int width)
{
    AUTO(buf_release) struct buf commits = {.max = 1024};
    range_or_commit(&p->commits, &commits);
    printf("%s  %#18.6g  %3d  %.12s%s  ", p->date, p->median, p->n, p->source_sha256,
           *p->source_sha256 ? "" : "-           ");
    if (width)
        printf("%-*s  ", width, commits.len ? buf_str(&commits) : "-");
    printf("%s%s%s%s\n", p->run_id, *p->tag ? "  " : "", p->tag, odd_text(p, newest));
}

static const char *const point_keys[] = {"date", "median", NULL};

static int by_median(const void *a, const void *b)
{
    const struct timeline_point *x = *(const struct timeline_point *const *)a,
                                *y = *(const struct timeline_point *const *)b;
    return x->median != y->median ? (x->median > y->median ? 1 : -1) : strcmp(x->run_id, y->run_id);
}

/* Prints the newest `limit` points by time, or all of them by their medians. */
static void print_rows(const struct timeline *t, const struct listing *how, int width)
{
    size_t skip = how->limit < t->count ? t->count - how->limit : 0, n = t->count - skip;
    AUTO_FREE const struct timeline_point **rows = xcalloc(n + 1, sizeof *rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = &t->points[skip + i];
    if (how->key)
        qsort(rows, n, sizeof *rows, by_median);
    for (size_t i = 0; i < n; i++)
        print_point(rows[i], rows[i] == &t->points[t->count - 1], width);
}

static void print_points(const struct timeline *t, const struct listing *how)
{
    int width = commits_width(t);
    const char *unit = metric_info(t->metric)->unit;
    char median[64];
    snprintf(median, sizeof median, "Median%s%.32s%s", *unit ? " (" : "", unit, *unit ? ")" : "");
    printf("%-10s  %18s  %3s  %-12s  ", "Date", median, "n", "Source");
    if (width)
        printf("%-*s  ", width, "Commits");
    puts("Run");
    print_rows(t, how, width);
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
    struct timeline_filter filter;
    struct listing how;
    if (parse_filter(a, &filter, err) != 0 ||
        listing_parse(&a->listed, point_keys, ROWS_SHOWN, env->json, &how, err) != 0 ||
        cmd_store_open(env, &s, STORE_READ, err) != 0 || timeline_load(&s, &filter, &changes, &t, err) != 0)
        return -1;
    if (env->json)
        return cmd_print_json(encode(&t));
    print_text(&t, &how, env->notes);
    return EXIT_DONE;
}

#define AT(member) ARG_AT(struct history_args, member)

static const struct arg options[] = {
    {"--variant", "NAME", AT(variant), "variant of the cell"},
    {"--context", "N", AT(context), "context of the cell"},
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
    .usage = "--variant V --context C",
    .about = "Shows one cell over all stored runs, and the runs at which its level changed.",
    .options = ARG_TABLE(struct history_args, options),
    .unlisted = CMD_NODE_OPTIONS,
    .run = history,
};
