/* causes_scenarios_place: what test_causes.c plants into its world: neighbours, methods, GPUs and nodes, few
 * cells, a base, and changes that came earlier or later than what they are held against. Everything is
 * inline.
 */
#pragma once

#include "tests/unit/causes_scenarios_code.h"

static inline void neighbours_in_all_tests(struct world *w)
{
    all_slower(w);
    for (size_t i = 0; i < REPETITIONS; i++)
        TONIGHT_OF(w)->neighbours[i] = 2;
}

/* Nothing else ran on the GPU of the tests that crashed. */
static inline void broken_code_on_another_gpu(struct world *w)
{
    broken_code(w);
    w->has_base = true;
    w->nights[LAST].gpu = w->nights[LAST].watched_gpu = TONIGHT_OF(w)->gpu = "0xabc";
    TONIGHT_OF(w)->watched_gpu = "0xbad";
}

static inline void broken_code_on_the_same_gpu(struct world *w)
{
    broken_code_on_another_gpu(w);
    TONIGHT_OF(w)->watched_gpu = "0xabc";
}

/* Of single tests: those beside which another process ran are slower. */
static inline void neighbours_of_slow_tests(struct world *w)
{
    for (size_t i = 0; i < REPETITIONS; i++) {
        TONIGHT_OF(w)->neighbours[i] = i < 2;
        TONIGHT_OF(w)->repetition[i] = i < 2 ? 1.40 : 1.12;
    }
}

static inline void neighbours_of_any_tests(struct world *w)
{
    one_cell_slower(w);
    for (size_t i = 0; i < REPETITIONS; i++)
        TONIGHT_OF(w)->neighbours[i] = i < 2;
}

static inline void neighbours_that_spare_the_others(struct world *w)
{
    one_cell_slower(w);
    for (size_t i = 0; i < REPETITIONS; i++)
        TONIGHT_OF(w)->neighbours[i] = 1;
}

/* Tests of its own run, on the other GPUs of the node. */
static inline void beside_tests_that_slow_it(struct world *w)
{
    slower(TONIGHT_OF(w), 0, 1);
    TONIGHT_OF(w)->factor[0][0] = 1.12;
    TONIGHT_OF(w)->beside = 7;
    w->together = 1.12;
}

static inline void beside_tests_that_hardly_slow_it(struct world *w)
{
    beside_tests_that_slow_it(w);
    w->together = 1.015;
}

static inline void beside_tests_that_nobody_measured(struct world *w)
{
    beside_tests_that_slow_it(w);
    w->together = 0;
}

static inline void beside_as_many_as_before(struct world *w)
{
    beside_tests_that_slow_it(w);
    for (size_t n = 0; n < RUNS; n++)
        w->nights[n].beside = 7;
}

static inline void beside_fewer_than_before(struct world *w)
{
    beside_tests_that_slow_it(w);
    for (size_t n = 0; n < RUNS; n++)
        w->nights[n].beside = 7;
    TONIGHT_OF(w)->beside = 0;
}

static inline void neighbours_as_before(struct world *w)
{
    all_slower(w);
    for (size_t n = 0; n < RUNS; n++)
        for (size_t i = 0; i < REPETITIONS; i++)
            w->nights[n].neighbours[i] = 1;
}

static inline void neighbours_that_nobody_counted(struct world *w)
{
    neighbours_in_all_tests(w);
    for (size_t n = 0; n < NIGHTS; n++)
        w->nights[n].neighbours_unknown = true;
}

static inline void other_command(struct world *w)
{
    variant_slower(w);
    TONIGHT_OF(w)->plan = "{\"order\":\"grouped\",\"variants\":[{\"name\":\"v0\",\"build\":[[\"/opt/rocm/bin/"
                          "hipcc\",\"-O3\",\"{src}/a.hip\"]],"
                          "\"run\":[\"{build}/a\",\"--batch\",\"2\"]}]}";
}

/* Another hash of the plan, and nothing in it that matters. */
static inline void plan_with_a_comment(struct world *w)
{
    one_cell_slower(w);
    TONIGHT_OF(w)->plan =
        "{\"comment\":\"ours\",\"order\":\"grouped\",\"clock\":\"process\",\"sampling\":{\"interval_ms\":100}"
        ","
        "\"variants\":[{\"name\":\"v0\",\"build\":[[\"/opt/rocm/bin/hipcc\",\"-O3\",\"{src}/a.hip\"]],"
        "\"run\":[\"{build}/a\"]}]}";
}

static inline void order_and_one_cell(struct world *w)
{
    one_cell_slower(w);
    TONIGHT_OF(w)->plan = "{\"order\":\"interleaved\"}";
}

static inline void order_and_all(struct world *w)
{
    all_slower(w);
    TONIGHT_OF(w)->plan = "{\"order\":\"interleaved\"}";
}

static inline void warmup_and_all(struct world *w)
{
    all_slower(w);
    TONIGHT_OF(w)->warmup = true;
}

static inline void another_gpu(struct world *w)
{
    new_code(w);
    for (size_t c = 0; c < CONTEXTS; c++)
        TONIGHT_OF(w)->factor[0][c] = 1.056;
    set_fact(TONIGHT_OF(w), "gpus0.unique_id", "0xdef");
}

static inline void another_gpu_and_a_large_change(struct world *w)
{
    new_code(w);
    slower(TONIGHT_OF(w), 0, 1.2);
    set_fact(TONIGHT_OF(w), "gpus0.unique_id", "0xdef");
}

static inline void another_gpu_and_all(struct world *w)
{
    all_slower(w);
    set_fact(TONIGHT_OF(w), "gpus0.unique_id", "0xdef");
}

/* All tests run on 0xabc, of a node that has another GPU as well. */
static inline void two_gpus(struct world *w)
{
    for (size_t n = 0; n < RUNS; n++) {
        w->nights[n].gpu = w->nights[n].watched_gpu = "0xabc";
        set_fact(&w->nights[n], "gpus1.unique_id", "0xdef");
        set_fact(&w->nights[n], "gpus1.power_cap_w", "700");
    }
}

/* By so little that another GPU could explain it. */
static inline void new_code_on_two_gpus(struct world *w)
{
    two_gpus(w);
    new_code(w);
    for (size_t c = 0; c < CONTEXTS; c++)
        TONIGHT_OF(w)->factor[0][c] = 1.045;
}

static inline void renumber(struct night_of_world *n, const char *power_cap)
{
    set_fact(n, "gpus0.unique_id", "0xdef");
    set_fact(n, "gpus0.power_cap_w", "700");
    set_fact(n, "gpus1.unique_id", "0xabc");
    set_fact(n, "gpus1.power_cap_w", power_cap);
}

static inline void renumbered_gpus(struct world *w)
{
    new_code_on_two_gpus(w);
    renumber(TONIGHT_OF(w), "750");
}

static inline void unused_gpu_replaced(struct world *w)
{
    new_code_on_two_gpus(w);
    set_fact(TONIGHT_OF(w), "gpus1.unique_id", "0x123");
}

static inline void power_cap_of_an_unused_gpu_and_all(struct world *w)
{
    two_gpus(w);
    all_slower(w);
    set_fact(TONIGHT_OF(w), "gpus1.power_cap_w", "500");
}

static inline void power_cap_of_a_used_gpu_and_all(struct world *w)
{
    two_gpus(w);
    all_slower(w);
    set_fact(TONIGHT_OF(w), "gpus0.power_cap_w", "500");
}

static inline void power_cap_of_a_renumbered_gpu_and_all(struct world *w)
{
    two_gpus(w);
    all_slower(w);
    renumber(TONIGHT_OF(w), "500");
}

/* Of a node with several, whose facts name all of them on every night. */
static inline void another_gpu_of_the_node_and_all(struct world *w)
{
    all_slower(w);
    for (size_t n = 0; n < RUNS; n++) {
        w->nights[n].gpu = w->nights[n].watched_gpu = n == TONIGHT ? "0xdef" : "0xabc";
        set_fact(&w->nights[n], "gpus1.unique_id", "0xdef");
    }
}

static inline void all_slower_with_new_code(struct world *w)
{
    all_slower(w);
    new_code_of_all(w);
}

static inline void all_slower_code_confirmed(struct world *w)
{
    all_slower_with_new_code(w);
    set_fact(TONIGHT_OF(w), "driver", "6.12.0");
    w->shift_confirmed = SHIFT_CODE;
}

static inline void all_slower_node_confirmed(struct world *w)
{
    all_slower_with_new_code(w);
    w->shift_confirmed = SHIFT_NODE;
}

/* The node is slower for all, and v0 has new code that is slower still. */
static inline void node_and_code(struct world *w)
{
    all_slower(w);
    new_code(w);
    set_fact(TONIGHT_OF(w), "driver", "6.12.0");
}

/* Two variants, and only the last night: too few cells for a common factor. */
static inline void few_cells(struct world *w)
{
    w->variants = 2;
    w->has_base = true;
}

static inline void few_cells_all_slower(struct world *w)
{
    few_cells(w);
    all_slower(w);
}

static inline void few_cells_all_slower_and_new_code(struct world *w)
{
    few_cells_all_slower(w);
    TONIGHT_OF(w)->code[0] = "v0 anew";
}

static inline void few_cells_new_code(struct world *w)
{
    few_cells(w);
    new_code(w);
}

static inline void few_cells_driver(struct world *w)
{
    few_cells(w);
    driver_and_one_cell(w);
}

static inline void base_and_new_code(struct world *w)
{
    w->has_base = true;
    new_code_and_driver(w);
}

static inline void base_and_one_cell(struct world *w)
{
    w->has_base = true;
    driver_and_one_cell(w);
}

static inline void base_and_driver(struct world *w)
{
    w->has_base = true;
    driver_and_all(w);
}

static inline void base_and_clock(struct world *w)
{
    w->has_base = true;
    TONIGHT_OF(w)->clock[0] = 1850;
}

static inline void base_and_clock_by_rate(struct world *w)
{
    base_and_clock(w);
    w->rate = true;
}

static inline void few_cells_all_slower_by_rate(struct world *w)
{
    few_cells_all_slower(w);
    w->rate = true;
}

static inline void base_faster_code_by_rate(struct world *w)
{
    w->has_base = w->rate = true;
    faster_code(w);
}

static inline void fixed_by_new_code(struct world *w)
{
    w->has_base = true;
    w->nights[LAST].status = STATUS_CRASH;
    TONIGHT_OF(w)->code[0] = "v0 anew";
    TONIGHT_OF(w)->source = "s2";
}

/* Each test of v0 at 1024 takes 1.05 s of wall time. */
static inline void times_out_after(struct world *w, double before, double now)
{
    for (size_t n = 0; n < NIGHTS; n++)
        w->nights[n].timeout_s = before;
    TONIGHT_OF(w)->timeout_s = now;
    TONIGHT_OF(w)->status = STATUS_TIMEOUT;
}

static inline void time_limit_below_what_it_takes(struct world *w)
{
    times_out_after(w, 60, 0.9);
}

static inline void time_limit_close_to_what_it_takes(struct world *w)
{
    times_out_after(w, 60, 1.5);
}

static inline void time_limit_far_from_what_it_takes(struct world *w)
{
    times_out_after(w, 60, 30);
}

static inline void longer_time_limit(struct world *w)
{
    times_out_after(w, 1.2, 1.5);
}

static inline void time_limit_and_new_code(struct world *w)
{
    broken_code(w);
    times_out_after(w, 60, 0.9);
}

static inline void crash_at_another_time_limit(struct world *w)
{
    times_out_after(w, 60, 0.9);
    TONIGHT_OF(w)->status = STATUS_CRASH;
}

static inline void fixed_by_a_longer_time_limit(struct world *w)
{
    times_out_after(w, 0.9, 60);
    w->has_base = true;
    w->nights[LAST].status = STATUS_TIMEOUT;
    TONIGHT_OF(w)->status = STATUS_OK;
}

static inline void less_memory(struct world *w)
{
    TONIGHT_OF(w)->status = STATUS_OOM;
    TONIGHT_OF(w)->plan =
        "{\"order\":\"grouped\",\"limits\":{\"memory\":\"1G\"},\"variants\":[{\"name\":\"v0\","
        "\"run\":[\"{build}/a\"],\"build\":[[\"/opt/rocm/bin/hipcc\",\"-O3\",\"{src}/a.hip\"]]}]}";
}

static const char plan_of_isolated_tests[] =
    "{\"order\":\"grouped\",\"isolate\":true,\"variants\":[{\"name\":\"v0\","
    "\"run\":[\"{build}/a\"],\"build\":[[\"/opt/rocm/bin/hipcc\",\"-O3\",\"{src}/a.hip\"]]}]}";

static inline void isolated_tests_and_all(struct world *w)
{
    all_slower(w);
    TONIGHT_OF(w)->plan = plan_of_isolated_tests;
}

static inline void isolated_tests_and_new_code(struct world *w)
{
    new_code(w);
    TONIGHT_OF(w)->plan = plan_of_isolated_tests;
}

static inline void alone_and_new_code(struct world *w)
{
    new_code(w);
    TONIGHT_OF(w)->plan =
        "{\"order\":\"grouped\",\"variants\":[{\"name\":\"v0\",\"alone\":true,"
        "\"run\":[\"{build}/a\"],\"build\":[[\"/opt/rocm/bin/hipcc\",\"-O3\",\"{src}/a.hip\"]]}]}";
}

static inline void own_container(struct world *w)
{
    variant_slower(w);
    TONIGHT_OF(w)->plan =
        "{\"order\":\"grouped\",\"variants\":[{\"name\":\"v0\",\"container\":{\"image\":\"i\"},"
        "\"run\":[\"{build}/a\"],\"build\":[[\"/opt/rocm/bin/hipcc\",\"-O3\",\"{src}/a.hip\"]]}]}";
}

static inline void defaults_that_are_spelled_out(struct world *w)
{
    one_cell_slower(w);
    TONIGHT_OF(w)->plan =
        "{\"order\":\"grouped\",\"gpus\":\"one\",\"gpus_per_test\":1,\"placement\":\"point\",\"isolate\":"
        "false,"
        "\"in_tree\":false,\"limits\":{},\"variants\":[{\"name\":\"v0\",\"alone\":false,\"in_tree\":false,"
        "\"run\":[\"{build}/a\"],\"build\":[[\"/opt/rocm/bin/hipcc\",\"-O3\",\"{src}/a.hip\"]]}]}";
}

/* Not the limit that ended it. */
static inline void more_memory(struct world *w)
{
    less_memory(w);
    for (size_t n = 0; n < NIGHTS; n++)
        w->nights[n].plan =
            "{\"order\":\"grouped\",\"limits\":{\"memory\":\"512M\"},\"variants\":[{\"name\":\"v0\","
            "\"run\":[\"{build}/a\"],\"build\":[[\"/opt/rocm/bin/hipcc\",\"-O3\",\"{src}/a.hip\"]]}]}";
}

static inline void less_memory_and_a_crash(struct world *w)
{
    less_memory(w);
    TONIGHT_OF(w)->status = STATUS_CRASH;
}

static inline void shorter_watch_for_hangs(struct world *w)
{
    TONIGHT_OF(w)->status = STATUS_HANG;
    TONIGHT_OF(w)->plan =
        "{\"order\":\"grouped\",\"hang_after_s\":5,\"variants\":[{\"name\":\"v0\","
        "\"run\":[\"{build}/a\"],\"build\":[[\"/opt/rocm/bin/hipcc\",\"-O3\",\"{src}/a.hip\"]]}]}";
}

static inline void broken_and_driver(struct world *w)
{
    TONIGHT_OF(w)->status = STATUS_TIMEOUT;
    set_fact(TONIGHT_OF(w), "driver", "6.12.0");
}

static inline void throttled_at_the_same_clock(struct world *w)
{
    one_cell_slower(w);
    TONIGHT_OF(w)->throttled_s = 0.5;
}

static inline void clock_that_is_hardly_lower(struct world *w)
{
    variant_slower(w);
    TONIGHT_OF(w)->clock[0] = 1988;
}

/* The other variants do not care for the clock, and v0 has new code that costs nothing. */
static inline void clock_of_all_and_new_code(struct world *w)
{
    varied_clock(w);
    for (size_t v = 1; v < VARIANTS; v++)
        w->sensitivity[v] = 0;
    lower_clock_of_all(w);
    TONIGHT_OF(w)->code[0] = "v0 anew";
    TONIGHT_OF(w)->source = "s2";
}

static inline void unknown_plans_and_one_cell(struct world *w)
{
    one_cell_slower(w);
    for (size_t i = 0; i < NIGHTS; i++)
        w->nights[i].plan = "";
}

static inline void variable_that_made_other_code(struct world *w)
{
    variant_slower(w);
    TONIGHT_OF(w)->code[0] = "v0 anew";
    set_fact(TONIGHT_OF(w), "env.HIPCC_COMPILE_FLAGS_APPEND", "-O1");
}

static inline void patch_of_the_variant(struct world *w)
{
    new_compiler(w);
    set_fact(TONIGHT_OF(w), "patches.v0", "tile.h: 32 -> 64");
}

/* Slow tests had company the night before, and none tonight. */
static inline void company_that_left(struct world *w)
{
    w->has_base = true;
    for (size_t i = 0; i < REPETITIONS; i++) {
        w->nights[LAST].neighbours[i] = i < 2;
        w->nights[LAST].repetition[i] = i < 2 ? 1.40 : 1.12;
    }
}

/* The other cells had it as well, and are as fast as before. */
static inline void company_that_left_everyone(struct world *w)
{
    w->has_base = true;
    for (size_t i = 0; i < REPETITIONS; i++) {
        w->nights[LAST].neighbours[i] = i < 3;
        w->nights[LAST].repetition[i] = 1.3;
    }
}

static inline void governor_and_all(struct world *w)
{
    all_slower(w);
    for (int i = 0; i < NIGHTS; i++)
        set_fact(&w->nights[i], "system.governor", "performance");
    set_fact(TONIGHT_OF(w), "system.governor", "powersave");
}

static inline void no_facts_and_no_code(struct world *w)
{
    one_cell_slower(w);
    for (size_t i = 0; i < RUNS; i++) {
        w->nights[i].n_facts = 0;
        w->nights[i].source = "";
        for (size_t v = 0; v < VARIANTS; v++)
            w->nights[i].code[v] = "";
    }
}

static inline void moved_to_another_slot(struct world *w)
{
    all_slower(w);
    for (int i = 0; i < NIGHTS; i++)
        set_fact(&w->nights[i], "gpus0.pci", "0000:03:00.0");
    set_fact(TONIGHT_OF(w), "gpus0.pci", "0000:83:00.0");
}

/* Slow for two nights with the code and the driver of before. */
static inline void slow_since_the_night_before_last(struct world *w)
{
    variant_slower(w);
    slower(&w->nights[LAST], 0, 1.1);
    slower(&w->nights[LAST - 1], 0, 1.1);
}

static inline void code_after_the_change(struct world *w)
{
    slow_since_the_night_before_last(w);
    TONIGHT_OF(w)->code[0] = "v0 anew";
    TONIGHT_OF(w)->source = "s2";
}

static inline void driver_after_the_change(struct world *w)
{
    slow_since_the_night_before_last(w);
    set_fact(TONIGHT_OF(w), "driver", "6.12.0");
}

static inline void command_after_the_change(struct world *w)
{
    other_command(w);
    slower(&w->nights[LAST], 0, 1.1);
}

/* The driver of the first slow night came with it and stayed, the kernel is newer. */
static inline void driver_with_the_change_and_kernel_after(struct world *w)
{
    slow_since_the_night_before_last(w);
    for (int i = LAST - 1; i <= TONIGHT; i++)
        set_fact(&w->nights[i], "env.v0.TILE", "32");
    set_fact(TONIGHT_OF(w), "kernel", "6.8.0-45");
}

/* Another change of code, which cost nothing more. */
static inline void code_with_the_change_and_after(struct world *w)
{
    slow_since_the_night_before_last(w);
    code_after_the_change(w);
    for (int i = LAST - 1; i <= LAST; i++) {
        w->nights[i].code[0] = "v0 slow";
        w->nights[i].source = "s3";
    }
}
