#include "harness/watch/lanes.h"

#include "harness/watch/paint.h"

#include <math.h>
#include <ncurses.h>
#include <stdio.h>
#include <string.h>

enum { LANES_MIN = 4 };

/* The widths of the columns of a GPU's row; those that do not fit have width 0. */
struct lane_columns {
    int id, test, time, bar, vram, busy, series;
};

static struct lane_columns lane_columns(const struct watch_model *m)
{
    size_t ids = 4, tests = 20;
    for (size_t i = 0; i < m->n_lanes; i++) {
        const struct watch_lane *l = &m->lanes[i];
        size_t test = strlen(l->variant) + 24;
        ids = strlen(l->gpus) > ids ? strlen(l->gpus) : ids;
        tests = test > tests ? test : tests;
    }
    struct lane_columns c = {.time = 16, .vram = 10, .busy = 6};
    int room = COLS - 4 - c.time - c.vram - c.busy;
    c.id = (int)ids + 1 < room / 6 ? (int)ids + 1 : room / 6;
    if (room - (int)tests > c.id) /* use the room that the names leave */
        c.id = (int)ids + 1 < room - (int)tests ? (int)ids + 1 : room - (int)tests;
    c.test = (int)tests < room - c.id ? (int)tests : room - c.id;
    room -= c.id + c.test;
    c.bar = room >= PAINT_BAR_WIDTH + 3 ? PAINT_BAR_WIDTH + 3 : 0;
    room -= c.bar;
    c.series = room >= 8 ? room : 0;
    return c;
}

/* Formats a time as "0:39", "20:00" or "1:05:00". */
static void short_clock(double seconds, char *out, size_t cap)
{
    long s = isfinite(seconds) && seconds > 0 && seconds < 1e8 ? (long)seconds : 0;
    if (s < 3600)
        snprintf(out, cap, "%ld:%02ld", s / 60, s % 60);
    else
        snprintf(out, cap, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
}

/* If room is short, cuts the variant's name rather than what follows it, and the beginning of an id. */
static void put_lane_names(const struct watch_lane *l, const struct lane_columns *c, int row, int column)
{
    char rest[64], text[EVENT_TEXT_MAX];
    size_t len = strlen(l->gpus), room = c->id > 1 ? (size_t)c->id - 1 : 0;
    paint_text(row, column, *l->gpus ? l->gpus + (len > room ? len - room : 0) : "-");
    column += c->id;
    if (*l->out)
        snprintf(text, sizeof text, "out: %s", l->out);
    else if (!l->running)
        snprintf(text, sizeof text, "idle");
    else {
        snprintf(rest, sizeof rest, " ctx %lld run %lld", (long long)l->ctx, (long long)l->run_idx);
        int names = c->test - 1 - (int)strlen(rest);
        snprintf(text, sizeof text, "%.*s%s", names > 0 ? names : 0, l->variant, rest);
    }
    paint_text(row, column, text);
}

static void draw_lane(const struct watch_lanes_view *v, const struct watch_model *m, size_t lane,
                      const struct lane_columns *c, int row)
{
    const struct watch_lane *l = &m->lanes[lane];
    char text[96], elapsed[32], limit[32];
    double vram = paint_newest(&l->vram), busy = paint_newest(&l->gpu);
    int colour = v->colour ? COLOR_PAIR(*l->out ? PAIR_BAD : l->running ? PAIR_NOW : 0) : 0;
    snprintf(text, sizeof text, "%zu", lane);
    paint_text(row, 0, text);
    attron(colour);
    put_lane_names(l, c, row, 4);
    attroff(colour);
    if (!l->running)
        return;
    int column = 4 + c->id + c->test;
    short_clock(l->elapsed_s, elapsed, sizeof elapsed);
    short_clock(l->timeout_s, limit, sizeof limit);
    snprintf(text, sizeof text, "%s of %s", elapsed, limit);
    paint_text(row, column, text);
    column += c->time;
    if (c->bar > 0)
        paint_bar(row, column, l->elapsed_s / l->timeout_s);
    column += c->bar;
    snprintf(text, sizeof text, "%.1f GiB", vram / 1073741824.0);
    paint_text(row, column, isfinite(vram) ? text : "-");
    column += c->vram;
    snprintf(text, sizeof text, "%.0f %%", busy);
    paint_text(row, column, isfinite(busy) ? text : "-");
    column += c->busy;
    if (c->series > 0)
        paint_series(v->utf8, row, column, "", &l->gpu, 100);
}

/* Draws a row per GPU, or per set that a test shares, on half of the screen at most. Returns the next free
 * row. */
int watch_lanes_draw(struct watch_lanes_view *v, const struct watch_model *m, int row)
{
    const struct lane_columns c = lane_columns(m);
    char text[96];
    int most = (LINES - row) / 2 - 1;
    most = most < LANES_MIN ? LANES_MIN : most;
    v->shown = m->n_lanes <= (size_t)most ? m->n_lanes : (size_t)most;
    v->first = watch_window(v->first, v->shown, m->n_lanes, m->n_lanes);
    snprintf(text, sizeof text, "GPUs: %zu running", watch_model_running(m));
    paint_text(row, 0, text);
    if (v->shown < m->n_lanes) {
        int column = (int)strlen(text) + 2;
        snprintf(text, sizeof text, "%zu to %zu of %zu: [ and ] scroll", v->first, v->first + v->shown - 1,
                 m->n_lanes);
        paint_text(row, column, text);
    }
    for (size_t i = 0; i < v->shown; i++)
        draw_lane(v, m, v->first + i, &c, ++row);
    return row + 1;
}
