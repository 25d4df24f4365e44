/* problems: all errors of a document, in the order in which they were found. A document collects them if its
 * json_source (json_at.h) names where to: json_fail() then adds to the list and leaves err alone. So a reader
 * of several parts reads them all, and whoever began asks problems_first() at the end.
 *
 *     int rc = 0;
 *     for (...)
 *         rc |= read_part(&part, err);
 *     return rc;
 *
 * What a failed part would have set must not be used. The owner calls problems_release(); {0} is empty.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/json_at.h"

#include <stddef.h>

enum { PROBLEMS_MAX = 200 };

struct problem {
    struct json_mark mark;
    char *path; /* "" if unknown */
    char *text; /* the whole message */
};

struct json_problems {
    struct problem *item;
    size_t count;
    bool more; /* than PROBLEMS_MAX */
};

/* Keeps the first of several with the same path, unless that is "". */
void problems_add(struct json_problems *p, const struct json_mark *mark, const char *path, const char *text);
/* Returns what reading a document returns: rc, with the first problem, if there is one, in err. */
int problems_first(const struct json_problems *p, int rc, struct err *err);
/* Sorts them by their positions. */
void problems_sort(struct json_problems *p);
void problems_release(struct json_problems *p);
