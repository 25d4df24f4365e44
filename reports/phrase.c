#include "reports/phrase.h"

#include "reports/number.h"

#include <limits.h>
#include <math.h>
#include <string.h>

void phrase_ratio(struct buf *out, enum report_lang lang, double ratio)
{
    if (!isfinite(ratio) || ratio <= 0)
        buf_puts(out, NUM_NONE);
    else if (ratio >= 1.5)
        message_plain(out, lang, MSG_RATIO_TIMES_SLOWER, num_fixed(ratio, 2).s);
    else if (ratio >= 1)
        message_plain(out, lang, MSG_RATIO_PERCENT_SLOWER, num_fixed((ratio - 1) * 100, 1).s);
    else if (ratio > 1 / 1.5)
        message_plain(out, lang, MSG_RATIO_PERCENT_FASTER, num_fixed((1 - ratio) * 100, 1).s);
    else
        message_plain(out, lang, MSG_RATIO_TIMES_FASTER, num_fixed(1 / ratio, 2).s);
}

/* The smallest context above `after`; -1 when there is none. */
static int next_context(const struct run_data *run, int after)
{
    int next = INT_MAX;
    for (size_t i = 0; i < run->n_cells; i++)
        if (run->cells[i].context > after && run->cells[i].context < next)
            next = run->cells[i].context;
    return next == INT_MAX ? -1 : next;
}

/* A context of 0 is none: other tools' benchmarks have no prompt. */
void phrase_contexts(struct buf *out, const struct run_data *run)
{
    for (int n = next_context(run, 0); n > 0; n = next_context(run, n)) {
        buf_puts(out, out->len ? ", " : "");
        buf_puts(out, num_int(n).s);
    }
}

/* A number per context; NaN where cells of one context differ or nothing is known. */
typedef double cell_number(const struct cell *c);

static double context_number(const struct run_data *run, int context, cell_number *get)
{
    double value = (double)NAN;
    bool first = true;
    for (size_t i = 0; i < run->n_cells; i++) {
        const struct cell *c = &run->cells[i];
        if (c->context != context || c->count == 0)
            continue;
        double own = get(c);
        if (!first && !(own == value))
            return (double)NAN;
        value = own;
        first = false;
    }
    return value;
}

static bool same_for_all(const struct run_data *run, cell_number *get, double *value)
{
    int first = next_context(run, -1);
    *value = context_number(run, first, get);
    for (int n = first; n >= 0; n = next_context(run, n))
        if (!(context_number(run, n, get) == *value))
            return false;
    return first >= 0;
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

static void per_context(struct buf *out, const struct run_data *run, cell_number *get, const char *unit)
{
    double value;
    if (same_for_all(run, get, &value)) {
        buf_printf(out, "%.6g%s", value, unit);
        return;
    }
    const char *separator = "";
    for (int n = next_context(run, -1); n >= 0; n = next_context(run, n)) {
        value = context_number(run, n, get);
        if (isnan(value))
            continue;
        buf_printf(out, "%s%d: %.6g%s", separator, n, value, unit);
        separator = ", ";
    }
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

void phrase_timeouts(struct buf *out, const struct run_data *run)
{
    per_context(out, run, cell_timeout, " s");
}

void phrase_repetitions(struct buf *out, enum report_lang lang, const struct run_data *run)
{
    double warmups;
    per_context(out, run, cell_counted, "");
    if (!same_for_all(run, cell_warmups, &warmups) || warmups > 0) {
        struct buf w;
        buf_init(&w, PHRASE_MAX);
        per_context(&w, run, cell_warmups, "");
        message_plain(out, lang, MSG_PLUS_WARMUP, buf_str(&w));
        buf_release(&w);
    }
}
