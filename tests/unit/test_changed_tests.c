/* changed_tests: which cells without a change are measured as controls. */
#include "tests/unit/support.h"

#include "harness/plan/changed_tests.h"

enum { CONTEXTS = 4, VARIANTS = 3, REPETITIONS = 2, CELLS = CONTEXTS * VARIANTS };

static json_t *tests_of(void)
{
    json_t *out = json_array();
    for (int i = 0; i < REPETITIONS * CELLS; i++)
        json_array_append_new(out, json_pack("{s:o, s:i, s:i}", "variant", json_sprintf("v%d", i % VARIANTS),
                                             "context", 16 << i / VARIANTS % CONTEXTS, "repetition",
                                             i / CELLS + 1));
    return out;
}

/* All cells have a hint; the last one was measured one run earlier than the others. */
static void fill(struct changed_hint *item)
{
    for (int i = 0; i < CELLS; i++) {
        item[i] = (struct changed_hint){
            .context = 16 << i / VARIANTS, .measured = "2026-03-02", .since = i == CELLS - 1 ? 2 : 1};
        snprintf(item[i].variant, sizeof item[i].variant, "v%d", i % VARIANTS);
        memset(item[i].fingerprint, 'a', SHA256_HEX_LEN);
    }
}

static json_int_t number(const json_t *test, const char *key)
{
    return json_integer_value(json_object_get(test, key));
}

TEST(oldest_first_then_spread)
{
    struct changed_hint item[CELLS];
    json_auto_t *tests = tests_of();
    unsigned variants = 0, contexts = 0;
    size_t i;
    json_t *test;
    fill(item);
    changed_tests_hint(tests, &(struct changed_hints){item, CELLS, 7});
    json_array_foreach(tests, i, test)
    {
        assert_int_equal(strlen(json_string_value(json_object_get(test, "unless"))), SHA256_HEX_LEN);
        assert_string_equal(json_string_value(json_object_get(test, "measured")), "2026-03-02");
        assert_int_equal(number(test, "turn"), number(json_array_get(tests, i % CELLS), "turn"));
        if (number(test, "turn") == 0) {
            assert_string_equal(json_string_value(json_object_get(test, "variant")), "v2");
            assert_int_equal(number(test, "context"), 128);
        }
        if (number(test, "turn") < CHANGED_CONTROLS_MIN) {
            variants |= 1u << (json_string_value(json_object_get(test, "variant"))[1] - '0');
            contexts |= (unsigned)number(test, "context");
        }
    }
    assert_int_equal(variants, 7);
    assert_int_equal(contexts, 16 + 32 + 64 + 128);
}

TEST(a_cell_without_hint_is_measured)
{
    struct changed_hint item[CELLS];
    json_auto_t *tests = tests_of();
    size_t i, with = 0;
    json_t *test;
    fill(item);
    changed_tests_hint(tests, &(struct changed_hints){item, 1, 7});
    json_array_foreach(tests, i, test) with += json_object_get(test, "unless") != NULL;
    assert_int_equal(with, REPETITIONS);
}

TEST(enough_controls_for_the_rotation)
{
    json_auto_t *tests = tests_of();
    assert_int_equal(changed_tests_controls(tests, &(struct changed_hints){.nights = 7}),
                     CHANGED_CONTROLS_MIN);
    assert_int_equal(changed_tests_controls(tests, &(struct changed_hints){.nights = 1}), CELLS);
}
