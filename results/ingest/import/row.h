/* row: one row of a file becomes the tests that a mapping says it has. For import.c only. Errors: ERR_INPUT.
 */
#pragma once

#include "results/ingest/draft/draft.h"
#include "results/ingest/import/pointer.h"

struct importing {
    json_t *names; /* of variants: what each was made of; true once more than one was found */
    int64_t rows;  /* so far, of this file */
    int64_t files; /* so far */
    bool empty;    /* there were rows, and none gave a test */
    const json_t *map;
    const char *file;
    json_t *root, *units;
    struct draft *d;
};

/* A pointer_fn: adds the row's tests to the draft. arg: struct importing. */
int import_row(const struct pointer_match *m, void *arg, struct err *err);
