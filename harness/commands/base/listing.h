/* listing: the options that all commands that list runs share: the number of rows and their order.
 *
 * JSON is complete unless --limit is given; a table has the first rows and says how many are missing.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Words of the command line; NULL where absent. */
struct listing_args {
    const char *limit, *sort;
    bool all;
};

struct listing {
    size_t limit; /* SIZE_MAX: all */
    size_t key;   /* index into the command's keys */
};

/* keys: values of --sort, NULL-terminated, the default first; usual: rows of a table without options. */
int listing_parse(const struct listing_args *a, const char *const *keys, size_t usual, bool json,
                  struct listing *out, struct err *err);

/* Notes how many rows were left out, if any: "12 older runs are not shown: ...". what: "older run". */
void listing_note(size_t left_out, const char *what, FILE *notes);
