/* bisect_request: which cells a search has answered, and which ones another search is needed for. */
#include "harness/session/bisect_request.h"
#include "tests/unit/support.h"

#include <math.h>

enum { COMMITS_MAX = 6 };

/* A search for a, b and c over so many commits. */
static void make_search(struct bisect_state *b, size_t count)
{
    static const char *const names[] = {"a", "b", "c"};
    struct git_commits commits = {.items = calloc(COMMITS_MAX, sizeof *commits.items), .count = count};
    struct err err = {0};
    for (size_t i = 0; i < count; i++)
        snprintf(commits.items[i].id, sizeof commits.items[i].id, "%040zu", i);
    *b = (struct bisect_state){.request = {.rounds = 2, .n_wanted = COUNT(names)}};
    for (size_t i = 0; i < COUNT(names); i++) {
        b->request.wanted[i] = (struct bisect_wanted){.context = 64, .ratio = NAN};
        snprintf(b->request.wanted[i].variant, sizeof b->request.wanted[i].variant, "%s", names[i]);
    }
    assert_int_equal(bisect_state_init(b, &commits, 2, &err), 0);
}

static void add_slower(struct bisect_state *b, const char *variant, double ratio)
{
    struct bisect_cell *c = &b->cells[b->n_cells++];
    *c = (struct bisect_cell){.context = 64, .ratio = ratio, .metric = "prefill_s"};
    snprintf(c->variant, sizeof c->variant, "%s", variant);
}

static void end(struct bisect_state *b, enum bisect_outcome outcome)
{
    b->step = (struct bisect_step){
        .task = BISECT_END, .outcome = outcome, .first = b->count - 1, .last = b->count - 1, .suspects = 1};
    snprintf(b->ended_at, sizeof b->ended_at, "2026-02-14T03:15:09Z");
}

/* The places of the cells, as digits. */
static const char *places(const bool *set)
{
    static char text[BISECT_CELLS_MAX + 1];
    size_t n = 0;
    for (size_t i = 0; i < BISECT_CELLS_MAX; i++)
        if (set[i])
            text[n++] = (char)('0' + (int)i);
    text[n] = '\0';
    return text;
}

static void expect(struct bisect_state *b, const char *explained, const char *left)
{
    bool set[BISECT_CELLS_MAX];
    bisect_explained(b, set);
    assert_string_equal(places(set), explained);
    assert_int_equal(bisect_left(b, set), strlen(left));
    assert_string_equal(places(set), left);
    bisect_state_release(b);
}

TEST(one_of_several_commits_explains_the_cell_that_was_followed)
{
    struct bisect_state b;
    make_search(&b, 5);
    add_slower(&b, "b", 1.12);
    add_slower(&b, "a", 1.08);
    end(&b, BISECT_FOUND);
    expect(&b, "1", "02");
    make_search(&b, 5);
    add_slower(&b, "b", 1.12);
    add_slower(&b, "a", 1.08);
    end(&b, BISECT_RANGE);
    expect(&b, "1", "02");
}

TEST(the_only_commit_explains_all_that_is_slower)
{
    struct bisect_state b;
    make_search(&b, 2);
    add_slower(&b, "b", 1.12);
    add_slower(&b, "a", 1.08);
    end(&b, BISECT_FOUND);
    expect(&b, "01", "2");
}

TEST(a_search_that_goes_on_leaves_nothing_yet)
{
    struct bisect_state b;
    make_search(&b, 5);
    add_slower(&b, "b", 1.12);
    expect(&b, "", "");
}

TEST(ends_that_do_not_differ_are_the_answer_of_all)
{
    static const enum bisect_outcome outcomes[] = {BISECT_NOT_REPRODUCIBLE, BISECT_UNDECIDED, BISECT_STOPPED};
    for (size_t i = 0; i < COUNT(outcomes); i++) {
        struct bisect_state b;
        make_search(&b, 5);
        end(&b, outcomes[i]);
        expect(&b, "", "");
    }
}

/* A commit that made a cell 3 % slower of 8 % does not explain it. */
TEST(a_check_asks_for_most_of_the_change)
{
    struct bisect_state b;
    make_search(&b, 2);
    snprintf(b.request.night_good, sizeof b.request.night_good, "good");
    b.request.wanted[0].ratio = 1.08;
    b.request.wanted[1].ratio = 1.08;
    add_slower(&b, "a", 1.03);
    add_slower(&b, "b", 1.07);
    add_slower(&b, "c", 1.03);
    end(&b, BISECT_FOUND);
    expect(&b, "12", "0");
}

TEST(a_check_that_finds_nothing_leaves_all)
{
    struct bisect_state b;
    make_search(&b, 2);
    snprintf(b.request.night_good, sizeof b.request.night_good, "good");
    end(&b, BISECT_NOT_REPRODUCIBLE);
    expect(&b, "", "012");
}
