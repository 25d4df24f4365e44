#include "harness/commands/run/count_run.h"

#include "common/base/alloc.h"
#include "harness/session/cells.h"
#include "harness/session/measure.h"
#include "results/query/counted.h"

#include <stdio.h>

enum { CELLS_MAX = 4 };

/* Lists only the first few confirmed cells, as profiling is slow. */
static void list_confirmed(const struct comparison *c, struct suspect_list *out)
{
    for (size_t i = 0; i < c->count && out->count < CELLS_MAX; i++) {
        const struct delta *d = &c->deltas[i];
        if (d->metric == c->primary && d->confirmation == CONFIRM_STANDS)
            cells_add(out, d->variant, d->context);
    }
}

/* Makes a short run with one test per cell, after which the executor profiles the cells. Its times mean
 * nothing, so its purpose is to confirm, which keeps it out of histories. */
static int count_build(struct finish *f, const char *plan, const struct session_options *options,
                       const char *source, const struct suspect_list *cells, struct err *err)
{
    AUTO(plan_release) struct plan p = {0};
    struct session_options opt = *options;
    int64_t key;
    opt.repeatable = false;
    opt.overrides.variants = opt.overrides.contexts = opt.overrides.axis = opt.overrides.repeat = NULL;
    opt.purpose = PURPOSE_CONFIRM;
    opt.source_sha256 = *source ? source : NULL;
    opt.counters = true;
    if (plan_load(&p, plan, err) != 0 || cells_keep(&p, cells, err) != 0)
        return -1;
    matrix_repeat_exactly(&p.matrix, 1);
    p.matrix.warmup = 0;
    return measure_run(&p, &opt, &f->store, &key, err);
}

static int count_side(struct finish *f, const struct plan *p, const struct session_options *opt,
                      const struct run_info *run, const struct suspect_list *cells, struct err *err)
{
    struct counter_list known;
    if (counters_of_build(&f->store, run->key, &known, err) != 0)
        return -1;
    bool counted = known.count > 0;
    counter_list_release(&known);
    return counted ? 0 : count_build(f, p->file, opt, run->source_sha256, cells, err);
}

static int count_both(struct finish *f, const struct plan *p, const struct session_options *opt,
                      struct err *err)
{
    AUTO(suspect_list_release) struct suspect_list cells = {.items = NULL};
    list_confirmed(&f->comparison, &cells);
    if (cells.count == 0)
        return 0;
    fprintf(opt->progress, "counting in the base's build and this one, untimed\n");
    return count_side(f, p, opt, &f->against.base.info, &cells, err) != 0
               ? -1
               : count_side(f, p, opt, &f->run.info, &cells, err);
}

void count_run(struct finish *f, const struct plan *p, const struct session_options *opt)
{
    struct err why = {0};
    if (p->counters.on && p->counters.when == COUNTERS_CONFIRMED && f->compared && f->against.has_base &&
        count_both(f, p, opt, &why) != 0)
        fprintf(stderr, "no counters: %s\n", why.msg);
}
