/* figure: the plots of a document as data: SVG with a name and a description. Does not know how they are
 * drawn (plot/). The owner calls figure_set_release().
 */
#pragma once

#include "common/base/err.h"

#include <stddef.h>

/* The kinds that a section can ask for. */
enum figure_kind { FIGURE_SCALING, FIGURE_SPEEDUP, FIGURE_MEMORY, FIGURE_HISTORY };

enum { FIGURES_MAX = 12, FIGURE_NAME_MAX = 64, FIGURE_ALT_MAX = 512, FIGURE_CAPTION_MAX = 1024 };

struct figure {
    enum figure_kind kind;
    char name[FIGURE_NAME_MAX];       /* file name: "prefill.svg" */
    char alt[FIGURE_ALT_MAX];         /* what it shows, in the document's language */
    char caption[FIGURE_CAPTION_MAX]; /* what its axes, marks and lines mean; "" for none */
    char *svg;
};

struct figure_set {
    struct figure items[FIGURES_MAX];
    size_t count;
    char unavailable[256]; /* why nothing could be drawn; "" otherwise */
};

void figure_set_release(struct figure_set *set);
/* The figure named by the last component of a link's target, or NULL. */
const struct figure *figure_find(const struct figure_set *set, const char *target);
/* Writes each to <dir>/<name>; creates the folder if there are any. */
int figure_set_save(const struct figure_set *set, const char *dir, struct err *err);
