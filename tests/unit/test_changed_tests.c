/* changed_tests: which cells without a change are measured as controls. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "harness/plan/changed_tests.h"

enum { CONTEXTS = 4, VARIANTS = 3, REPETITIONS = 2, CELLS = CONTEXTS * VARIANTS };

struct known {
    struct changed_hint hint[CELLS];
    struct gpu_hint place[CELLS];
};

static json_t *job_of(void)
{
    json_t *tests = json_array();
    for (int i = 0; i < REPETITIONS * CELLS; i++)
        json_array_append_new(tests, json_pack("{s:o, s:i, s:i}", "variant",
                                               json_sprintf("v%d", i % VARIANTS), "context",
                                               16 << i / VARIANTS % CONTEXTS, "repetition", i / CELLS + 1));
    return json_pack("{s:o}", "tests", tests);
}

/* All cells have a hint; the last one was measured one run earlier than the others. */
static void fill(struct known *k)
{
    *k = (struct known){.hint = {{.context = 0}}};
    for (int i = 0; i < CELLS; i++) {
        k->hint[i].context = k->place[i].context = 16 << i / VARIANTS;
        k->place[i].since = i == CELLS - 1 ? 2 : 1;
        snprintf(k->place[i].measured, sizeof k->place[i].measured, "2026-03-02");
        snprintf(k->hint[i].variant, sizeof k->hint[i].variant, "v%d", i % VARIANTS);
        snprintf(k->place[i].variant, sizeof k->place[i].variant, "v%d", i % VARIANTS);
        memset(k->hint[i].fingerprint, 'a', SHA256_HEX_LEN);
    }
}

static json_int_t number(const json_t *test, const char *key)
{
    return json_integer_value(json_object_get(test, key));
}

TEST(oldest_first_then_spread)
{
    struct known k;
    json_auto_t *job = job_of();
    json_t *tests = json_object_get(job, "tests"), *test;
    unsigned variants = 0, contexts = 0;
    size_t i;
    fill(&k);
    changed_tests(job, &(struct changed_hints){k.hint, CELLS, 7}, &(struct gpu_hints){k.place, CELLS});
    json_array_foreach(tests, i, test)
    {
        assert_int_equal(strlen(json_string_value(json_object_get(test, "unless"))), SHA256_HEX_LEN);
        assert_string_equal(json_string_value(json_object_get(test, "measured")), "2026-03-02");
        assert_int_equal(number(test, "turn"), number(json_array_get(tests, i % CELLS), "turn"));
        if (number(test, "turn") == 0) {
            assert_string_equal(json_string_value(json_object_get(test, "variant")), "v2");
            assert_int_equal(number(test, "context"), 128);
        }
        if (number(test, "turn") < CONTROLS_MIN) {
            variants |= 1u << (json_string_value(json_object_get(test, "variant"))[1] - '0');
            contexts |= (unsigned)number(test, "context");
        }
    }
    assert_int_equal(variants, 7);
    assert_int_equal(contexts, 16 + 32 + 64 + 128);
}

TEST(a_cell_without_hint_is_measured)
{
    struct known k;
    json_auto_t *job = job_of();
    size_t i, with = 0, dated = 0;
    json_t *test;
    fill(&k);
    changed_tests(job, &(struct changed_hints){k.hint, 1, 7}, &(struct gpu_hints){k.place, 2});
    json_array_foreach(json_object_get(job, "tests"), i, test)
    {
        with += json_object_get(test, "unless") != NULL;
        dated += json_object_get(test, "measured") != NULL;
        assert_true(dated == 0 || number(test, "turn") <= CELLS);
    }
    assert_int_equal(with, REPETITIONS);
    assert_int_equal(dated, 2 * REPETITIONS);
}

static json_int_t controls(const struct known *k, size_t count, int64_t nights)
{
    json_auto_t *job = job_of();
    struct known copy = *k;
    changed_tests(job, &(struct changed_hints){copy.hint, count, nights},
                  &(struct gpu_hints){copy.place, count});
    return number(job, "controls");
}

TEST(enough_turns_for_the_rotation)
{
    struct known k;
    fill(&k);
    assert_int_equal(controls(&k, 0, 7), CELLS / 7);
    assert_int_equal(controls(&k, 0, 1), CELLS);
    assert_int_equal(controls(&k, CELLS, CELLS), 1);
    for (int i = 0; i < CELLS / 2; i++)
        k.place[i].since = 5;
    assert_int_equal(controls(&k, CELLS, 6), CELLS / 2); /* they have waited long enough */
    assert_int_equal(controls(&k, CELLS, 7), CELLS / 7);
}
