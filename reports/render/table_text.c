/* Tables as text: a grid that fits the screen. What a row has to say in sentences stands below it, and what
 * all rows share stands above them. */
#include "reports/render/table.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_INDENT = 4 };

static const char clause_end[] = "; ";

struct layout {
    const struct table *t;
    struct screen screen;
    char **cells; /* as the table's, printable */
    size_t width[TABLE_COLS_MAX];
    size_t gap;                  /* spaces between columns */
    bool hidden[TABLE_COLS_MAX]; /* written elsewhere */
    bool folds[TABLE_COLS_MAX];  /* a row goes on in another line with this column */
};

static const char *mark_colour(enum cell_mark mark)
{
    switch (mark) {
    case MARK_NONE:
        return "";
    case MARK_GOOD:
        return "\033[32m";
    case MARK_BAD:
        return "\033[1;31m";
    case MARK_WARN:
        return "\033[33m";
    }
    return "";
}

/* Writes one cell; gap 0: of the last column, which is not padded. */
static void write_padded(struct buf *out, const char *text, size_t width, bool right, size_t gap,
                         const char *colour)
{
    size_t own = table_text_width(text);
    size_t pad = own < width ? width - own : 0;
    for (size_t i = 0; right && i < pad; i++)
        buf_putc(out, ' ');
    buf_puts(out, colour);
    buf_puts(out, text);
    if (*colour)
        buf_puts(out, "\033[0m");
    for (size_t i = 0; !right && gap && i < pad; i++)
        buf_putc(out, ' ');
    buf_printf(out, "%*s", (int)gap, "");
}

static void end_line(struct buf *out)
{
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    buf_putc(out, '\n');
}

static char *printable(const char *text)
{
    AUTO(buf_release) struct buf b = {.max = TABLE_CELL_MAX * 8};
    text_printable(&b, text, strlen(text), TABLE_CELL_MAX);
    return xstrdup(buf_str(&b));
}

static const char *cell(const struct layout *l, size_t row, size_t col)
{
    return l->cells[row * l->t->n_cols + col];
}

static size_t grid_width(const struct layout *l)
{
    size_t width = 0;
    for (size_t c = 0; c < l->t->n_cols; c++)
        width += l->hidden[c] ? 0 : l->width[c] + l->gap;
    return width ? width - l->gap : 0;
}

static bool is_shared(const struct layout *l, size_t col)
{
    size_t rows = table_rows(l->t);
    for (size_t r = 1; r < rows; r++)
        if (strcmp(cell(l, r, col), cell(l, 0, col)) != 0)
            return false;
    return rows > 1;
}

/* Takes columns that say the same in every row out of a grid that is too wide, the widest first. */
static void lift_shared(struct layout *l, struct buf *out)
{
    bool any = false;
    while (grid_width(l) > l->screen.columns) {
        size_t widest = l->t->n_cols;
        for (size_t c = 0; c < l->t->n_cols; c++)
            if (!l->hidden[c] && is_shared(l, c) &&
                (widest == l->t->n_cols || l->width[c] > l->width[widest]))
                widest = c;
        if (widest == l->t->n_cols)
            break;
        l->hidden[widest] = true;
        buf_printf(out, "%s%s: %s", any ? ", " : "", l->t->cols[widest].title, cell(l, 0, widest));
        any = true;
    }
    buf_puts(out, any ? "\n\n" : "");
}

/* Whether one of the clauses of a note is the given one. */
static bool has_clause(const char *note, const char *clause, size_t len)
{
    for (const char *p = note; *p;) {
        const char *end = strstr(p, clause_end);
        size_t n = end ? (size_t)(end - p) : strlen(p);
        if (n == len && memcmp(p, clause, len) == 0)
            return true;
        p += n + (end ? strlen(clause_end) : 0);
    }
    return false;
}

static bool all_have(const struct layout *l, size_t col, const char *clause, size_t len)
{
    size_t rows = table_rows(l->t);
    for (size_t r = 0; r < rows; r++)
        if (!has_clause(cell(l, r, col), clause, len))
            return false;
    return rows > 1;
}

/* The clauses of a note that all rows have, or those that not all have. */
static void write_clauses(const struct layout *l, size_t row, size_t col, bool shared, struct buf *out)
{
    AUTO(buf_release) struct buf text = {.max = TABLE_CELL_MAX * 8};
    for (const char *p = cell(l, row, col); *p;) {
        const char *end = strstr(p, clause_end);
        size_t n = end ? (size_t)(end - p) : strlen(p);
        if (all_have(l, col, p, n) == shared) {
            buf_puts(&text, text.len ? clause_end : "");
            buf_add(&text, p, n);
        }
        p += n + (end ? strlen(clause_end) : 0);
    }
    if (text.len && shared)
        buf_printf(out, "%s, in every row:\n", l->t->cols[col].title);
    text_wrap_line(buf_str(&text), text.len, NOTE_INDENT, NOTE_INDENT, l->screen.columns, out);
    if (text.len && shared)
        buf_putc(out, '\n');
}

static void write_notes(const struct layout *l, size_t row, bool shared, struct buf *out)
{
    for (size_t c = 0; c < l->t->n_cols; c++)
        if (l->t->cols[c].note && l->hidden[c])
            write_clauses(l, row, c, shared, out);
}

static size_t longest_word(const char *text)
{
    size_t longest = 0;
    for (const char *p = text; *p; p += strspn(p, " ")) {
        size_t len = strcspn(p, " "), width = text_shown_width(p, len);
        longest = width > longest ? width : longest;
        p += len;
    }
    return longest;
}

/* Makes columns no wider than their cells and the longest word of their titles. */
static void wrap_titles(struct layout *l)
{
    for (size_t c = 0; c < l->t->n_cols; c++) {
        l->width[c] = longest_word(l->t->cols[c].title);
        for (size_t r = 0; r < table_rows(l->t); r++) {
            size_t w = table_text_width(cell(l, r, c));
            l->width[c] = w > l->width[c] ? w : l->width[c];
        }
    }
}

static void fold(struct layout *l)
{
    for (size_t c = 0, at = 0; c < l->t->n_cols; c++) {
        if (l->hidden[c])
            continue;
        l->folds[c] = at > 0 && at + l->width[c] > l->screen.columns;
        at = (l->folds[c] ? NOTE_INDENT : at) + l->width[c] + l->gap;
    }
}

/* One line of the titles: part number `line` of each; false if none has as many. */
static bool write_titles(const struct layout *l, size_t from, size_t to, size_t line, struct buf *out)
{
    bool any = false;
    for (size_t c = from; c < to; c++) {
        if (l->hidden[c])
            continue;
        const char *title = l->t->cols[c].title;
        size_t len = strlen(title), n = text_words_that_fit(title, len, l->width[c]);
        for (size_t i = 0; i < line; i++) {
            title += n + strspn(title + n, " ");
            len = strlen(title);
            n = text_words_that_fit(title, len, l->width[c]);
        }
        char part[TABLE_CELL_MAX];
        snprintf(part, sizeof part, "%.*s", (int)n, title);
        any |= n > 0;
        write_padded(out, part, l->width[c], l->t->cols[c].right, c + 1 == to ? 0 : l->gap, "");
    }
    return any;
}

static void write_heading(const struct layout *l, size_t from, size_t to, struct buf *out)
{
    for (size_t line = 0;; line++) {
        AUTO(buf_release) struct buf text = {.max = TABLE_CELL_MAX * TABLE_COLS_MAX};
        if (!write_titles(l, from, to, line, &text) && line)
            return;
        buf_printf(out, "%*s%s", from ? NOTE_INDENT : 0, "", buf_str(&text));
        end_line(out);
    }
}

/* Writes a row, or the titles, in as many lines as they need. */
static void write_lines(const struct layout *l, const struct table_cell *row, size_t r, struct buf *out)
{
    for (size_t from = 0, to; from < l->t->n_cols; from = to) {
        for (to = from + 1; to < l->t->n_cols && !l->folds[to];)
            to++;
        if (!row) {
            write_heading(l, from, to, out);
            continue;
        }
        buf_printf(out, "%*s", from ? NOTE_INDENT : 0, "");
        for (size_t c = from; c < to; c++)
            if (!l->hidden[c])
                write_padded(out, cell(l, r, c), l->width[c], l->t->cols[c].right, c + 1 == to ? 0 : l->gap,
                             l->screen.colour ? mark_colour(row[c].mark) : "");
        end_line(out);
    }
}

static void write_rows(const struct layout *l, struct buf *out)
{
    write_lines(l, NULL, 0, out);
    for (size_t r = 0; r < table_rows(l->t); r++) {
        write_lines(l, &l->t->cells[r * l->t->n_cols], r, out);
        write_notes(l, r, false, out);
    }
}

void table_write_text(const struct table *t, struct screen screen, struct buf *out)
{
    AUTO_FREE char **cells = xcalloc(t->n_cells + 1, sizeof *cells);
    struct layout l = {.t = t, .screen = screen, .cells = cells, .gap = 2};
    out->failed |= !table_ok(t);
    if (out->failed)
        return;
    for (size_t c = 0; c < t->n_cols; c++) {
        l.width[c] = table_text_width(t->cols[c].title);
    }
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t c = i % t->n_cols; // NOLINT(clang-analyzer-core.DivideZero): table_ok()
        cells[i] = printable(t->cells[i].text);
        size_t w = table_text_width(cells[i]);
        l.width[c] = w > l.width[c] ? w : l.width[c];
    }
    for (size_t c = 0; screen.columns > 0 && grid_width(&l) > screen.columns && c < t->n_cols; c++)
        l.hidden[c] = t->cols[c].note;
    if (screen.columns > 0)
        lift_shared(&l, out);
    if (screen.columns > 0 && grid_width(&l) > screen.columns)
        wrap_titles(&l);
    if (screen.columns > 0 && grid_width(&l) > screen.columns)
        l.gap = 1;
    if (screen.columns > 0 && grid_width(&l) > screen.columns)
        fold(&l);
    if (table_rows(t) > 0)
        write_notes(&l, 0, true, out);
    write_rows(&l, out);
    for (size_t i = 0; i < t->n_cells; i++)
        free(cells[i]);
}
