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

enum { STEPS_MAX = 5 };

struct scenario {
    void (*plant[STEPS_MAX])(struct world *w);
    const char *cell;     /* causes of v0 at 1024; "" for none */
    const char *shift;    /* of what all cells have in common */
    bool tempting;        /* something differs that is not the cause */
    struct fact facts[2]; /* of tonight; as many as have a key */
    const char *plan;     /* of tonight; NULL: that of the nights */
    double limits[2];     /* time-outs of before and of tonight, which stops v0 at 1024; 0: none */
};

/* The plan of the nights, with something at its beginning, in its only variant and in that one's build and
 * command. */
#define PLAN(first, variant, option, argument)                                                               \
    "{" first "\"variants\":[{\"name\":\"v0\"," variant "\"build\":[[\"/opt/rocm/bin/hipcc\",\"" option      \
    "\",\"{src}/a.hip\"]],\"run\":[\"{build}/a\"" argument "]}]}"
#define GROUPED "\"order\":\"grouped\","
#define DRIVER .facts = {{"driver", "6.12.0"}}
#define NEW_HIPCC .facts = {{"compilers.hipcc.version", "7.0.1"}}
#define LESS_MEMORY .plan = PLAN(GROUPED "\"limits\":{\"memory\":\"1G\"},", "", "-O3", "")
#define ISOLATED .plan = PLAN(GROUPED "\"isolate\":true,", "", "-O3", "")
#define OTHER_COMMAND .plan = PLAN(GROUPED, "", "-O3", ",\"--batch\",\"2\"")

static const struct scenario scenarios[] = {
    /* code */
    {{new_code}, "code!", "", .tempting = false},
    {{faster_code}, "code!", "", .tempting = false},
    {{broken_code}, "code!", "", .tempting = false},
    {{new_code}, "code!", "", .tempting = true, DRIVER},
    {{variant_slower, new_code_of_all}, "code environment", "", .tempting = false, DRIVER},
    {{one_cell_slower, other_source}, "unexplained", "", .tempting = true},
    {{new_sources_of_unknown_code}, "code", "", .tempting = false},
    {{new_code_last_night}, "code!", "", .tempting = false},
    {{code_of_earlier_nights}, "unexplained", "", .tempting = true},
    {{other_kind_of_identity}, "unexplained", "", .tempting = true},
    {{variant_slower, new_code_of_all, confirmed_code}, "code!", "", .tempting = true, DRIVER},
    {{all_slower, new_code_of_all}, "", "code", .tempting = false},
    {{all_slower, new_code_of_all, all_confirmed_code}, "", "code!", .tempting = true, DRIVER},
    /* toolchain */
    {{variant_slower, other_code}, "code! toolchain!", "", .tempting = false, NEW_HIPCC},
    {{variant_slower, other_code, other_source}, "code! toolchain", "", .tempting = false, NEW_HIPCC},
    {{variant_slower, other_code},
     "code! toolchain!",
     "",
     .tempting = false,
     .plan = PLAN(GROUPED, "", "-O1", "")},
    {{one_cell_slower}, "unexplained", "", .tempting = true, NEW_HIPCC},
    /* the build calls hipcc */
    {{new_code}, "code!", "", .tempting = true, .facts = {{"compilers.nvcc.version", "13.0"}}},
    /* environment */
    {{all_slower}, "", "environment node!", .tempting = false, DRIVER},
    {{slow_before_the_newest_driver}, "", "node!", .tempting = true, DRIVER},
    {{variant_slower}, "environment", "", .tempting = false, DRIVER},
    {{variant_slower}, "environment!", "", .tempting = false, .facts = {{"env.v0.TILE", "32"}}},
    {{one_cell_slower}, "unexplained", "", .tempting = true, DRIVER},
    /* what the login sets, unless the plan sets it as well */
    {{all_slower}, "", "environment node!", .tempting = false, .facts = {{"login.HIP_LAUNCH_BLOCKING", "1"}}},
    {{all_slower}, "", "node!", .tempting = true, .facts = {{"login.HSA_XNACK", "1"}}},
    {{variant_slower}, "unexplained", "", .tempting = true, .facts = {{"login.TILE", "1"}}},
    /* a newer executor records what older ones did not */
    {{variant_slower},
     "unexplained",
     "",
     .tempting = true,
     .facts = {{"gpus0.firmware.smc", "4.86.1"}, {"system.governor", "powersave"}}},
    {{one_cell_slower}, "unexplained", "", .tempting = true, .facts = {{"env.v1.TILE", "32"}}},
    {{image_of_the_variant}, "environment!", "", .tempting = false},
    {{image_of_another_variant}, "unexplained", "", .tempting = true},
    {{image_that_was_not_recorded}, "unexplained", "", .tempting = true},
    {{image_of_all}, "", "environment node!", .tempting = false},
    /* clock */
    {{varied_clock, lower_clock}, "clock!", "", .tempting = false},
    {{lower_clock}, "clock", "", .tempting = false},
    {{varied_clock, lower_clock, much_slower}, "clock! unexplained", "", .tempting = false},
    {{lower_memory_clock, variant_slower, others_indifferent}, "clock", "", .tempting = false},
    {{varied_clock, lower_clock},
     "environment clock!",
     "",
     .tempting = true,
     .facts = {{"gpus0.power_cap_w", "550"}, {"kernel", "6.8.0-45"}}},
    {{varied_clock, lower_clock_of_all}, "", "clock! node!", .tempting = false},
    /* code that draws more power lowers its own clock */
    {{varied_clock, lower_clock, other_code, other_source}, "code clock", "", .tempting = false},
    {{clock_that_does_not_matter}, "unexplained", "", .tempting = true},
    {{lower_clock_but_faster}, "unexplained", "", .tempting = true},
    {{varied_clock, lower_clock_of_all, one_cell_slower}, "unexplained", "clock! node!", .tempting = true},
    {{clock_that_varies_as_usual}, "unexplained", "", .tempting = true},
    /* node */
    {{all_slower}, "", "node!", .tempting = false},
    {{all_slower, new_code_of_all, all_confirmed_node}, "", "node!", .tempting = true},
    {{variant_slower, new_code_of_all, confirmed_node}, "environment node!", "", .tempting = true, DRIVER},
    /* the node is slower for all, and v0 has new code that is slower still */
    {{all_slower, new_code}, "code!", "environment node!", .tempting = true, DRIVER},
    /* neighbours */
    {{neighbours_in_all_tests}, "", "node! neighbours", .tempting = false},
    {{neighbours_of_slow_tests}, "neighbours!", "", .tempting = false},
    {{neighbours_of_any_tests}, "unexplained", "", .tempting = true},
    {{neighbours_that_spare_the_others}, "unexplained", "", .tempting = true},
    {{neighbours_as_before}, "", "node!", .tempting = true},
    {{beside_tests_that_slow_it}, "neighbours!", "", .tempting = false},
    {{beside_tests_that_hardly_slow_it}, "unexplained", "", .tempting = true},
    {{beside_tests_that_nobody_measured}, "unexplained", "", .tempting = true},
    {{beside_as_many_as_before}, "unexplained", "", .tempting = true},
    {{beside_fewer_than_before}, "unexplained", "", .tempting = true},
    {{neighbours_that_nobody_counted}, "", "node!", .tempting = true},
    /* method */
    {{variant_slower}, "method!", "", .tempting = false, OTHER_COMMAND},
    {{all_slower}, "", "node! method", .tempting = false, .plan = "{\"order\":\"interleaved\"}"},
    {{new_code_that_costs_little}, "", "", .tempting = true, .facts = {{"gpus0.unique_id", "0xdef"}}},
    {{all_slower}, "", "node! method", .tempting = false, .facts = {{"gpus0.unique_id", "0xdef"}}},
    {{another_gpu_of_the_node_and_all}, "", "node! method", .tempting = false},
    {{renumbered_gpus}, "code!", "", .tempting = true},
    {{unused_gpu_replaced}, "code!", "", .tempting = true},
    {{two_gpus, all_slower}, "", "node!", .tempting = true, .facts = {{"gpus1.power_cap_w", "500"}}},
    {{two_gpus, all_slower},
     "",
     "environment node!",
     .tempting = false,
     .facts = {{"gpus0.power_cap_w", "500"}}},
    {{power_cap_of_a_renumbered_gpu_and_all}, "", "environment node!", .tempting = false},
    {{new_code, much_slower}, "", "", .tempting = true, .facts = {{"gpus0.unique_id", "0xdef"}}},
    {{broken_code_on_another_gpu}, "code method", "", .tempting = true},
    {{broken_code_on_the_same_gpu}, "code!", "", .tempting = true},
    /* another hash of the plan, and nothing in it that matters */
    {{one_cell_slower},
     "unexplained",
     "",
     .tempting = true,
     .plan = PLAN("\"comment\":\"ours\"," GROUPED "\"clock\":\"process\",\"sampling\":{\"interval_ms\":100},",
                  "", "-O3", "")},
    {{one_cell_slower}, "unexplained", "", .tempting = true, .plan = "{\"order\":\"interleaved\"}"},
    {{all_slower, warmup}, "", "node!", .tempting = true},
    {{all_slower}, "", "node! method", .tempting = false, ISOLATED},
    {{new_code}, "code!", "", .tempting = true, ISOLATED},
    {{new_code}, "code method", "", .tempting = true, .plan = PLAN(GROUPED, "\"alone\":true,", "-O3", "")},
    {{variant_slower},
     "method!",
     "",
     .tempting = false,
     .plan = PLAN(GROUPED, "\"container\":{\"image\":\"i\"},", "-O3", "")},
    /* defaults that are spelled out */
    {{one_cell_slower},
     "unexplained",
     "",
     .tempting = true,
     .plan = PLAN(GROUPED "\"gpus\":\"one\",\"gpus_per_test\":1,\"placement\":\"point\",\"isolate\":false,"
                          "\"in_tree\":false,\"limits\":{},",
                  "\"alone\":false,\"in_tree\":false,", "-O3", "")},
    /* what ends a test */
    /* below what it takes, close to it and far from it, and a longer one */
    {{NULL}, "method!", "", .tempting = false, .limits = {60, 0.9}},
    {{NULL}, "method", "", .tempting = false, .limits = {60, 1.5}},
    {{NULL}, "unexplained", "", .tempting = true, .limits = {60, 30}},
    {{NULL}, "unexplained", "", .tempting = true, .limits = {1.2, 1.5}},
    {{broken_code}, "code method", "", .tempting = true, .limits = {60, 0.9}},
    {{crash_at_another_time_limit}, "unexplained", "", .tempting = true},
    {{fixed_by_a_longer_time_limit}, "method!", "", .tempting = false},
    {{status_oom}, "method", "", .tempting = false, LESS_MEMORY},
    {{more_memory}, "unexplained", "", .tempting = true, LESS_MEMORY},
    {{status_crash}, "unexplained", "", .tempting = true, LESS_MEMORY},
    {{status_hang},
     "method",
     "",
     .tempting = false,
     .plan = PLAN(GROUPED "\"hang_after_s\":5,", "", "-O3", "")},
    /* against one run */
    {{against_base, new_code}, "code!", "", .tempting = true, DRIVER},
    {{against_base, one_cell_slower}, "unexplained", "", .tempting = true, DRIVER},
    {{against_base, all_slower}, "", "environment node!", .tempting = false, DRIVER},
    {{against_base, lower_clock}, "clock", "", .tempting = false},
    {{few_cells, all_slower}, "node!", "", .tempting = false},
    {{few_cells, all_slower, other_code}, "node", "", .tempting = true},
    {{few_cells, new_code}, "code", "", .tempting = false},
    {{few_cells, one_cell_slower}, "unexplained", "", .tempting = true, DRIVER},
    {{against_base, lower_clock, by_rate}, "clock", "", .tempting = false},
    {{few_cells, all_slower, by_rate}, "node!", "", .tempting = false},
    {{against_base, by_rate, faster_code}, "code!", "", .tempting = false},
    {{fixed_by_new_code}, "code!", "", .tempting = false},
    {{company_that_left}, "neighbours!", "", .tempting = false},
    {{company_that_left_everyone}, "unexplained", "", .tempting = true},
    /* more that is tempting and false */
    {{status_timeout}, "unexplained", "", .tempting = true, DRIVER},
    {{throttled_at_the_same_clock}, "unexplained", "", .tempting = true},
    {{clock_that_is_hardly_lower}, "unexplained", "", .tempting = true},
    /* the other variants do not care for the clock, and v0 has new code that costs nothing */
    {{varied_clock, others_indifferent, lower_clock_of_all, other_code, other_source},
     "clock!",
     "",
     .tempting = true},
    {{unknown_plans_and_one_cell}, "unexplained", "", .tempting = true},
    {{variant_slower, other_code},
     "code! toolchain!",
     "",
     .tempting = true,
     .facts = {{"env.HIPCC_COMPILE_FLAGS_APPEND", "-O1"}}},
    {{variant_slower, other_code},
     "code! toolchain",
     "",
     .tempting = true,
     .facts = {{"compilers.hipcc.version", "7.0.1"}, {"patches.v0", "tile.h: 32 -> 64"}}},
    {{moved_to_another_slot}, "", "node!", .tempting = true},
    {{no_facts_and_no_code}, "unexplained", "", .tempting = true},
    {{governor_and_all}, "", "environment node!", .tempting = false},
    /* what came after the change */
    {{code_after_the_change}, "unexplained", "", .tempting = true},
    {{slow_since_the_night_before_last}, "unexplained", "", .tempting = true, DRIVER},
    {{command_after_the_change}, "unexplained", "", .tempting = true, OTHER_COMMAND},
    {{driver_with_the_change_and_kernel_after}, "environment!", "", .tempting = true},
    {{code_with_the_change_and_after}, "code!", "", .tempting = true},
    /* unexplained */
    {{one_cell_slower}, "unexplained", "", .tempting = false},
    {{variant_slower}, "unexplained", "", .tempting = false},
};

static void plant(const struct scenario *s, struct world *w)
{
    for (size_t i = 0; i < STEPS_MAX && s->plant[i]; i++)
        s->plant[i](w);
    for (size_t i = 0; i < COUNT(s->facts) && s->facts[i].key; i++)
        set_fact(TONIGHT_OF(w), s->facts[i].key, s->facts[i].value);
    if (s->plan)
        TONIGHT_OF(w)->plan = s->plan;
    if (s->limits[0] > 0)
        times_out_after(w, s->limits[0], s->limits[1]);
}

/* False if other causes are found than the row says. */
static bool holds(size_t row, uint64_t seed)
{
    const struct scenario *s = &scenarios[row];
    struct world *w = calm_world();
    char cell[128], shift[128];
    w->seed = seed;
    plant(s, w);
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
    all_slower(w);
    new_code_of_all(w);
    assert_int_equal(shared_code_by(w), CAUSE_BY_DEVICE);
    w = calm_world();
    all_slower(w);
    new_code_of_all(w);
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

/* Tonight, there is nothing to explain. */
TEST(a_finding_that_is_back_tonight_has_no_cause)
{
    const struct comparison c = {.primary = METRIC_PREFILL_S};
    struct delta d = delta_of("v", 1, METRIC_PREFILL_S);
    d.verdict = VERDICT_REGRESSED;
    d.reason = REASON_STANDS;
    assert_true(causes_wanted(&c, &d));
    d.reason = REASON_BACK;
    assert_false(causes_wanted(&c, &d));
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
            plant(&scenarios[i], w);
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
    void (*const planted[])(struct world * w) = {renumbered_gpus, unused_gpu_replaced};
    for (size_t i = 0; i < COUNT(planted); i++) {
        struct world *w = calm_world();
        char cell[128];
        planted[i](w);
        struct found *f = explain(w);
        names_of(causes_of(&f->comparison.causes, "v0", 4096), cell);
        assert_string_equal(cell, "code!");
        release(f);
        free(w);
    }
}

GROUP(scratch_make, scratch_remove);
