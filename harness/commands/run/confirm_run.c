#include "harness/commands/run/confirm_run.h"

#include "common/base/alloc.h"
#include "harness/session/cells.h"
#include "harness/session/turns.h"
#include "results/query/confirm_store.h"
#include "results/query/history_load.h"

#include <stdio.h>
#include <string.h>

struct confirming {
    struct finish *f;
    struct turns_request request;
    size_t rounds; /* maximum number */
    struct turns_made measured;
    struct comparison first; /* before anything was measured again; borrows all but its deltas */
};

/* Each round judges the original comparison again, with the runs of all rounds so far. */
static void restore_comparison(struct confirming *c)
{
    struct delta *deltas = c->f->comparison.deltas;
    memcpy(deltas, c->first.deltas, c->first.count * sizeof *deltas);
    c->f->comparison = c->first;
    c->f->comparison.deltas = deltas;
}

static int list_open(void *of, struct suspect_list *out, struct err *err)
{
    const struct confirming *c = of;
    (void)err;
    if (c->measured.count == 0)
        confirm_suspects(&c->f->comparison, out);
    else
        confirm_undecided(&c->f->comparison, out);
    return 0;
}

static int measure_round(void *of, const struct suspect_list *suspects, size_t round, struct err *err)
{
    struct confirming *c = of;
    const struct finish *f = c->f;
    fprintf(
        c->request.opt.progress,
        "confirming %zu %s: measuring the base's build and this one alternately (round %zu of at most %zu)\n",
        suspects->count, suspects->count == 1 ? "suspect" : "suspects", round, c->rounds);
    if (turns_use_trees(&c->request, f->against.base.info.source_sha256, f->run.info.source_sha256, err) != 0)
        return -1;
    return turns_measure(&c->request, suspects, &c->f->store, &c->measured, err);
}

static int judge_rounds(void *of, struct err *err)
{
    struct confirming *c = of;
    struct finish *f = c->f;
    AUTO(turns_sides_release) struct turns_sides sides = {.count = 0};
    if (turns_sides_load(&sides, &f->store, &c->measured, err) != 0)
        return -1;
    restore_comparison(c);
    confirm_judge(&f->comparison, sides.bases, sides.count, sides.nows, sides.count, &f->against.options);
    return confirm_save(&f->store, f->run.info.key, f->against.base.info.key, &f->comparison, err);
}

/* These suspects cannot be confirmed, because both sides would run under the current plan, and the base would
 * be built from the sources of only one of its runs. */
static void tell_what_cannot_be_told(const struct confirming *c)
{
    const struct comparison *now = &c->f->comparison;
    size_t n = 0;
    for (size_t i = 0; i < now->count; i++)
        n += (now->mixed_base || now->deltas[i].doubts.other_plan) &&
             verdict_is_slower(now->deltas[i].verdict) && now->deltas[i].metric == now->primary;
    if (n == 0)
        return;
    fprintf(c->request.opt.progress, "not confirming %zu %s: %s\n", n, n == 1 ? "suspect" : "suspects",
            now->mixed_base
                ? "the runs of the baseline were built from different sources, so there is no single build "
                  "to measure again"
                : "the plan differs there from the base's, which measuring the base's sources again"
                  " cannot show");
}

static int measure_and_judge(struct finish *f, const struct plan *p, const struct session_options *opt,
                             struct err *err)
{
    struct comparison *now = &f->comparison;
    AUTO_FREE struct delta *deltas = xmemdup(now->deltas, now->count * sizeof *now->deltas);
    struct confirming c = {.f = f,
                           .request = {.plan = p->file, .opt = *opt},
                           .rounds = (size_t)p->confirm.rounds,
                           .first = *now};
    const struct settling settling = {
        .of = &c, .rounds_max = c.rounds, .open = list_open, .measure = measure_round, .judge = judge_rounds};
    c.first.deltas = deltas;
    c.request.opt.purpose = PURPOSE_CONFIRM;
    tell_what_cannot_be_told(&c);
    if (cells_settle(&settling, err) != 0)
        return -1;
    return against_explain(&f->against, &f->run, now, err); /* the new runs are evidence about the causes */
}

void confirm_run(struct finish *f, const struct plan *p, const struct session_options *opt)
{
    struct err why = {0};
    bool confirmed_before = f->against.confirmed.count > 0;
    if (!f->compared || !f->against.has_base || !confirm_is_needed(&f->comparison) || confirmed_before ||
        measure_and_judge(f, p, opt, &why) == 0)
        return;
    if (why.kind == ERR_NODE)
        fprintf(stderr, "suspects not confirmed: %s\n", why.msg);
    else {
        err_wrap(&why, "the run is stored, but its suspects could not be confirmed");
        f->failure = why;
    }
}
