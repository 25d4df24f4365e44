/* propose_name: chooses a metric's name from the words next to a number. */
#pragma once

#include "harness/propose/propose.h"

/* The name comes from the last words of the label from `from` on, else of all of it, or from the unit if
 * there are none. Words of the command are left out, as other variants have others. It is unique in p and
 * differs from the names of built-in metrics. */
void propose_name(const struct proposal *p, const char *label, size_t from, size_t len,
                  const struct strvec *command, struct proposed *out);
/* Whether the number only accompanies a result, such as a deviation or a share of the processor time. */
bool propose_is_aside(const char *name);
/* Whether a number of that unit is a time since 1970, in which no program measures. */
bool propose_is_date(double value, const char *unit);
/* Whether the label begins with a word for iterations, which "100" in front of it counts. */
bool propose_counts(const char *label, size_t len);
/* Whether the words before and behind a time say that it is that of several iterations together. */
bool propose_is_total(const char *before, size_t n_before, const char *behind, size_t n_behind);
/* Whether the word says of what a number is, such as "mean", "best" or "per". */
bool propose_is_average(const char *word, size_t len);
/* The index of the number that is most likely the result. */
size_t propose_primary(const struct proposal *p);
