#include "results/judge/nights/standing.h"

#include "results/judge/nights/standing_window.h"

#include "common/base/alloc.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_STATES = 120, SHORT = 8, SPLIT_MIN = 2, UNEVEN_CELLS_MIN = 8, UNEVEN_VARIANTS_MIN = 3 };

/* Two levels lie so many of their widths apart. */
static const double split = 2;
static const double worse_scales = 2.5, uneven_share = 0.15;
static const double back_share = 0.5, size_least = 0.015, size_decay = 0.8;
/* The nights of a better level widen the scale themselves: without them it has to be clearer. */
static const double better_errors = 3.5, far_better_errors = 8;
static const double spell_margin = 1.25, scale_least = 0.003;

void standing_init(struct standing *s, const double *x, size_t cap, double least, double alike)
{
    *s = (struct standing){.x = x,
                           .alike = alike,
                           .least = fmax(least, scale_least),
                           .members = xcalloc(cap + 1 + STANDING_AHEAD, sizeof *s->members),
                           .apart = xcalloc(cap + 1 + STANDING_AHEAD, sizeof *s->apart)};
}

void standing_release(struct standing *s)
{
    free(s->members);
    free(s->apart);
    *s = (struct standing){0};
}

void standing_restart(struct standing *s)
{
    s->n = s->n_apart = s->n_held = s->n_returned = s->sizes.to = 0;
    s->open = false;
    s->gain = 0;
}

bool standing_level(const struct standing *s, double *level, double *scale)
{
    if (s->n < STANDING_ADOPT)
        return false;
    *level = s->open ? s->level : s->middle;
    *scale = standing_scale(s, s->n_apart);
    return true;
}

bool standing_is_worse(double apart, double scale)
{
    return apart > fmax(STANDING_WORSE, worse_scales * scale);
}

/* Counts the variants; newest: the one that was counted last. */
static void count_variant(size_t *variants, const char **newest, const char *variant)
{
    *variants += !*newest || strcmp(*newest, variant) != 0;
    *newest = variant;
}

void standing_night_add(struct standing_night *n, const char *variant, bool worse)
{
    n->cells++;
    count_variant(&n->variants, &n->variant, variant);
    if (!worse)
        return;
    n->worse++;
    count_variant(&n->worse_variants, &n->worse_variant, variant);
}

bool standing_night_is_uneven(const struct standing_night *n)
{
    size_t most = n->variants / 2 + 1;
    return n->cells >= UNEVEN_CELLS_MIN && (double)n->worse > uneven_share * (double)n->cells &&
           (double)n->worse_variants > uneven_share * (double)n->variants &&
           n->worse_variants >= (most < UNEVEN_VARIANTS_MIN ? most : UNEVEN_VARIANTS_MIN);
}

/* How the first nights lie about their level. */
static void measure_first(struct standing *s)
{
    size_t of;
    double level = standing_median_before(s, s->n, &of);
    s->sizes.to = 0;
    for (s->n_apart = 0; s->n_apart < s->n; s->n_apart++)
        s->apart[s->n_apart] = s->x[s->members[s->n_apart]] - level;
}

struct span {
    double low, high;
};

static struct span span_of(const struct standing *s, size_t from, size_t to)
{
    struct span r = {INFINITY, -INFINITY};
    for (size_t i = from; i < to; i++) {
        r.low = fmin(r.low, s->x[s->members[i]]);
        r.high = fmax(r.high, s->x[s->members[i]]);
    }
    return r;
}

/* Whether the first nights up to this one and those from it on are two levels: they lie further apart than
 * either of them is wide. */
static bool is_split_at(const struct standing *s, size_t at)
{
    struct span a = span_of(s, 0, at), b = span_of(s, at, s->n);
    double gap = fmax(a.low - b.high, b.low - a.high);
    return gap > STANDING_START && gap > split * fmax(a.high - a.low, b.high - b.low);
}

/* A step among the first nights is no scatter: those before it are forgotten. */
static void forget_before_split(struct standing *s)
{
    for (size_t at = s->n - SPLIT_MIN; at > 0; at--)
        if (is_split_at(s, at)) {
            s->n -= at;
            memmove(s->members, s->members + at, s->n * sizeof *s->members);
            return;
        }
}

/* The first nights say where the level is, and how far nights lie from it; later ones, where a level is
 * young. */
static enum standing_change take_first(struct standing *s, size_t point)
{
    double level, scale;
    bool known = standing_level(s, &level, &scale);
    s->members[s->n++] = point;
    if (s->n_apart >= STANDING_FIRST) {
        if (known)
            s->apart[s->n_apart++] = s->x[point] - level;
        return STANDING_YOUNG;
    }
    size_t first = s->members[0];
    if (s->n == STANDING_FIRST)
        forget_before_split(s);
    measure_first(s);
    return s->members[0] == first ? STANDING_YOUNG : STANDING_BEGINS;
}

static void note_return(struct standing *s, size_t point, double size)
{
    if (s->n_returned == STANDING_RETURNS) {
        s->n_returned--;
        memmove(s->returned_at, s->returned_at + 1, s->n_returned * sizeof *s->returned_at);
        memmove(s->returned, s->returned + 1, s->n_returned * sizeof *s->returned);
    }
    s->returned_at[s->n_returned] = point;
    s->returned[s->n_returned++] = size;
}

/* Whether the cell has left its level so far and come back again and again. */
static bool is_a_state(const struct standing *s, size_t point, double size)
{
    if (s->n_returned < STANDING_RETURNS || s->returned_at[0] + LOOK_STATES < point)
        return false;
    for (size_t i = 0; i < s->n_returned; i++)
        if (size > spell_margin * s->returned[i])
            return false;
    return true;
}

/* The finding is over. A short one was an excursion, of which the cell may have more; a long one was a level.
 */
static void close_finding(struct standing *s, size_t point)
{
    s->open = false;
    note_return(s, point, s->found);
    for (size_t i = point + 1 - STANDING_BACK; i <= point; i++)
        s->members[s->n++] = i;
    if (point - s->opened_at >= SHORT)
        return;
    s->n_apart += s->window; /* they are still there */
    for (size_t i = s->opened_at + 1; i <= point; i++)
        s->apart[s->n_apart++] = s->x[i] - s->level;
}

static enum standing_change step_open(struct standing *s, size_t point)
{
    double apart = s->x[point] - s->level;
    s->back = apart < back_share * s->size ? s->back + 1 : 0;
    if (s->back >= STANDING_BACK) {
        close_finding(s, point);
        return STANDING_CLOSED;
    }
    if (apart < s->size)
        s->size = fmax(apart, fmax(size_least, size_decay * s->size));
    return STANDING_SAME;
}

/* Whether the cell is only back where it was before a few good nights. */
static bool was_a_good_spell(const struct standing *s, size_t window, double size)
{
    return s->n - window < SHORT && size < spell_margin * s->gain;
}

/* The first point of a finding. The shortest window that tells may begin later: nights before it that are as
 * bad, as uneven ones are that count after all, belong to the finding. */
static size_t first_of_finding(const struct standing *s, size_t window, double level, double size)
{
    size_t i = s->n - window;
    while (i > 0 && s->x[s->members[i - 1]] - level >= back_share * size)
        i--;
    return s->members[i];
}

static bool open_finding(struct standing *s, size_t point)
{
    double level, size;
    size_t k = standing_window_find(s, &level, &size);
    if (k == 0 || was_a_good_spell(s, k, size) || is_a_state(s, point, size))
        return false;
    s->since = first_of_finding(s, k, level, size);
    s->n -= k;
    s->n_apart -= k;
    s->open = true;
    s->opened_at = point;
    s->window = k;
    s->size = s->found = size;
    s->level = level;
    s->back = 0;
    return true;
}

/* The level begins anew with its newest nights. */
static void begin_level(struct standing *s, size_t newest)
{
    size_t of;
    memmove(s->members, s->members + s->n - newest, newest * sizeof *s->members);
    s->n = newest;
    s->sizes.to = 0;
    double level = standing_median_before(s, s->n, &of);
    size_t known = newest < s->n_apart ? newest : s->n_apart;
    for (size_t i = 0; i < known; i++)
        s->apart[s->n_apart - known + i] = s->x[s->members[s->n - known + i]] - level;
}

static bool adopt_better(struct standing *s)
{
    const size_t k = STANDING_ADOPT;
    double low[STANDING_ADOPT], most = -INFINITY;
    size_t behind;
    if (s->n <= 2 * k)
        return false;
    for (size_t i = 0; i < k; i++)
        most = fmax(most, s->x[s->members[s->n - k + i]]);
    if (!standing_median_may_be(s, s->n - k, 1, most))
        return false;
    double before = standing_median_before(s, s->n - k, &behind);
    for (size_t i = 0; i < k; i++)
        low[i] = s->x[s->members[s->n - k + i]] - before;
    double gain = -stats_median(low, k);
    for (size_t i = 0; i < k; i++)
        if (low[i] > -STANDING_SHARE_OF_FEW * gain)
            return false;
    if (gain <= STANDING_START)
        return false;
    double error = sqrt(STANDING_MEDIAN_VARIANCE / (double)k + STANDING_MEDIAN_VARIANCE / (double)behind);
    bool clear = gain > better_errors * error * standing_scale(s, s->n_apart - 1) ||
                 gain > far_better_errors * error * standing_scale(s, s->n_apart - k);
    if (!clear)
        return false;
    begin_level(s, k);
    note_return(s, s->members[k - 1], gain);
    s->gain = gain;
    return true;
}

/* Uneven nights count after all. */
static void take_held(struct standing *s, double level)
{
    for (size_t i = 0; i < s->n_held; i++) {
        s->members[s->n++] = s->held[i];
        s->apart[s->n_apart++] = s->x[s->held[i]] - level;
    }
    s->n_held = 0;
}

/* All that a night can change but a better level, which moves what the members are. */
static enum standing_change advance(struct standing *s, size_t point, bool uneven)
{
    double level, scale;
    if (s->open)
        return step_open(s, point);
    if (!standing_level(s, &level, &scale) || s->n_apart < STANDING_FIRST) {
        return take_first(s, point);
    }
    double apart = s->x[point] - level;
    bool was_worse = s->n_held == 0 && standing_is_worse(s->apart[s->n_apart - 1], scale);
    bool holds = uneven && apart > STANDING_START && !was_worse, last = s->n_held + 1 == STANDING_HELD_MAX;
    if (holds && !last) {
        s->held[s->n_held++] = point;
        return STANDING_HELD;
    }
    if (last || standing_is_worse(apart, scale))
        take_held(s, level);
    if (!uneven)
        s->n_held = 0;
    s->members[s->n++] = point;
    s->apart[s->n_apart++] = apart;
    return apart > STANDING_START && open_finding(s, point) ? STANDING_OPENED : STANDING_SAME;
}

enum standing_change standing_step(struct standing *s, size_t point, bool uneven)
{
    enum standing_change change = advance(s, point, uneven);
    bool begins = change == STANDING_SAME && !s->open && adopt_better(s);
    standing_look(s);
    return begins ? STANDING_BEGINS : change;
}

bool standing_accept(struct standing *s, size_t point)
{
    double level, scale;
    if (s->open) {
        size_t first = s->since;
        s->open = false;
        for (s->n = 0; first <= point; first++)
            s->members[s->n++] = first;
        standing_look(s);
        return true;
    }
    if (!standing_level(s, &level, &scale))
        return false;
    double apart = s->x[point] - level;
    if (!standing_is_worse(fabs(apart), scale))
        return false;
    size_t newest = 0;
    while (newest < s->n && (s->x[s->members[s->n - newest - 1]] - level) / apart >= back_share)
        newest++;
    if (newest == 0)
        return false;
    begin_level(s, newest);
    standing_look(s);
    return true;
}

/* No night opens the finding of a cell whose first nights are still being taken. */
static bool is_young(const struct standing *s)
{
    return !s->open && s->n_apart < STANDING_FIRST;
}

bool standing_would_be_open(const struct standing *s, size_t point, bool uneven, size_t *since, bool *back)
{
    if (is_young(s))
        return false;
    struct standing tonight = *s; /* what it writes lies behind what *s counts */
    if (advance(&tonight, point, uneven) == STANDING_CLOSED || !tonight.open)
        return false;
    *since = tonight.since;
    *back = tonight.back > 0;
    return true;
}

size_t standing_nights_to_open(const struct standing *s, double *x, size_t point)
{
    if (is_young(s))
        return 0;
    struct standing ahead = *s; /* what it writes lies behind what *s counts */
    for (size_t k = 0; k <= STANDING_AHEAD; k++) {
        x[point + k] = x[point];
        advance(&ahead, point + k, false);
        standing_look(&ahead);
        if (ahead.open)
            return k;
    }
    return 0;
}

bool standing_is_worse_than(const struct standing *s, const size_t *points, size_t n, double level,
                            size_t behind, size_t *begins)
{
    for (size_t k = STANDING_WINDOW_MIN; k <= STANDING_WINDOW_MAX && k <= n; k++) {
        double v[STANDING_WINDOW_MAX];
        for (size_t i = 0; i < k; i++)
            v[i] = s->x[points[n - k + i]] - level;
        if (!standing_window_is_worse(s, v, k, behind, s->n_apart))
            continue;
        double half = back_share * stats_median(v, k);
        for (*begins = n - k; *begins > 0 && s->x[points[*begins - 1]] - level >= half;)
            --*begins;
        return true;
    }
    return false;
}
