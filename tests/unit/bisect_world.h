/* bisect_world: a simulated node and repository, with noise, drift and commits that do not build, for the
 * tests of the search. */
#pragma once

#include "results/judge/compare.h"
#include "results/judge/search/bisect.h"
#include "results/judge/turns.h"
#include "results/stats/stats.h"
#include "tests/unit/support.h"

enum { MANY = 200, REPETITIONS = 3, ROUND = 2 * REPETITIONS, VALUES = ROUND * 10 };

/* What the simulated node and repository are like. */
struct world {
    size_t count;       /* commits, both ends included */
    size_t culprit;     /* from here on slower; count: no commit is */
    double slower;      /* by how much */
    double time;        /* of the good end, s; 0: 1 */
    size_t second;      /* from here on `again` slower, too; 0: no commit is */
    double again;       /* by how much more */
    double noise;       /* relative, of one repetition */
    double states;      /* every repetition is in one of two states at random, this much apart; 0: in one */
    double drift;       /* relative, from one turn to the next */
    bool broken[MANY];  /* does not build */
    double noisy[MANY]; /* noise of this commit's measurements; 0: as everywhere */
    const char *code[MANY];  /* NULL: every commit has its own */
    bool of_device;          /* the codes are of device code */
    bool fast[MANY];         /* on a branch that does not have the culprit */
    size_t forked;           /* begins a branch that left before the good end; 0: none does */
    bool slow[MANY];         /* as slow as that branch was before the good end made things faster */
    size_t parents[MANY][2]; /* 0: none */
    int failing[MANY];       /* so many rounds in which all tests of this commit fail; 0 is the good end */
    struct stats_rng rng;
    double now; /* the node's speed at present */
};

struct tried {
    struct bisect_commit items[MANY];
    struct bisect_search search;
    struct bisect_step end;
    struct delta ends;
    double base[MANY][VALUES], value[MANY][VALUES];
    size_t values[MANY]; /* of each side */
    int builds;
};

static struct tried tried; /* by the test that runs */

static void assert_found(size_t culprit)
{
    assert_int_equal(tried.end.outcome, BISECT_FOUND);
    assert_int_equal(tried.end.first, culprit);
}

static void measure_turn(struct world *w, size_t commit, double noise, double *out)
{
    bool slow = w->slow[commit] || (commit >= w->culprit && !w->fast[commit]);
    double time = 1 + (slow ? w->slower : 0);
    time = (time + (w->second > 0 && commit >= w->second ? w->again : 0)) * (w->time > 0 ? w->time : 1);
    for (int i = 0; i < REPETITIONS; i++)
        out[i] = time * w->now * (1 + noise * stats_rng_normal(&w->rng)) *
                 (w->states > 0 && stats_rng_unit(&w->rng) < 0.5 ? 1 + w->states : 1);
    w->now *= 1 + w->drift;
}

/* One round in which one side's tests fail. Its values count in no later round. */
static void fail_round(struct tried *t, size_t commit, size_t failing)
{
    struct delta d = {.verdict = VERDICT_NOISY, .estimate.ratio = NAN, .base.n = ROUND, .now.n = ROUND};
    *(failing == 0 ? &d.base.n : &d.now.n) = 0;
    bisect_measured(&t->search, commit, &d);
}

static bool fails(struct world *w, size_t commit)
{
    return w->failing[commit] > 0 && w->failing[commit]-- > 0;
}

/* To the one variant that there is. */
static void narrow(struct tried *t)
{
    const struct bisect_commit good = t->items[0], bad = t->items[t->search.count - 1];
    bisect_narrowed(&t->search, good.code, bad.code);
}

/* One round, A B B A, and its verdict. */
static void measure(struct world *w, struct tried *t, size_t commit)
{
    size_t failing = fails(w, 0) ? 0 : commit;
    if (failing == 0 || fails(w, commit)) {
        fail_round(t, commit, failing);
        return;
    }
    size_t n = t->values[commit];
    double noise = w->noisy[commit] > 0 ? w->noisy[commit] : w->noise;
    measure_turn(w, 0, noise, &t->base[commit][n]);
    measure_turn(w, commit, noise, &t->value[commit][n]);
    measure_turn(w, commit, noise, &t->value[commit][n + REPETITIONS]);
    measure_turn(w, 0, noise, &t->base[commit][n + REPETITIONS]);
    t->values[commit] += ROUND;
    const struct pair v = {
        .base = t->base[commit], .now = t->value[commit], .base_n = n + ROUND, .now_n = n + ROUND};
    struct compare_options plain = compare_defaults(), o = bisect_end_options(&plain);
    struct delta d = {0};
    bool ends = commit == w->count - 1;
    if (!ends)
        o = bisect_options(&o, &t->ends);
    turns_judge_values(&v, METRIC_PREFILL_S, &o, &d);
    if (ends) {
        bisect_doubt(&d, 1);
        t->ends = d;
    }
    bisect_measured(&t->search, commit, &d);
    if (ends && d.verdict == VERDICT_REGRESSED)
        narrow(t);
}

static void build(struct world *w, struct tried *t, size_t commit)
{
    char code[16];
    snprintf(code, sizeof code, "code%zu", commit);
    t->builds++;
    t->search.items[commit].of_device = w->of_device;
    bisect_built(&t->search, commit, w->code[commit] ? w->code[commit] : code,
                 w->broken[commit] ? "does not build" : NULL);
}

static void start(struct world *w, struct tried *t, uint64_t seed)
{
    *t = (struct tried){.builds = 0};
    w->now = 1;
    stats_rng_seed(&w->rng, seed);
    for (size_t i = 0; i < w->count; i++) {
        snprintf(t->items[i].id, sizeof t->items[i].id, "%040zu", i);
        t->items[i].forked = i > 0 && i == w->forked;
        for (int p = 0; p < 2 && w->parents[i][p] > 0; p++)
            t->items[i].parents[t->items[i].n_parents++] = w->parents[i][p];
    }
    bisect_init(&t->search, t->items, w->count, 3);
}

static void finish(struct world *w, struct tried *t)
{
    for (int steps = 0; steps < 4 * MANY; steps++) {
        t->end = bisect_next(&t->search);
        if (t->end.task == BISECT_END)
            return;
        if (t->end.task == BISECT_BUILD)
            build(w, t, t->end.commit);
        else
            measure(w, t, t->end.commit);
    }
    fail_msg("the search does not end");
}

static void search(struct world *w, struct tried *t, uint64_t seed)
{
    start(w, t, seed);
    finish(w, t);
}
