#include "harness/commands/run/confirm_run.h"

#include "harness/session/confirm.h"
#include "harness/session/turns_runs.h"
#include "results/query/confirm_store.h"
#include "results/query/history_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One run's suspects, from the first round of measuring to the last. */
struct confirming {
    struct finish *f;
    struct confirm_request request;
    int64_t rounds; /* at most */
    struct turns_made measured;
    struct comparison first; /* before anything was measured again; borrows all but its deltas */
};

/* Each round judges the first comparison anew, with the runs of all rounds. */
static void restore_comparison(struct confirming *c)
{
    struct delta *deltas = c->f->comparison.deltas;
    memcpy(deltas, c->first.deltas, c->first.count * sizeof *deltas);
    c->f->comparison = c->first;
    c->f->comparison.deltas = deltas;
}

static int judge_rounds(struct confirming *c, struct err *err)
{
    struct finish *f = c->f;
    struct turns_sides *sides = turns_sides_load(&f->store, &c->measured, err);
    if (!sides)
        return -1;
    restore_comparison(c);
    int rc = confirm_judge(&f->comparison, sides->bases, sides->count, sides->nows, sides->count,
                           &f->against.options, err);
    if (rc == 0)
        rc = confirm_save(&f->store, f->run.info.key, f->against.base.info.key, &f->comparison, err);
    turns_sides_free(sides);
    return rc;
}

static int measure_round(struct confirming *c, int64_t round, struct suspect_list *suspects, struct err *err)
{
    fprintf(c->request.opt.progress,
            "confirming %zu %s: measuring the base's build and this one in turns (round %lld of at most"
            " %lld)\n",
            suspects->count, suspects->count == 1 ? "suspect" : "suspects", (long long)round,
            (long long)c->rounds);
    return confirm_measure(&c->request, suspects, &c->f->store, &c->measured, err) != 0
               ? -1
               : judge_rounds(c, err);
}

/* Both sides would be built and run by the plan of now, and the base's by the sources of one of its runs. */
static void tell_what_cannot_be_told(const struct confirming *c)
{
    const struct comparison *now = &c->f->comparison;
    size_t n = 0;
    for (size_t i = 0; i < now->count; i++)
        n += (now->mixed_base || now->deltas[i].other_plan) && now->deltas[i].verdict == VERDICT_REGRESSED &&
             now->deltas[i].metric == now->primary;
    if (n == 0)
        return;
    fprintf(c->request.opt.progress, "not confirming %zu %s: %s\n", n, n == 1 ? "suspect" : "suspects",
            now->mixed_base
                ? "the runs of the baseline are of different sources, so that there is no build of it"
                : "the plan differs there from the base's, which measuring the base's sources again"
                  " cannot show");
}

static int run_rounds(struct confirming *c, struct err *err)
{
    struct suspect_list suspects;
    tell_what_cannot_be_told(c);
    int rc = confirm_suspects(&c->f->comparison, &suspects, err);
    for (int64_t round = 1; rc == 0 && round <= c->rounds && suspects.count > 0; round++) {
        rc = measure_round(c, round, &suspects, err);
        suspect_list_release(&suspects);
        if (rc == 0)
            rc = confirm_undecided(&c->f->comparison, &suspects, err);
    }
    suspect_list_release(&suspects);
    return rc;
}

static int measure_and_judge(struct finish *f, const struct plan *p, const struct session_options *opt,
                             struct err *err)
{
    struct comparison *now = &f->comparison;
    struct confirming c = {.f = f,
                           .request = {.plan = p->file,
                                       .base_source = f->against.base.info.source_sha256,
                                       .now_source = f->run.info.source_sha256,
                                       .opt = *opt},
                           .rounds = p->confirm.rounds,
                           .first = *now};
    c.first.deltas = calloc(now->count, sizeof *now->deltas);
    if (!c.first.deltas)
        return err_set(err, ERR_INTERNAL, "no memory for the comparison");
    memcpy(c.first.deltas, now->deltas, now->count * sizeof *now->deltas);
    int rc = run_rounds(&c, err);
    free(c.first.deltas);
    return rc == 0 ? against_explain(&f->against, &f->run, now, err) : rc; /* what it showed is evidence */
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
