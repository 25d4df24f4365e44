#include "reports/tables/best_table.h"

#include "reports/render/markdown.h"
#include "reports/render/table.h"
#include "reports/words/quantity.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXIS_COLUMNS_MAX = 8 };

static const char *point_name(const struct best_group *g, size_t point)
{
    const struct run_variant *v = g->member[point].variant;
    return *g->variant && *v->shape ? v->shape : v->name;
}

/* By median, those measured in most runs first. */
static void order_points(const struct best_group *g, size_t *order)
{
    double sign = isnan(g->point[g->answer.best < g->count ? g->answer.best : 0].median) ? 0 : 1;
    for (size_t i = 0; i < g->count; i++) {
        size_t at = i;
        for (; at > 0; at--) {
            const struct best_point *a = &g->point[order[at - 1]], *b = &g->point[i];
            bool later = a->runs < b->runs || (a->runs == b->runs && sign * a->median > b->median);
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

static void put_margin(const struct best_group *g, struct buf *out)
{
    const struct best_answer *a = &g->answer;
    buf_printf(out, ", %.2g %% ahead of %s", 100 * a->margin, point_name(g, a->second));
    if (!isnan(a->low))
        buf_printf(out, " (%.2g to %.2g %%)", 100 * a->low, 100 * a->high);
}

static void put_answer(const struct best_group *g, size_t runs, struct buf *out)
{
    const struct best_answer *a = &g->answer;
    put_where(g, out);
    if (a->best == g->count)
        buf_puts(out, "no point has a result");
    else if (g->count == 1)
        buf_printf(out, "%s is the only point", point_name(g, 0));
    else if (!isnan(a->sure)) {
        buf_printf(out, "%s is best", point_name(g, a->best));
        put_margin(g, out);
        buf_printf(out, a->sure > 0.999 ? "; sure to more than 99.9 %%" : "; sure to %.1f %%", 100 * a->sure);
    } else if (count_found(g, BEST_CANDIDATE, runs) == 1) {
        buf_printf(out, "%s is ahead of the points that were measured to the end", point_name(g, a->best));
    } else {
        buf_puts(out, "not distinguishable: ");
        put_names(g, BEST_CANDIDATE, runs, out);
    }
    if (count_found(g, BEST_DROPPED, runs) > 0) {
        buf_puts(out, "; dropped on the way without being ruled out: ");
        put_names(g, BEST_DROPPED, runs, out);
    }
    if (g->several_gpus)
        buf_puts(out, "; measured on several GPUs, whose differences are not told from those of the points");
    buf_putc(out, '\n');
}

/* Names of axes in any of the variants, as columns. */
static size_t list_axes(const struct best_groups *all, char names[][RUN_NAME_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < all->item[i].count; k++) {
            const char *text = all->item[i].member[k].variant->axes, *key;
            json_t *axes = *text ? json_loads(text, 0, NULL) : NULL, *value;
            json_object_foreach(axes, key, value)
            {
                size_t at = 0;
                while (at < n && strcmp(names[at], key) != 0)
                    at++;
                if (at == n && n < AXIS_COLUMNS_MAX)
                    snprintf(names[n++], RUN_NAME_MAX, "%s", key);
            }
            json_decref(axes);
        }
    return n;
}

static void put_axis(struct table *t, const json_t *axes, const char *name)
{
    const json_t *value = json_object_get(axes, name);
    char *text =
        json_is_string(value) || !value ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    table_code(t, text ? text : value ? json_string_value(value) : "-");
    free(text);
}

static void put_finding(struct table *t, const struct best_group *g, size_t i, size_t runs)
{
    enum best_finding found = best_group_finding(g, i, runs);
    char text[128];
    bool after =
        runs > 1 && (found == BEST_DROPPED || found == BEST_RULED_OUT) && g->member[i].last_run + 1 < runs;
    snprintf(text, sizeof text, after ? "%s, after round %zu" : "%s", best_finding_name(found),
             g->member[i].last_run + 1);
    table_marked(t, text, found == BEST_WINNER ? MARK_GOOD : found == BEST_FAILED ? MARK_BAD : MARK_NONE);
}

static void put_row(struct table *t, const struct best_groups *all, const struct best_group *g, size_t i,
                    char axes_names[][RUN_NAME_MAX], size_t n_axes, size_t runs)
{
    const struct run_variant *v = g->member[i].variant;
    const struct best_point *p = &g->point[i];
    char text[64];
    json_t *axes = *v->axes ? json_loads(v->axes, 0, NULL) : NULL;
    struct quantity q = quantity_of(all->metric, false);
    double worse = i == g->answer.best ? (double)NAN : p->behind;
    snprintf(text, sizeof text, "%d", g->context);
    table_text(t, text);
    table_code(t, *v->kernel ? v->kernel : v->name);
    for (size_t k = 0; k < n_axes; k++)
        put_axis(t, axes, axes_names[k]);
    snprintf(text, sizeof text, "%zu", p->count);
    table_text(t, text);
    table_text(t, p->count ? quantity_text(&q, p->median).s : "-");
    snprintf(text, sizeof text, "%+.2f %%", 100 * worse);
    table_text(t, isnan(worse) ? "-" : text);
    put_finding(t, g, i, runs);
    json_decref(axes);
}

static void put_group(struct table *t, const struct best_groups *all, const struct best_group *g,
                      char axes[][RUN_NAME_MAX], size_t n_axes, size_t runs)
{
    size_t *order = calloc(g->count + 1, sizeof *order);
    if (order)
        order_points(g, order);
    for (size_t i = 0; order && g->answer.best < g->count && i < g->count; i++)
        put_row(t, all, g, order[i], axes, n_axes, runs);
    free(order);
}

static void fill_table(struct table *t, const struct best_groups *all, size_t runs)
{
    char axes[AXIS_COLUMNS_MAX][RUN_NAME_MAX];
    struct quantity q = quantity_of(all->metric, false);
    size_t n_axes = list_axes(all, axes);
    table_column(t, "Context", true);
    table_column(t, "Variant", false);
    for (size_t i = 0; i < n_axes; i++)
        table_column(t, axes[i], true);
    table_column(t, "Repetitions", true);
    table_column(t, quantity_title(&q, REPORT_EN), true);
    table_column(t, "Behind", true);
    table_column(t, "Finding", false);
    for (size_t i = 0; i < all->count; i++)
        put_group(t, all, &all->item[i], axes, n_axes, runs);
}

int best_table(const struct best_groups *g, size_t runs, enum best_form form, struct buf *out,
               struct err *err)
{
    struct table table;
    struct md md = {.out = out, .lang = REPORT_EN};
    table_init(&table);
    for (size_t i = 0; i < g->count; i++) {
        buf_puts(out, form == BEST_MARKDOWN ? "- " : "");
        put_answer(&g->item[i], runs, out);
    }
    buf_putc(out, '\n');
    fill_table(&table, g, runs);
    if (form == BEST_MARKDOWN)
        md_table(&md, &table);
    else
        table_write_text(&table, form == BEST_COLOUR, out);
    bool ok = table_ok(&table) && buf_ok(out);
    table_release(&table);
    return ok ? 0 : err_set(err, ERR_INTERNAL, "more points than can be printed");
}
