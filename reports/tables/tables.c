#include "reports/tables/tables.h"

#include "reports/words/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *reference_name(const struct variant_view *v)
{
    return v->run->variants[v->reference].name;
}

/* Cells stand by variant; the tables are read by context. */
struct order_key {
    int context;
    size_t index;
};

static int order_compare(const void *a, const void *b)
{
    const struct order_key *x = a, *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

int cells_by_context(const struct run_data *run, size_t **order)
{
    struct order_key *keys = calloc(run->n_cells + 1, sizeof *keys);
    *order = calloc(run->n_cells + 1, sizeof **order);
    if (!keys || !*order) {
        free(keys);
        free(*order);
        *order = NULL;
        return -1;
    }
    for (size_t i = 0; i < run->n_cells; i++)
        keys[i] = (struct order_key){.context = run->cells[i].context, .index = i};
    qsort(keys, run->n_cells, sizeof *keys, order_compare);
    for (size_t i = 0; i < run->n_cells; i++)
        (*order)[i] = keys[i].index;
    free(keys);
    return 0;
}

struct num cell_status(const struct cell *c)
{
    struct num n;
    if (c->counted == 0 && c->count == 0)
        snprintf(n.s, sizeof n.s, "%s", status_name(STATUS_SKIPPED));
    else if (c->counted == c->ok || c->ok == 0)
        snprintf(n.s, sizeof n.s, "%s", status_name(c->status));
    else
        snprintf(n.s, sizeof n.s, "%s (%d/%d OK)", status_name(c->status), c->ok, c->counted);
    return n;
}

static enum cell_mark status_mark(const struct cell *c)
{
    switch (c->status) {
    case STATUS_OK:
        return MARK_NONE;
    case STATUS_SKIPPED:
    case STATUS_CANCELLED:
    case STATUS_INTERRUPTED:
        return MARK_WARN;
    case STATUS_FAIL:
    case STATUS_TIMEOUT:
    case STATUS_HANG:
    case STATUS_OOM:
    case STATUS_CRASH:
    case STATUS_INVALID:
    case STATUS_BUILD_FAILED:
    case STATUS_GATE_FAILED:
    case STATUS_COUNT:
        break;
    }
    return MARK_BAD;
}

enum standing standing_of(const struct cell *c, const struct variant_delta *d)
{
    if (c->status != STATUS_OK)
        return STANDING_NOT_OK;
    if (d->variant == d->reference)
        return STANDING_REFERENCE;
    if (!isfinite(d->factor))
        return STANDING_NONE;
    double band = compare_defaults().regression;
    if (isfinite(d->factor_error) && 2 * d->factor_error > band)
        band = 2 * d->factor_error;
    if (fabs(d->factor - 1) <= band)
        return STANDING_SAME;
    return d->factor > 1 ? STANDING_FAST : STANDING_SLOW;
}

static void standing_cell(struct table *t, const struct variant_view *v, size_t i, enum report_lang lang)
{
    switch (standing_of(&v->run->cells[i], &v->vs[i])) {
    case STANDING_REFERENCE:
        table_text(t, message(lang, MSG_STANDING_REFERENCE));
        return;
    case STANDING_FAST:
        table_marked(t, message(lang, MSG_STANDING_FAST), MARK_GOOD);
        return;
    case STANDING_SAME:
        table_text(t, message(lang, MSG_STANDING_SAME));
        return;
    case STANDING_SLOW:
        table_marked(t, message(lang, MSG_STANDING_SLOW), MARK_WARN);
        return;
    case STANDING_NOT_OK:
        table_marked(t, cell_status(&v->run->cells[i]).s, status_mark(&v->run->cells[i]));
        return;
    case STANDING_NONE:
        table_text(t, status_name(STATUS_OK));
        return;
    }
}

/* A test that was stopped at its time-out still bounds the time from below; NaN for any other. The older
 * layout tells no time-out, but how long it waited. */
static double time_bound(const struct run_data *run, const struct cell *c)
{
    if (c->status != STATUS_TIMEOUT || c->ok > 0 || c->count == 0)
        return (double)NAN;
    return c->timeout_s > 0 ? c->timeout_s : run->tests[c->first].value[METRIC_WALL_S];
}

/* What takes less is read in milliseconds where the unit stands beside the number. */
#define SECONDS_FROM 0.01

struct num metric_text(enum metric m, double v)
{
    const char *unit = metric_info(m)->unit;
    if (strcmp(unit, "bytes") == 0)
        return num_bytes(v);
    if (strcmp(unit, "ms") == 0)
        return num_milliseconds(v);
    return strcmp(unit, "s") == 0 ? num_seconds(v) : num_rate(v);
}

struct num metric_with_unit(enum metric m, double v)
{
    const char *unit = metric_info(m)->unit;
    struct num n = metric_text(m, v), out;
    if (strcmp(unit, "s") == 0 && v > 0 && v < SECONDS_FROM) {
        n = num_milliseconds(v * 1e3);
        unit = "ms";
    }
    bool bare = !*unit || !isfinite(v) || strcmp(unit, "bytes") == 0; /* bytes bring theirs */
    snprintf(out.s, sizeof out.s, "%.24s%s%.12s", n.s, bare ? "" : " ", bare ? "" : unit);
    return out;
}

/* Whatever it was stored in. */
static bool in_milliseconds(enum metric m, bool kernels)
{
    return m == METRIC_KERNEL_MS || (m == METRIC_PREFILL_S && kernels);
}

static const char *metric_title(enum metric m, bool kernels, enum report_lang lang)
{
    return in_milliseconds(m, kernels) ? message(lang, MSG_COL_TIME_MS)
           : m == METRIC_PREFILL_S     ? message(lang, MSG_COL_PREFILL)
           : m == METRIC_WALL_S        ? message(lang, MSG_COL_WALL)
                                       : metric_info(m)->title;
}

struct num metric_time(enum metric m, bool kernels, double v)
{
    return m == METRIC_PREFILL_S && kernels ? num_milliseconds(v * 1e3) : metric_text(m, v);
}

/* A context of 0 is none: other tools' benchmarks have no prompt. */
static void context_cell(struct table *t, int context)
{
    table_text(t, context ? num_int(context).s : NUM_NONE);
}

static void value_cell(struct table *t, const struct variant_view *v, const struct cell *c,
                       enum report_lang lang)
{
    struct buf b;
    double bound = time_bound(v->run, c);
    buf_init(&b, 128);
    if (isfinite(bound))
        message_plain(&b, lang, MSG_WALL_ABOVE, num_seconds(bound).s);
    else
        buf_puts(&b, metric_time(v->metric, v->kernels, c->median[v->metric]).s);
    table_text(t, buf_str(&b));
    buf_release(&b);
}

static void factor_cell(struct table *t, const struct variant_view *v, size_t i, enum report_lang lang)
{
    const struct cell *c = &v->run->cells[i];
    const struct cell *ref = run_data_cell(v->run, reference_name(v), c->context);
    double bound = time_bound(v->run, c);
    if (!(bound > 0) || !ref || !isfinite(ref->median[METRIC_WALL_S])) {
        double error = c->variant == v->reference ? (double)NAN : v->vs[i].factor_error;
        table_text(t, num_factor_error(v->vs[i].factor, error).s);
        return;
    }
    struct buf b;
    buf_init(&b, 128);
    message_plain(&b, lang, MSG_FACTOR_OF_WALL, num_factor_below(ref->median[METRIC_WALL_S] / bound).s);
    table_text(t, buf_str(&b));
    buf_release(&b);
}

static const char *kernel_name(const struct run_data *run, const struct cell *c)
{
    return *c->attn_impl ? c->attn_impl : run->variants[c->variant].attn_impl;
}

void table_consolidated(struct table *t, const struct variant_view *v, enum report_lang lang)
{
    size_t *order = NULL;
    table_column(t, message(lang, MSG_COL_CONTEXT), true);
    table_column(t, message(lang, MSG_COL_VARIANT), false);
    table_column(t, message(lang, MSG_COL_KERNEL), false);
    table_column(t, metric_title(v->metric, v->kernels, lang), true);
    table_column(t, message(lang, MSG_COL_VS_BASELINE), true);
    table_column(t, message(lang, MSG_COL_STATUS), false);
    if (cells_by_context(v->run, &order)) {
        t->failed = true;
        return;
    }
    for (size_t k = 0; k < v->run->n_cells; k++) {
        const struct cell *c = &v->run->cells[order[k]];
        context_cell(t, c->context);
        table_code(t, v->run->variants[c->variant].name);
        table_code(t, kernel_name(v->run, c));
        value_cell(t, v, c, lang);
        factor_cell(t, v, order[k], lang);
        standing_cell(t, v, order[k], lang);
    }
    free(order);
    if (v->metric != METRIC_PREFILL_S || v->kernels)
        table_drop_empty(t, 0);
}

void table_performance(struct table *t, const struct variant_view *v, enum report_lang lang)
{
    const struct run_data *run = v->run;
    size_t *order = NULL;
    bool tokens = v->metric == METRIC_PREFILL_S && !v->kernels, wall_alone = v->metric == METRIC_WALL_S;
    table_column(t, message(lang, MSG_COL_CONTEXT), true);
    table_column(t, message(lang, MSG_COL_VARIANT), false);
    if (!wall_alone)
        table_column(t, tokens ? metric_info(v->metric)->name : "time_ms", true);
    table_column(t, "wall_time_s", true);
    table_column(t, "attn_impl", false);
    if (tokens)
        table_column(t, message(lang, MSG_COL_THROUGHPUT), true);
    table_column(t, message(lang, MSG_COL_REPETITIONS), true);
    table_column(t, message(lang, MSG_COL_STATUS), false);
    if (cells_by_context(run, &order)) {
        t->failed = true;
        return;
    }
    for (size_t k = 0; k < run->n_cells; k++) {
        const struct cell *c = &run->cells[order[k]];
        context_cell(t, c->context);
        table_code(t, run->variants[c->variant].name);
        if (!wall_alone)
            value_cell(t, v, c, lang);
        table_text(t, num_seconds(c->median[METRIC_WALL_S]).s);
        table_code(t, kernel_name(run, c));
        if (tokens)
            table_text(t, num_rate(c->median[METRIC_TOK_PER_S]).s);
        table_text(t, num_int(c->counted).s);
        table_marked(t, cell_status(c).s, status_mark(c));
    }
    free(order);
    if (v->metric != METRIC_PREFILL_S || v->kernels)
        table_drop_empty(t, 0);
}

bool scaling_has_steps(const struct scaling_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].count > 1)
            return true;
    return false;
}

bool scaling_flagged(const struct scaling_row *row)
{
    return isfinite(row->step) && row->step > row->step_expected * (1 + SCALING_TOLERANCE);
}

void table_scaling(struct table *t, const struct run_data *run, const struct scaling_set *set, bool kernels,
                   enum report_lang lang)
{
    table_column(t, message(lang, MSG_COL_VARIANT), false);
    table_column(t, message(lang, MSG_COL_CONTEXT), true);
    table_column(t, metric_title(METRIC_PREFILL_S, kernels, lang), true);
    if (!kernels)
        table_column(t, message(lang, MSG_COL_THROUGHPUT), true);
    table_column(t, message(lang, MSG_COL_FACTOR), true);
    table_column(t, message(lang, MSG_COL_EXPECTED), true);
    table_column(t, message(lang, MSG_COL_STEP), true);
    table_column(t, message(lang, MSG_COL_STEP_EXPECTED), true);
    table_column(t, message(lang, MSG_COL_FLAG), false);
    for (size_t i = 0; i < set->count; i++) {
        const struct scaling *s = &set->items[i];
        for (size_t k = 0; s->count > 1 && k < s->count; k++) {
            const struct scaling_row *row = &s->rows[k];
            bool flagged = scaling_flagged(row);
            table_code(t, run->variants[s->variant].name);
            table_text(t, num_int(row->context).s);
            table_text(t, metric_time(METRIC_PREFILL_S, kernels, row->prefill_s).s);
            if (!kernels)
                table_text(t, num_rate(row->tok_per_s).s);
            table_text(t, num_growth(row->factor).s);
            table_text(t, num_growth(row->expected).s);
            table_text(t, num_growth(row->step).s);
            table_text(t, num_growth(row->step_expected).s);
            table_marked(t, flagged ? message(lang, MSG_SCALING_ABOVE) : "", flagged ? MARK_WARN : MARK_NONE);
        }
    }
}
