/* paint: building blocks of the screen: text, statuses in colour, bars, and small graphs. Draws on the
 * current curses screen; everything is cut off at its edge.
 */
#pragma once

#include "harness/watch/model.h"

enum { PAIR_GOOD = 1, PAIR_WARN, PAIR_BAD, PAIR_NOW };
enum { PAINT_BAR_WIDTH = 24 };

void paint_text(int row, int column, const char *text);
void paint_status(bool colour, int row, int column, const char *status);
/* part: 0 to 1. The bar is as wide as there is room. */
void paint_bar(int row, int column, double part);
/* Draws the label at the edge of the screen and, from the column on, as many samples as fit. */
void paint_series(bool utf8, int row, int column, const char *label, const struct watch_series *series,
                  double max);
/* The newest sample; NaN without samples. */
double paint_newest(const struct watch_series *s);
