/* source_file: a file that another tool wrote, as JSON. Errors: ERR_INPUT. */
#pragma once

#include "common/base/err.h"

#include <jansson.h>

/* A document, JSON lines as an array, or CSV as an array of objects of strings, as the mapping says; a
 * database of rocprofv3's is read as its kernel_trace.csv, or as kernel_stats.csv where the variant is
 * "/Name". What comes before the JSON, such as lines of a log, is skipped. units: of a CSV with such a row,
 * else NULL. Both are NULL after an error; the caller json_decref()s them. hex: char[SHA256_HEX_LEN + 1], of
 * the file's bytes. */
int source_file_load(const json_t *map, const char *path, json_t **root, json_t **units, char *hex,
                     struct err *err);
