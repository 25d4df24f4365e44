/* propose_lines: proposes numbers with units in lines of text, with a pattern that finds them again. */
#pragma once

#include "harness/propose/propose.h"

/* Adds the numbers of the line to out; of lines of the same form, the last one counts. labelled: only lines
 * in which a number stands behind a label that ends in ':' or '='; otherwise only the others. */
void propose_line(struct proposal *out, const char *line, size_t len, size_t number, bool labelled,
                  const struct strvec *command);
/* Reads a row of the table that llama-bench prints. *column: that of the rate; 0 before the heading. */
void propose_table_row(struct proposal *out, const char *line, size_t len, size_t number, int *column);
