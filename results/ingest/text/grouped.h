/* grouped: numbers that other programs write with separators of thousands. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes the number as strtod() reads it: "1,410,000.5" with decimal '.', "1.410.000,5" with ','. Returns
 * false if a separator does not stand before three digits, as in "15,72", or if it does not fit. */
bool grouped_plain(const char *text, char decimal, char *out, size_t cap);
