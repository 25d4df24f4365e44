/* causes_scenarios_code: what test_causes.c plants into its world: changed code, toolchains, environments and
 * clocks. Each step changes tonight, and some of them the nights before; several may be planted together.
 * Everything is inline.
 */
#pragma once

#include "tests/unit/causes_support.h"

#define TONIGHT_OF(w) (&(w)->nights[TONIGHT])

static inline void slower(struct night_of_world *n, size_t v, double factor)
{
    for (size_t c = 0; c < CONTEXTS; c++)
        n->factor[v][c] *= factor;
}

static inline void one_cell_slower(struct world *w)
{
    TONIGHT_OF(w)->factor[0][0] = 1.1;
}

static inline void variant_slower(struct world *w)
{
    slower(TONIGHT_OF(w), 0, 1.1);
}

static inline void much_slower(struct world *w)
{
    slower(TONIGHT_OF(w), 0, 1.2);
}

static inline void all_slower(struct world *w)
{
    for (size_t v = 0; v < VARIANTS; v++)
        slower(TONIGHT_OF(w), v, 1.08);
}

static inline void other_code(struct world *w)
{
    TONIGHT_OF(w)->code[0] = "v0 anew";
}

static inline void other_source(struct world *w)
{
    TONIGHT_OF(w)->source = "s2";
}

static inline void new_code(struct world *w)
{
    variant_slower(w);
    other_code(w);
    other_source(w);
}

static inline void new_code_of_all(struct world *w)
{
    static const char *const codes[] = {"v0 anew", "v1 anew", "v2 anew", "v3 anew", "v4 anew", "v5 anew"};
    for (size_t v = 0; v < VARIANTS; v++)
        TONIGHT_OF(w)->code[v] = codes[v];
    TONIGHT_OF(w)->source = "s2";
}

static inline void new_sources_of_unknown_code(struct world *w)
{
    variant_slower(w);
    for (size_t i = 0; i < RUNS; i++)
        w->nights[i].code[0] = "";
    TONIGHT_OF(w)->source = "s2";
}

/* The new code was slow last night already. */
static inline void new_code_last_night(struct world *w)
{
    new_code(w);
    slower(&w->nights[LAST], 0, 1.1);
    w->nights[LAST].code[0] = "v0 anew";
    w->nights[LAST].source = "s2";
}

/* Tonight's code ran for twelve nights, then another one for four, all at one level. */
static inline void code_of_earlier_nights(struct world *w)
{
    variant_slower(w);
    for (int i = NIGHTS - 2; i < NIGHTS; i++)
        w->nights[i].code[0] = "v0 between";
}

static inline void other_kind_of_identity(struct world *w)
{
    variant_slower(w);
    TONIGHT_OF(w)->code[0] = "v0 anew";
    TONIGHT_OF(w)->files = true;
}

static inline void confirmed_code(struct world *w)
{
    w->confirmation = CONFIRM_STANDS;
}

static inline void confirmed_node(struct world *w)
{
    w->confirmation = CONFIRM_NODE;
}

static inline void all_confirmed_code(struct world *w)
{
    w->shift_confirmed = SHIFT_CODE;
}

static inline void all_confirmed_node(struct world *w)
{
    w->shift_confirmed = SHIFT_NODE;
}

static inline void status_crash(struct world *w)
{
    TONIGHT_OF(w)->status = STATUS_CRASH;
}

static inline void status_timeout(struct world *w)
{
    TONIGHT_OF(w)->status = STATUS_TIMEOUT;
}

static inline void status_oom(struct world *w)
{
    TONIGHT_OF(w)->status = STATUS_OOM;
}

static inline void status_hang(struct world *w)
{
    TONIGHT_OF(w)->status = STATUS_HANG;
}

static inline void faster_code(struct world *w)
{
    slower(TONIGHT_OF(w), 0, 0.85);
    TONIGHT_OF(w)->code[0] = "v0 anew";
    TONIGHT_OF(w)->source = "s2";
}

static inline void broken_code(struct world *w)
{
    TONIGHT_OF(w)->code[0] = "v0 anew";
    TONIGHT_OF(w)->source = "s2";
    TONIGHT_OF(w)->status = STATUS_CRASH;
}

static inline void image_of_the_variant(struct world *w)
{
    variant_slower(w);
    TONIGHT_OF(w)->image[0] = "sha256:bbbb";
}

static inline void image_of_another_variant(struct world *w)
{
    one_cell_slower(w);
    TONIGHT_OF(w)->image[1] = "sha256:bbbb";
}

static inline void image_that_was_not_recorded(struct world *w)
{
    one_cell_slower(w);
    for (int i = 0; i < NIGHTS; i++)
        w->nights[i].image[0] = "";
}

static inline void image_of_all(struct world *w)
{
    all_slower(w);
    for (int v = 0; v < VARIANTS; v++)
        TONIGHT_OF(w)->image[v] = "sha256:bbbb";
}

/* The clock of all nights varies by 2 %, so that sensitivities are known. */
static inline void varied_clock(struct world *w)
{
    static const double steps[] = {0, -2, 1, -1, 2, 0, -2, 2, 1, -1, 0, 2, -2, 1, -1, 0};
    for (int i = 0; i < NIGHTS; i++)
        for (size_t v = 0; v < VARIANTS; v++)
            w->nights[i].clock[v] = 2000 * (1 + steps[i] / 100);
}

static inline void lower_clock_of_all(struct world *w)
{
    for (size_t v = 0; v < VARIANTS; v++)
        TONIGHT_OF(w)->clock[v] = 1850;
}

static inline void lower_clock(struct world *w)
{
    TONIGHT_OF(w)->clock[0] = 1850;
}

/* v0 does not care for the clock, as its nights show. */
static inline void clock_that_does_not_matter(struct world *w)
{
    varied_clock(w);
    w->sensitivity[0] = 0;
    one_cell_slower(w);
    TONIGHT_OF(w)->clock[0] = 1850;
}

static inline void lower_clock_but_faster(struct world *w)
{
    slower(TONIGHT_OF(w), 0, 0.85);
    TONIGHT_OF(w)->clock[0] = 1960;
}

static inline void clock_that_varies_as_usual(struct world *w)
{
    varied_clock(w);
    for (size_t i = 0; i < NIGHTS; i++) /* noise that hides the sensitivity */
        slower(&w->nights[i], 0, i % 4 < 2 ? 1.02 : 0.98);
    slower(TONIGHT_OF(w), 0, 1.15);
    TONIGHT_OF(w)->clock[0] = 1950;
}

static inline void lower_memory_clock(struct world *w)
{
    TONIGHT_OF(w)->memory = 1170;
}

/* Their speed does not depend on the clock. */
static inline void others_indifferent(struct world *w)
{
    for (size_t v = 1; v < VARIANTS; v++)
        w->sensitivity[v] = 0;
}
