#include "results/judge/nights/common_factor.h"

#include "common/base/alloc.h"
#include "common/base/values.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cells agree on a factor if they lie within so many scales of it, within this, or within this share of it.
 */
static const double agree_scales = 3, agree_least = 0.01, agree_share = 0.25;
/* How many median absolute deviations are one standard deviation of a normal distribution. */
static const double normal_mads = 1.4826;

static size_t pick(const struct common_cell *cells, size_t n, bool controls, double *out)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(cells[i].x) && (cells[i].control || !controls))
            out[count++] = cells[i].x;
    return count;
}

static size_t count_near(const double *x, size_t n, double factor, double reach)
{
    size_t near = 0;
    for (size_t i = 0; i < n; i++)
        near += fabs(x[i] - factor) <= reach;
    return near;
}

/* Whether cells of at least two variants are near the factor. */
static bool variants_agree(const struct common_cell *cells, size_t n, double factor, double reach)
{
    bool any = false;
    size_t first = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(cells[i].x) || fabs(cells[i].x - factor) > reach)
            continue;
        if (any && cells[i].variant != first)
            return true;
        any = true;
        first = cells[i].variant;
    }
    return false;
}

static int by_variant(const void *a, const void *b)
{
    const struct common_cell *x = a, *y = b;
    return (x->variant > y->variant) - (x->variant < y->variant);
}

/* Where one of two variants changed and values vary much, all cells lie near the middle between the two. */
static bool variants_share(const struct common_cell *cells, size_t n, double factor, double usual, double *x)
{
    size_t variants = 0, near = 0;
    AUTO_FREE struct common_cell *sorted = xcalloc(n, sizeof *sorted);
    memcpy(sorted, cells, n * sizeof *sorted);
    items_sort(sorted, n, sizeof *sorted, by_variant);
    for (size_t i = 0; i < n;) {
        size_t count = 0, first = i;
        for (; i < n && sorted[i].variant == sorted[first].variant; i++)
            if (isfinite(sorted[i].x))
                x[count++] = sorted[i].x;
        double median = stats_median(x, count);
        variants += count > 0;
        near += fabs(median - factor) < fabs(median - usual);
    }
    return 3 * near >= 2 * variants;
}

/* The standard error of the median of these values, which a few outliers do not affect. */
static double error_of_median(const double *x, size_t n)
{
    return normal_mads * stats_mad(x, n) * stats_median_error(n);
}

static struct common_factor read_factor(const struct common_cell *cells, size_t n, double *x, double reach,
                                        double usual)
{
    struct common_factor f = {.controls = pick(cells, n, true, x)};
    bool contradicted = false;
    double controls = stats_median(x, f.controls);
    f.from_controls = f.controls >= COMMON_CELLS_MIN;
    f.cells = f.from_controls ? f.controls : pick(cells, n, false, x);
    if (f.cells < COMMON_CELLS_MIN)
        return f;
    f.log = stats_median(x, f.cells);
    f.error = error_of_median(x, f.cells);
    reach = fmax(reach, agree_share * fabs(f.log - usual));
    if (!f.from_controls && f.controls)
        contradicted = fabs(controls - f.log) > reach;
    f.agree = count_near(x, f.cells, f.log, reach);
    f.known = 2 * f.agree > f.cells && !contradicted;
    f.shared = f.from_controls || variants_share(cells, n, f.log, usual, x);
    f.separable = f.from_controls || variants_agree(cells, n, f.log, reach);
    return f;
}

struct common_factor common_factor_of(const struct common_cell *cells, size_t n, double scale, double usual)
{
    AUTO_FREE double *x = xcalloc(n + 1, sizeof *x);
    struct common_factor f = read_factor(cells, n, x, fmax(agree_least, agree_scales * scale), usual);
    return f.known ? f : (struct common_factor){.controls = f.controls};
}
