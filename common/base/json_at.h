/* json_at: a value of a JSON document together with its location, and what is known of the text that it was
 * read from. Readers pass it down by json_member() and json_element() (json.h).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

enum { JSON_PLACE_MAX = 512 };

/* Counted from 1, columns in characters; 0: unknown. */
struct json_mark {
    unsigned line, column;
};

struct json_problems;

/* What is known of the text that a document was read from; embedded by whoever keeps the text. */
struct json_source {
    /* Finds the value at path or, with key, its key; if it is absent, the object that would have it. NULL:
     * errors give no line. */
    bool (*locate)(const struct json_source *s, const char *path, bool key, struct json_mark *out);
    struct json_problems *problems; /* collects all errors (problems.h); never NULL */
};

struct json_at {
    const json_t *value;
    const char *file;                 /* not owned */
    const struct json_source *source; /* not owned; NULL: the error is in err alone */
    char path[JSON_PLACE_MAX];
};
