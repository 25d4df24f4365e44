#include "results/judge/nights/common_factor.h"

#include "common/base/alloc.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>

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

/* The median of one variant's cells. */
static double variant_median(const struct common_cell *cells, size_t n, size_t variant, double *x)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(cells[i].x) && cells[i].variant == variant)
            x[count++] = cells[i].x;
    return stats_median(x, count);
}

static bool comes_first(const struct common_cell *cells, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (isfinite(cells[k].x) && cells[k].variant == cells[i].variant)
            return false;
    return isfinite(cells[i].x);
}

/* Where one of two variants changed and values vary much, all cells lie near the middle between the two. */
static bool variants_share(const struct common_cell *cells, size_t n, double factor, double usual, double *x)
{
    size_t variants = 0, near = 0;
    for (size_t i = 0; i < n; i++) {
        if (!comes_first(cells, i))
            continue;
        double median = variant_median(cells, n, cells[i].variant, x);
        variants++;
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
