#include "results/judge/nights/cards.h"

#include "common/base/alloc.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMMON_MIN = 3, RUNS_WITH_SPREAD = 4 };

/* A factor is never known better than this: cards warm up. */
static const double error_least = 5e-4;

/* One run's word on one cell and two GPUs. */
struct observed {
    double log, error;
};

static bool is_before(const struct history_point *a, const struct history_point *b)
{
    return a->device < b->device;
}

static double point_error(const struct history_point *p)
{
    return p->within > 0 ? p->within * stats_median_error((size_t)p->n) : (double)NAN;
}

static struct observed observe(const struct history_point *from, const struct history_point *to)
{
    return (struct observed){.log = log(to->median / from->median),
                             .error = hypot(point_error(from), point_error(to))};
}

static bool is_of_card(const struct history_point *p)
{
    return p->device && p->median > 0;
}

/* The observations of one pair of GPUs in a series. Returns how many. */
static size_t observe_pair(const struct history_series *s, uint64_t from, uint64_t to, struct observed *out)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = 0; s->points[i].device == from && j < s->count; j++)
            if (s->points[j].run_key == s->points[i].run_key && s->points[j].device == to &&
                is_of_card(&s->points[i]) && is_of_card(&s->points[j]))
                out[n++] = observe(&s->points[i], &s->points[j]);
    return n;
}

/* The median over the runs; its error from the repetitions, and from how much runs differ where there are
 * enough. */
static void summarise(const struct observed *o, size_t n, double *logs, struct card_cell *c)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        logs[i] = o[i].log;
        squares += o[i].error * o[i].error;
    }
    c->runs = n;
    c->log = stats_median(logs, n);
    c->error = sqrt(squares) / (double)n * (n > 2 ? stats_median_error(n) * sqrt((double)n) : 1);
    if (n >= RUNS_WITH_SPREAD)
        c->error = fmax(c->error, stats_sd(logs, n) * stats_median_error(n));
}

static int add_pair(struct cards *out, const struct history_series *s, uint64_t from, uint64_t to,
                    struct observed *room, double *logs, struct err *err)
{
    for (size_t i = out->count; i > 0; i--) { /* found from another point of the series already */
        const struct card_cell *c = &out->items[i - 1];
        if (c->context != s->context || c->metric != s->metric || strcmp(c->variant, s->variant) != 0)
            break;
        if (c->from == from && c->to == to)
            return 0;
    }
    size_t n = observe_pair(s, from, to, room);
    if (!ALLOC_GROW(out->items, out->count + 1, out->cap))
        return err_set(err, ERR_INTERNAL, "no memory for the cards");
    struct card_cell *c = &out->items[out->count++];
    *c = (struct card_cell){.from = from, .to = to, .context = s->context, .metric = s->metric};
    memcpy(c->variant, s->variant, sizeof c->variant);
    summarise(room, n, logs, c);
    return 0;
}

static int measure_series(struct cards *out, const struct history_series *s, struct err *err)
{
    struct observed *room = calloc(s->count + 1, sizeof *room);
    double *logs = calloc(s->count + 1, sizeof *logs);
    int rc = room && logs ? 0 : err_set(err, ERR_INTERNAL, "no memory for the cards");
    for (size_t i = 0; rc == 0 && i < s->count; i++)
        for (size_t j = 0; rc == 0 && j < s->count; j++) {
            const struct history_point *a = &s->points[i], *b = &s->points[j];
            if (a->run_key == b->run_key && is_before(a, b) && is_of_card(a) && is_of_card(b))
                rc = add_pair(out, s, a->device, b->device, room, logs, err);
        }
    free(room);
    free(logs);
    return rc;
}

static int by_pair(const struct card_cell *x, const struct card_cell *y)
{
    if (x->metric != y->metric)
        return x->metric < y->metric ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int by_place(const void *a, const void *b)
{
    const struct card_cell *x = a, *y = b;
    int pair = by_pair(x, y), names = strcmp(x->variant, y->variant);
    return pair ? pair : names ? names : (x->context > y->context) - (x->context < y->context);
}

int cards_measure(const struct history *h, struct cards *out, struct err *err)
{
    *out = (struct cards){0};
    for (size_t i = 0; i < h->count; i++)
        if (measure_series(out, &h->series[i], err) != 0) {
            cards_release(out);
            return -1;
        }
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, by_place);
    return 0;
}

void cards_release(struct cards *c)
{
    free(c->items);
    *c = (struct cards){0};
}

/* The cells of a pair of GPUs. */
struct pair {
    const struct card_cell *first;
    size_t count;
};

static struct pair find_pair(const struct cards *c, enum metric m, uint64_t from, uint64_t to)
{
    const struct card_cell wanted = {.metric = m, .from = from, .to = to};
    struct pair p = {0};
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_pair(&c->items[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    p.first = c->items + low;
    while (low + p.count < c->count && by_pair(&p.first[p.count], &wanted) == 0)
        p.count++;
    return p;
}

/* What the cells of a pair have in common, and by how much one more cell may differ from it. */
struct common {
    bool known;
    double log, error;
};

static struct common common_of(const struct pair *p)
{
    double *logs = calloc(p->count + 1, sizeof *logs), noise = 0;
    struct common c = {0};
    size_t n = 0;
    for (size_t i = 0; logs && i < p->count; i++) {
        logs[i] = p->first[i].log;
        if (isfinite(p->first[i].error)) {
            noise += p->first[i].error * p->first[i].error;
            n++;
        }
    }
    if (logs && p->count >= COMMON_MIN) {
        double sd = stats_sd(logs, p->count), few = stats_t_limit(0.05, (double)p->count - 1) / 1.96;
        double own = n ? noise / (double)n : 0, between = fmax(sd * sd - own, 0);
        c.known = true;
        c.log = stats_median(logs, p->count);
        c.error = few * sqrt(between + pow(sd * stats_median_error(p->count), 2));
    }
    free(logs);
    return c;
}

static const struct card_cell *find_cell(const struct pair *p, const char *variant, int context)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->first[i].context == context && strcmp(p->first[i].variant, variant) == 0)
            return &p->first[i];
    return NULL;
}

/* Two estimates of one number, each weighed by what is known of its error. */
static void weigh(const struct common *common, const struct card_cell *own, struct card_factor *out)
{
    bool usable = own && isfinite(own->error);
    if (common->known && usable) {
        double a = 1 / fmax(common->error * common->error, error_least * error_least),
               b = 1 / fmax(own->error * own->error, error_least * error_least);
        out->log = (a * common->log + b * own->log) / (a + b);
        out->error = sqrt(1 / (a + b));
    } else if (common->known) {
        out->log = common->log;
        out->error = common->error;
    } else {
        out->log = own->log; // NOLINT(clang-analyzer-core.NullDereference): known without the common one
        out->error = own->error;
    }
    out->known = true;
    out->error = fmax(out->error, error_least);
}

struct card_factor cards_factor(const struct cards *c, enum metric m, const char *variant, int context,
                                uint64_t from, uint64_t to)
{
    struct card_factor f = {0};
    if (from == to || !c || !from || !to) {
        f.known = from && from == to;
        return f;
    }
    struct pair p = find_pair(c, m, from < to ? from : to, from < to ? to : from);
    struct common common = common_of(&p);
    const struct card_cell *own = find_cell(&p, variant, context);
    if (!common.known && !(own && isfinite(own->error)))
        return f;
    weigh(&common, own, &f);
    f.cells = common.known ? p.count : 1;
    for (size_t i = 0; i < p.count; i++)
        f.runs = p.first[i].runs > f.runs ? p.first[i].runs : f.runs;
    if (from > to)
        f.log = -f.log;
    return f;
}
