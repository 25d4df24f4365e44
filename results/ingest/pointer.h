/* pointer: JSON pointers (RFC 6901) with two additions for files that others designed: "[key=value]" picks
 * the first element of an array whose member key has that text, and "#" stands for a number that the caller
 * gives. ~0 and ~1 are ~ and /. Knows nothing of mappings. Nothing is owned.
 */
#ifndef KERNSWEEP_RESULTS_INGEST_POINTER_H
#define KERNSWEEP_RESULTS_INGEST_POINTER_H

#include "common/base/err.h"

#include <jansson.h>

/* The value at the pointer below root, or NULL when there is none. index: what "#" means. */
json_t *pointer_find(json_t *root, const char *pointer, size_t index);

/* Every value that a pointer with "*" means ("*": each element of an array), with the element that the
 * second innermost "*" chose, or the root, as its parent; place is the plain pointer to it. fn returns 0 to
 * go on, -1 to stop. */
typedef int pointer_fn(json_t *value, json_t *parent, const char *place, void *arg, struct err *err);
int pointer_each(json_t *root, const char *pointer, pointer_fn *fn, void *arg, struct err *err);

#endif
