/* Finds out which kernels of each build ran, by the block size and the shared memory of the launches that its
 * tests recorded. A build often holds kernels that never ran, and evidence is about those that did. */
#include "reports/model/parts.h"

#include <math.h>

/* What was not recorded fits anything. */
static bool fits(double recorded, double of_kernel)
{
    return isnan(recorded) || isnan(of_kernel) || recorded == of_kernel;
}

static bool could_be(const struct kernel_resources *k, const struct launch *l, const struct kernel_point *p)
{
    return isfinite(l->block_threads) && fits(l->block_threads, k->use.threads) &&
           fits(l->query_threads, k->useful_threads) && fits(p->lds, k->lds_dynamic);
}

/* Whether any launch of the variant fits the kernel; shapes of a kernel share a build. */
static bool launched(const struct report_model *m, size_t variant, const struct kernel_resources *k)
{
    for (size_t i = 0; i < m->kernel.count; i++)
        if (report_model_same(m, m->kernel.points[i].cell->variant, variant) &&
            could_be(k, &m->kernel.launches[i], &m->kernel.points[i]))
            return true;
    return false;
}

void model_launched(struct report_model *m)
{
    for (size_t v = 0; v < m->now.n_variants; v++) {
        struct variant_resources *r = &m->resources[v];
        for (size_t i = 0; i < r->count; i++) {
            r->kernels[i].ran = r->count == 1 || launched(m, v, &r->kernels[i]);
            r->ran += r->kernels[i].ran;
        }
    }
}
