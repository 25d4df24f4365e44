#include "reports/render/table.h"

#include "common/base/alloc.h"

#include <stdlib.h>
#include <string.h>

void table_init(struct table *t)
{
    *t = (struct table){0};
}

void table_release(struct table *t)
{
    for (size_t i = 0; i < t->n_cols; i++)
        free(t->cols[i].title);
    for (size_t i = 0; i < t->n_cells; i++) {
        free(t->cells[i].text);
        free(t->cells[i].link);
    }
    free(t->cells);
    table_init(t);
}

void table_column(struct table *t, const char *title, bool right)
{
    if (t->n_cols == TABLE_COLS_MAX || t->n_cells > 0) {
        t->failed = true;
        return;
    }
    t->cols[t->n_cols++] = (struct table_col){.title = xstrdup(title), .right = right};
}

void table_titles(struct table *t, enum report_lang lang, bool right, const enum msg *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        table_column(t, message(lang, ids[i]), right);
}

static void table_add(struct table *t, const char *text, enum cell_kind kind, enum cell_mark mark)
{
    t->failed |= t->n_cols == 0;
    if (t->failed)
        return;
    ALLOC_GROW(t->cells, t->n_cells + 1, t->cap);
    t->cells[t->n_cells++] = (struct table_cell){.text = xstrdup(text), .kind = kind, .mark = mark};
}

void table_text(struct table *t, const char *text)
{
    table_add(t, text, CELL_TEXT, MARK_NONE);
}

void table_code(struct table *t, const char *text)
{
    table_add(t, text, CELL_CODE, MARK_NONE);
}

void table_link(struct table *t, const char *text, const char *target)
{
    table_add(t, text, CELL_CODE, MARK_NONE);
    if (!t->failed)
        t->cells[t->n_cells - 1].link = xstrdup(target);
}

void table_marked(struct table *t, const char *text, enum cell_mark mark)
{
    table_add(t, text, CELL_TEXT, mark);
}

static bool says_nothing(const struct table *t, size_t col)
{
    for (size_t i = col; i < t->n_cells; i += t->n_cols)
        if (*t->cells[i].text && strcmp(t->cells[i].text, "-") != 0)
            return false;
    return t->n_cells > 0;
}

static void drop_column(struct table *t, size_t col)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n_cells; i++) {
        if (i % t->n_cols != col) {
            t->cells[kept++] = t->cells[i];
            continue;
        }
        free(t->cells[i].text);
        free(t->cells[i].link);
    }
    t->n_cells = kept;
    free(t->cols[col].title);
    memmove(&t->cols[col], &t->cols[col + 1], (--t->n_cols - col) * sizeof *t->cols);
}

void table_drop_empty(struct table *t, size_t first)
{
    if (!table_ok(t))
        return;
    for (size_t col = t->n_cols; col-- > first;)
        if (t->n_cols > 1 && says_nothing(t, col))
            drop_column(t, col);
}

size_t table_rows(const struct table *t)
{
    return t->n_cols ? t->n_cells / t->n_cols : 0;
}

bool table_ok(const struct table *t)
{
    return !t->failed && t->n_cols > 0 && t->n_cells % t->n_cols == 0;
}

size_t table_text_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        if (((unsigned char)*text & 0xc0) != 0x80)
            width++;
    return width;
}

void table_note(struct table *t, const char *title)
{
    table_column(t, title, false);
    if (t->n_cols)
        t->cols[t->n_cols - 1].note = true;
}
