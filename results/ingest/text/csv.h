/* csv: parses comma-separated values with a header (RFC 4180) into a JSON array of objects of strings. A row
 * whose number of fields differs from the header's is an error that names its line. */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stddef.h>

/* The caller json_decref()s; NULL with err. file: for messages. */
json_t *csv_parse(const char *text, size_t len, const char *file, struct err *err);
