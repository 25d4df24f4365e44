/* lenient: parses JSON that other programs assembled as text.
 *
 * Accepts, in addition to JSON: a UTF-8 byte-order mark, NaN and Infinity (as Python writes them; they become
 * the strings "NaN", "Infinity" and "-Infinity") and numbers without a leading zero (".51", as bc prints
 * them). Everything else that is not JSON remains an error. Knows nothing of what the values mean.
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stddef.h>

/* As json_parse(): NULL on error, with the place in the file. The caller json_decref()s. */
json_t *lenient_parse(const char *text, size_t len, const char *file, struct err *err);

/* Length of the byte-order mark that the text begins with, or 0. */
size_t lenient_mark(const char *text, size_t len);
