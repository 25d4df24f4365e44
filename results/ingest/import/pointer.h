/* pointer: JSON pointers (RFC 6901) with two extensions: "[key=value]" selects the first element of an array
 * whose member key has that text, and "#" is an index given by the caller. Knows nothing of mappings. Nothing
 * is owned.
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>

/* The value at the pointer below root, or NULL. index: the value of "#". */
json_t *pointer_find(json_t *root, const char *pointer, size_t index);

/* Calls fn for every value that a pointer with "*" matches: each element of an array, or each member of an
 * object whose members are all objects or arrays; any other object stands for itself. parent: the element
 * selected by the second innermost "*", or the root; place: the pointer to the value, and key the name of the
 * member that the innermost "*" matched, or NULL. fn returns 0 to continue, -1 to stop. */
struct pointer_match {
    json_t *value;
    json_t *parent;
    const char *place;
    const char *key;
};
typedef int pointer_fn(const struct pointer_match *m, void *arg, struct err *err);
int pointer_each(json_t *root, const char *pointer, pointer_fn *fn, void *arg, struct err *err);
