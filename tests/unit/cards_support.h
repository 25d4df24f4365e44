/* cards_support: nights of a node with several GPUs that differ, for the tests of what is compared with what.
 * A cell's time is its level, times the night, times its card, times what is planted. Everything is inline.
 */
#pragma once

#include "tests/unit/results_support.h"

#include "common/base/word.h"
#include "results/judge/compare.h"
#include "results/stats/stats.h"
#include "results/store/identity.h"

enum {
    CARDS = 8,
    CARD_VARIANTS = 4,
    CARD_CONTEXTS = 8,
    CARD_CELLS = CARD_VARIANTS * CARD_CONTEXTS,
    RUNS_MAX = 40
};

/* Which repetitions of a cell run on a card; 0: none. */
typedef int placement_fn(size_t night, size_t cell, size_t card);

struct node_of_cards {
    struct stats_rng rng;
    double level[CARD_CELLS];
    double card[CARDS];            /* of all cells */
    double own[CARDS][CARD_CELLS]; /* of one cell on one card */
    double night, within;          /* standard deviations */
    double planted[CARD_CELLS];    /* of the next run */
    double planted_card[CARDS];
    bool build; /* the next run has other code than those before */
    const char *mode;
    struct draft draft; /* that the runs are copied from, one after another */
    struct run_data runs[RUNS_MAX];
    size_t count;
};

static inline void node_open(struct node_of_cards *n, uint64_t seed)
{
    *n = (struct node_of_cards){.night = 0.01, .within = 0.007, .mode = "SPX/NPS1"};
    stats_rng_seed(&n->rng, seed);
    for (size_t c = 0; c < CARDS; c++) {
        n->card[c] = 1;
        n->planted_card[c] = 1;
        for (size_t i = 0; i < CARD_CELLS; i++)
            n->own[c][i] = 1 + 0.002 * stats_rng_normal(&n->rng);
    }
    for (size_t i = 0; i < CARD_CELLS; i++) {
        n->level[i] = 0.01 * (1 + 50 * stats_rng_unit(&n->rng));
        n->planted[i] = 1;
    }
}

static inline void node_close(struct node_of_cards *n)
{
    for (size_t i = 0; i < n->count; i++)
        run_data_release(&n->runs[i]);
    draft_release(&n->draft);
}

static inline void node_test(struct node_of_cards *n, const char *variant, size_t cell, size_t card,
                             int repetition, double night)
{
    double x = n->level[cell] * night * n->card[card] * n->own[card][cell] * n->planted[cell] *
               n->planted_card[card] * (1 + n->within * stats_rng_normal(&n->rng));
    struct run_test *t = draft_shot(&n->draft, variant, 256 << cell % CARD_CONTEXTS, repetition, x);
    t->gpu = word_printf("GPU-%zu", card);
    snprintf(t->gpu_mode, sizeof t->gpu_mode, "%s", n->mode);
}

/* The next run of the node, one a day. */
static inline const struct run_data *node_run(struct node_of_cards *n, placement_fn *where)
{
    struct draft *d = &n->draft;
    double night = 1 + n->night * stats_rng_normal(&n->rng);
    draft_next_night(d, (int)n->count);
    for (size_t i = 0; i < CARD_CELLS; i++) {
        char variant[24];
        snprintf(variant, sizeof variant, "v%zu", i / CARD_CONTEXTS);
        for (size_t c = 0, repetition = 0; c < CARDS; c++)
            for (int k = where(n->count, i, c); k > 0; k--)
                node_test(n, variant, i, c, (int)++repetition, night);
    }
    for (size_t v = 0; v < d->n_variants; v++) {
        snprintf(d->variants[v].code_sha256, sizeof d->variants[v].code_sha256, "%016zx%048d",
                 v + 1 + (n->build ? 100 : 0), 0);
        d->variants[v].code_of_device = true;
    }
    struct run_data *run = &n->runs[n->count++];
    *run = run_copied_from(d);
    run->info.key = (int64_t)n->count;
    return run;
}

/* The points of a cell of a run: one for each card. */
static inline void node_points(const struct run_data *run, const struct cell *c, struct history_series *s)
{
    for (size_t card = 0; card < CARDS; card++) {
        double values[64];
        size_t n = 0;
        uint64_t device = 0;
        for (size_t i = c->first; i < c->first + c->count; i++)
            if ((size_t)(run->tests[i].gpu[4] - '0') == card) {
                device = n ? device : test_device(run, &run->tests[i]);
                values[n++] = run->tests[i].value[METRIC_PREFILL_S];
            }
        if (n)
            s->points[s->count++] =
                (struct history_point){.run_key = run->info.key,
                                       .median = stats_median(values, n),
                                       .n = (int)n,
                                       .measured_at = run->info.key * 86400000,
                                       .within = n > 1 ? stats_sd(values, n) / values[0] : 0,
                                       .code = variant_code(&run->variants[c->variant]),
                                       .device = device};
    }
}

/* Of the runs [0, to). */
static inline struct history node_history(const struct node_of_cards *n, size_t to)
{
    struct history h = {.series = calloc(CARD_CELLS, sizeof *h.series), .nights = to};
    assert_non_null(h.series);
    for (size_t i = 0; to && i < n->runs[0].n_cells; i++) {
        const struct cell *c = &n->runs[0].cells[i];
        struct history_series *s = &h.series[h.count++];
        *s = (struct history_series){.context = c->context, .metric = METRIC_PREFILL_S};
        snprintf(s->variant, sizeof s->variant, "%s", n->runs[0].variants[c->variant].name);
        s->points = calloc(to * CARDS, sizeof *s->points);
        assert_non_null(s->points);
        for (size_t r = 0; r < to; r++) {
            const struct cell *of = run_data_cell(&n->runs[r], s->variant, s->context);
            if (of)
                node_points(&n->runs[r], of, s);
        }
    }
    history_sort(&h);
    return h;
}

/* The newest run against the nights before, and against the run `base` before it if that is not negative. */
static inline struct comparison node_compare(const struct node_of_cards *n, int base, bool nights)
{
    struct comparison c;
    struct history h = node_history(n, n->count - 1);
    struct compare_options o = compare_defaults();
    compare_runs(base >= 0 ? &n->runs[base] : NULL, &n->runs[n->count - 1], nights ? &h : NULL, &o, &c);
    history_release(&h);
    return c;
}

static inline const struct delta *node_delta(const struct comparison *c, size_t cell)
{
    char name[24];
    snprintf(name, sizeof name, "v%zu", cell / CARD_CONTEXTS);
    for (size_t i = 0; i < c->count; i++)
        if (c->deltas[i].context == 256 << cell % CARD_CONTEXTS && strcmp(c->deltas[i].variant, name) == 0)
            return &c->deltas[i];
    fail_msg("no cell %zu", cell);
    return NULL;
}
