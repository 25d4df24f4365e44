/* A whole card that becomes slower while each cell runs on one card: one finding about the card, and none
 * about its cells. Simulated nights with fixed seeds; what the assertions print is what docs/statistics.md
 * states.
 * unsanitized: simulated nights, as in unit/test_simulation
 */
#include "tests/unit/cards_support.h"

enum { SEEDS = 40, NIGHTS = 12, REPETITIONS = 3, BASE_NIGHT = 4 };

static const double slower = 1.06, regression = 1.08;

/* Where cells run: on 8 cards by point (4 cells a card), on 4 by point and by cell (8 cells a card), on 2 by
 * cell. */
static int eight_by_point(size_t night, size_t cell, size_t card)
{
    (void)night;
    return cell % CARD_CONTEXTS == card ? REPETITIONS : 0;
}

static int four_by_point(size_t night, size_t cell, size_t card)
{
    (void)night;
    return cell % CARD_CONTEXTS % 4 == card ? REPETITIONS : 0;
}

static int four_by_cell(size_t night, size_t cell, size_t card)
{
    (void)night;
    return (cell + cell / CARD_CONTEXTS) % 4 == card ? REPETITIONS : 0;
}

static int two_by_cell(size_t night, size_t cell, size_t card)
{
    (void)night;
    return (cell + cell / CARD_CONTEXTS) % 2 == card ? REPETITIONS : 0;
}

static int on_every(size_t night, size_t cell, size_t card)
{
    (void)night;
    (void)cell;
    return card < 4 ? 2 : 0;
}

/* Card 1 has three cells, card 0 all others. */
static int few_on_one(size_t night, size_t cell, size_t card)
{
    (void)night;
    return (cell % 11 == 5) == (card == 1) && card < 2 ? REPETITIONS : 0;
}

struct layout {
    const char *name;
    placement_fn *where;
    size_t cell; /* one of card 1 */
};

static const struct layout layouts[] = {
    {"8 cards, point", eight_by_point, 9}, {"4 cards, point", four_by_point, 9},
    {"4 cards, cell", four_by_cell, 0},    {"2 cards, cell", two_by_cell, 0},
    {"4 cards, every", on_every, 0},
};

struct trial {
    placement_fn *where;
    double card_1;     /* tonight */
    double card_night; /* standard deviation of each card's own factor from night to night */
    double cell;       /* planted into one cell */
    size_t which;
    double variant_1; /* planted into the cells of variant 1 on card 1 */
    double since;     /* of card 1 from the night after the base on */
    int base;         /* -1: against the nights */
    bool pair;        /* no nights */
    bool new_code;
};

struct outcome {
    int found;  /* trials in which card 1 is the only finding about a card */
    int others; /* findings about other cards, or one about card 1 where nothing was planted */
    int alarms; /* trials in which cells other than the planted one are regressed */
    int cell;   /* the planted one is regressed */
    int fails;
    double worst; /* |log| by which card 1's factor is off */
};

static bool is_home(const struct trial *t, size_t cell, size_t card)
{
    return t->where(0, cell, card) > 0;
}

static void one_night(struct node_of_cards *n, const struct trial *t, size_t night)
{
    bool tonight = night == NIGHTS;
    for (size_t c = 0; c < CARDS; c++)
        n->planted_card[c] = 1 + t->card_night * stats_rng_normal(&n->rng);
    n->planted_card[1] *= tonight && t->card_1 > 0 ? t->card_1 : 1;
    n->planted_card[1] *= t->since > 0 && night > BASE_NIGHT ? t->since : 1;
    for (size_t i = 0; tonight && i < CARD_CELLS; i++) {
        bool of_variant = t->variant_1 > 0 && i / CARD_CONTEXTS == 1 && is_home(t, i, 1);
        n->planted[i] = of_variant ? t->variant_1 : t->cell > 0 && i == t->which ? t->cell : 1;
    }
    n->build = tonight && t->new_code;
    node_run(n, t->where);
}

static void judge_trial(const struct trial *t, uint64_t seed, struct outcome *out)
{
    AUTO(node_close) struct node_of_cards n = {0};
    int regressed = 0;
    node_open(&n, seed);
    for (size_t c = 0; c < CARDS; c++)
        n.card[c] = 1 + 0.01 * stats_rng_normal(&n.rng);
    for (size_t i = 0; i <= NIGHTS; i++)
        one_night(&n, t, i);
    AUTO(comparison_release) struct comparison c = node_compare(&n, t->base, !t->pair);
    bool planted = t->card_1 > 0 || t->since > 0;
    for (size_t i = 0; i < CARD_CELLS; i++)
        regressed += (t->cell <= 0 || i != t->which) && verdict_is_slower(node_delta(&c, i)->verdict);
    for (size_t i = 0; i < c.cards.count; i++)
        out->others += !planted || strcmp(c.cards.items[i].gpu, "GPU-1") != 0;
    if (planted && c.cards.count == 1 && strcmp(c.cards.items[0].gpu, "GPU-1") == 0) {
        double true_log = log((t->card_1 > 0 ? t->card_1 : 1) * (t->since > 0 ? t->since : 1));
        out->found++;
        out->worst = fmax(out->worst, fabs(log(c.cards.items[0].ratio) - true_log));
        assert_int_equal(c.cards.items[0].from_controls, !t->new_code);
        assert_int_equal(c.cards.items[0].from_others, t->where == on_every);
    }
    out->alarms += regressed > 0;
    out->cell += t->cell > 0 && verdict_is_slower(node_delta(&c, t->which)->verdict);
    out->fails += comparison_regressed(&c);
}

static struct outcome trials(const char *name, const struct trial *t)
{
    struct outcome o = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        judge_trial(t, 7000 + seed, &o);
    print_message("%s: card found %d, other cards %d, nights with a cell regressed by mistake %d, cell found "
                  "%d, failed %d of"
                  " %d nights; off by at most %.2f %%\n",
                  name, o.found, o.others, o.alarms, o.cell, o.fails, SEEDS, 100 * o.worst);
    return o;
}

/* True ------------------------------------------------------------------------------------------------------
 */

TEST(a_slower_card_is_one_finding)
{
    for (size_t i = 0; i < COUNT(layouts); i++)
        for (int base = -1; base < NIGHTS; base += NIGHTS) {
            struct outcome o = trials(
                layouts[i].name, &(struct trial){.where = layouts[i].where, .card_1 = slower, .base = base});
            assert_true(o.found >= SEEDS * 95 / 100);
            assert_true(o.others <=
                        SEEDS / 40); /* of two cards it may look as if the other had become faster */
            assert_true(o.alarms <= SEEDS / 40);
            assert_true(o.fails >= SEEDS * 95 / 100);
            assert_true(o.worst < 0.015);
        }
}

TEST(a_card_that_varies_by_itself_is_found_by_what_exceeds_it)
{
    for (size_t i = 0; i < COUNT(layouts) - 1; i++) {
        struct trial t = {.where = layouts[i].where, .card_night = 0.01, .card_1 = 1.10, .base = -1};
        struct outcome o = trials("cards vary by 1 %, one is 10 % slower", &t);
        assert_true(o.found + o.others >= SEEDS * 95 / 100);
        assert_true(o.others <= SEEDS / 20);
    }
}

TEST(a_faster_card_fails_nothing)
{
    struct outcome o =
        trials("faster", &(struct trial){.where = four_by_point, .card_1 = 1 / slower, .base = -1});
    assert_true(o.found >= SEEDS * 95 / 100);
    assert_int_equal(o.fails, 0);
}

TEST(a_cell_beyond_its_cards_factor_still_regresses)
{
    for (size_t i = 1; i < COUNT(layouts); i++) {
        struct trial t = {.where = layouts[i].where,
                          .card_1 = slower,
                          .cell = regression,
                          .which = layouts[i].cell,
                          .base = -1};
        struct outcome o = trials("and a cell 8 % more", &t);
        assert_true(o.cell >= SEEDS * 95 / 100);
        assert_true(o.found >= SEEDS * 95 / 100);
        assert_true(o.alarms <= SEEDS / 40);
    }
}

/* What the others of its card gained may be due to code that it does not share. */
TEST(a_cell_that_stayed_on_a_faster_card_has_not_regressed)
{
    placement_fn *const where[] = {four_by_point, four_by_cell, two_by_cell};
    for (size_t i = 0; i < COUNT(where); i++) {
        struct trial t = {.where = where[i],
                          .card_1 = 1 / slower,
                          .cell = slower,
                          .which = 1,
                          .new_code = true,
                          .base = -1};
        assert_true(is_home(&t, t.which, 1));
        struct outcome o = trials("a cell that stayed", &t);
        assert_true(o.found >= SEEDS * 9 / 10);
        assert_true(o.cell <= SEEDS / 40);
        assert_true(o.fails <= SEEDS / 20);
    }
}

TEST(a_card_that_has_been_slower_since_the_base_is_one_finding)
{
    struct trial t = {.where = four_by_cell, .since = slower, .base = BASE_NIGHT};
    struct outcome o = trials("slower since the base", &t);
    assert_true(o.found >= SEEDS * 95 / 100);
    assert_true(o.alarms <= SEEDS / 40);
    t.base = -1;
    o = trials("slower for eight nights, against the nights", &t);
    assert_int_equal(o.found, 0);
    assert_true(o.alarms <= SEEDS / 10); /* where the first nights do not show it clearly, it is news */
}

/* A card that has been slow since the base is still slower than there on a night on which it gained a little.
 */
TEST(a_card_that_gained_tonight_is_still_slower_than_in_the_base)
{
    struct trial t = {.where = four_by_cell, .since = 1.2, .card_1 = 0.95, .base = BASE_NIGHT};
    struct outcome o = trials("slower since the base, and a little less so tonight", &t);
    assert_true(o.found >= SEEDS * 95 / 100);
    assert_true(o.fails >= SEEDS * 95 / 100);
    assert_true(o.alarms <= SEEDS / 40);
    assert_true(o.worst < 0.015);
}

TEST(new_code_leaves_it_open_whether_it_is_the_card)
{
    struct trial t = {.where = four_by_point, .card_1 = slower, .base = -1, .new_code = true};
    struct outcome o = trials("new code", &t);
    assert_true(o.found >= SEEDS * 95 / 100);
    assert_true(o.alarms <= SEEDS / 40);
}

/* The same code is as fast as before on three other cards. */
TEST(new_code_on_every_card_leaves_nothing_open)
{
    struct trial t = {.where = on_every, .card_1 = slower, .base = -1, .new_code = true};
    struct outcome o = trials("new code on every card", &t);
    assert_true(o.found >= SEEDS * 95 / 100);
    assert_true(o.alarms <= SEEDS / 40);
}

TEST(two_runs_alone_show_a_card_that_is_much_slower)
{
    struct trial t = {.where = four_by_point, .card_1 = 1.10, .base = NIGHTS - 1, .pair = true};
    struct outcome o = trials("two runs alone, 10 % slower", &t);
    assert_true(o.found >= SEEDS * 95 / 100);
    assert_true(o.alarms <= SEEDS / 40);
    t.card_1 = 0;
    o = trials("two runs alone, nothing", &t);
    assert_int_equal(o.others, 0);
    assert_int_equal(o.fails, 0);
}

/* Not true --------------------------------------------------------------------------------------------------
 */

TEST(no_card_is_found_on_still_nights)
{
    for (size_t i = 0; i < COUNT(layouts); i++)
        for (int noisy = 0; noisy < 2; noisy++) {
            struct trial t = {.where = layouts[i].where, .card_night = noisy ? 0.01 : 0, .base = -1};
            struct outcome o = trials(noisy ? "still, cards vary by 1 %" : "still", &t);
            assert_true(o.others <= SEEDS / 20);
        }
}

TEST(one_variant_on_one_card_is_that_variants_change)
{
    for (int code = 0; code < 2; code++)
        for (size_t i = 1; i < 4; i++) {
            struct trial t = {
                .where = layouts[i].where, .variant_1 = regression, .base = -1, .new_code = code == 1};
            struct outcome o = trials("one variant's cells on one card", &t);
            assert_int_equal(o.others, 0);
            assert_true(o.alarms >= SEEDS * 95 / 100);
        }
}

TEST(too_few_cells_speak_for_no_card)
{
    struct outcome o =
        trials("three cells", &(struct trial){.where = few_on_one, .card_1 = slower, .base = -1});
    assert_int_equal(o.found, 0);
    assert_true(o.alarms >= SEEDS * 95 / 100);
}

TEST(a_slower_node_is_not_a_card)
{
    AUTO(node_close) struct node_of_cards n = {0};
    node_open(&n, 3);
    for (size_t i = 0; i <= NIGHTS; i++) {
        for (size_t k = 0; k < CARD_CELLS; k++)
            n.planted[k] = i == NIGHTS ? 1.08 : 1;
        node_run(&n, four_by_point);
    }
    AUTO(comparison_release) struct comparison c = node_compare(&n, -1, true);
    assert_int_equal(c.cards.count, 0);
    assert_true(c.shift.found);
}
