#include "harness/watch/screen.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "harness/watch/paint.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MIN = 12, STATUS_WIDTH = 9, CELL_WIDTH = 11, LOG_MIN = 2 };
enum { LEVEL_COLUMN = 22 };

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
    erase(); /* terminals without an alternate screen would keep the picture */
    refresh();
    endwin();
    delscreen(s->terminal);
    s->terminal = NULL;
}

static void draw_head(const struct watch_screen *s, const struct watch_model *m, const char *title)
{
    char line[512], eta[32];
    const struct live *l = &m->live;
    live_duration(m->suite_eta_s, eta, sizeof eta);
    attron(A_BOLD);
    paint_text(0, 0, title);
    attroff(A_BOLD);
    snprintf(line, sizeof line, "%lld of %lld tests  ok %lld  failed %lld  skipped %lld", (long long)l->done,
             (long long)l->total, (long long)l->ok, (long long)l->failed, (long long)l->skipped);
    paint_text(1, 0, line);
    int column = (int)strlen(line) + 2;
    if (*m->status)
        paint_status(s->colour, 1, column, m->status);
    else {
        snprintf(line, sizeof line, "ETA %s", eta);
        paint_text(1, column, line);
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

/* Chooses the part of the matrix that is in view. */
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
    paint_text(row, 0, text);
    snprintf(text, sizeof text, "%.*s", STATUS_WIDTH - 1, m->variants[v].status);
    paint_status(s->colour, row, width - STATUS_WIDTH, text);
    for (size_t c = 0; c < s->columns && s->column + c < m->n_contexts; c++) {
        char cell[16];
        watch_cell_text(&m->cells[v][s->column + c], cell);
        cell[CELL_WIDTH - 1] = '\0';
        paint_status(s->colour, row, width + (int)c * CELL_WIDTH, cell);
    }
}

static void draw_contexts(const struct watch_screen *s, const struct watch_model *m, int row, int width)
{
    char text[32];
    paint_text(row, 0, "variant");
    if (s->column > 0)
        paint_text(row, width - 2, "<");
    for (size_t c = 0; c < s->columns && s->column + c < m->n_contexts; c++) {
        snprintf(text, sizeof text, "%lld", (long long)m->contexts[s->column + c]);
        paint_text(row, width + (int)c * CELL_WIDTH, text);
    }
    if (s->column + s->columns < m->n_contexts)
        paint_text(row, COLS - 1, ">");
}

/* Draws as much of the matrix as fits into `rows`. Returns the next free row. */
static int draw_matrix(struct watch_screen *s, const struct watch_model *m, int row, int rows)
{
    char text[64];
    int width = name_width(m) + 1 + STATUS_WIDTH;
    bool all = (int)m->n_variants < rows; /* one row is the heading */
    choose_view(s, m, all ? (int)m->n_variants : rows - 2, width);
    if (s->rows == 0)
        return row;
    draw_contexts(s, m, row, width);
    for (size_t i = 0; i < s->rows && s->row + i < m->n_variants; i++)
        draw_variant(s, m, s->row + i, ++row, width);
    if (!all) {
        snprintf(text, sizeof text, "%zu above, %zu below: arrow keys scroll", s->row,
                 m->n_variants - s->row - s->rows);
        paint_text(++row, 0, text);
    }
    return row + 1;
}

static void draw_levels(const struct watch_screen *s, const struct watch_lane *l, int *row)
{
    char line[64];
    double vram = paint_newest(&l->vram), gpu = paint_newest(&l->gpu);
    if (isfinite(vram)) {
        snprintf(line, sizeof line, "VRAM %9.1f MiB", vram / 1048576);
        paint_series(s->utf8, ++*row, LEVEL_COLUMN, line, &l->vram, watch_series_max(&l->vram));
    }
    if (isfinite(gpu)) {
        snprintf(line, sizeof line, "GPU busy %5.0f %%", gpu);
        paint_series(s->utf8, ++*row, LEVEL_COLUMN, line, &l->gpu, 100);
    }
}

static int draw_test(const struct watch_screen *s, const struct watch_model *m, int row)
{
    char line[256], elapsed[32], limit[32], left[32];
    const struct watch_lane *l = watch_model_longest(m);
    if (!l) {
        paint_text(row, 0, *m->status ? "the run has ended" : "no test is running");
        return row + 1;
    }
    live_duration(l->elapsed_s, elapsed, sizeof elapsed);
    live_duration(l->timeout_s, limit, sizeof limit);
    live_duration(l->eta_remaining_s, left, sizeof left);
    snprintf(line, sizeof line, "%s ctx %lld run %lld  %s of %s, left %s ", l->variant, (long long)l->ctx,
             (long long)l->run_idx, elapsed, limit, left);
    paint_text(row, 0, line);
    paint_bar(row, (int)strlen(line), l->elapsed_s / l->timeout_s);
    draw_levels(s, l, &row);
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
    paint_text(row++, 0, "output:");
    const char *line = watch_lane_output(l, (size_t)room - 1, &count);
    for (; count > 0; count--) {
        size_t len = strcspn(line, "\n");
        snprintf(text, sizeof text, "%.*s", (int)len, line);
        paint_text(row++, 2, text);
        line += len + (line[len] == '\n');
    }
    return row + 1;
}

/* Draws the newest lines, or those that the user scrolled back to, broken between words where they are too
 * wide. */
static void draw_log(struct watch_screen *s, const struct watch_model *m, int row)
{
    size_t n = LINES - 1 > row ? (size_t)(LINES - 1 - row) : 0, rows = 0;
    size_t kept = m->n_lines < WATCH_LINES ? m->n_lines : WATCH_LINES;
    size_t most = kept > n ? kept - n : 0;
    AUTO(buf_release) struct buf lines = {.max = WATCH_LINES * WATCH_LINE_MAX};
    AUTO(buf_release) struct buf fitted = {.max = 4 * lines.max};
    s->back = s->back < most ? s->back : most;
    const char *line;
    for (size_t i = 0; i < n && (line = watch_model_line(m, i, n + s->back)); i++)
        buf_printf(&lines, "%s\n", line);
    text_wrap(buf_str(&lines), (size_t)COLS, &fitted);
    char *at = fitted.len ? fitted.data + fitted.len : NULL;
    for (; rows < n && at > fitted.data; rows++)
        for (at--; at > fitted.data && at[-1] != '\n'; at--)
            continue;
    for (; rows > 0; rows--) {
        size_t len = strcspn(at, "\n");
        at[len] = '\0';
        paint_text(row++, 0, at);
        at += len + 1;
    }
}

static void draw_footer(const struct watch_screen *s, const struct watch_model *m, const char *ended)
{
    char text[160];
    snprintf(text, sizeof text, "%s  arrows: matrix  j k: log%s%s  Home: follow",
             ended ? ended : "q: quit; the run continues",
             s->gpus.shown < m->n_lanes && m->n_lanes > 1 ? "  [ ]: GPUs" : "",
             s->several ? "  Tab: next node" : "");
    attron(A_REVERSE);
    paint_text(LINES - 1, 0, text);
    attroff(A_REVERSE);
}

void watch_screen_draw(struct watch_screen *s, const struct watch_model *m, const char *title,
                       const char *ended)
{
    enum { TEST_ROWS = 4, HEAD_ROWS = 3 };
    bool lanes = m->n_lanes > 1;
    s->gpus.colour = s->colour;
    s->gpus.utf8 = s->utf8;
    erase();
    draw_head(s, m, title);
    int row = lanes ? watch_lanes_draw(&s->gpus, m, HEAD_ROWS) + 1 : HEAD_ROWS;
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

/* choose_view() corrects a view that lies outside the matrix. */
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
        s->gpus.first = moved(s->gpus.first, -1);
        break;
    case ']':
        s->gpus.first = moved(s->gpus.first, 1);
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
