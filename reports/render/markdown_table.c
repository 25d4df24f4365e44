/* Tables of a Markdown document. */
#include "common/base/alloc.h"
#include "reports/render/escape.h"
#include "reports/render/markdown.h"

#include <stdlib.h>
#include <string.h>

/* Columns are aligned in the source, except for cells wider than this. */
enum { PAD_MAX = 48 };

static void cell_code(struct buf *out, const struct table_cell *cell)
{
    buf_puts(out, cell->link ? "[" : "");
    escape_code(out, cell->text, true);
    if (!cell->link)
        return;
    buf_puts(out, "](");
    escape_href(out, cell->link);
    buf_putc(out, ')');
}

static void cell_markdown(struct buf *out, const struct table_cell *cell)
{
    if (cell->kind == CELL_CODE) {
        cell_code(out, cell);
        return;
    }
    bool strong = cell->mark == MARK_BAD;
    buf_puts(out, strong ? "**" : "");
    escape_text(out, cell->text);
    buf_puts(out, strong ? "**" : "");
}

static void write_cell(struct buf *out, const char *text, size_t width, bool right)
{
    size_t own = table_text_width(text);
    size_t pad = own < width ? width - own : 0;
    buf_puts(out, "| ");
    escape_repeat(out, ' ', right ? pad : 0);
    buf_puts(out, text);
    escape_repeat(out, ' ', right ? 1 : pad + 1);
}

static void write_table(const struct table *t, char *const *titles, char *const *cells, const size_t *width,
                        struct buf *out)
{
    for (size_t c = 0; c < t->n_cols; c++)
        write_cell(out, titles[c], width[c], t->cols[c].right);
    buf_puts(out, "|\n");
    for (size_t c = 0; c < t->n_cols; c++) {
        buf_puts(out, "| ");
        escape_repeat(out, '-', width[c] - t->cols[c].right);
        buf_puts(out, t->cols[c].right ? ": " : " ");
    }
    buf_puts(out, "|\n");
    for (size_t i = 0; t->n_cols > 0 && i < t->n_cells; i++) {
        size_t c = i % t->n_cols;
        write_cell(out, cells[i], width[c], t->cols[c].right);
        if (c + 1 == t->n_cols)
            buf_puts(out, "|\n");
    }
}

/* Titles may name a variant or a node. */
static bool table_titles_markdown(const struct table *t, char **titles, size_t *width)
{
    for (size_t c = 0; c < t->n_cols; c++) {
        AUTO(buf_release) struct buf b = {.max = (size_t)ESCAPE_BYTES_MAX * 16};
        buf_puts(&b, "");
        escape_text(&b, t->cols[c].title);
        titles[c] = buf_steal(&b);
        if (!titles[c])
            return false;
        size_t w = table_text_width(titles[c]);
        width[c] = w < 3 ? 3 : w;
    }
    return true;
}

/* Fills in each cell's Markdown and each column's width; false if a cell is too long. */
static bool table_cells(const struct table *t, char **cells, size_t *width)
{
    for (size_t i = 0; t->n_cols > 0 && i < t->n_cells; i++) {
        AUTO(buf_release) struct buf b = {.max = (size_t)ESCAPE_BYTES_MAX * 16};
        buf_putc(&b, ' '); /* a cell is never at the start of a line */
        cell_markdown(&b, &t->cells[i]);
        buf_consume(&b, 1);
        cells[i] = buf_steal(&b);
        if (!cells[i])
            return false;
        size_t w = table_text_width(cells[i]);
        size_t *max = &width[i % t->n_cols];
        *max = w > *max && w <= PAD_MAX ? w : *max;
    }
    return true;
}

void md_table(struct md *w, const struct table *t)
{
    size_t width[TABLE_COLS_MAX] = {0};
    char *titles[TABLE_COLS_MAX] = {NULL};
    AUTO_FREE char **cells = xcalloc(t->n_cells, sizeof *cells);
    md_end(w);
    if (table_ok(t) && table_titles_markdown(t, titles, width) && table_cells(t, cells, width))
        write_table(t, titles, cells, width, w->out);
    else
        w->out->failed = true;
    for (size_t i = 0; i < t->n_cells; i++)
        free(cells[i]);
    for (size_t c = 0; c < t->n_cols; c++)
        free(titles[c]);
    md_end(w);
}
