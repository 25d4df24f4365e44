#include "reports/sections/phrase.h"

#include "common/base/alloc.h"
#include "reports/model/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words the change of a metric that is not a time. */
static void phrase_change(struct buf *out, enum report_lang lang, double ratio)
{
    message_plain(out, lang, ratio >= 1 ? MSG_RATIO_HIGHER : MSG_RATIO_LOWER,
                  num_fixed(fabs(ratio - 1) * 100, 1).s);
}

void phrase_ratio(struct buf *out, enum report_lang lang, enum metric m, double ratio)
{
    if (!isfinite(ratio) || ratio <= 0)
        buf_puts(out, NUM_NONE);
    else if (!metric_is_time(m))
        phrase_change(out, lang, ratio);
    else if (ratio >= 1.5)
        message_plain(out, lang, MSG_RATIO_TIMES_SLOWER, num_fixed(ratio, 2).s);
    else if (ratio >= 1)
        message_plain(out, lang, MSG_RATIO_PERCENT_SLOWER, num_fixed((ratio - 1) * 100, 1).s);
    else if (ratio > 1 / 1.5)
        message_plain(out, lang, MSG_RATIO_PERCENT_FASTER, num_fixed((1 - ratio) * 100, 1).s);
    else
        message_plain(out, lang, MSG_RATIO_TIMES_FASTER, num_fixed(1 / ratio, 2).s);
}

void phrase_factors(struct buf *out, double low, double high)
{
    struct num from = num_times(low), to = num_times(high);
    if (strcmp(from.s, to.s) == 0)
        buf_printf(out, "%sx", to.s);
    else
        buf_printf(out, "%s-%sx", from.s, to.s);
}

/* The values of the cells of one context: low and high are equal if all cells share one. */
struct context_value {
    int context;
    double low;
    double high;
    bool seen; /* at least one cell with tests has been read */
};

typedef double cell_number(const struct cell *c);

static double nothing(const struct cell *c)
{
    (void)c;
    return 0;
}

/* Values come in ascending order of contexts. The caller frees *out. */
static size_t values_by_context(const struct run_data *run, cell_number *get, struct context_value **out)
{
    AUTO_FREE size_t *order = cells_by_context(run);
    size_t n = 0;
    *out = xcalloc(run->n_cells, sizeof **out);
    for (size_t i = 0; i < run->n_cells; i++) {
        const struct cell *c = &run->cells[order[i]];
        if (n == 0 || (*out)[n - 1].context != c->context)
            (*out)[n++] = (struct context_value){.context = c->context};
        struct context_value *v = &(*out)[n - 1];
        if (c->count == 0 && get != nothing)
            continue;
        double own = get(c);
        if (isnan(own)) /* not recorded */
            continue;
        v->low = v->seen ? fmin(v->low, own) : own;
        v->high = v->seen ? fmax(v->high, own) : own;
        v->seen = true;
    }
    return n;
}

void phrase_contexts(struct buf *out, enum report_lang lang, const struct run_data *run)
{
    struct context_value *list;
    size_t n = values_by_context(run, nothing, &list), first = n && list[0].context == 0;
    if (n - first > CONTEXTS_LISTED_MAX)
        message_plain(out, lang, MSG_CONTEXTS_MANY, num_int((int64_t)(n - first)).s,
                      num_int(list[first].context).s, num_int(list[n - 1].context).s);
    else
        for (size_t i = first; i < n; i++)
            buf_printf(out, "%s%d", i > first ? ", " : "", list[i].context);
    free(list);
}

struct num phrase_at(enum report_lang lang, int context)
{
    return context ? phrase_count(lang, context, MSG_AT_CONTEXT, MSG_AT_CONTEXT) : (struct num){""};
}

void phrase_where(struct buf *out, enum report_lang lang, int contexts, int context, bool shapes)
{
    if (contexts > 1)
        message_plain(out, lang, shapes ? MSG_AT_SHAPES : MSG_AT_CONTEXTS);
    else if (context > 0)
        message_plain(out, lang, MSG_AT_CONTEXT, num_int(context).s);
}

/* Appends contexts like "4096, 8192 and 3 more". */
static void list_contexts(struct buf *out, enum report_lang lang, const struct cell *const *cells,
                          size_t count)
{
    for (size_t i = 0; i < count && i < CONTEXTS_LISTED_MAX; i++)
        buf_printf(out, "%s%d", i ? ", " : "", cells[i]->context);
    if (count > CONTEXTS_LISTED_MAX)
        message_plain(out, lang, MSG_AND_MORE, num_int((int64_t)(count - CONTEXTS_LISTED_MAX)).s);
}

void phrase_at_cells(struct buf *out, enum report_lang lang, const struct cell *const *cells, size_t count)
{
    if (count == 1 && cells[0]->context == 0)
        return;
    AUTO(buf_release) struct buf contexts = {.max = PHRASE_MAX};
    list_contexts(&contexts, lang, cells, count);
    message_plain(out, lang, count == 1 ? MSG_AT_CONTEXT : MSG_AT_SEVERAL, buf_str(&contexts));
}

struct num phrase_count(enum report_lang lang, int n, enum msg one, enum msg many)
{
    struct num out;
    AUTO(buf_release) struct buf b = {.max = 256};
    message_plain(&b, lang, n == 1 ? one : many, num_int(n).s);
    snprintf(out.s, sizeof out.s, "%s", buf_str(&b));
    return out;
}

const char *phrase_scratch(enum report_lang lang, enum scratch_use use)
{
    if (use == SCRATCH_OF_ARRAYS)
        return message(lang, MSG_SCRATCH_ARRAYS);
    return message(lang, use == SCRATCH_OF_BOTH ? MSG_SCRATCH_BOTH : MSG_SCRATCH_UNKNOWN);
}

struct num phrase_waves(enum report_lang lang, double waves, bool nvidia)
{
    return phrase_count(lang, (int)waves, nvidia ? MSG_WARPS_ONE : MSG_WAVES_ONE,
                        nvidia ? MSG_WARPS_MANY : MSG_WAVES_MANY);
}

static bool all_alike(const struct context_value *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!list[i].seen || list[i].low != list[0].low || list[i].high != list[0].low)
            return false;
    return n > 0;
}

static double cell_timeout(const struct cell *c)
{
    return c->timeout_s;
}

static double cell_counted(const struct cell *c)
{
    return c->counted;
}

static double cell_warmups(const struct cell *c)
{
    return (double)c->count - c->counted;
}

/* Appends a range like "2 s" or "1 to 3 s". */
static void write_range(struct buf *out, enum report_lang lang, const struct context_value *v,
                        const char *unit)
{
    char low[32], high[48];
    snprintf(low, sizeof low, "%.6g", v->low);
    snprintf(high, sizeof high, "%.6g%s", v->high, unit);
    if (v->low == v->high)
        buf_puts(out, high);
    else
        message_plain(out, lang, MSG_RANGE, low, high);
}

/* Returns false if every value is 0. */
static bool per_context(struct buf *out, enum report_lang lang, const struct run_data *run, cell_number *get,
                        const char *unit)
{
    struct context_value *list;
    size_t n = values_by_context(run, get, &list), named = 0, left = 0;
    bool alike = all_alike(list, n), any = n && !(alike && list[0].low == 0);
    if (alike)
        buf_printf(out, "%.6g%s", list[0].low, unit);
    for (size_t i = 0; !alike && i < n; i++) {
        if (!list[i].seen)
            continue;
        if (named == CONTEXTS_LISTED_MAX) {
            left++;
            continue;
        }
        buf_puts(out, named++ ? ", " : "");
        write_range(out, lang, &list[i], unit);
        buf_puts(out, phrase_at(lang, list[i].context).s);
    }
    if (left)
        message_plain(out, lang, MSG_AND_MORE, num_int((int64_t)left).s);
    free(list);
    return any;
}

static size_t first_on(const struct run_data *run, const char *host)
{
    size_t i = 0;
    while (i < run->n_tests && strcmp(run->tests[i].host, host) != 0)
        i++;
    return i;
}

void phrase_hosts(struct buf *out, const struct run_data *run)
{
    for (size_t i = 0; i < run->n_tests; i++) {
        const char *host = run->tests[i].host;
        if (!*host || first_on(run, host) != i)
            continue;
        size_t n = 0;
        for (size_t k = i; k < run->n_tests; k++)
            n += strcmp(run->tests[k].host, host) == 0;
        buf_printf(out, "%s%s (%zu)", out->len ? ", " : "", host, n);
    }
}

void phrase_timeouts(struct buf *out, enum report_lang lang, const struct run_data *run)
{
    per_context(out, lang, run, cell_timeout, " s");
}

void phrase_repetitions(struct buf *out, enum report_lang lang, const struct run_data *run)
{
    AUTO(buf_release) struct buf w = {.max = PHRASE_MAX};
    per_context(out, lang, run, cell_counted, "");
    if (per_context(&w, lang, run, cell_warmups, ""))
        message_plain(out, lang, MSG_PLUS_WARMUP, buf_str(&w));
}

void phrase_stopped_variant(const struct run_variant *variant, struct md *w)
{
    md_bullet(w);
    md_say(w, MSG_VALIDATION_VARIANT, variant->name, status_name(variant->status));
    if (*variant->reason)
        md_say(w, MSG_BECAUSE, variant->reason);
    md_line(w);
}
