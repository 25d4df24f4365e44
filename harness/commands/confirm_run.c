#include "harness/commands/confirm_run.h"

#include "harness/session/confirm.h"
#include "results/query/confirm_store.h"
#include "results/query/history_load.h"
#include "results/store/run_load.h"

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

/* The runs of both sides, loaded. */
struct sides {
    struct run_data base[TURNS_RUNS_MAX], now[TURNS_RUNS_MAX];
    const struct run_data *bases[TURNS_RUNS_MAX], *nows[TURNS_RUNS_MAX];
    size_t count;
};

static int load_sides(struct store *s, const struct turns_made *m, struct sides *out, struct err *err)
{
    for (size_t i = 0; i < m->count; i++) {
        out->bases[i] = &out->base[i];
        out->nows[i] = &out->now[i];
        out->count++;
        if (run_data_load(s, m->base[i], &out->base[i], err) != 0 ||
            run_data_load(s, m->now[i], &out->now[i], err) != 0)
            return -1;
    }
    return 0;
}

static void release_sides(struct sides *s)
{
    for (size_t i = 0; i < s->count; i++) {
        run_data_release(&s->base[i]);
        run_data_release(&s->now[i]);
    }
    free(s);
}

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
    struct sides *sides = calloc(1, sizeof *sides);
    if (!sides)
        return err_set(err, ERR_INTERNAL, "no memory for the runs that confirm");
    int rc = load_sides(&f->store, &c->measured, sides, err);
    if (rc == 0) {
        restore_comparison(c);
        rc = confirm_judge(&f->comparison, sides->bases, sides->count, sides->nows, sides->count,
                           &f->against.options, err);
    }
    if (rc == 0)
        rc = confirm_save(&f->store, f->run.info.key, f->against.base.info.key, &f->comparison, err);
    release_sides(sides);
    return rc;
}

static int measure_round(struct confirming *c, int64_t round, struct suspect_list *suspects, struct err *err)
{
    fprintf(stderr,
            "confirming %zu %s: measuring the base's build and this one in turns (round %lld of at most"
            " %lld)\n",
            suspects->count, suspects->count == 1 ? "suspect" : "suspects", (long long)round,
            (long long)c->rounds);
    return confirm_measure(&c->request, suspects, &c->f->store, &c->measured, err) != 0
               ? -1
               : judge_rounds(c, err);
}

static int run_rounds(struct confirming *c, struct err *err)
{
    struct suspect_list suspects;
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
                           .rounds = p->confirm_rounds,
                           .first = *now};
    c.first.deltas = calloc(now->count, sizeof *now->deltas);
    if (!c.first.deltas)
        return err_set(err, ERR_INTERNAL, "no memory for the comparison");
    memcpy(c.first.deltas, now->deltas, now->count * sizeof *now->deltas);
    int rc = run_rounds(&c, err);
    free(c.first.deltas);
    return rc;
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
