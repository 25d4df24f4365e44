/* propose_table: proposes the columns of tables whose heading has units, or whose cells have them: columns
 * between bars, commas, tabs or spaces.
 */
#pragma once

#include "harness/propose/propose.h"

enum { TABLE_COLUMNS_MAX = 64 };

struct table_cell {
    const char *text;
    size_t len;
};

struct table {
    char separator;                               /* '|', ',', tab or ' '; '\0': no heading yet */
    bool beside;                                  /* rows begin with a label that has no heading */
    struct table_cell heading[TABLE_COLUMNS_MAX]; /* in the sample */
    size_t columns;
    size_t indent;         /* of the first heading */
    size_t line;           /* of the heading, or of its last row */
    bool seen;             /* a row was read, of which: */
    unsigned long numbers; /* a bit per column that is a number */
};

/* Reads a line, which is a heading, a row or neither. Returns whether it was a row with numbers. */
bool propose_table_line(struct table *t, struct proposal *out, const char *line, size_t len, size_t number,
                        const struct strvec *command);
