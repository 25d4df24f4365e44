/* own_factor: what the cells of one card differ by together while those of the other cards do not.
 *
 * A card that is throttled, or that has a bad stack of memory, slows all that runs on it. Its cells are then
 * one finding, like a slow node's (common_factor.h): nearly all of them have to agree, in several variants,
 * or to be known to run the code they ran before. Where the same code ran on other cards, too, and was no
 * slower there, it is the card whatever the code. Pure.
 */
#pragma once

#include "results/judge/nights/common_factor.h"
#include "results/judge/nights/nights.h"

enum { OWN_CELLS_MIN = 4, OWN_FACTORS_MAX = 32 };

struct own_factor {
    uint64_t device;
    double log; /* beyond what all cards have in common */
    double p;   /* NaN where nothing says how much nights differ */
    bool from_controls;
    bool from_others; /* its cells ran on other cards, too, and do not differ there */
    size_t cells;     /* of the card that agree */
    size_t all;       /* of the card */
};

/* At most half of the cards. */
struct own_factors {
    struct own_factor items[OWN_FACTORS_MAX];
    size_t count;
};

struct own_rules {
    double scale; /* as common_factor_of() takes it */
    double usual; /* the same */
    double least; /* relative change that matters */
    double z_limit;
    const struct nights *nights; /* by how much a card varies by itself; NULL: nobody knows */
};

/* Also returns what the cells of the other cards have in common: as common_factor_of() of all where no card
 * has a factor of its own. Cells whose card is unknown belong to no card. */
struct common_factor own_factors_of(const struct common_cell *cells, size_t n, const struct own_rules *rules,
                                    struct own_factors *out);

/* NULL if it has none. */
const struct own_factor *own_factor_of(const struct own_factors *own, uint64_t device);
/* Its logarithm; 0 if it has none. */
double own_factor_log(const struct own_factors *own, uint64_t device);
