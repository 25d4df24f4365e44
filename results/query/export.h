/* export: stored runs for other programs as CSV, JSON (one array) or JSON lines, with one row per test; and
 * the whole store as SQL.
 *
 * Rows are streamed to the caller's sink, so that the size of the store does not matter. Numbers are written
 * so that reading them yields the same value (up to 17 digits); missing values are empty or null. Read-only,
 * within one snapshot. Errors: ERR_STORAGE, and those of the sink.
 */
#pragma once

#include "results/store/run_data.h"
#include "results/store/store.h"

enum export_format {
    EXPORT_CSV,
    EXPORT_JSON,
    EXPORT_JSONL,
    EXPORT_SQL,
    EXPORT_OPENMETRICS, /* openmetrics.h */
    EXPORT_FORMAT_COUNT
};

bool export_format_from_name(const char *name, enum export_format *out);

/* 0, or -1 with err. */
typedef int export_sink(void *arg, const char *data, size_t len, struct err *err);

/* run_key 0: every run, oldest first. Only for CSV and both kinds of JSON. */
int export_tests(struct store *s, int64_t run_key, enum export_format format, export_sink *sink, void *arg,
                 struct err *err);
int export_sql(struct store *s, export_sink *sink, void *arg, struct err *err);
