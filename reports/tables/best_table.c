#include "reports/tables/best_table.h"

#include "common/base/alloc.h"
#include "reports/render/markdown.h"
#include "reports/render/table.h"
#include "reports/tables/axis_columns.h"
#include "reports/words/number.h"
#include "reports/words/quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEST_SAID_MAX = 8 };

static const char *point_name(const struct best_group *g, size_t point)
{
    const struct run_variant *v = g->member[point].variant;
    return *g->variant && *v->shape ? v->shape : v->name;
}

/* By median, those measured in most runs first. */
static void order_points(const struct best_group *g, size_t *order)
{
    double sign = isnan(g->point[g->answer.best < g->count ? g->answer.best : 0].median) ? 0
                  : g->more_is_better                                                    ? -1
                                                                                         : 1;
    for (size_t i = 0; i < g->count; i++) {
        size_t at = i;
        for (; at > 0; at--) {
            const struct best_point *a = &g->point[order[at - 1]], *b = &g->point[i];
            bool later = a->runs < b->runs || (a->runs == b->runs && sign * (a->median - b->median) > 0);
            if (!later || order[at - 1] == g->answer.best)
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

static void put_where(const struct best_group *g, struct buf *out)
{
    if (*g->variant)
        buf_printf(out, "%s ", g->variant);
    buf_printf(out, "at context %d", g->context);
    if (*g->shape)
        buf_printf(out, ", shape %s", g->shape);
    buf_puts(out, ": ");
}

static void put_names(const struct best_group *g, enum best_finding what, size_t runs, struct buf *out)
{
    const char *separator = "";
    for (size_t i = 0; i < g->count; i++) {
        if (best_group_finding(g, i, runs) != what)
            continue;
        buf_printf(out, "%s%s", separator, point_name(g, i));
        separator = ", ";
    }
}

static size_t count_found(const struct best_group *g, enum best_finding what, size_t runs)
{
    size_t n = 0;
    for (size_t i = 0; i < g->count; i++)
        n += best_group_finding(g, i, runs) == what;
    return n;
}

/* In percent: one decimal below ten, never an exponent. */
static void put_percent(double share, struct buf *out)
{
    buf_printf(out, "%.*f", fabs(100 * share) < 10 ? 1 : 0, 100 * share);
}

static void put_margin(const struct best_group *g, struct buf *out)
{
    const struct best_answer *a = &g->answer;
    buf_puts(out, ", ");
    put_percent(a->margin, out);
    buf_printf(out, " %% ahead of %s", point_name(g, a->second));
    if (isnan(a->low))
        return;
    buf_puts(out, " (");
    put_percent(a->low, out);
    buf_puts(out, " to ");
    put_percent(a->high, out);
    buf_puts(out, " %)");
}

/* Says of what was not tested that it was not. */
static void put_untested(const struct best_group *g, size_t runs, struct buf *out)
{
    const struct best_answer *a = &g->answer;
    if (count_found(g, BEST_BEHIND, runs) + count_found(g, BEST_UNTESTED, runs) == 0)
        return;
    if (a->fewest == 1)
        buf_puts(out, "; 1 repetition is too few to ");
    else
        buf_printf(out, "; %zu repetitions are too few to ", a->fewest);
    if (count_found(g, BEST_UNTESTED, runs) > 0) {
        buf_puts(out, "rule out ");
        put_names(g, BEST_UNTESTED, runs, out);
    } else {
        buf_puts(out, "be sure");
    }
}

static void put_ahead(const struct best_group *g, struct buf *out)
{
    const struct best_answer *a = &g->answer;
    buf_printf(out, "%s is ahead of %s by ", point_name(g, a->best), point_name(g, a->second));
    put_percent(a->margin, out);
    buf_puts(out, " %");
}

static void put_answer(const struct best_group *g, size_t runs, struct buf *out)
{
    const struct best_answer *a = &g->answer;
    put_where(g, out);
    if (a->best == g->count)
        buf_puts(out, "no point has a result");
    else if (g->count == 1)
        buf_printf(out, "%s is the only point", point_name(g, 0));
    else if (count_found(g, BEST_FAILED, runs) + 1 == g->count)
        buf_printf(out, "%s is the only point with a result", point_name(g, a->best));
    else if (!isnan(a->sure)) {
        const struct best_member *m = &g->member[a->best];
        buf_printf(out, "%s is best", point_name(g, a->best));
        if (m->failed > 0)
            buf_printf(out, ", but %d of its %d tests are not OK", m->failed, m->of);
        put_margin(g, out);
        buf_printf(out, a->sure > 0.999 ? "; more than 99.9 %% certain" : "; %.1f %% certain", 100 * a->sure);
    } else if (count_found(g, BEST_AHEAD, runs) > 0) {
        put_ahead(g, out);
    } else if (count_found(g, BEST_CANDIDATE, runs) == 1) {
        buf_printf(out, "%s is ahead of the points that were measured to the end", point_name(g, a->best));
    } else {
        buf_puts(out, "not distinguishable: ");
        put_names(g, BEST_CANDIDATE, runs, out);
    }
    put_untested(g, runs, out);
    if (count_found(g, BEST_DROPPED, runs) > 0) {
        buf_puts(out, "; dropped along the way without being ruled out: ");
        put_names(g, BEST_DROPPED, runs, out);
    }
    if (g->several_gpus)
        buf_puts(
            out,
            "; measured on several GPUs, whose differences cannot be separated from those of the points");
    buf_putc(out, '\n');
}

/* The axes of all points. */
static void take_axes(const struct best_groups *all, struct axis_columns *out)
{
    size_t n = 0;
    for (size_t i = 0; i < all->count; i++)
        n += all->item[i].count;
    AUTO_FREE const struct run_variant **variants = xcalloc(n, sizeof *variants);
    n = 0;
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < all->item[i].count; k++)
            variants[n++] = all->item[i].member[k].variant;
    axis_columns_take(out, variants, n);
}

static void put_finding(struct table *t, const struct best_group *g, size_t i, size_t runs)
{
    enum best_finding found = best_group_finding(g, i, runs);
    char text[128];
    bool after =
        runs > 1 && (found == BEST_DROPPED || found == BEST_RULED_OUT) && g->member[i].last_run + 1 < runs;
    const struct best_member *m = &g->member[i];
    int n = snprintf(text, sizeof text, after ? "%s, after round %zu" : "%s", best_finding_name(found),
                     m->last_run + 1);
    if (m->failed > 0 && found != BEST_FAILED)
        snprintf(text + n, sizeof text - (size_t)n, ", %d of %d not OK", m->failed, m->of);
    table_marked(t, text, found == BEST_WINNER ? MARK_GOOD : found == BEST_FAILED ? MARK_BAD : MARK_NONE);
}

/* "3.21 % slower", "2.80x slower" */
static void put_behind(struct table *t, enum metric m, double behind)
{
    const char *word = message(REPORT_EN, metric_is_speed(m) ? MSG_SLOWER : MSG_WORSE);
    char text[64];
    if (behind >= 1)
        snprintf(text, sizeof text, "%s %s", num_factor(1 + behind).s, word);
    else
        snprintf(text, sizeof text, "%.2f %% %s", 100 * behind, word);
    table_text(t, isnan(behind) ? NUM_NONE : text);
}

/* Shapes that no columns of axes show. */
static bool has_shapes(const struct best_groups *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (*all->item[i].shape && !*all->item[i].member[0].variant->axes)
            return true;
    return false;
}

static void put_row(struct table *t, const struct best_groups *all, const struct best_group *g, size_t i,
                    const struct axis_columns *axes, bool shapes, size_t runs)
{
    const struct run_variant *v = g->member[i].variant;
    const struct best_point *p = &g->point[i];
    char text[64];
    struct quantity q = quantity_of(all->metric, false);
    snprintf(text, sizeof text, "%d", g->context);
    table_text(t, text);
    table_code(t, *v->kernel ? v->kernel : v->name);
    if (shapes)
        table_text(t, *v->axes ? "" : g->shape);
    axis_columns_row(axes, v, t);
    snprintf(text, sizeof text, "%zu", p->count);
    table_text(t, text);
    table_text(t, p->count ? quantity_text(&q, p->median).s : "-");
    put_behind(t, all->metric, i == g->answer.best ? (double)NAN : p->behind);
    put_finding(t, g, i, runs);
}

static void put_group(struct table *t, const struct best_groups *all, const struct best_group *g,
                      const struct axis_columns *axes, bool shapes, size_t runs)
{
    AUTO_FREE size_t *order = xcalloc(g->count, sizeof *order);
    order_points(g, order);
    for (size_t i = 0; g->answer.best < g->count && i < g->count; i++)
        put_row(t, all, g, order[i], axes, shapes, runs);
}

static void fill_table(struct table *t, const struct best_groups *all, size_t runs)
{
    struct axis_columns axes;
    const bool shapes = has_shapes(all);
    struct quantity q = quantity_of(all->metric, false);
    take_axes(all, &axes);
    table_column(t, "Context", true);
    table_column(t, "Variant", false);
    if (shapes)
        table_column(t, "Shape", false);
    axis_columns_add(&axes, t);
    table_column(t, "Repetitions", true);
    table_column(t, quantity_title(&q, REPORT_EN), true);
    table_column(t, "vs best", true);
    table_column(t, "Finding", false);
    for (size_t i = 0; i < all->count; i++)
        put_group(t, all, &all->item[i], &axes, shapes, runs);
}

int best_table(const struct best_groups *g, size_t runs, const struct screen *screen, struct buf *out,
               struct err *err)
{
    AUTO(table_release) struct table table = {0};
    struct md md = {.out = out, .lang = REPORT_EN};
    for (size_t i = 0; i < g->count; i++) {
        buf_puts(out, screen ? "" : "- ");
        put_answer(&g->item[i], runs, out);
    }
    buf_putc(out, '\n');
    fill_table(&table, g, runs);
    if (screen)
        table_write_text(&table, *screen, out);
    else
        md_table(&md, &table);
    return table_ok(&table) && buf_ok(out) ? 0
                                           : err_set(err, ERR_INTERNAL, "more points than can be printed");
}

/* Which of a variant's points is best at a context, and by how much. */
static void write_best_of(const struct best_group *g, struct md *w)
{
    const struct best_answer *a = &g->answer;
    AUTO(buf_release) struct buf at = {.max = BEST_TEXT_MAX + 32};
    buf_printf(&at, "%d%s%s", g->context, *g->shape ? ", " : "", g->shape);
    if (g->count < 2 || a->second >= g->count)
        return;
    const char *best = g->member[a->best].variant->name, *second = g->member[a->second].variant->name;
    if (g->member[a->best].failed)
        md_item(w, MSG_SUMMARY_BEST_FAILS, buf_str(&at), best, num_percent(a->margin).s, second,
                num_int(g->member[a->best].failed).s, num_int(g->member[a->best].of).s);
    else if (isfinite(a->sure))
        md_item(w, MSG_SUMMARY_BEST, buf_str(&at), best, num_percent(a->margin).s, second,
                num_percent(a->low).s, num_percent(a->high).s);
    else if (a->untested && !g->several_gpus)
        md_item(w, MSG_SUMMARY_BEST_FEW, buf_str(&at), best, num_percent(a->margin).s, second);
    else
        md_item(w, MSG_SUMMARY_BEST_OPEN, buf_str(&at), num_int((int64_t)a->candidates).s,
                num_int((int64_t)g->count).s, best);
}

void best_items(const struct run_data *run, enum metric metric, struct md *w)
{
    struct best_groups groups = {0};
    struct err ignored;
    bool axes = false;
    for (size_t v = 0; v < run->n_variants; v++)
        axes |= run->variants[v].axes[0] != '\0';
    if (axes && best_groups_make(&groups, run, 1, metric, false, &ignored) == 0)
        for (size_t i = 0; i < groups.count && i < BEST_SAID_MAX; i++)
            write_best_of(&groups.item[i], w);
    best_groups_release(&groups);
}
