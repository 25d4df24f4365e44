/* csv: a file of comma-separated values with a header, as JSON: an array of objects of strings, as RFC 4180
 * quotes them. A row with another number of fields than the header is an error that names its line.
 */
#ifndef KERNSWEEP_RESULTS_INGEST_CSV_H
#define KERNSWEEP_RESULTS_INGEST_CSV_H

#include "common/base/err.h"

#include <jansson.h>
#include <stddef.h>

/* The caller json_decref()s; NULL with err. file: for messages. */
json_t *csv_parse(const char *text, size_t len, const char *file, struct err *err);

#endif
