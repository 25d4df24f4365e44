/* source: the file of another tool as JSON: a document, JSON lines as an array, or CSV as an array of
 * objects of strings. Tolerates what such files contain (lenient.h). For import.c only. */
#ifndef KERNSWEEP_RESULTS_INGEST_IMPORT_SOURCE_H
#define KERNSWEEP_RESULTS_INGEST_IMPORT_SOURCE_H

#include "common/base/err.h"
#include "common/base/sha256.h"

#include <jansson.h>
#include <stdbool.h>

/* The caller json_decref()s; NULL with err. hex: char[SHA256_HEX_LEN + 1], of the file's bytes. */
json_t *import_source_load(const char *path, bool csv, char *hex, struct err *err);

#endif
