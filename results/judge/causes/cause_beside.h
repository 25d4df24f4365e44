/* cause_beside: what the other cells of a comparison say about one cell: which kept their code, which of
 * these did not move, and what their clocks did, all against one run that stands for "before". Pure; the
 * owner calls beside_release().
 */
#pragma once

#include "results/judge/causes/cause_clock.h"
#include "results/judge/causes/cause_input.h"
#include "results/judge/causes/cause_kernels.h"
#include "results/judge/compare.h"

/* Fewer cells of the same code than this say nothing. */
enum { CONTROLS_LEAST = 3 };

struct beside {
    const struct cause_run *before; /* NULL: not filled in yet */
    enum cause_code *code;          /* of each delta of the comparison */
    bool *of_device;
    struct clock_part *clock; /* of each delta of the primary metric */
    size_t count;
};

void beside_fill(struct beside *b, const struct causes_input *in, const struct comparison *c,
                 const struct cause_run *before);
void beside_release(struct beside *b);

/* Cells of the same code as before, other than the one in question. */
struct controls {
    bool held;     /* enough of them, and together they stayed where they were: what all cells share explains
                      no single one */
    size_t moved;  /* with a ratio that lies in the direction of the change */
    size_t count;  /* with any ratio */
    double median; /* of their changes, positive for slower; NaN for none */
};

/* Whether n changes, each with its own noise, together amount to less than half of `change`. */
bool controls_stayed(const double *moves, size_t n, double change);

/* Positive if now is slower, or gets less: the logarithm of a ratio. */
double slower_by(enum metric m, double ratio);

/* d: NULL for none in question. other_variants: those of d's own variant do not count. */
struct controls beside_controls(const struct beside *b, const struct comparison *c, const struct delta *d,
                                double change, bool other_variants);

/* Whether every judged cell of the variant moved in this direction, and there are at least two. */
bool beside_whole_variant(const struct comparison *c, const struct delta *d, double change);

/* The cell whose clock explains the median part; NULL if none has a clock. own: a cell to leave out, or
 * NULL. */
const struct clock_part *beside_clock(const struct beside *b, const struct comparison *c,
                                      const struct delta *own);

/* Processes of others during the tests of a cell. */
enum neighbours {
    NEIGHBOURS_NONE,        /* no more than before, or unknown */
    NEIGHBOURS_COINCIDE,    /* there were more, and nothing says that they did not matter */
    NEIGHBOURS_ESTABLISHED, /* the tests beside which they ran are those that changed */
    NEIGHBOURS_HARMLESS,    /* there were more, and tests without them changed as much */
};

/* *was, *is: the median number of such processes per test, before and now. */
enum neighbours cell_neighbours(const struct run_data *before, const struct run_data *now,
                                const struct delta *d, double change, double *was, double *is);
