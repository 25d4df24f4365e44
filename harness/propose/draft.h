/* draft: a first plan, as text with comments that say what to change: JSON with comments, or YAML. Pure: what
 * it is made of is given, a proposal among it. Strings are borrowed.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"
#include "harness/propose/propose.h"

#include <jansson.h>

struct draft {
    const char *ticket, *node, *schema; /* schema: the path or address of the JSON Schema; NULL: none */
    const char *source;                 /* source.dir; NULL: nothing is sent */
    const json_t *include;              /* source.include, or NULL */
    const json_t *build;                /* commands, or NULL */
    const json_t *run;                  /* argv */
    const json_t *contexts;
    bool sized; /* the command has {context} */
    int repetitions;
    double timeout_s;
    const struct proposal *proposal;
};

/* The plan itself, without comments; the caller json_decref()s. NULL for a command that is not UTF-8. */
json_t *draft_encode(const struct draft *d);
/* The same with comments. file: its name, for the comments. */
int draft_write(const struct draft *d, bool yaml, const char *file, struct buf *out, struct err *err);
