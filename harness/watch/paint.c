#include "harness/watch/paint.h"

#include <math.h>
#include <ncurses.h>
#include <stdio.h>
#include <string.h>

void paint_text(int row, int column, const char *text)
{
    if (row >= 0 && row < LINES && column < COLS)
        mvaddnstr(row, column, text, COLS - column);
}

static int pair_of(const char *status)
{
    if (strcmp(status, "run") == 0 || strcmp(status, "building") == 0)
        return PAIR_NOW;
    if (strncmp(status, "ok", 2) == 0 || (*status >= '0' && *status <= '9') || strcmp(status, "OK") == 0 ||
        strcmp(status, "CACHED") == 0 || strcmp(status, "COMPLETE") == 0)
        return PAIR_GOOD;
    if (strcmp(status, "SKIPPED") == 0 || strcmp(status, "CANCELLED") == 0)
        return PAIR_WARN;
    return *status && strcmp(status, "-") != 0 ? PAIR_BAD : 0;
}

void paint_status(bool colour, int row, int column, const char *status)
{
    int attributes = colour ? COLOR_PAIR(pair_of(status)) : 0;
    attron(attributes);
    paint_text(row, column, status);
    attroff(attributes);
}

double paint_newest(const struct watch_series *s)
{
    return s->count ? s->values[s->count - 1] : (double)NAN;
}

void paint_series(bool utf8, int row, int column, const char *label, const struct watch_series *series,
                  double max)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    int heights[WATCH_SAMPLES];
    paint_text(row, 0, label);
    int room = COLS - column;
    size_t n = watch_series_heights(series, max, heights,
                                    room > 0 && room < WATCH_SAMPLES ? (size_t)room : WATCH_SAMPLES);
    for (size_t i = 0; i < n; i++)
        paint_text(row, column + (int)i, (utf8 ? blocks : plain)[heights[i]]);
}

void paint_bar(int row, int column, double part)
{
    char bar[PAINT_BAR_WIDTH + 3];
    int room = COLS - column - 2, width = room < PAINT_BAR_WIDTH ? room : PAINT_BAR_WIDTH;
    if (width < 1)
        return;
    int full = isfinite(part) && part > 0 ? (int)(fmin(part, 1) * width) : 0;
    bar[0] = '[';
    for (int i = 0; i < width; i++)
        bar[i + 1] = i < full ? '#' : '.';
    bar[width + 1] = ']';
    bar[width + 2] = '\0';
    paint_text(row, column, bar);
}
