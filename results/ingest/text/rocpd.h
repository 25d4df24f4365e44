/* rocpd: reads the database that rocprofv3 writes by default (SQLite: tables rocpd_*, of which views are what
 * others read), as rows under the names that its CSV has. A database is untrusted: it is read from memory,
 * its views may do nothing but read, and time, rows and sizes are limited.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>

enum rocpd_rows {
    ROCPD_DISPATCHES, /* of kernels, as in kernel_trace.csv */
    ROCPD_COUNTERS,   /* of dispatches, as in counter_collection.csv */
    ROCPD_KERNELS,    /* each with what its dispatches took, as in kernel_stats.csv */
};

bool rocpd_is(const char *bytes, size_t len);

/* The caller json_decref()s the array of objects of strings. Changes the bytes. file: for messages. NULL with
 * ERR_INPUT for what is no such database, is damaged, or exceeds a limit. */
json_t *rocpd_read(struct buf *bytes, enum rocpd_rows what, const char *file, struct err *err);
