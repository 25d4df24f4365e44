/* table: rows of text cells, with a title and an alignment per column; filled once, then written as aligned
 * text for a terminal or as a Markdown table (markdown.h). Cells are copied. Like struct buf, a table
 * remembers a failure (a row of the wrong length) instead of returning it for every cell: check
 * table_ok() at the end.
 */
#pragma once

#include "common/base/buf.h"
#include "reports/words/message.h"

#include <stdbool.h>
#include <stddef.h>

enum { TABLE_COLS_MAX = 16, TABLE_CELL_MAX = 512 };

enum cell_kind {
    CELL_TEXT, /* words from the catalogue, numbers */
    CELL_CODE, /* external text: names, hashes, reasons */
};

/* Meaning of a colour; always expressed in words too. */
enum cell_mark { MARK_NONE, MARK_GOOD, MARK_BAD, MARK_WARN };

struct table_cell {
    char *text;
    char *link; /* target in a document, or NULL; a terminal shows the text alone */
    enum cell_kind kind;
    enum cell_mark mark;
};

struct table_col {
    char *title;
    bool right;
    bool note;
};

struct table {
    struct table_col cols[TABLE_COLS_MAX];
    size_t n_cols;
    struct table_cell *cells; /* row by row */
    size_t n_cells;
    size_t cap;
    bool failed;
};

void table_init(struct table *t);
void table_release(struct table *t);

/* Columns first, then cells from left to right, row after row. */
void table_column(struct table *t, const char *title, bool right);
/* Of sentences, whose clauses are separated by "; ". */
void table_note(struct table *t, const char *title);
/* Adds several columns, titled by their messages: of words, or of numbers, which stand on the right. */
#define table_texts(t, lang, ...) TABLE_TITLES((t), (lang), false, __VA_ARGS__)
#define table_numbers(t, lang, ...) TABLE_TITLES((t), (lang), true, __VA_ARGS__)
#define TABLE_TITLES(t, lang, right, ...)                                                                    \
    table_titles((t), (lang), (right), (const enum msg[]){__VA_ARGS__},                                      \
                 sizeof((const enum msg[]){__VA_ARGS__}) / sizeof(enum msg))
void table_titles(struct table *t, enum report_lang lang, bool right, const enum msg *ids, size_t n);
void table_text(struct table *t, const char *text);
void table_code(struct table *t, const char *text);
void table_link(struct table *t, const char *text, const char *target);
void table_marked(struct table *t, const char *text, enum cell_mark mark);

/* Removes the columns, from `first` on, that hold only "-" or nothing. */
void table_drop_empty(struct table *t, size_t first);

size_t table_rows(const struct table *t);
bool table_ok(const struct table *t);

/* What a table is printed on. columns 0: no terminal, but a file or another program. */
struct screen {
    bool colour;
    size_t columns;
};

/* Columns are separated by two spaces; external text is made printable. On a terminal that is too narrow,
 * notes stand below their rows, broken between words, and clauses of theirs that all rows have stand once
 * above; of a grid that is still too wide, columns that are the same in all rows are told once, then titles
 * are broken, then rows. For others,
 * each row is one line.
 */
void table_write_text(const struct table *t, struct screen screen, struct buf *out);

/* Number of code points in valid UTF-8, which is the width on a terminal for the scripts that we print. */
size_t table_text_width(const char *text);
