/* standing: one night makes a suspect, several make a finding, and a worse level is never adopted by itself.
 */
#include "tests/unit/support.h"

#include "results/judge/nights/standing.h"
#include "results/judge/nights/standing_window.h"
#include "results/stats/stats.h"

enum { NIGHTS = 200 };

/* One cell whose nights lie about 0, with 1 % of noise. */
struct world {
    double x[NIGHTS + 1];
    struct standing s;
    size_t count;
    enum standing_change last;
};

static void still(struct world *w, uint64_t seed)
{
    struct stats_rng rng;
    stats_rng_seed(&rng, seed);
    *w = (struct world){0};
    for (size_t i = 0; i <= NIGHTS; i++)
        w->x[i] = 0.01 * stats_rng_normal(&rng);
    standing_init(&w->s, w->x, NIGHTS, 0, 1);
}

static void world_release(struct world *w)
{
    standing_release(&w->s);
}

/* Steps up to this night, which is not stepped. */
static void until(struct world *w, size_t night)
{
    for (; w->count < night; w->count++)
        w->last = standing_step(&w->s, w->count, false);
}

static void add(struct world *w, size_t from, size_t to, double step)
{
    for (size_t i = from; i < to; i++)
        w->x[i] += step;
}

TEST(still_nights_are_no_finding)
{
    size_t found = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        AUTO(world_release) struct world w;
        still(&w, seed);
        for (size_t i = 0; i < NIGHTS; i++)
            found += standing_step(&w.s, i, false) == STANDING_OPENED;
    }
    assert_in_range(found, 0, 20); /* of 20,000 nights */
}

TEST(a_lasting_step_is_found_within_four_nights_and_dated)
{
    size_t found = 0, dated = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        AUTO(world_release) struct world w;
        still(&w, seed);
        add(&w, 50, NIGHTS, 0.05);
        until(&w, 54);
        found += w.s.open;
        dated += w.s.open && w.s.since >= 49 && w.s.since <= 51; /* noise may shift it by one */
    }
    assert_in_range(found, 90, 100);
    assert_in_range(dated, found - 5, found);
}

TEST(a_worse_level_stays_a_finding_until_three_nights_are_back)
{
    AUTO(world_release) struct world w;
    still(&w, 1);
    add(&w, 50, 150, 0.06);
    until(&w, 150);
    assert_true(w.s.open);
    assert_int_equal(w.s.since, 50);
    until(&w, 152);
    assert_true(w.s.open);
    until(&w, 153);
    assert_false(w.s.open);
    assert_int_equal(w.last, STANDING_CLOSED);
    double level, scale;
    assert_true(standing_level(&w.s, &level, &scale));
    assert_near(level, 0, 0.01);
}

TEST(a_night_by_itself_is_no_finding_however_bad_such_nights_were_before)
{
    AUTO(world_release) struct world w;
    still(&w, 2);
    for (size_t i = 12; i < NIGHTS; i += 9)
        w.x[i] += 0.15;
    for (size_t i = 0; i < NIGHTS; i++)
        assert_int_not_equal(standing_step(&w.s, i, false), STANDING_OPENED);
}

TEST(a_night_beyond_all_others_needs_no_second_one)
{
    static const size_t at[] = {10, 60}; /* of a young cell, too */
    for (size_t i = 0; i < COUNT(at); i++) {
        AUTO(world_release) struct world w;
        still(&w, 3);
        w.x[at[i]] += 0.7;
        until(&w, at[i] + 1);
        assert_int_equal(w.last, STANDING_OPENED);
        assert_int_equal(w.s.since, at[i]);
    }
}

TEST(pairs_of_bad_nights_that_the_cell_had_before_are_its_noise)
{
    AUTO(world_release) struct world w;
    still(&w, 4);
    for (size_t i = 20; i < 100; i += 12)
        add(&w, i, i + 2, 0.08);
    until(&w, 60);
    for (; w.count < 100; w.count++)
        assert_int_not_equal(standing_step(&w.s, w.count, false), STANDING_OPENED);
}

TEST(a_better_level_is_adopted_after_four_nights)
{
    AUTO(world_release) struct world w;
    double level, scale;
    still(&w, 5);
    add(&w, 50, NIGHTS, -0.1);
    until(&w, 53);
    assert_true(standing_level(&w.s, &level, &scale));
    assert_near(level, 0, 0.01);
    until(&w, 54);
    assert_int_equal(w.last, STANDING_BEGINS);
    assert_int_equal(w.s.members[0], 50);
    assert_true(standing_level(&w.s, &level, &scale));
    assert_near(level, -0.1, 0.015);
    /* What was gained counts as a level: to lose it is a finding. */
    add(&w, 70, NIGHTS, 0.06);
    until(&w, 75);
    assert_true(w.s.open);
}

TEST(uneven_nights_count_only_if_four_follow_each_other)
{
    for (size_t uneven = 1; uneven <= 4; uneven++) {
        AUTO(world_release) struct world w;
        still(&w, 6);
        add(&w, 50, 50 + uneven, 0.07);
        until(&w, 50);
        for (; w.count < 50 + uneven; w.count++)
            w.last = standing_step(&w.s, w.count, true);
        assert_int_equal(w.s.open, uneven == 4);
        if (uneven == 4)
            assert_in_range(w.s.since, 50, 51);
        else
            assert_int_equal(w.last, STANDING_HELD);
    }
}

TEST(a_cell_that_was_worse_before_uneven_nights_does_not_wait_for_four)
{
    AUTO(world_release) struct world w;
    still(&w, 6);
    add(&w, 50, 53, 0.07);
    until(&w, 51);
    assert_false(w.s.open);
    w.last = standing_step(&w.s, w.count++, true);
    assert_true(w.s.open);
    assert_int_equal(w.s.since, 50);
}

/* Twelve nights of either state: the first times are news, later ones are how this cell is. */
TEST(a_cell_that_comes_back_again_and_again_has_states)
{
    AUTO(world_release) struct world w;
    size_t opened = 0;
    still(&w, 12);
    for (size_t i = 24; i + 12 <= NIGHTS; i += 24)
        add(&w, i, i + 12, 0.08);
    for (bool was = false; w.count < NIGHTS; was = w.s.open) {
        until(&w, w.count + 1);
        opened += w.s.open && !was;
        assert_false(w.s.open && w.count > 100);
    }
    assert_in_range(opened, 1, 3);
}

TEST(a_young_cell_is_not_judged)
{
    AUTO(world_release) struct world w;
    double level, scale;
    still(&w, 7);
    add(&w, 4, NIGHTS, 0.2);
    until(&w, 3);
    assert_false(standing_level(&w.s, &level, &scale));
    until(&w, STANDING_FIRST);
    assert_int_equal(w.last, STANDING_BEGINS); /* with the second half */
    assert_false(w.s.open);
}

TEST(what_is_accepted_is_the_level)
{
    AUTO(world_release) struct world w;
    double level, scale;
    still(&w, 8);
    add(&w, 50, NIGHTS, 0.06);
    until(&w, 60);
    assert_true(w.s.open);
    assert_true(standing_accept(&w.s, 59));
    assert_int_equal(w.s.members[0], 50);
    assert_true(standing_level(&w.s, &level, &scale));
    assert_near(level, 0.06, 0.01);
    until(&w, NIGHTS);
    assert_false(w.s.open);
}

TEST(one_worse_night_can_be_accepted_too)
{
    AUTO(world_release) struct world w;
    double level, scale;
    still(&w, 9);
    add(&w, 50, NIGHTS, 0.06);
    until(&w, 51);
    assert_true(standing_accept(&w.s, 50));
    until(&w, NIGHTS);
    assert_false(w.s.open);
    assert_true(standing_level(&w.s, &level, &scale));
    assert_near(level, 0.06, 0.01);
}

TEST(a_night_that_is_only_asked_about_changes_nothing)
{
    AUTO(world_release) struct world w;
    size_t since = 0;
    bool back = true;
    still(&w, 10);
    add(&w, 50, NIGHTS, 0.05);
    until(&w, 51);
    const struct standing before = w.s;
    assert_true(standing_would_be_open(&w.s, 51, false, &since, &back));
    assert_false(back);
    assert_int_equal(since, 50);
    assert_memory_equal(&before, &w.s, sizeof before);
    until(&w, 52);
    assert_true(w.s.open);
}

TEST(a_finding_began_on_the_first_of_the_uneven_nights_that_it_waited_for)
{
    AUTO(world_release) struct world w;
    still(&w, 14);
    add(&w, 50, NIGHTS, 0.1);
    until(&w, 50);
    while (w.last != STANDING_OPENED && w.count < 60)
        w.last = standing_step(&w.s, w.count++, true);
    assert_int_equal(w.count, 50 + STANDING_HELD_MAX);
    assert_int_equal(w.s.since, 50);
}

TEST(against_a_given_level_the_nights_that_are_worse_are_found)
{
    AUTO(world_release) struct world w;
    size_t points[10], begins;
    still(&w, 11);
    add(&w, 95, NIGHTS, 0.05);
    until(&w, 100);
    for (size_t i = 0; i < 10; i++)
        points[i] = 90 + i;
    assert_true(standing_is_worse_than(&w.s, points, 10, 0, 5, &begins));
    assert_int_equal(begins, 5);
    assert_false(standing_is_worse_than(&w.s, points, 5, 0, 5, &begins));
}

TEST(a_young_cell_is_asked_about_without_being_touched)
{
    AUTO(world_release) struct world w;
    size_t since = 0, members[STANDING_FIRST];
    bool back;
    still(&w, 12);
    add(&w, 3, NIGHTS, 0.2); /* the night that would tell the first level from a second one */
    until(&w, STANDING_FIRST - 1);
    const struct standing before = w.s;
    memcpy(members, w.s.members, w.s.n * sizeof *members);
    assert_false(standing_would_be_open(&w.s, STANDING_FIRST - 1, false, &since, &back));
    assert_int_equal(standing_nights_to_open(&w.s, w.x, STANDING_FIRST - 1), 0);
    assert_memory_equal(&before, &w.s, sizeof before);
    assert_memory_equal(members, w.s.members, w.s.n * sizeof *members);
}

/* The level and the scale are those that the nights say anew. */
static void assert_nothing_is_remembered_wrongly(const struct standing *s)
{
    double level, scale;
    size_t of;
    if (!standing_level(s, &level, &scale))
        return;
    assert_near(level, s->open ? s->level : standing_median_before(s, s->n, &of), 0);
    struct standing anew = *s;
    anew.sizes.to = 0;
    for (size_t back = 0; back < 12 && back < s->n_apart; back++)
        assert_near(standing_scale(s, s->n_apart - back), standing_scale(&anew, s->n_apart - back), 0);
}

TEST(what_is_remembered_of_the_nights_is_what_they_say)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        AUTO(world_release) struct world w;
        struct stats_rng rng;
        still(&w, seed);
        stats_rng_seed(&rng, 1000 + seed);
        for (size_t i = 10; i + 12 < NIGHTS; i += 1 + stats_rng_below(&rng, 30))
            add(&w, i, i + 1 + stats_rng_below(&rng, 12), 0.08 * stats_rng_normal(&rng));
        for (size_t i = 0; i < NIGHTS; i++) {
            uint64_t chance = stats_rng_below(&rng, 200);
            standing_step(&w.s, i, chance < 20);
            if (chance == 20)
                standing_accept(&w.s, i);
            if (chance == 21)
                standing_restart(&w.s);
            assert_nothing_is_remembered_wrongly(&w.s);
        }
    }
}

TEST(what_may_be_a_median_is_never_denied)
{
    AUTO(world_release) struct world w;
    still(&w, 13);
    until(&w, NIGHTS);
    for (size_t n = 4; n <= w.s.n; n++) {
        size_t of;
        double median = standing_median_before(&w.s, n, &of);
        assert_true(standing_median_may_be(&w.s, n, 1, median - 1e-9));
        assert_true(standing_median_may_be(&w.s, n, -1, median + 1e-9));
        assert_false(standing_median_may_be(&w.s, n, 1, median + 0.05));
        assert_false(standing_median_may_be(&w.s, n, -1, median - 0.05));
    }
}

/* So many variants, all cells of the first ones worse. */
static bool is_uneven(size_t variants, size_t worse, size_t contexts)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    struct standing_night n = {0};
    for (size_t i = 0; i < variants; i++)
        for (size_t k = 0; k < contexts; k++)
            standing_night_add(&n, names[i], i < worse);
    return standing_night_is_uneven(&n);
}

TEST(many_worse_cells_of_many_variants_make_a_night_uneven)
{
    assert_true(is_uneven(12, 3, 1));
    assert_false(is_uneven(12, 1, 1));
    assert_false(is_uneven(7, 7, 1)); /* too few to tell */
    /* Code that two variants share is no night of the machine. */
    assert_false(is_uneven(5, 2, 4));
    assert_true(is_uneven(5, 3, 4));
    assert_false(is_uneven(2, 1, 4));
    assert_true(is_uneven(2, 2, 4));
}
