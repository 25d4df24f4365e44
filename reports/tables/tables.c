#include "reports/tables/tables.h"

#include "common/base/alloc.h"
#include "reports/tables/axis_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *reference_name(const struct variant_view *v)
{
    return v->run->variants[v->reference].name;
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

/* What was skipped because of its variant has the variant's status. */
static void add_failure(struct table *t, const struct run_data *run, const struct cell *c)
{
    enum status of_variant = run->variants[c->variant].status;
    bool never_ran = of_variant == STATUS_BUILD_FAILED || of_variant == STATUS_GATE_FAILED;
    if (c->status == STATUS_SKIPPED && never_ran)
        table_marked(t, status_name(of_variant), MARK_BAD);
    else
        table_marked(t, cell_status(c).s, status_mark(c));
}

static void add_standing(struct table *t, const struct variant_view *v, size_t i, enum report_lang lang)
{
    const struct cell *c = &v->run->cells[i];
    bool speed = metric_is_speed(v->primary.metric);
    if (!v->vs && c->status == STATUS_OK) {
        table_text(t, status_name(STATUS_OK));
        return;
    }
    switch (v->vs ? beside_of(c, &v->vs[i]) : BESIDE_NOT_OK) {
    case BESIDE_REFERENCE:
        table_text(t, message(lang, MSG_STANDING_REFERENCE));
        return;
    case BESIDE_FAST:
        table_marked(t, message(lang, speed ? MSG_STANDING_FAST : MSG_STANDING_BETTER), MARK_GOOD);
        return;
    case BESIDE_SAME:
        table_text(t, message(lang, MSG_STANDING_SAME));
        return;
    case BESIDE_SLOW:
        table_marked(t, message(lang, speed ? MSG_STANDING_SLOW : MSG_STANDING_WORSE), MARK_WARN);
        return;
    case BESIDE_UNSURE:
        table_marked(t, message(lang, MSG_VERDICT_NOISY), MARK_WARN);
        return;
    case BESIDE_NOT_OK:
        add_failure(t, v->run, c);
        return;
    case BESIDE_NONE:
        table_text(t, status_name(STATUS_OK));
        return;
    }
}

/* A test that timed out still gives a lower bound of its time, and other tests give NaN. B3.89 bundles
 * record the wall time instead of the time-out. */
static double lower_bound(const struct run_data *run, const struct cell *c)
{
    if (c->status != STATUS_TIMEOUT || c->ok > 0 || c->count == 0)
        return (double)NAN;
    return c->timeout_s > 0 ? c->timeout_s : run->tests[c->first].value[METRIC_WALL_S];
}

/* Imported benchmarks have no prompt: their context is 0. */
static void add_context(struct table *t, int context)
{
    table_text(t, context ? num_int(context).s : NUM_NONE);
}

static void add_value(struct table *t, const struct variant_view *v, const struct cell *c,
                      enum report_lang lang)
{
    double bound = lower_bound(v->run, c);
    AUTO(buf_release) struct buf b = {.max = 128};
    if (isfinite(bound))
        message_plain(&b, lang, MSG_WALL_ABOVE, num_seconds(bound).s);
    else
        buf_puts(&b, quantity_text(&v->primary, c->median[v->primary.metric]).s);
    table_text(t, buf_str(&b));
}

static void add_factor(struct table *t, const struct variant_view *v, size_t i, enum report_lang lang)
{
    const struct cell *c = &v->run->cells[i];
    const struct cell *ref = run_data_cell(v->run, reference_name(v), c->context);
    double bound = lower_bound(v->run, c);
    if (!(bound > 0) || !ref || !isfinite(ref->median[METRIC_WALL_S])) {
        double error = c->variant == v->reference ? (double)NAN : v->vs[i].factor_error;
        table_text(t, num_factor_error(v->vs[i].factor, error).s);
        return;
    }
    AUTO(buf_release) struct buf b = {.max = 128};
    message_plain(&b, lang, MSG_FACTOR_OF_WALL, num_factor_below(ref->median[METRIC_WALL_S] / bound).s);
    table_text(t, buf_str(&b));
}

static const char *kernel_name(const struct run_data *run, const struct cell *c)
{
    return *c->attn_impl ? c->attn_impl : run->variants[c->variant].attn_impl;
}

bool variants_apart(const struct variant_delta *vs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (vs[i].apart)
            return true;
    return false;
}

bool variants_hidden(const struct variant_delta *vs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (vs[i].hidden && within_verdict(&vs[i], compare_defaults().regression) == VERDICT_NOISY)
            return true;
    return false;
}

bool variants_unlike(const struct variant_delta *vs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (vs[i].unlike)
            return true;
    return false;
}

static void add_reference_title(struct table *t, const struct variant_view *v, enum report_lang lang)
{
    AUTO(buf_release) struct buf title = {.max = 128};
    message_plain(&title, lang, MSG_COL_VS, run_data_reference_name(v->run, v->reference));
    table_column(t, buf_str(&title), true);
}

void table_consolidated(struct table *t, const struct variant_view *v, enum report_lang lang)
{
    AUTO_FREE size_t *order = cells_by_context(v->run);
    table_numbers(t, lang, MSG_COL_CONTEXT);
    table_texts(t, lang, MSG_COL_VARIANT, MSG_COL_KERNEL);
    table_column(t, quantity_title(&v->primary, lang), true);
    if (v->vs)
        add_reference_title(t, v, lang);
    table_texts(t, lang, MSG_COL_STATUS);
    for (size_t k = 0; k < v->run->n_cells; k++) {
        const struct cell *c = &v->run->cells[order[k]];
        add_context(t, c->context);
        table_code(t, v->run->variants[c->variant].name);
        table_code(t, kernel_name(v->run, c));
        add_value(t, v, c, lang);
        if (v->vs)
            add_factor(t, v, order[k], lang);
        add_standing(t, v, order[k], lang);
    }
    if (!v->primary.prompt)
        table_drop_empty(t, 0);
}

static void take_axes(const struct run_data *run, struct axis_columns *out)
{
    AUTO_FREE const struct run_variant **variants = xcalloc(run->n_variants, sizeof *variants);
    for (size_t i = 0; i < run->n_variants; i++)
        variants[i] = &run->variants[i];
    axis_columns_take(out, variants, run->n_variants);
}

static struct time_unit unit_of_column(const struct run_data *run, enum metric m)
{
    double largest = 0;
    for (size_t i = 0; i < run->n_cells; i++)
        largest = fmax(largest, run->cells[i].median[m]);
    return time_unit_of(largest);
}

/* A name of seconds ends with _s; the column's ends with its unit. */
static void add_time_title(struct table *t, enum metric m, struct time_unit unit)
{
    char title[64];
    const char *name = metric_info(m)->name;
    snprintf(title, sizeof title, "%.*s%s", (int)strlen(name) - 1, name, unit.name);
    table_column(t, title, true);
}

static void add_time(struct table *t, double seconds, struct time_unit unit)
{
    table_text(t, unit.per_second == 1 ? num_seconds(seconds).s : num_plain(seconds * unit.per_second).s);
}

void table_performance(struct table *t, const struct variant_view *v, enum report_lang lang)
{
    enum { OTHER_TIMES = 3 };
    static const enum metric other_times[OTHER_TIMES] = {METRIC_MODEL_LOAD_S, METRIC_TOKENIZE_S,
                                                         METRIC_DECODE_S};
    struct time_unit units[OTHER_TIMES];
    const struct run_data *run = v->run;
    struct axis_columns axes;
    AUTO_FREE size_t *order = cells_by_context(run);
    bool wall_alone = v->primary.metric == METRIC_WALL_S;
    table_numbers(t, lang, MSG_COL_CONTEXT);
    table_texts(t, lang, MSG_COL_VARIANT);
    take_axes(run, &axes);
    axis_columns_add(&axes, t);
    if (!wall_alone)
        table_column(t, v->primary.prompt ? "prefill_s" : quantity_title(&v->primary, lang), true);
    table_column(t, "wall_time_s", true);
    const size_t first_other = t->n_cols;
    for (size_t i = 0; i < OTHER_TIMES; i++) {
        units[i] = unit_of_column(run, other_times[i]);
        add_time_title(t, other_times[i], units[i]);
    }
    table_column(t, "attn_impl", false);
    if (v->primary.prompt)
        table_numbers(t, lang, MSG_COL_THROUGHPUT);
    table_numbers(t, lang, MSG_COL_REPETITIONS);
    table_texts(t, lang, MSG_COL_STATUS);
    for (size_t k = 0; k < run->n_cells; k++) {
        const struct cell *c = &run->cells[order[k]];
        add_context(t, c->context);
        table_code(t, run->variants[c->variant].name);
        axis_columns_row(&axes, &run->variants[c->variant], t);
        if (!wall_alone)
            add_value(t, v, c, lang);
        table_text(t, num_seconds(c->median[METRIC_WALL_S]).s);
        for (size_t i = 0; i < OTHER_TIMES; i++)
            add_time(t, c->median[other_times[i]], units[i]);
        table_code(t, kernel_name(run, c));
        if (v->primary.prompt)
            table_text(t, num_rate(c->median[METRIC_TOK_PER_S]).s);
        table_text(t, num_int(c->counted).s);
        add_failure(t, run, c);
    }
    table_drop_empty(t, v->primary.prompt ? first_other : 0);
}

static bool is_own(const struct metric_set *measured, enum metric m, enum metric primary)
{
    return measured->has[m] && m != primary && metric_info(m)->kind == METRIC_OF_EXTRA;
}

bool table_own_metrics(struct table *t, const struct run_data *run, enum metric primary, size_t part,
                       enum report_lang lang)
{
    enum { COLUMNS_MAX = 10 };
    struct metric_set measured = {0};
    enum metric shown[COLUMNS_MAX];
    size_t own = 0, n = 0;
    run_data_measured(run, &measured);
    table_numbers(t, lang, MSG_COL_CONTEXT);
    table_texts(t, lang, MSG_COL_VARIANT);
    for (int m = 0; m < METRIC_COUNT; m++)
        if (is_own(&measured, (enum metric)m, primary) && own++ / COLUMNS_MAX == part) {
            table_column(t, metric_info((enum metric)m)->title, true);
            shown[n++] = (enum metric)m;
        }
    AUTO_FREE size_t *order = cells_by_context(run);
    for (size_t k = 0; n && k < run->n_cells; k++) {
        const struct cell *c = &run->cells[order[k]];
        if (c->ok == 0)
            continue;
        add_context(t, c->context);
        table_code(t, run->variants[c->variant].name);
        for (size_t i = 0; i < n; i++)
            table_text(t, metric_text(shown[i], c->median[shown[i]]).s);
    }
    return n > 0;
}

static void scaling_flag_cell(struct table *t, enum scaling_flag flag, enum report_lang lang)
{
    if (flag == SCALING_NONE)
        table_text(t, "");
    else
        table_marked(t, message(lang, flag == SCALING_ABOVE ? MSG_SCALING_ABOVE : MSG_VERDICT_NOISY),
                     MARK_WARN);
}

void table_scaling(struct table *t, const struct run_data *run, const struct scaling_set *set,
                   const struct quantity *primary, enum report_lang lang)
{
    table_texts(t, lang, MSG_COL_VARIANT);
    table_numbers(t, lang, MSG_COL_CONTEXT);
    table_column(t, quantity_title(primary, lang), true);
    if (primary->prompt)
        table_numbers(t, lang, MSG_COL_THROUGHPUT);
    table_numbers(t, lang, MSG_COL_FACTOR, MSG_COL_EXPECTED, MSG_COL_STEP, MSG_COL_STEP_EXPECTED);
    table_texts(t, lang, MSG_COL_FLAG);
    for (size_t i = 0; i < set->count; i++) {
        const struct scaling *s = &set->items[i];
        for (size_t k = 0; s->count > 1 && k < s->count; k++) {
            const struct scaling_row *row = &s->rows[k];
            table_code(t, run->variants[s->variant].name);
            table_text(t, num_int(row->context).s);
            table_text(t, quantity_text(primary, row->value).s);
            if (primary->prompt)
                table_text(t, num_rate(row->tok_per_s).s);
            table_text(t, num_growth(row->factor).s);
            table_text(t, num_growth(row->expected).s);
            table_text(t, num_growth(row->step).s);
            table_text(t, num_growth(row->step_expected).s);
            scaling_flag_cell(t, scaling_flag_of(row), lang);
        }
    }
    if (set->metric != METRIC_PREFILL_S)
        table_drop_empty(t, 3);
}
