/* causes: each kind is named where it holds, and no other where it is tempting and false.
 *
 * A world of six variants at two contexts, sixteen nights and tonight, in which a scenario plants a change
 * and what differs beside it. Each row says exactly which causes are to be found ("code!" is established,
 * "clock" coincides), for the cell of variant v0 at 1024, or for what all cells have in common.
 */
#include "reports/words/reason.h"
#include "tests/unit/causes_scenarios_code.h"
#include "tests/unit/causes_scenarios_place.h"
#include "tests/unit/causes_support.h"

#ifndef SEEDS
#define SEEDS 3
#endif
#ifndef NOISY_SEEDS
#define NOISY_SEEDS 10
#endif

struct scenario {
    void (*plant)(struct world *w);
    const char *cell;  /* causes of v0 at 1024; "" for none */
    const char *shift; /* of what all cells have in common */
    bool tempting;     /* something differs that is not the cause */
};

static const struct scenario scenarios[] = {
    /* code */
    {new_code, "code!", "", false},
    {faster_code, "code!", "", false},
    {broken_code, "code!", "", false},
    {new_code_and_driver, "code!", "", true},
    {new_code_of_all_and_driver, "code environment", "", false},
    {new_sources_of_the_same_code, "unexplained", "", true},
    {new_sources_of_unknown_code, "code", "", false},
    {new_code_last_night, "code!", "", false},
    {code_of_earlier_nights, "unexplained", "", true},
    {other_kind_of_identity, "unexplained", "", true},
    {confirmed_code, "code!", "", true},
    {all_slower_with_new_code, "", "code", false},
    {all_slower_code_confirmed, "", "code!", true},
    /* toolchain */
    {new_compiler, "code! toolchain!", "", false},
    {new_compiler_and_sources, "code! toolchain", "", false},
    {new_flags, "code! toolchain!", "", false},
    {new_compiler_same_code, "unexplained", "", true},
    {compiler_that_is_not_used, "code!", "", true},
    /* environment */
    {driver_and_all, "", "environment node!", false},
    {driver_and_whole_variant, "environment", "", false},
    {variable_of_the_variant, "environment!", "", false},
    {driver_and_one_cell, "unexplained", "", true},
    {fact_that_was_not_recorded, "unexplained", "", true},
    {variable_of_another_variant, "unexplained", "", true},
    {image_of_the_variant, "environment!", "", false},
    {image_of_another_variant, "unexplained", "", true},
    {image_that_was_not_recorded, "unexplained", "", true},
    {image_of_all, "", "environment node!", false},
    /* clock */
    {lower_clock_measured, "clock!", "", false},
    {lower_clock_bounded, "clock", "", false},
    {clock_explains_a_part, "clock! unexplained", "", false},
    {lower_memory_clock, "clock", "", false},
    {power_cap, "environment clock!", "", true},
    {clock_of_all_measured, "", "clock! node!", false},
    {clock_that_follows_the_code, "code clock", "", false},
    {clock_that_does_not_matter, "unexplained", "", true},
    {lower_clock_but_faster, "unexplained", "", true},
    {clock_of_all_and_own_change, "unexplained", "clock! node!", true},
    {clock_that_varies_as_usual, "unexplained", "", true},
    /* node */
    {all_slower, "", "node!", false},
    {all_slower_node_confirmed, "", "node!", true},
    {confirmed_node, "environment node!", "", true},
    {node_and_code, "code!", "environment node!", true},
    /* neighbours */
    {neighbours_in_all_tests, "", "node! neighbours", false},
    {neighbours_of_slow_tests, "neighbours!", "", false},
    {neighbours_of_any_tests, "unexplained", "", true},
    {neighbours_that_spare_the_others, "unexplained", "", true},
    {neighbours_as_before, "", "node!", true},
    {beside_tests_that_slow_it, "neighbours!", "", false},
    {beside_tests_that_hardly_slow_it, "unexplained", "", true},
    {beside_tests_that_nobody_measured, "unexplained", "", true},
    {beside_as_many_as_before, "unexplained", "", true},
    {beside_fewer_than_before, "unexplained", "", true},
    {neighbours_that_nobody_counted, "", "node!", true},
    /* method */
    {other_command, "method!", "", false},
    {order_and_all, "", "node! method", false},
    {another_gpu, "", "", true},
    {another_gpu_and_all, "", "node! method", false},
    {another_gpu_of_the_node_and_all, "", "node! method", false},
    {renumbered_gpus, "code!", "", true},
    {unused_gpu_replaced, "code!", "", true},
    {power_cap_of_an_unused_gpu_and_all, "", "node!", true},
    {power_cap_of_a_used_gpu_and_all, "", "environment node!", false},
    {power_cap_of_a_renumbered_gpu_and_all, "", "environment node!", false},
    {another_gpu_and_a_large_change, "", "", true},
    {broken_code_on_another_gpu, "code method", "", true},
    {broken_code_on_the_same_gpu, "code!", "", true},
    {plan_with_a_comment, "unexplained", "", true},
    {order_and_one_cell, "unexplained", "", true},
    {warmup_and_all, "", "node!", true},
    {isolated_tests_and_all, "", "node! method", false},
    {isolated_tests_and_new_code, "code!", "", true},
    {alone_and_new_code, "code method", "", true},
    {own_container, "method!", "", false},
    {defaults_that_are_spelled_out, "unexplained", "", true},
    /* what ends a test */
    {time_limit_below_what_it_takes, "method!", "", false},
    {time_limit_close_to_what_it_takes, "method", "", false},
    {time_limit_far_from_what_it_takes, "unexplained", "", true},
    {longer_time_limit, "unexplained", "", true},
    {time_limit_and_new_code, "code method", "", true},
    {crash_at_another_time_limit, "unexplained", "", true},
    {fixed_by_a_longer_time_limit, "method!", "", false},
    {less_memory, "method", "", false},
    {more_memory, "unexplained", "", true},
    {less_memory_and_a_crash, "unexplained", "", true},
    {shorter_watch_for_hangs, "method", "", false},
    /* against one run */
    {base_and_new_code, "code!", "", true},
    {base_and_one_cell, "unexplained", "", true},
    {base_and_driver, "", "environment node!", false},
    {base_and_clock, "clock", "", false},
    {few_cells_all_slower, "node!", "", false},
    {few_cells_all_slower_and_new_code, "node", "", true},
    {few_cells_new_code, "code", "", false},
    {few_cells_driver, "unexplained", "", true},
    {base_and_clock_by_rate, "clock", "", false},
    {few_cells_all_slower_by_rate, "node!", "", false},
    {base_faster_code_by_rate, "code!", "", false},
    {fixed_by_new_code, "code!", "", false},
    {company_that_left, "neighbours!", "", false},
    {company_that_left_everyone, "unexplained", "", true},
    /* more that is tempting and false */
    {broken_and_driver, "unexplained", "", true},
    {throttled_at_the_same_clock, "unexplained", "", true},
    {clock_that_is_hardly_lower, "unexplained", "", true},
    {clock_of_all_and_new_code, "clock!", "", true},
    {unknown_plans_and_one_cell, "unexplained", "", true},
    {variable_that_made_other_code, "code! toolchain!", "", true},
    {patch_of_the_variant, "code! toolchain", "", true},
    {moved_to_another_slot, "", "node!", true},
    {no_facts_and_no_code, "unexplained", "", true},
    {governor_and_all, "", "environment node!", false},
    /* what came after the change */
    {code_after_the_change, "unexplained", "", true},
    {driver_after_the_change, "unexplained", "", true},
    {command_after_the_change, "unexplained", "", true},
    {driver_with_the_change_and_kernel_after, "environment!", "", true},
    {code_with_the_change_and_after, "code!", "", true},
    /* unexplained */
    {one_cell_slower, "unexplained", "", false},
    {variant_slower, "unexplained", "", false},
};

/* False if other causes are found than the row says. */
static bool holds(size_t row, uint64_t seed)
{
    const struct scenario *s = &scenarios[row];
    struct world *w = calm_world();
    char cell[128], shift[128];
    w->seed = seed;
    s->plant(w);
    struct found *f = explain(w);
    names_of(causes_of(&f->comparison.causes, "v0", 1024), cell);
    names_of(causes_of(&f->comparison.causes, "", 0), shift);
    bool right = strcmp(cell, s->cell) == 0 && strcmp(shift, s->shift) == 0;
    if (!right)
        print_error(
            "row %zu, seed %llu: expected \"%s\" and in common \"%s\", found \"%s\" and \"%s\" (%s: %s)\n",
            row, (unsigned long long)seed, s->cell, s->shift, cell, shift,
            verdict_name(f->comparison.deltas[0].verdict),
            verdict_reason(&f->comparison.deltas[0], REPORT_EN).s);
    release(f);
    free(w);
    return right;
}

TEST(every_cause_is_named_right_and_none_false)
{
    size_t wrong = 0, tempting = 0;
    for (size_t i = 0; i < COUNT(scenarios); i++) {
        tempting += scenarios[i].tempting;
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            wrong += !holds(i, seed);
    }
    print_message("%zu scenarios, %zu of them tempting, %d seeds each\n", COUNT(scenarios), tempting, SEEDS);
    assert_int_equal(wrong, 0);
    assert_true(COUNT(scenarios) >= 70 && tempting >= 35);
}

static enum cause_by shared_code_by(struct world *w)
{
    struct found *f = explain(w);
    const struct cell_causes *all = causes_of(&f->comparison.causes, "", 0);
    const struct cause *code = all ? causes_kind(all, CAUSE_CODE) : NULL;
    enum cause_by by = code ? code->by : CAUSE_BYS;
    release(f);
    free(w);
    return by;
}

TEST(shared_code_is_only_what_was_read)
{
    struct world *w = calm_world();
    all_slower_with_new_code(w);
    assert_int_equal(shared_code_by(w), CAUSE_BY_DEVICE);
    w = calm_world();
    all_slower_with_new_code(w);
    for (int i = 0; i < RUNS; i++)
        w->nights[i].files = true;
    assert_int_equal(shared_code_by(w), CAUSE_BY_FILES);
    w = calm_world();
    all_slower(w);
    w->shift_confirmed = SHIFT_CODE;
    for (int i = 0; i < RUNS; i++)
        for (size_t v = 0; v < VARIANTS; v++)
            w->nights[i].code[v] = "";
    assert_int_equal(shared_code_by(w), CAUSE_BY_FILES);
}

/* Of each kind that is called established, whether the row has it so too, of the cell or in common: with too
 * much noise for a common factor, each cell has its share. */
static bool only_known_are_established(size_t row, const char *found)
{
    const struct scenario *s = &scenarios[row];
    char word[32];
    for (const char *p = found + strspn(found, " "); *p; p += strspn(p, " ")) {
        size_t len = strcspn(p, " ");
        snprintf(word, sizeof word, "%.*s", (int)len, p);
        if (word[len - 1] == '!' && !strstr(s->cell, word) && !strstr(s->shift, word)) {
            print_error("row %zu: %s is called established\n", row, word);
            return false;
        }
        p += len;
    }
    return true;
}

TEST(noise_makes_no_cause_certain)
{
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT(scenarios); i++)
        for (uint64_t seed = 1; seed <= NOISY_SEEDS; seed++) {
            struct world *w = calm_world();
            char cell[128], shift[128];
            w->seed = seed;
            w->noise = 4;
            scenarios[i].plant(w);
            struct found *f = explain(w);
            names_of(causes_of(&f->comparison.causes, "v0", 1024), cell);
            names_of(causes_of(&f->comparison.causes, "", 0), shift);
            wrong += !only_known_are_established(i, cell) || !only_known_are_established(i, shift);
            release(f);
            free(w);
        }
    assert_int_equal(wrong, 0);
}

/* Also of a cell whose tests are not the first of the run. */
TEST(facts_are_those_of_the_cells_own_gpu)
{
    void (*const plant[])(struct world * w) = {renumbered_gpus, unused_gpu_replaced};
    for (size_t i = 0; i < COUNT(plant); i++) {
        struct world *w = calm_world();
        char cell[128];
        plant[i](w);
        struct found *f = explain(w);
        names_of(causes_of(&f->comparison.causes, "v0", 4096), cell);
        assert_string_equal(cell, "code!");
        release(f);
        free(w);
    }
}

GROUP(scratch_make, scratch_remove);
