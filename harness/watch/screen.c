#include "harness/watch/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MIN = 12, STATUS_WIDTH = 9, CELL_WIDTH = 11, BAR_WIDTH = 24, LOG_MIN = 2, LANES_MIN = 4 };
enum { LEVEL_COLUMN = 22 };
enum { PAIR_GOOD = 1, PAIR_WARN, PAIR_BAD, PAIR_NOW };

bool watch_screen_open(struct watch_screen *s)
{
    const char *no_color = getenv("NO_COLOR");
    setlocale(LC_CTYPE, "");
    *s = (struct watch_screen){.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (!screen)
        return false;
    s->terminal = screen;
    set_term(screen);
    cbreak();
    noecho();
    nodelay(stdscr, TRUE);
    keypad(stdscr, TRUE);
    curs_set(0);
    s->colour = has_colors() && !(no_color && *no_color) && start_color() == OK;
    if (s->colour && use_default_colors() == OK) {
        init_pair(PAIR_GOOD, COLOR_GREEN, -1);
        init_pair(PAIR_WARN, COLOR_YELLOW, -1);
        init_pair(PAIR_BAD, COLOR_RED, -1);
        init_pair(PAIR_NOW, COLOR_CYAN, -1);
    }
    return true;
}

void watch_screen_close(struct watch_screen *s)
{
    if (!s->terminal)
        return;
    erase(); /* a terminal without a second screen would keep what is on it */
    refresh();
    endwin();
    delscreen(s->terminal);
    s->terminal = NULL;
}

/* Prints text on the screen, truncated at its edge. */
static void put(int row, int column, const char *text)
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

static void put_status(const struct watch_screen *s, int row, int column, const char *status)
{
    int attributes = s->colour ? COLOR_PAIR(pair_of(status)) : 0;
    attron(attributes);
    put(row, column, status);
    attroff(attributes);
}

static void draw_head(const struct watch_screen *s, const struct watch_model *m, const char *title)
{
    char line[512], eta[32];
    const struct live *l = &m->live;
    live_duration(m->suite_eta_s, eta, sizeof eta);
    attron(A_BOLD);
    put(0, 0, title);
    attroff(A_BOLD);
    snprintf(line, sizeof line, "%lld of %lld tests  ok %lld  failed %lld  skipped %lld", (long long)l->done,
             (long long)l->total, (long long)l->ok, (long long)l->failed, (long long)l->skipped);
    put(1, 0, line);
    int column = (int)strlen(line) + 2;
    if (*m->status)
        put_status(s, 1, column, m->status);
    else {
        snprintf(line, sizeof line, "ETA %s", eta);
        put(1, column, line);
    }
}

static int name_width(const struct watch_model *m)
{
    int longest = NAME_MIN, room = COLS - 1 - STATUS_WIDTH - CELL_WIDTH * (int)m->n_contexts;
    for (size_t i = 0; i < m->n_variants; i++)
        if ((int)strlen(m->variants[i].name) > longest)
            longest = (int)strlen(m->variants[i].name);
    return longest <= room ? longest : room > NAME_MIN ? room : NAME_MIN;
}

/* Which part of the matrix is in view. */
static void choose_view(struct watch_screen *s, const struct watch_model *m, int rows, int width)
{
    size_t variant, context;
    int columns = (COLS - width) / CELL_WIDTH;
    s->rows = rows > 0 ? (size_t)rows : 0;
    s->columns = columns > 0 ? (size_t)columns : 0;
    if (s->scrolled || !watch_running(m, &variant, &context)) {
        variant = m->n_variants;
        context = m->n_contexts;
    }
    s->row = watch_window(s->row, s->rows, m->n_variants, variant);
    s->column = watch_window(s->column, s->columns, m->n_contexts, context);
}

static void draw_variant(const struct watch_screen *s, const struct watch_model *m, size_t v, int row,
                         int width)
{
    char text[LIMIT_NAME + 1];
    snprintf(text, sizeof text, "%.*s", width - STATUS_WIDTH - 1, m->variants[v].name);
    put(row, 0, text);
    snprintf(text, sizeof text, "%.*s", STATUS_WIDTH - 1, m->variants[v].status);
    put_status(s, row, width - STATUS_WIDTH, text);
    for (size_t c = 0; c < s->columns && s->column + c < m->n_contexts; c++) {
        char cell[16];
        watch_cell_text(&m->cells[v][s->column + c], cell);
        cell[CELL_WIDTH - 1] = '\0';
        put_status(s, row, width + (int)c * CELL_WIDTH, cell);
    }
}

static void draw_contexts(const struct watch_screen *s, const struct watch_model *m, int row, int width)
{
    char text[32];
    put(row, 0, "variant");
    if (s->column > 0)
        put(row, width - 2, "<");
    for (size_t c = 0; c < s->columns && s->column + c < m->n_contexts; c++) {
        snprintf(text, sizeof text, "%lld", (long long)m->contexts[s->column + c]);
        put(row, width + (int)c * CELL_WIDTH, text);
    }
    if (s->column + s->columns < m->n_contexts)
        put(row, COLS - 1, ">");
}

/* Draws as much of the matrix as fits into `rows`. Returns the next free row. */
static int draw_matrix(struct watch_screen *s, const struct watch_model *m, int row, int rows)
{
    char text[64];
    int width = name_width(m) + 1 + STATUS_WIDTH;
    bool all = (int)m->n_variants < rows; /* with the heading */
    choose_view(s, m, all ? (int)m->n_variants : rows - 2, width);
    if (s->rows == 0)
        return row;
    draw_contexts(s, m, row, width);
    for (size_t i = 0; i < s->rows && s->row + i < m->n_variants; i++)
        draw_variant(s, m, s->row + i, ++row, width);
    if (!all) {
        snprintf(text, sizeof text, "%zu above, %zu below: arrow keys scroll", s->row,
                 m->n_variants - s->row - s->rows);
        put(++row, 0, text);
    }
    return row + 1;
}

static double newest(const struct watch_series *s)
{
    return s->count ? s->values[s->count - 1] : (double)NAN;
}

/* The label at the edge of the screen, the samples from the column on, as many as there is room for. */
static void draw_series(const struct watch_screen *s, int row, int column, const char *label,
                        const struct watch_series *series, double max)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    int heights[WATCH_SAMPLES];
    put(row, 0, label);
    int room = COLS - column;
    size_t n = watch_series_heights(series, max, heights,
                                    room > 0 && room < WATCH_SAMPLES ? (size_t)room : WATCH_SAMPLES);
    for (size_t i = 0; i < n; i++)
        put(row, column + (int)i, (s->utf8 ? blocks : plain)[heights[i]]);
}

static void draw_bar(int row, int column, double part)
{
    char bar[BAR_WIDTH + 3];
    int full = isfinite(part) && part > 0 ? (int)(part * BAR_WIDTH) : 0;
    if (full > BAR_WIDTH)
        full = BAR_WIDTH;
    bar[0] = '[';
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i + 1] = i < full ? '#' : '.';
    bar[BAR_WIDTH + 1] = ']';
    bar[BAR_WIDTH + 2] = '\0';
    put(row, column, bar);
}

static void draw_levels(const struct watch_screen *s, const struct watch_lane *l, int *row)
{
    char line[64];
    double vram = newest(&l->vram), gpu = newest(&l->gpu);
    if (isfinite(vram)) {
        snprintf(line, sizeof line, "VRAM %9.1f MiB", vram / 1048576);
        draw_series(s, ++*row, LEVEL_COLUMN, line, &l->vram, watch_series_max(&l->vram));
    }
    if (isfinite(gpu)) {
        snprintf(line, sizeof line, "GPU busy %5.0f %%", gpu);
        draw_series(s, ++*row, LEVEL_COLUMN, line, &l->gpu, 100);
    }
}

static int draw_test(const struct watch_screen *s, const struct watch_model *m, int row)
{
    char line[256], elapsed[32], limit[32], left[32];
    const struct watch_lane *l = watch_model_longest(m);
    if (!l) {
        put(row, 0, *m->status ? "the run has ended" : "no test is running");
        return row + 1;
    }
    live_duration(l->elapsed_s, elapsed, sizeof elapsed);
    live_duration(l->timeout_s, limit, sizeof limit);
    live_duration(l->eta_remaining_s, left, sizeof left);
    snprintf(line, sizeof line, "%s ctx %lld run %lld  %s of %s, left %s ", l->variant, (long long)l->ctx,
             (long long)l->run_idx, elapsed, limit, left);
    put(row, 0, line);
    draw_bar(row, (int)strlen(line), l->elapsed_s / l->timeout_s);
    draw_levels(s, l, &row);
    return row + 1;
}

/* The columns of a row of a GPU; those that do not fit have no width. */
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
    struct lane_columns c = {.time = 22, .vram = 11, .busy = 6};
    int room = COLS - 4 - c.time - c.vram - c.busy;
    c.id = (int)ids + 1 < room / 3 ? (int)ids + 1 : room / 3;
    c.test = (int)tests < room - c.id ? (int)tests : room - c.id;
    room -= c.id + c.test;
    c.bar = room >= BAR_WIDTH + 3 ? BAR_WIDTH + 3 : 0;
    room -= c.bar;
    c.series = room >= 8 ? room : 0;
    return c;
}

/* The variant gives way to what tells its tests apart; an id is told by its end. */
static void put_lane_names(const struct watch_lane *l, const struct lane_columns *c, int row, int column)
{
    char rest[64], text[EVENT_TEXT_MAX];
    size_t len = strlen(l->gpus), room = c->id > 1 ? (size_t)c->id - 1 : 0;
    put(row, column, *l->gpus ? l->gpus + (len > room ? len - room : 0) : "-");
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
    put(row, column, text);
}

static void draw_lane(const struct watch_screen *s, const struct watch_model *m, size_t lane,
                      const struct lane_columns *c, int row)
{
    const struct watch_lane *l = &m->lanes[lane];
    char text[96], elapsed[32], limit[32];
    double vram = newest(&l->vram), busy = newest(&l->gpu);
    int colour = s->colour ? COLOR_PAIR(*l->out ? PAIR_BAD : l->running ? PAIR_NOW : 0) : 0;
    snprintf(text, sizeof text, "%zu", lane);
    put(row, 0, text);
    attron(colour);
    put_lane_names(l, c, row, 4);
    attroff(colour);
    if (!l->running)
        return;
    int column = 4 + c->id + c->test;
    live_duration(l->elapsed_s, elapsed, sizeof elapsed);
    live_duration(l->timeout_s, limit, sizeof limit);
    snprintf(text, sizeof text, "%s of %s", elapsed, limit);
    put(row, column, text);
    column += c->time;
    if (c->bar > 0)
        draw_bar(row, column, l->elapsed_s / l->timeout_s);
    column += c->bar;
    snprintf(text, sizeof text, "%.1f GiB", vram / 1073741824.0);
    put(row, column, isfinite(vram) ? text : "-");
    column += c->vram;
    snprintf(text, sizeof text, "%.0f %%", busy);
    put(row, column, isfinite(busy) ? text : "-");
    column += c->busy;
    if (c->series > 0)
        draw_series(s, row, column, "", &l->gpu, 100);
}

/* A row per GPU, or per set of GPUs that one test has; at most half of the screen. Returns the next free row.
 */
static int draw_lanes(struct watch_screen *s, const struct watch_model *m, int row)
{
    const struct lane_columns c = lane_columns(m);
    char text[96];
    int most = (LINES - row) / 2 - 1;
    most = most < LANES_MIN ? LANES_MIN : most;
    s->lanes = m->n_lanes <= (size_t)most ? m->n_lanes : (size_t)most;
    s->lane = watch_window(s->lane, s->lanes, m->n_lanes, m->n_lanes);
    snprintf(text, sizeof text, "GPUs: %zu running", watch_model_running(m));
    put(row, 0, text);
    if (s->lanes < m->n_lanes) {
        int column = (int)strlen(text) + 2;
        snprintf(text, sizeof text, "%zu to %zu of %zu: [ and ] scroll", s->lane, s->lane + s->lanes - 1,
                 m->n_lanes);
        put(row, column, text);
    }
    for (size_t i = 0; i < s->lanes; i++)
        draw_lane(s, m, s->lane + i, &c, ++row);
    return row + 1;
}

/* The running test's output takes at most half of the remaining rows. */
static int draw_output(const struct watch_model *m, int row)
{
    char text[WATCH_LINE_MAX];
    size_t count;
    const struct watch_lane *l = watch_model_longest(m);
    int room = (LINES - 1 - row) / 2 - 1;
    if (!l || !*l->output || room < 2)
        return row;
    put(row++, 0, "output:");
    const char *line = watch_lane_output(l, (size_t)room - 1, &count);
    for (; count > 0; count--) {
        size_t len = strcspn(line, "\n");
        snprintf(text, sizeof text, "%.*s", (int)len, line);
        put(row++, 2, text);
        line += len + (line[len] == '\n');
    }
    return row + 1;
}

/* The newest lines, or those that the user scrolled back to. */
static void draw_log(struct watch_screen *s, const struct watch_model *m, int row)
{
    size_t n = LINES - 1 > row ? (size_t)(LINES - 1 - row) : 0;
    size_t kept = m->n_lines < WATCH_LINES ? m->n_lines : WATCH_LINES;
    size_t most = kept > n ? kept - n : 0;
    s->back = s->back < most ? s->back : most;
    const char *line;
    for (size_t i = 0; i < n && (line = watch_model_line(m, i, n + s->back)); i++)
        put(row + (int)i, 0, line);
}

static void draw_footer(const struct watch_screen *s, const struct watch_model *m, const char *ended)
{
    char text[160];
    snprintf(text, sizeof text, "%s  arrows: matrix  j k: log%s%s  Home: follow",
             ended ? ended : "q: quit; the run continues",
             s->lanes < m->n_lanes && m->n_lanes > 1 ? "  [ ]: GPUs" : "",
             s->several ? "  Tab: next node" : "");
    attron(A_REVERSE);
    put(LINES - 1, 0, text);
    attroff(A_REVERSE);
}

void watch_screen_draw(struct watch_screen *s, const struct watch_model *m, const char *title,
                       const char *ended)
{
    enum { TEST_ROWS = 4, HEAD_ROWS = 3 };
    bool lanes = m->n_lanes > 1;
    erase();
    draw_head(s, m, title);
    int row = lanes ? draw_lanes(s, m, HEAD_ROWS) + 1 : HEAD_ROWS;
    row = draw_matrix(s, m, row, LINES - row - (lanes ? 0 : TEST_ROWS) - LOG_MIN - 2) + 1;
    if (!lanes)
        row = draw_test(s, m, row) + 1;
    row = draw_output(m, row);
    draw_log(s, m, row);
    draw_footer(s, m, ended);
    refresh();
}

static size_t moved(size_t from, int by)
{
    return by < 0 && from < (size_t)-by ? 0 : from + (size_t)by;
}

/* choose_view() keeps what is in view within the matrix. */
static void move_view(struct watch_screen *s, int rows, int columns)
{
    s->scrolled = true;
    s->row = moved(s->row, rows);
    s->column = moved(s->column, columns);
}

enum watch_key watch_screen_key(struct watch_screen *s)
{
    int page = s->rows > 0 ? (int)s->rows : 1;
    switch (getch()) {
    case 'q':
    case 'Q':
        return WATCH_KEY_QUIT;
    case KEY_UP:
        move_view(s, -1, 0);
        break;
    case KEY_DOWN:
        move_view(s, 1, 0);
        break;
    case KEY_PPAGE:
        move_view(s, -page, 0);
        break;
    case KEY_NPAGE:
        move_view(s, page, 0);
        break;
    case KEY_LEFT:
        move_view(s, 0, -1);
        break;
    case KEY_RIGHT:
        move_view(s, 0, 1);
        break;
    case 'k':
        s->back = moved(s->back, 1);
        break;
    case 'j':
        s->back = moved(s->back, -1);
        break;
    case '[':
        s->lane = moved(s->lane, -1);
        break;
    case ']':
        s->lane = moved(s->lane, 1);
        break;
    case '\t':
        return WATCH_KEY_NEXT;
    case KEY_HOME:
        s->scrolled = false;
        s->back = 0;
        break;
    case ERR:
        return WATCH_KEY_NONE;
    }
    return WATCH_KEY_REDRAW;
}
