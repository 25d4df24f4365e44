#include "harness/session/counting.h"

#include "harness/session/measure.h"

#include <string.h>

int counting_measure(const char *plan, const struct suspect_list *cells, const char *source,
                     const struct session_options *options, struct store *store, struct err *err)
{
    struct plan p = {0};
    struct session_options opt = *options;
    int64_t key;
    opt.repeatable = false;
    opt.overrides.variants = opt.overrides.contexts = opt.overrides.axis = opt.overrides.repeat = NULL;
    opt.purpose = PURPOSE_CONFIRM;
    opt.source_sha256 = *source ? source : NULL;
    opt.counters = true;
    int rc = plan_load(&p, plan, err);
    if (rc == 0)
        rc = measure_keep_cells(&p, cells, err);
    matrix_repeat_exactly(&p.matrix, 1);
    p.warmup = p.matrix.warmup = 0;
    if (rc == 0)
        rc = measure_run(&p, &opt, store, &key, err);
    plan_release(&p);
    return rc;
}
