#include "results/judge/common_factor.h"

#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>

/* Cells agree on a factor if they lie within so many scales of it, and at least within this. */
static const double agree_scales = 3, agree_least = 0.01;

static size_t pick(const struct common_cell *cells, size_t n, bool controls, double *out)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(cells[i].x) && (cells[i].control || !controls))
            out[count++] = cells[i].x;
    return count;
}

static bool most_agree(const double *x, size_t n, double factor, double reach)
{
    size_t near = 0;
    for (size_t i = 0; i < n; i++)
        near += fabs(x[i] - factor) <= reach;
    return 2 * near > n;
}

/* Whether cells of two variants at least are near the factor. */
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

static struct common_factor read_factor(const struct common_cell *cells, size_t n, double *x, double reach)
{
    struct common_factor f = {.controls = pick(cells, n, true, x)};
    bool contradicted = false;
    double controls = stats_median(x, f.controls);
    f.from_controls = f.controls >= COMMON_CELLS_MIN;
    f.cells = f.from_controls ? f.controls : pick(cells, n, false, x);
    if (f.cells < COMMON_CELLS_MIN)
        return f;
    f.log = stats_median(x, f.cells);
    if (!f.from_controls && f.controls)
        contradicted = fabs(controls - f.log) > reach;
    f.known = most_agree(x, f.cells, f.log, reach) && !contradicted;
    f.separable = f.from_controls || variants_agree(cells, n, f.log, reach);
    return f;
}

struct common_factor common_factor_of(const struct common_cell *cells, size_t n, double scale)
{
    double *x = calloc(n + 1, sizeof *x);
    if (!x)
        return (struct common_factor){0};
    struct common_factor f = read_factor(cells, n, x, fmax(agree_least, agree_scales * scale));
    free(x);
    return f.known ? f : (struct common_factor){.controls = f.controls};
}
