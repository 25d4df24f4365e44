/* draft: a first plan as text with comments that say what to change, in JSON with comments or in YAML. Pure:
 * it only depends on the members of struct draft. Strings are borrowed.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"
#include "harness/propose/propose.h"

#include <jansson.h>

struct draft {
    const char *ticket, *node, *schema; /* schema: the path or address of the JSON Schema; NULL: none */
    const char *source;                 /* source.dir; NULL: no sources are sent */
    const json_t *include;              /* source.include, or NULL */
    const json_t *build;                /* commands, or NULL */
    const json_t *run;                  /* argv */
    const json_t *contexts;
    bool sized; /* the command has {context} */
    int repetitions;
    double timeout_s;
    const struct proposal *proposal;
};

/* Returns the plan without comments, which the caller json_decref()s; NULL if the command is not UTF-8. */
json_t *draft_encode(const struct draft *d);
/* Writes the plan with comments. file: its name, for the comments. */
int draft_write(const struct draft *d, bool yaml, const char *file, struct buf *out, struct err *err);
