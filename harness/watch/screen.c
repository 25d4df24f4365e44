#include "harness/watch/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MIN = 12, STATUS_WIDTH = 9, CELL_WIDTH = 11, BAR_WIDTH = 24, LOG_MIN = 2 };
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

static void draw_series(const struct watch_screen *s, int row, const char *label,
                        const struct watch_series *series, double max)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    int heights[WATCH_SAMPLES], column = 22;
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

static int draw_test(const struct watch_screen *s, const struct watch_model *m, int row)
{
    char line[256], elapsed[32], limit[32], left[32];
    const struct event *e = &m->test;
    if (!m->testing) {
        put(row, 0, *m->status ? "the run has ended" : "no test is running");
        return row + 1;
    }
    double seconds = isfinite(e->elapsed_s) ? e->elapsed_s : 0;
    live_duration(seconds, elapsed, sizeof elapsed);
    live_duration(e->timeout_s, limit, sizeof limit);
    live_duration(e->eta_remaining_s, left, sizeof left);
    snprintf(line, sizeof line, "%s ctx %lld run %lld  %s of %s, left %s ", e->variant, (long long)e->ctx,
             (long long)e->run_idx, elapsed, limit, left);
    put(row, 0, line);
    draw_bar(row, (int)strlen(line), seconds / e->timeout_s);
    double vram = m->vram.count ? m->vram.values[m->vram.count - 1] : NAN;
    double gpu = m->gpu.count ? m->gpu.values[m->gpu.count - 1] : NAN;
    if (isfinite(vram)) {
        snprintf(line, sizeof line, "VRAM %9.1f MiB", vram / 1048576);
        draw_series(s, ++row, line, &m->vram, watch_series_max(&m->vram));
    }
    if (isfinite(gpu)) {
        snprintf(line, sizeof line, "GPU busy %5.0f %%", gpu);
        draw_series(s, ++row, line, &m->gpu, 100);
    }
    return row + 1;
}

/* The running test's output takes at most half of the remaining rows. */
static int draw_output(const struct watch_model *m, int row)
{
    char text[WATCH_LINE_MAX];
    size_t count;
    int room = (LINES - 1 - row) / 2 - 1;
    if (!m->testing || !*m->output || room < 2)
        return row;
    put(row++, 0, "output:");
    const char *line = watch_model_output(m, (size_t)room - 1, &count);
    for (; count > 0; count--) {
        size_t len = strcspn(line, "\n");
        snprintf(text, sizeof text, "%.*s", (int)len, line);
        put(row++, 2, text);
        line += len + (line[len] == '\n');
    }
    return row + 1;
}

static void draw_log(const struct watch_model *m, int row)
{
    int n = LINES - 1 - row;
    const char *line;
    for (int i = 0; i < n && (line = watch_model_line(m, (size_t)i, (size_t)n)); i++)
        put(row + i, 0, line);
}

void watch_screen_draw(struct watch_screen *s, const struct watch_model *m, const char *title,
                       const char *ended)
{
    enum { TEST_ROWS = 4, HEAD_ROWS = 3 };
    erase();
    draw_head(s, m, title);
    int row = draw_matrix(s, m, HEAD_ROWS, LINES - HEAD_ROWS - TEST_ROWS - LOG_MIN - 2);
    row = draw_test(s, m, row + 1);
    row = draw_output(m, row + 1);
    draw_log(m, row);
    attron(A_REVERSE);
    put(LINES - 1, 0, ended ? ended : "q: quit; the run continues  arrows: scroll  Home: running test");
    attroff(A_REVERSE);
    refresh();
}

/* choose_view() keeps what is in view within the matrix. */
static void move_view(struct watch_screen *s, int rows, int columns)
{
    s->scrolled = true;
    s->row = rows < 0 && s->row < (size_t)-rows ? 0 : s->row + (size_t)rows;
    s->column = columns < 0 && s->column < (size_t)-columns ? 0 : s->column + (size_t)columns;
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
    case KEY_HOME:
        s->scrolled = false;
        break;
    case ERR:
        return WATCH_KEY_NONE;
    }
    return WATCH_KEY_REDRAW;
}
