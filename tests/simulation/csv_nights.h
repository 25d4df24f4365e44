/* csv_nights: histories of benchmarks from a CSV file, judged night by night by the judge and by simple
 * rules.
 *
 * Columns series, night, value, and optionally n, the number of repetitions behind the value. Several rows of
 * one series and night are its repetitions. Nights are ordered as numbers if all are, else as text (dates).
 * All series are taken for cells of one plan on one node, so that they have a common factor.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

/* Prints what is flagged: night, series, who, change; then a summary, and the change points of each series.
 * Errors: ERR_INPUT, ERR_STORAGE. */
int csv_nights_print(const char *path, bool more_is_better, struct err *err);
