/* standings: whether one of the places that shared a run is slower than the others: one of the machines of a
 * scheduler, or one of the GPUs of a node.
 *
 * Places are equal by intention, and tests of a cell run on several (run_test.host, run_test.gpu). In each
 * cell that several of them ran, a place's median is divided by the median of all places' medians; the median
 * of these ratios over the cells is the place's ratio, and a sign test tells whether it may be chance. Pure:
 * reads a loaded run. Tests without a known place, warm-up tests and tests that are not OK are ignored.
 */
#pragma once

#include "results/judge/verdict.h"

enum place_speed { PLACE_ALIKE, PLACE_SLOW, PLACE_FAST, PLACE_UNKNOWN, PLACE_SPEED_COUNT };

enum { PLACE_NAME_MAX = RUN_GPU_MAX };

enum place_kind { PLACE_NODE, PLACE_GPU };

struct place_standing {
    char place[PLACE_NAME_MAX]; /* the machine's name, or the GPU's id */
    char mode[RUN_MODE_MAX];    /* of a GPU, "" if unknown */
    int tests;
    int cells;                    /* that others ran too */
    int worse;                    /* of these, how many in which it is worse than the median place */
    double ratio;                 /* NaN without such cells */
    double ratio_low, ratio_high; /* 95 % interval; NaN with fewer than two such cells */
    double p;                     /* of the sign test, adjusted over the places; NaN without such cells */
    enum place_speed speed;
};

const char *place_speed_name(enum place_speed s);

/* Sorted by name and mode; the caller frees them. A place is slow or fast if its ratio exceeds
 * options->practical and the sign test is significant; with too few cells for that test, if the ratio exceeds
 * options->regression and all cells agree in direction. */
struct place_standing *standings_compare(const struct run_data *run, enum place_kind by, enum metric m,
                                         const struct compare_options *options, size_t *count);
