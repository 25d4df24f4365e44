/* Which test is next on which lane: balance, home, tests that run alone, lanes that are taken out. */
#include "tests/unit/support.h"

#include "executor/run/lane_queue.h"

#include <stdlib.h>

enum { TESTS_MAX = 64 };

/* A queue in the making. */
struct made {
    struct lane_queue queue;
    struct lane_item item[TESTS_MAX];
    size_t count;
};

static struct lane_item *add(struct made *m, size_t unit, double expected_s)
{
    struct lane_item *item = &m->item[m->count++];
    *item = (struct lane_item){
        .unit = unit, .expected_s = expected_s, .home = LANE_NONE, .begun = LANE_NONE, .only = LANE_NONE};
    return item;
}

static struct lane_queue *make(struct made *m, size_t lanes)
{
    struct lane_item *items = calloc(m->count + 1, sizeof *items);
    memcpy(items, m->item, m->count * sizeof *items);
    lane_queue_init(&m->queue, items, m->count, lanes);
    return &m->queue;
}

/* Begins what may begin on the lane; TESTS_MAX: nothing. */
static size_t begin(struct lane_queue *q, size_t lane)
{
    size_t test;
    if (!lane_queue_next(q, lane, &test))
        return TESTS_MAX;
    lane_queue_begin(q, lane, test);
    return test;
}

TEST(one_lane_keeps_the_plans_order)
{
    struct made m = {.count = 0};
    for (size_t i = 0; i < 9; i++)
        add(&m, i % 3, 10 - (double)i);
    m.item[4].over = true;
    struct lane_queue *q = make(&m, 1);
    for (size_t i = 0; i < 9; i++) {
        if (i == 4)
            continue;
        assert_int_equal(begin(q, 0), i);
        assert_int_equal(begin(q, 0), TESTS_MAX); /* one at a time */
        lane_queue_end(q, i);
    }
    assert_int_equal(begin(q, 0), TESTS_MAX);
    lane_queue_release(q);
}

TEST(points_are_spread_by_their_expected_time)
{
    struct made m = {.count = 0};
    const double s[] = {3, 3, 2, 2, 2, 6};
    for (size_t i = 0; i < COUNT(s); i++)
        add(&m, i, s[i]);
    struct lane_queue *q = make(&m, 3);
    double load[3] = {0};
    for (size_t i = 0; i < COUNT(s); i++)
        load[lane_queue_lane(q, i)] += s[i];
    assert_true(load[0] == 6 && load[1] + load[2] == 12 && load[1] <= 7 && load[2] <= 7);
    lane_queue_release(q);
}

TEST(tests_of_a_point_share_a_lane_and_keep_their_order)
{
    struct made m = {.count = 0};
    for (size_t i = 0; i < 16; i++)
        add(&m, i % 4, 1);
    struct lane_queue *q = make(&m, 4);
    for (size_t i = 4; i < 16; i++)
        assert_int_equal(lane_queue_lane(q, i), lane_queue_lane(q, i % 4));
    for (size_t round = 0; round < 4; round++)
        for (size_t l = 0; l < 4; l++) {
            size_t test = begin(q, l);
            assert_int_equal(test / 4, round);
            lane_queue_end(q, test);
        }
    lane_queue_release(q);
}

TEST(points_go_home)
{
    struct made m = {.count = 0};
    for (size_t i = 0; i < 8; i++)
        add(&m, i, 1)->home = (i + 1) % 4;
    m.item[7].home = 9; /* a GPU that is not here any more */
    struct lane_queue *q = make(&m, 4);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(lane_queue_lane(q, i), (i + 1) % 4);
    assert_int_equal(lane_queue_lane(q, 7), 0); /* the one that has less */
    lane_queue_release(q);
}

TEST(points_that_all_have_one_home_are_spread_all_the_same)
{
    struct made m = {.count = 0};
    size_t on[4] = {0};
    for (size_t i = 0; i < 16; i++)
        add(&m, i, 1)->home = 0;
    struct lane_queue *q = make(&m, 4);
    for (size_t i = 0; i < 16; i++)
        on[lane_queue_lane(q, i)]++;
    for (size_t l = 0; l < 4; l++)
        assert_true(on[l] >= 3 && on[l] <= 5);
    lane_queue_release(q);
}

TEST(a_point_stays_where_this_run_began_it)
{
    struct made m = {.count = 0};
    for (size_t i = 0; i < 4; i++) {
        struct lane_item *item = add(&m, 0, 5);
        item->home = 0;
        item->over = i < 2;
        item->begun = i < 2 ? 1 : LANE_NONE;
    }
    add(&m, 1, 1);
    struct lane_queue *q = make(&m, 2);
    assert_int_equal(lane_queue_lane(q, 3), 1);
    lane_queue_release(q);
}

TEST(an_idle_lane_takes_what_nobody_has_begun)
{
    struct made m = {.count = 0};
    for (size_t i = 0; i < 6; i++)
        add(&m, i, 1);
    m.item[4].home = 0;
    struct lane_queue *q = make(&m, 2);
    size_t slow = begin(q, 0), done = 0, test; /* lane 0 takes for ever over its first test */
    while ((test = begin(q, 1)) != TESTS_MAX) {
        assert_int_not_equal(test, 4); /* its results are compared with those of its home */
        lane_queue_end(q, test);
        done++;
    }
    assert_int_equal(done, 4);
    lane_queue_end(q, slow);
    assert_int_equal(begin(q, 0), 4);
    lane_queue_release(q);
}

TEST(a_point_that_has_begun_is_not_taken)
{
    struct made m = {.count = 0};
    add(&m, 0, 1);
    add(&m, 0, 1);
    struct lane_queue *q = make(&m, 2);
    size_t lane = lane_queue_lane(q, 0);
    assert_int_equal(begin(q, lane), 0);
    assert_int_equal(begin(q, 1 - lane), TESTS_MAX);
    lane_queue_release(q);
}

TEST(a_test_that_runs_alone_has_no_neighbour)
{
    struct made m = {.count = 0};
    add(&m, 0, 1)->only = 0; /* 0 */
    add(&m, 1, 1)->only = 1; /* 1 */
    add(&m, 0, 1)->only = 0; /* 2: alone */
    add(&m, 1, 1)->only = 1; /* 3 */
    m.item[2].alone = true;
    struct lane_queue *q = make(&m, 2);
    assert_int_equal(begin(q, 0), 0);
    assert_int_equal(begin(q, 1), 1);
    lane_queue_end(q, 0);
    assert_int_equal(begin(q, 0), TESTS_MAX); /* until test 1 is over */
    lane_queue_end(q, 1);
    assert_int_equal(begin(q, 1), TESTS_MAX); /* nothing begins while it waits */
    assert_int_equal(begin(q, 0), 2);
    assert_int_equal(begin(q, 1), TESTS_MAX); /* nor while it runs */
    lane_queue_end(q, 2);
    assert_int_equal(begin(q, 1), 3);
    lane_queue_release(q);
}

TEST(tests_that_run_alone_on_all_lanes_run_one_by_one)
{
    struct made m = {.count = 0};
    for (size_t i = 0; i < 12; i++)
        add(&m, i, 1)->alone = i % 2;
    struct lane_queue *q = make(&m, 3);
    size_t done = 0, turns = 0;
    for (; done < 12 && turns < 100; turns++) {
        size_t running[3], alone = 0, n = 0;
        for (size_t l = 0; l < 3; l++) {
            size_t test = begin(q, l);
            if (test == TESTS_MAX)
                continue;
            running[n++] = test;
            alone += q->item[test].alone;
        }
        assert_true(n > 0);
        assert_true(alone == 0 || n == 1);
        for (size_t i = 0; i < n; i++, done++)
            lane_queue_end(q, running[i]);
    }
    assert_int_equal(done, 12);
    lane_queue_release(q);
}

TEST(a_lane_that_is_taken_out_hands_on_what_is_left)
{
    struct made m = {.count = 0};
    for (size_t i = 0; i < 9; i++)
        add(&m, i / 3, 1)->home = i / 3;
    struct lane_queue *q = make(&m, 3);
    assert_int_equal(begin(q, 1), 3);
    lane_queue_end(q, 3);
    assert_int_equal(begin(q, 0), 0);
    assert_int_equal(lane_queue_take_out(q, 1), 1);
    assert_true(q->unit[1].moved && !q->unit[0].moved);
    assert_int_equal(begin(q, 1), TESTS_MAX);
    size_t to = lane_queue_lane(q, 4);
    assert_int_equal(lane_queue_lane(q, 5), to); /* as a whole */
    assert_true(to == 0 || to == 2);
    size_t none;
    assert_false(lane_queue_stranded(q, &none));
    lane_queue_release(q);
}

TEST(what_may_run_nowhere_else_is_stranded)
{
    struct made m = {.count = 0};
    add(&m, 0, 1)->only = 0;
    add(&m, 1, 1)->only = 1;
    add(&m, 2, 1)->only = 7; /* never was here */
    struct lane_queue *q = make(&m, 2);
    size_t test;
    assert_true(lane_queue_stranded(q, &test));
    assert_int_equal(test, 2);
    lane_queue_end(q, 2);
    assert_false(lane_queue_stranded(q, &test));
    assert_int_equal(lane_queue_take_out(q, 1), 0);
    assert_true(lane_queue_stranded(q, &test));
    assert_int_equal(test, 1);
    lane_queue_end(q, 1);
    assert_int_equal(begin(q, 0), 0);
    lane_queue_release(q);
}

TEST(without_a_lane_all_is_stranded)
{
    struct made m = {.count = 0};
    size_t test;
    add(&m, 0, 1);
    add(&m, 1, 1);
    struct lane_queue *q = make(&m, 2);
    lane_queue_take_out(q, 0);
    assert_false(lane_queue_stranded(q, &test));
    assert_int_equal(lane_queue_take_out(q, 1), 0);
    for (size_t i = 0; i < 2; i++) {
        assert_true(lane_queue_stranded(q, &test));
        assert_int_equal(test, i);
        lane_queue_end(q, test);
    }
    lane_queue_release(q);
}
