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

static inline void warmup(struct world *w)
{
    TONIGHT_OF(w)->warmup = true;
}

/* By so little that another GPU could explain it. */
static inline void new_code_that_costs_little(struct world *w)
{
    new_code(w);
    for (size_t c = 0; c < CONTEXTS; c++)
        TONIGHT_OF(w)->factor[0][c] = 1.056;
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

/* Two variants, and only the last night: too few cells for a common factor. */
static inline void few_cells(struct world *w)
{
    w->variants = 2;
    w->has_base = true;
}

static inline void against_base(struct world *w)
{
    w->has_base = true;
}

static inline void by_rate(struct world *w)
{
    w->rate = true;
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

/* Not the limit that ended it. */
static inline void more_memory(struct world *w)
{
    status_oom(w);
    for (size_t n = 0; n < NIGHTS; n++)
        w->nights[n].plan =
            "{\"order\":\"grouped\",\"limits\":{\"memory\":\"512M\"},\"variants\":[{\"name\":\"v0\","
            "\"run\":[\"{build}/a\"],\"build\":[[\"/opt/rocm/bin/hipcc\",\"-O3\",\"{src}/a.hip\"]]}]}";
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

static inline void unknown_plans_and_one_cell(struct world *w)
{
    one_cell_slower(w);
    for (size_t i = 0; i < NIGHTS; i++)
        w->nights[i].plan = "";
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

/* The three nights before tonight were as usual again, with the driver that tonight has. */
static inline void slow_before_the_newest_driver(struct world *w)
{
    all_slower(w);
    for (int n = NIGHTS - 3; n < NIGHTS; n++) {
        memcpy(w->nights[n - 3].factor, TONIGHT_OF(w)->factor, sizeof w->nights[n].factor);
        set_fact(&w->nights[n], "driver", "6.12.0");
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

static inline void command_after_the_change(struct world *w)
{
    variant_slower(w);
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
