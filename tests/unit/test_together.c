/* Alone against together: which cells suffer from neighbours, on equal GPUs, and what becomes of it. */
#include "tests/unit/cards_support.h"

#include "results/judge/together.h"
#include "results/query/together_store.h"
#include "results/store/placing.h"

enum { ROUNDS = 4 };

static int alone_on_one(size_t night, size_t cell, size_t card)
{
    (void)night;
    (void)cell;
    return card == 0 ? 3 : 0;
}

static int on_all(size_t night, size_t cell, size_t card)
{
    (void)night;
    (void)cell;
    (void)card;
    return 3;
}

static void set_beside(struct run_data *run, int beside)
{
    for (size_t i = 0; i < run->n_tests; i++)
        run->tests[i].beside = beside;
}

/* Rounds of a node whose other cards are 4.5 % slower; cell 0 suffers by `factor` from neighbours. */
static void make_rounds(struct node_of_cards *n, double factor, const struct run_data **alone,
                        const struct run_data **all)
{
    node_open(n, 21);
    for (size_t c = 1; c < CARDS; c++)
        n->card[c] = 1.045;
    n->night = 0.004;
    for (size_t i = 0; i < ROUNDS; i++) {
        n->planted[0] = 1;
        node_run(n, alone_on_one);
        n->planted[0] = factor;
        node_run(n, on_all);
        set_beside(&n->runs[2 * i], 0);
        set_beside(&n->runs[2 * i + 1], CARDS - 1);
    }
    for (size_t i = 0; i < ROUNDS; i++) {
        alone[i] = &n->runs[2 * i];
        all[i] = &n->runs[2 * i + 1];
    }
}

TEST(a_cell_that_suffers_is_told_from_those_that_do_not)
{
    const struct run_data *alone[ROUNDS], *all[ROUNDS];
    AUTO(node_close) struct node_of_cards n = {0};
    AUTO(together_release) struct together t = {0};
    struct err err = {0};
    make_rounds(&n, 1.10, alone, all);
    assert_ok(together_measure(alone, all, ROUNDS, &t, &err), &err);
    int suffering = 0;
    for (size_t i = 0; i < CARD_CELLS; i++) {
        const struct together_cell *c =
            together_find(&t, i < CARD_CONTEXTS ? "v0" : "v1", 256 << i % CARD_CONTEXTS, METRIC_PREFILL_S);
        assert_non_null(c);
        assert_int_equal(c->gpus, CARDS);
        assert_int_equal(c->rounds, ROUNDS);
        assert_true(c->low < c->ratio && c->ratio < c->high);
        if (i == 0) {
            assert_near(c->ratio, 1.10, 0.02);
            assert_true(together_suffers(c, 0.02));
        } else
            suffering += together_suffers(c, 0.02);
    }
    assert_int_equal(suffering, 0);
    assert_null(together_find(&t, "v9", 256, METRIC_PREFILL_S));
    assert_false(together_suffers(NULL, 0.02));
}

TEST(runs_that_nothing_ran_beside_measure_nothing)
{
    const struct run_data *alone[ROUNDS], *all[ROUNDS];
    AUTO(node_close) struct node_of_cards n = {0};
    struct together t;
    struct err err = {0};
    make_rounds(&n, 1, alone, all);
    for (size_t i = 0; i < ROUNDS; i++)
        set_beside(&n.runs[2 * i + 1], 0);
    assert_int_equal(together_measure(alone, all, ROUNDS, &t, &err), -1);
    assert_non_null(strstr(err.msg, "no two tests of run"));
    assert_int_equal(together_measure(alone, all, 0, &t, &err), -1);
}

TEST(what_suffers_is_stored_and_runs_alone)
{
    AUTO(store_close) struct store s = open_store("together.db");
    struct err err = {0};
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "a", 256, 1, 1);
    draft_shot(&d, "b", 256, 1, 1);
    draft_shot(&d, "c", 256, 1, 1);
    AUTO(run_data_release) struct run_data run = must_load(&s, must_store(&s, &d));
    struct together_cell cells[] = {
        {"a", 256, METRIC_PREFILL_S, 1.10, 1.07, 1.13, 8, 4},
        {"b", 256, METRIC_PREFILL_S, 1.10, 0.99, 1.22, 8, 4}, /* not sure */
        {"c", 256, METRIC_PREFILL_S, 1.00, 0.99, 1.01, 8, 4},
        {"c", 256, METRIC_MODEL_LOAD_S, 3.0, 2.9, 3.1, 8, 4}, /* not what it is judged by */
    };
    const struct together t = {.cells = cells, .count = COUNT(cells)};
    assert_ok(together_save(&s, &run.info, &t, &err), &err);
    assert_ok(together_save(&s, &run.info, &t, &err), &err); /* again: replaced */
    struct together back;
    assert_ok(together_load(&s, NODE, "demo", "perf", &back, &err), &err);
    assert_int_equal(back.count, COUNT(cells));
    assert_near(together_find(&back, "b", 256, METRIC_PREFILL_S)->high, 1.22, 1e-9);
    together_release(&back);
    struct suffering l;
    assert_ok(suffering_load(&s, NODE, "demo", "perf", 0.02, &l, &err), &err);
    assert_int_equal(l.count, 1);
    assert_string_equal(l.name[0], "a");
    assert_ok(suffering_load(&s, NODE, "demo", "perf", 0.08, &l, &err), &err);
    assert_int_equal(l.count, 0);
    assert_ok(suffering_load(&s, "elsewhere", "demo", "perf", 0.02, &l, &err), &err);
    assert_int_equal(l.count, 0);
}

GROUP(scratch_make, scratch_remove);
