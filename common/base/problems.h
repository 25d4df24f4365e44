/* problems: all errors of a document instead of the first. A reader that has failed at one part asks
 * problems_go_on() whether to read the next part, and ends with problems_since().
 *
 *     size_t before = problems_count(at);
 *     for (...)
 *         if (read_part(&part, err) != 0 && !problems_go_on(&part, err))
 *             return -1;
 *     return problems_since(at, before);
 *
 * Where nobody collects (at->source is NULL or has no problems), problems_go_on() is false and the first
 * error is returned as ever. What a failed part would have set must not be used. The owner calls
 * problems_release(); {0} is empty.
 */
#ifndef KERNSWEEP_COMMON_BASE_PROBLEMS_H
#define KERNSWEEP_COMMON_BASE_PROBLEMS_H

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
    bool more; /* than PROBLEMS_MAX, or than memory for them */
    struct json_mark mark;
    char path[JSON_PLACE_MAX]; /* where json_fail() failed last */
};

/* The position of the next error, told by json_fail(). */
void problems_at(struct json_problems *p, const struct json_mark *mark, const char *path);
/* Takes the error, if at's document collects errors of its content: false means return -1. */
bool problems_go_on(const struct json_at *at, struct err *err);
/* The number so far; 0 if nobody collects. */
size_t problems_count(const struct json_at *at);
/* 0 if there was none since then, else -1; err is then empty. */
int problems_since(const struct json_at *at, size_t before);

void problems_add(struct json_problems *p, const char *text);
/* By their positions. */
void problems_sort(struct json_problems *p);
void problems_release(struct json_problems *p);

#endif
