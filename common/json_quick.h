/* json_quick: JSON as machines write it, several times as fast as jansson's lexer reads it.
 *
 * Takes plain documents only: printable ASCII without escapes, numbers of ordinary length, shallow, no key
 * twice. For anything else, good or bad, it gives NULL, and jansson reads or refuses it (json.c): whatever is
 * taken here is what jansson would have made of it. Knows nothing of files or errors.
 */
#ifndef KERNSWEEP_COMMON_JSON_QUICK_H
#define KERNSWEEP_COMMON_JSON_QUICK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* NULL: not plain. The caller json_decref()s. */
json_t *json_quick_parse(const char *text, size_t len);

/* A decimal of at most 15 digits without an exponent, which is exact; moves *at behind it. */
bool json_quick_decimal(const char **at, const char *end, double *out);

#endif
