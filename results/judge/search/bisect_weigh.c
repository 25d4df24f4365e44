/* The second half of bisect.h: what a verdict is worth to a search. */
#include "results/judge/search/bisect.h"

#include <math.h>

/* These are stricter than elsewhere, since a wrong step sends the search into the wrong half. */
static const double step_fdr = 0.01, clear_errors = 2, mixed_max = 0.2;

static enum bisect_mark mark_of(enum verdict v)
{
    switch (v) {
    case VERDICT_REGRESSED:
        return BISECT_BAD;
    case VERDICT_UNCHANGED:
    case VERDICT_IMPROVED:
        return BISECT_GOOD;
    case VERDICT_SUSPECTED:
    case VERDICT_ACCEPTED:
    case VERDICT_NOISY:
    case VERDICT_NEW:
    case VERDICT_MISSING:
    case VERDICT_BROKEN:
    case VERDICT_FAILING:
    case VERDICT_FIXED:
    case VERDICT_COUNT:
        break;
    }
    return BISECT_OPEN;
}

/* Whether the noise leaves open on which side of half the ends' change it is. */
static bool is_near_half(const struct delta *d)
{
    double loss =
        metric_info(d->metric)->better == METRIC_MORE ? 1 - d->estimate.ratio : d->estimate.ratio - 1;
    return d->estimate.noise_floor > 0 &&
           fabs(loss - d->estimate.threshold) < clear_errors * d->estimate.noise_floor;
}

/* What a verdict lacks although it would suffice elsewhere: failed tests leave few values, and the median of
 * a side with two states may be of either. */
static enum lack lack_of(const struct delta *d)
{
    if (d->estimate.mixed > mixed_max)
        return LACK_AGREEMENT;
    if (d->estimate.method == METHOD_THRESHOLD ||
        (d->verdict == VERDICT_REGRESSED && d->estimate.p > step_fdr))
        return LACK_VALUES;
    return LACK_NOTHING;
}

enum bisect_mark bisect_weigh(const struct bisect_search *s, size_t commit, struct delta *d)
{
    enum bisect_mark mark = mark_of(d->verdict);
    bool is_step = commit < s->count - 1;
    if (mark != BISECT_OPEN && is_step && is_near_half(d))
        d->doubts.lack = LACK_NEAR_HALF;
    else if (mark == BISECT_BAD || (mark == BISECT_GOOD && is_step))
        d->doubts.lack = lack_of(d);
    return d->doubts.lack ? BISECT_OPEN : mark;
}

void bisect_doubt(struct delta *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct delta *d = &cells[i];
        enum lack lack = lack_of(d);
        if (!lack && d->estimate.p * (double)count > step_fdr)
            lack = LACK_CELLS;
        if (d->verdict != VERDICT_REGRESSED || !lack)
            continue;
        d->verdict = VERDICT_NOISY;
        d->doubts.lack = lack;
        d->doubts.cells = count;
    }
}

/* How far a cell stands out of its noise. */
static double clarity(const struct delta *d)
{
    return fabs(log(d->estimate.ratio)) / fmax(d->estimate.noise_floor, 1e-9);
}

/* Ranks a cell by how much it says about whether the ends differ. */
static int rank_of(const struct delta *d)
{
    if (d->verdict == VERDICT_REGRESSED)
        return 3;
    if (d->base.n == 0 || d->now.n == 0)
        return 0;
    return d->verdict == VERDICT_NOISY ? 2 : 1;
}

size_t bisect_clearest(const struct delta *cells, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        int rank = rank_of(&cells[i]), most = rank_of(&cells[best]);
        bool clearer = cells[i].verdict == VERDICT_REGRESSED && clarity(&cells[i]) > clarity(&cells[best]);
        if (rank > most || (rank == most && clearer))
            best = i;
    }
    return best;
}

struct compare_options bisect_end_options(const struct compare_options *o)
{
    struct compare_options ends = *o;
    ends.fdr = step_fdr;
    return ends;
}

struct compare_options bisect_options(const struct compare_options *o, const struct delta *ends)
{
    struct compare_options half = bisect_end_options(o);
    double whole =
        isnan(ends->estimate.ratio) ? 1 : fabs(ends->estimate.ratio - 1); /* to 0; from 0, ranks decide */
    half.practical = half.regression = half.improvement = whole / 2;
    half.middle = ends->estimate.ratio < 1 ? 1 - half.regression : 1 + half.regression;
    half.ratio_alone = true; /* half of the change may be less than matters elsewhere */
    return half;
}
