/* paint: what the views of a screen are made of: text, statuses in their colours, bars, and small graphs.
 * Draws on the current screen of curses; everything is cut at its edge.
 */
#pragma once

#include "harness/watch/model.h"

enum { PAIR_GOOD = 1, PAIR_WARN, PAIR_BAD, PAIR_NOW };
enum { PAINT_BAR_WIDTH = 24 };

void paint_text(int row, int column, const char *text);
void paint_status(bool colour, int row, int column, const char *status);
/* part: 0 to 1. */
void paint_bar(int row, int column, double part);
/* The label at the edge of the screen, the samples from the column on, as many as there is room for. */
void paint_series(bool utf8, int row, int column, const char *label, const struct watch_series *series,
                  double max);
/* NaN without samples. */
double paint_newest(const struct watch_series *s);
