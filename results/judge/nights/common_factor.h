/* common_factor: what the cells of a night differ by together.
 *
 * Read from the controls, the cells whose code is known not to have changed, if there are at least six; else
 * from all cells. More than half of them must agree on it: where two groups went different ways there is no
 * common factor. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COMMON_CELLS_MIN = 6 };

struct common_cell {
    double x;        /* logarithm of now / expected */
    bool control;    /* its code is known, and did not change */
    size_t variant;  /* cells of one variant share its code */
    size_t cell;     /* rows of one cell, each on another GPU, ran the same code tonight */
    uint64_t device; /* the GPU that it was measured on; 0: unknown, or several */
};

struct common_factor {
    bool known;   /* the rest is 0 if not */
    double log;   /* the factor's logarithm */
    double error; /* its standard error, by how the cells lie about it */
    bool from_controls;
    bool shared;    /* from controls, or two thirds of the variants lie nearer to it than to the usual one */
    bool separable; /* from controls, or several variants agree: it is not just one variant's change */
    size_t cells;   /* that it was read from */
    size_t agree;   /* those of them that lie near it: more than half */
    size_t controls;
};

/* scale: relative standard deviation of a cell about its level, as far as known, else 0. usual: the logarithm
 * of the factor when nothing has happened. */
struct common_factor common_factor_of(const struct common_cell *cells, size_t n, double scale, double usual);
