/* propose_lines: numbers with units in lines of text, and a pattern that finds them again. */
#pragma once

#include "harness/propose/propose.h"

/* Adds to out what the line has; the last of equal lines counts. */
void propose_line(struct proposal *out, const char *line, size_t len, size_t number);
/* A row of the table that llama-bench prints; *column: of the rate, 0 before its head was seen. False if the
 * line is none. */
bool propose_table_row(struct proposal *out, const char *line, size_t len, size_t number, int *column);

/* Adds an alternative to the pattern; false if it does not fit, or is there. */
bool propose_add_pattern(struct proposal *out, const char *pattern);
/* Appends text so that a pattern matches it: spaces match any number of them, digits any number. */
size_t propose_escape(char *out, size_t cap, const char *text, size_t len);
