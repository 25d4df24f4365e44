/* figure: the pictures of a document, as data: SVG with a name and a description. Who draws them is not known
 * here (plot/). The owner calls figure_set_release().
 */
#ifndef KERNSWEEP_REPORTS_RENDER_FIGURE_H
#define KERNSWEEP_REPORTS_RENDER_FIGURE_H

#include "common/base/err.h"

#include <stddef.h>

/* What a section asks for. */
enum figure_kind { FIGURE_SCALING, FIGURE_SPEEDUP, FIGURE_MEMORY, FIGURE_HISTORY };

enum { FIGURES_MAX = 8, FIGURE_NAME_MAX = 64, FIGURE_ALT_MAX = 512 };

struct figure {
    enum figure_kind kind;
    char name[FIGURE_NAME_MAX]; /* file name: "prefill.svg" */
    char alt[FIGURE_ALT_MAX];   /* what it shows, in the document's language */
    char *svg;
};

struct figure_set {
    struct figure items[FIGURES_MAX];
    size_t count;
    char unavailable[256]; /* why there are none although there was something to draw; "" otherwise */
};

void figure_set_release(struct figure_set *set);
/* The figure that a link's target names by its last part, or NULL. */
const struct figure *figure_find(const struct figure_set *set, const char *target);
/* Writes each to <dir>/<name>; the folder is made when there are any. */
int figure_set_save(const struct figure_set *set, const char *dir, struct err *err);

#endif
