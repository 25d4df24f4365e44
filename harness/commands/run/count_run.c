#include "harness/commands/run/count_run.h"

#include "harness/session/counting.h"
#include "results/query/counted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 4 };

/* The first confirmed cells: a profiler takes its time. */
static int confirmed_cells(const struct comparison *c, struct suspect_list *out, struct err *err)
{
    out->items = calloc(CELLS_MAX, sizeof *out->items);
    if (!out->items)
        return err_set(err, ERR_INTERNAL, "no memory for the counters");
    for (size_t i = 0; i < c->count && out->count < CELLS_MAX; i++) {
        const struct delta *d = &c->deltas[i];
        if (d->metric != c->primary || d->confirmation != CONFIRM_STANDS)
            continue;
        struct suspect *s = &out->items[out->count++];
        memcpy(s->variant, d->variant, sizeof s->variant);
        s->context = d->context;
    }
    return 0;
}

static int count_side(struct finish *f, const struct plan *p, const struct session_options *opt,
                      const struct run_info *run, const struct suspect_list *cells, struct err *err)
{
    struct counter_list known;
    if (counters_of_build(&f->store, run->key, &known, err) != 0)
        return -1;
    bool counted = known.count > 0;
    counter_list_release(&known);
    return counted ? 0 : counting_measure(p->file, cells, run->source_sha256, opt, &f->store, err);
}

static int count_both(struct finish *f, const struct plan *p, const struct session_options *opt,
                      struct err *err)
{
    struct suspect_list cells = {0};
    int rc = confirmed_cells(&f->comparison, &cells, err);
    if (rc == 0 && cells.count > 0) {
        fprintf(opt->progress, "counting in the base's build and this one, untimed\n");
        rc = count_side(f, p, opt, &f->against.base.info, &cells, err);
        if (rc == 0)
            rc = count_side(f, p, opt, &f->run.info, &cells, err);
    }
    suspect_list_release(&cells);
    return rc;
}

void count_run(struct finish *f, const struct plan *p, const struct session_options *opt)
{
    struct err why = {0};
    if (p->counters.on && p->counters.when == COUNTERS_CONFIRMED && f->compared && f->against.has_base &&
        count_both(f, p, opt, &why) != 0)
        fprintf(stderr, "no counters: %s\n", why.msg);
}
