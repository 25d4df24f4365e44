/* propose_pattern: builds the pattern that finds a line of output again, on other days and of other variants.
 */
#pragma once

#include "harness/propose/propose.h"

enum { PATTERN_SEGMENT_MAX = 800 };

/* A number with its sign, fraction and exponent. */
#define PATTERN_NUMBER "[-+.0-9eE]+"

struct segment {
    char text[PATTERN_SEGMENT_MAX];
    size_t used;
    bool cut; /* it did not fit */
};

void segment_add(struct segment *s, const char *pattern);
/* Adds a label: white space and padding may vary in length, numbers in value, and words of the command in
 * everything. Digits within a word (P99, L2, fp16) are part of it unless the command has them, or they count
 * devices or repetitions. */
void segment_add_label(struct segment *s, const char *label, size_t len, const struct strvec *command);
/* Whether a word of the label is one of the command's, which another variant will not print. */
bool pattern_names_variant(const char *word, size_t len, const struct strvec *command);
/* Adds "(?<name>number)". */
void segment_add_number(struct segment *s, const char *name);

/* Adds a line's numbers to the proposal, with their pattern. Of lines of one form a node keeps the last, so
 * of these only the values are taken. */
void pattern_take(struct proposal *out, const struct segment *s, const struct proposed *found, size_t count);

/* The length of the number that begins at line[at] and is no part of a word, a version, a date, a clock's
 * time or a number with commas; 0 if none begins there. */
size_t pattern_number(const char *line, size_t len, size_t at);
/* The length of the number with separators between groups of digits that begins at line[at]: "1,234.5",
 * "1'234", also blanks if those may be some; 0 if none begins there. */
size_t pattern_grouped(const char *line, size_t len, size_t at, bool blanks);
/* The length of the time in several units that begins at line[at]: "1h 2m 3s"; 0 if none begins there. */
size_t pattern_duration(const char *line, size_t len, size_t at);
