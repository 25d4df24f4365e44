/* precise: when a cell needs no more repetitions, and of which GPU they must be. */
#include "tests/unit/support.h"

#include "executor/suite/precise.h"

enum { TESTS = 16 };

struct play {
    struct job_test test[TESTS];
    struct test_state state[TESTS];
    struct variant variant;
    struct lane lane[2];
    struct suite suite;
};

/* TESTS repetitions of one cell, to be repeated until 1 %, at least three times. */
static struct play *begin(void)
{
    struct play *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->variant.name = "v";
    for (size_t i = 0; i < TESTS; i++)
        p->test[i] = (struct job_test){
            .context = 1, .repetition = (int64_t)i + 1, .timeout_s = 9, .until = 1, .least = 3};
    p->lane[0].ids = json_pack("[s]", "GPU-a");
    p->lane[1] = (struct lane){.index = 1, .ids = json_pack("[s]", "GPU-b")};
    p->suite.job.variant = &p->variant;
    p->suite.job.variant_count = 1;
    p->suite.job.test = p->test;
    p->suite.job.test_count = TESTS;
    p->suite.test = p->state;
    eta_init(&p->suite.eta, &p->suite.job);
    return p;
}

static void end(struct play *p)
{
    eta_release(&p->suite.eta);
    json_decref(p->lane[0].ids);
    json_decref(p->lane[1].ids);
    free(p);
}

static void measured(struct play *p, size_t test, double value)
{
    p->state[test].final = true;
    p->state[test].status = STATUS_OK;
    p->state[test].judged = value + 1e-4 * (double)test;
}

TEST(a_cell_that_is_known_well_enough_needs_no_more)
{
    struct play *p = begin();
    for (size_t i = 0; i < 5; i++) {
        p->state[i].lane = &p->lane[0];
        measured(p, i, 1);
    }
    assert_false(precise_leaves_out(&p->suite, &p->lane[0], 5)); /* an interval of the median needs six */
    p->state[5].lane = &p->lane[0];
    measured(p, 5, 1);
    assert_true(precise_leaves_out(&p->suite, &p->lane[0], 6));
    assert_true(p->state[6].needless);
    assert_int_equal(p->suite.needless, 1);
    end(p);
}

/* Six values on the first GPU, then the cell moved to one that is 5 % slower, or to an equal one. */
TEST(only_values_of_the_gpu_that_it_runs_on_count)
{
    for (int same = 0; same < 2; same++) {
        struct play *p = begin();
        for (size_t i = 0; i < 6; i++) {
            p->state[i].lane = &p->lane[0];
            measured(p, i, 1);
        }
        assert_false(precise_leaves_out(&p->suite, &p->lane[1], 6));
        for (size_t i = 6; i < 12; i++) {
            p->state[i].lane = &p->lane[1];
            measured(p, i, same ? 1 : 1.05);
            assert_int_equal(precise_leaves_out(&p->suite, &p->lane[1], i + 1), i == 11);
        }
        end(p);
    }
}

/* What an earlier supervisor measured: its journal says where. */
TEST(values_from_before_a_resumption_count_on_their_gpu)
{
    struct play *p = begin();
    char a[] = "GPU-a";
    for (size_t i = 0; i < 6; i++) {
        p->state[i].ran_on = a;
        measured(p, i, 1);
    }
    assert_false(precise_leaves_out(&p->suite, &p->lane[1], 6));
    assert_true(precise_leaves_out(&p->suite, &p->lane[0], 6));
    end(p);
}

/* A node without GPUs that are known. */
TEST(without_gpus_all_values_count)
{
    struct play *p = begin();
    struct lane none = {.ids = json_array()};
    for (size_t i = 0; i < 6; i++) {
        p->state[i].lane = i < 3 ? &none : NULL;
        measured(p, i, 1);
    }
    assert_true(precise_leaves_out(&p->suite, &none, 6));
    json_decref(none.ids);
    end(p);
}
