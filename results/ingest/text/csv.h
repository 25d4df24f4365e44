/* csv: parses comma-separated values with a header (RFC 4180) into a JSON array of objects of strings. A row
 * whose number of fields differs from the header's is an error that names its line, unless it ends in an
 * empty field. */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* What else is in the file. */
struct csv_options {
    const char *heading; /* lines before the one that begins with this are skipped; NULL: none is */
    bool units;          /* the row after the header names units, which *units_row becomes */
};

/* The caller json_decref()s, also *units; NULL with err. options and units may be NULL. file: for messages.
 */
json_t *csv_parse(const char *text, size_t len, const char *file, const struct csv_options *options,
                  json_t **units, struct err *err);
