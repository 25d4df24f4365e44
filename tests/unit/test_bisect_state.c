/* bisect_state: a search comes back from the store as it was. */
#include "harness/session/bisect_state.h"
#include "tests/unit/support.h"

enum { COMMITS = 4 };

static void make_state(struct bisect_state *b)
{
    struct git_commits commits = {.items = calloc(COMMITS, sizeof *commits.items), .count = COMMITS};
    struct err err = {0};
    for (size_t i = 0; i < COMMITS; i++) {
        snprintf(commits.items[i].id, sizeof commits.items[i].id, "%040zu", i);
        snprintf(commits.items[i].subject, sizeof commits.items[i].subject, "a \"subject\" %zu", i);
        snprintf(commits.items[i].authored_at, sizeof commits.items[i].authored_at,
                 "2026-02-14T03:15:09+01:00");
    }
    *b = (struct bisect_state){.request = {.rounds = 2, .first_parent = true}};
    snprintf(b->name, sizeof b->name, "plan-0-3");
    snprintf(b->ticket, sizeof b->ticket, "plan");
    snprintf(b->node, sizeof b->node, "mi300x");
    snprintf(b->started_at, sizeof b->started_at, "2026-02-14T03:15:09Z");
    snprintf(b->request.plan, sizeof b->request.plan, "/plans/a.json");
    snprintf(b->request.plan_sha256, sizeof b->request.plan_sha256, "5ha");
    assert_int_equal(bisect_state_init(b, &commits, 2, &err), 0);
}

/* The ends are built and measured; a commit in the middle does not build. */
static void advance(struct bisect_state *b)
{
    struct delta slower = {.verdict = VERDICT_REGRESSED, .base.n = 6, .now.n = 6};
    bisect_built(&b->search, 0, "good code", NULL);
    bisect_built(&b->search, 3, "bad code", NULL);
    bisect_measured(&b->search, 3, &slower);
    bisect_built(&b->search, 1, "", "BUILD_FAILED: error");
    b->entries[3].made = (struct turns_made){.base = {11, 14}, .now = {12, 13}, .count = 2};
    b->entries[3].ratio = 1.08;
    b->cells[0] = (struct bisect_cell){
        .variant = "v5", .context = 4096, .ratio = 1.08, .metric = "prefill_s", .unit = "s"};
    b->n_cells = 1;
    b->request.wanted[0] = (struct bisect_wanted){.variant = "v5", .context = 4096, .ratio = NAN};
    b->request.wanted[1] = (struct bisect_wanted){.variant = "v6", .context = 64, .ratio = 1.12};
    b->request.n_wanted = 2;
    b->request.later = b->followed = true;
    snprintf(b->request.night_good, sizeof b->request.night_good, "%s", b->commits[0].id);
}

static void open_store(struct store *s, const char *name)
{
    struct err err = {0};
    assert_int_equal(store_open(s, in_scratch(name), STORE_WRITE, &err), 0);
}

static void load(struct store *s, struct bisect_state *out)
{
    bool found;
    struct err err = {0};
    *out = (struct bisect_state){.commits = NULL};
    assert_int_equal(bisect_state_load(out, s, "plan", false, &found, &err), 0);
    assert_true(found);
}

TEST(a_search_comes_back)
{
    struct bisect_state b, again;
    AUTO(store_close) struct store s = {0};
    struct err err = {0};
    open_store(&s, "back.db");
    make_state(&b);
    advance(&b);
    assert_int_equal(bisect_state_save(&b, &s, &err), 0);
    load(&s, &again);
    assert_string_equal(again.request.plan, "/plans/a.json");
    assert_string_equal(again.request.plan_sha256, "5ha");
    assert_true(again.request.first_parent);
    assert_int_equal(again.count, COMMITS);
    assert_int_equal(again.search.pairs, 1);
    assert_int_equal(again.search.rounds_max, 2);
    assert_string_equal(again.entries[2].git.subject, "a \"subject\" 2");
    assert_int_equal(again.commits[1].basis, BISECT_BY_BUILD);
    assert_int_equal(again.commits[3].mark, BISECT_BAD);
    assert_int_equal(again.entries[3].made.now[1], 13);
    assert_true(isnan(again.entries[2].ratio));
    assert_string_equal(again.cells[0].variant, "v5");
    assert_int_equal(again.request.n_wanted, 2);
    assert_true(isnan(again.request.wanted[0].ratio));
    assert_string_equal(again.request.wanted[1].variant, "v6");
    assert_int_equal(again.request.wanted[1].context, 64);
    assert_true(again.request.wanted[1].ratio > 1.1);
    assert_string_equal(again.request.night_good, b.commits[0].id);
    assert_true(again.request.later && again.followed);
    struct bisect_step here = bisect_next(&b.search), there = bisect_next(&again.search);
    assert_int_equal(here.task, there.task);
    assert_int_equal(here.commit, there.commit);
    bisect_state_release(&b);
    bisect_state_release(&again);
}

TEST(the_answer_comes_back)
{
    struct delta equal = {.verdict = VERDICT_UNCHANGED, .base.n = 6, .now.n = 6};
    struct bisect_state b, again;
    AUTO(store_close) struct store s = {0};
    AUTO(bisect_rows_release) struct bisect_rows rows = {0};
    struct err err = {0};
    open_store(&s, "answer.db");
    make_state(&b);
    advance(&b);
    bisect_built(&b.search, 2, "other code", NULL);
    bisect_measured(&b.search, 2, &equal);
    b.step = bisect_next(&b.search);
    snprintf(b.ended_at, sizeof b.ended_at, "2026-02-14T04:15:09Z");
    assert_int_equal(bisect_state_save(&b, &s, &err), 0);
    load(&s, &again);
    assert_int_equal(again.step.outcome, BISECT_FOUND);
    assert_int_equal(again.step.first, 3);
    assert_int_equal(bisect_rows_list(&s, &rows, &err), 0);
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.items[0].outcome, "found");
    bisect_state_release(&b);
    bisect_state_release(&again);
}

/* Whatever stands in the store, nothing of it is trusted. */
TEST(a_damaged_body_is_refused)
{
    static const char *const bodies[] = {
        "{}", "[]", "{\"schema\": \"kernsweep.bisect/2\"}",
        "{\"schema\": \"kernsweep.bisect/1\", \"name\": \"n\", \"ticket\": \"t\", \"node\": \"n\", \"gpu\": "
        "\"\", "
        "\"started_at\": \"\", \"ended_at\": \"\", \"request\": {\"plan\": \"\", \"node\": \"\", "
        "\"artifacts\": \"\", "
        "\"variants\": \"\", \"contexts\": \"\", \"path\": \"\", \"rounds\": 1}, \"commits\": [1]}"};
    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct bisect_state b = {.commits = NULL};
        struct err err = {0};
        json_t *body = json_parse(bodies[i], strlen(bodies[i]), "body", &err);
        struct json_at at = json_root(body, "body");
        assert_int_equal(bisect_state_decode(&b, &at, &err), -1);
        assert_int_equal(err.kind, ERR_INPUT);
        bisect_state_release(&b);
        json_decref(body);
    }
}

TEST(a_word_that_means_none_or_two_is_refused)
{
    struct bisect_row row = {.name = "plan-b",
                             .ticket = "plan",
                             .good = "0",
                             .bad = "1",
                             .started_at = "2026-02-14T03:15:09Z",
                             .body = (char[]){"{}"}};
    AUTO(bisect_row_release) struct bisect_row out = {0};
    AUTO(store_close) struct store s = {0};
    struct err err = {0};
    bool found;
    open_store(&s, "words.db");
    assert_int_equal(bisect_row_save(&s, &row, &err), 0);
    snprintf(row.name, sizeof row.name, "plan-c");
    assert_int_equal(bisect_row_save(&s, &row, &err), 0);
    assert_int_equal(bisect_row_load(&s, "plan", false, &out, &found, &err), -1);
    assert_non_null(strstr(err.msg, "ambiguous"));
    assert_int_equal(bisect_row_load(&s, "nothing", false, &out, &found, &err), -1);
    assert_int_equal(bisect_row_load(&s, "plan", true, &out, &found, &err), 0);
    assert_false(found);
    assert_int_equal(bisect_row_remove(&s, "plan-b", &err), 0);
    assert_int_equal(bisect_row_load(&s, "plan", false, &out, &found, &err), 0);
    assert_string_equal(out.name, "plan-c");
}

/* The store's word is that of the first version; whoever reads it is told what is known. */
TEST(undecided_ends_come_back)
{
    struct delta open = {.verdict = VERDICT_NOISY, .base.n = 6, .now.n = 6};
    struct bisect_state b, again;
    AUTO(store_close) struct store s = {0};
    AUTO(bisect_rows_release) struct bisect_rows rows = {0};
    struct err err = {0};
    open_store(&s, "undecided.db");
    make_state(&b);
    bisect_built(&b.search, 0, "a", NULL);
    bisect_built(&b.search, 3, "d", NULL);
    bisect_measured(&b.search, 3, &open);
    bisect_measured(&b.search, 3, &open);
    b.step = bisect_next(&b.search);
    snprintf(b.ended_at, sizeof b.ended_at, "2026-02-14T04:15:09Z");
    assert_int_equal(bisect_state_save(&b, &s, &err), 0);
    load(&s, &again);
    assert_int_equal(again.step.outcome, BISECT_UNDECIDED);
    json_t *all = bisect_state_encode(&again);
    const json_t *answer = json_object_get(all, "answer");
    assert_string_equal(json_string_value(json_object_get(answer, "outcome")), "undecided");
    json_decref(all);
    assert_int_equal(bisect_rows_list(&s, &rows, &err), 0);
    assert_string_equal(rows.items[0].outcome, "undecided");
    bisect_state_release(&b);
    bisect_state_release(&again);
}

GROUP(scratch_make, scratch_remove);
