/* propose_lines: numbers with units in lines of text, and a pattern that finds them again. */
#pragma once

#include "harness/propose/propose.h"

/* Adds to out what the line has; the last of equal lines counts. */
void propose_line(struct proposal *out, const char *line, size_t len, size_t number);
/* A row of the table that llama-bench prints; *column: of the rate, 0 before its head was seen. */
void propose_table_row(struct proposal *out, const char *line, size_t len, size_t number, int *column);
