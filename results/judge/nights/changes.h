/* changes: finds the nights at which the level of a series changed.
 *
 * On logarithms. Single nights far from their neighbours are set aside first. Then, within each stretch
 * measured on the same device, the section [i, j) that differs most from the rest of the stretch is sought
 * (circular binary segmentation: Olshen, Venkatraman, Lucito, Wigler, Biostatistics 5, 2004), so that a
 * passing bump is found as well as a step; if it is significant, its borders are changes and the parts are
 * searched again. Every change is tested once more between its neighbours, the weakest first, and stretches
 * that the series has anyway are joined with what lies beside them (excursions.h). The scale comes from the
 * differences between successive nights, which a change of level touches only once, and is never below half a
 * step of a quantised series. Pure.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHANGES_SEGMENT_MIN = 2, CHANGES_POINTS_MAX = 2000 };

struct change {
    size_t at;   /* index of the first point of the new level */
    size_t last; /* of the last one of the level before: those between were set aside, and may be of either */
    double before;    /* level of the segment before it: geometric mean without the nights set aside */
    double after;     /* level of the segment that begins with it */
    double ratio;     /* after / before */
    double ratio_low; /* interval of the ratio, 95 % */
    double ratio_high;
    double p;    /* of the test between its neighbours, adjusted for the number of places */
    bool forced; /* the device changed here; the levels may be alike */
};

struct changes {
    struct change *items; /* in order */
    size_t count;
    size_t from;  /* first point that was searched: only the newest CHANGES_POINTS_MAX are */
    bool *odd;    /* of each point: set aside as a spike, or not positive */
    size_t n;     /* points */
    double scale; /* relative standard deviation of a night about its level */
};

struct changes_options {
    double p;               /* default 0.001 */
    double magnitude;       /* smallest relative step; default 0.02 */
    const uint64_t *device; /* identity of the device of each point, 0: unknown; NULL: all the same */
};

struct changes_options changes_defaults(void);

void changes_find(const double *x, size_t n, const struct changes_options *o, struct changes *out);
void changes_release(struct changes *c);

/* The segment [*from, *to) that contains `point`. */
void changes_segment(const struct changes *c, size_t point, size_t *from, size_t *to);
