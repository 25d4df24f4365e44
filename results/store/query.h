/* query: runs one read-only SQL statement of the user (`kernsweep sql`).
 *
 * The store is open for reading; in addition, an authorizer denies everything but reading its tables, and a
 * deadline stops slow statements. Errors: ERR_INPUT with SQLite's message for a statement that is invalid or
 * not allowed, ERR_INTERRUPTED after a signal that the store heeds.
 */
#pragma once

#include "results/store/store.h"

struct query_row {
    size_t columns;
    const char *const *names;
    const char *const *values; /* NULL for NULL; a blob as X'..' */
    const int *types;          /* SQLITE_INTEGER, ... */
};

/* 0, or -1 with err to stop. The row is valid until the call returns. */
typedef int query_fn(void *arg, const struct query_row *row, struct err *err);

/* header is called once, with the names and no values, before the first row; may be NULL. */
int query_run(struct store *s, const char *sql, double timeout_s, query_fn *header, query_fn *row, void *arg,
              struct err *err);
