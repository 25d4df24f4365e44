/* value: evaluates one field of a mapping for one row of a file. For import.c only.
 *
 * A field is a JSON pointer, or an object with a source ("at" a pointer, "from" row, parent or file;
 * "element"; "key"; "const") and conversions ("unit", "times", "match", "words", "join", "default"). Errors
 * name the file, the place and the field.
 */
#pragma once

#include "common/base/err.h"
#include "results/store/run_data.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct import_scope {
    const char *file;  /* for messages */
    const char *place; /* of the row in the file */
    json_t *root;
    json_t *units; /* of a CSV file's columns, as its second row names them, or NULL */
    json_t *parent;
    json_t *row;
    json_t *element; /* of the row's "repeat" array, or NULL */
    size_t index;    /* its number */
    const char *key; /* the row's name in the object whose members the rows are, or NULL */
};

enum { IMPORT_TEXT_MAX = 1024 };

/* 1: found; 0: no such field, or its value is missing and optional; -1: error. field may be NULL. */
int import_text(const struct import_scope *s, const json_t *field, const char *name, char *out, size_t size,
                struct err *err);
/* Yields the number in `unit`. An empty text counts as missing. What is written as a number but has no value
 * (NaN, Infinity) is found, and is NaN. */
int import_number(const struct import_scope *s, const json_t *field, const char *name, const char *unit,
                  double *out, struct err *err);
int import_integer(const struct import_scope *s, const json_t *field, const char *name, int64_t lo,
                   int64_t hi, int64_t *out, struct err *err);

/* The factor from a unit of other tools to one of ours; false if their dimensions differ. "" is a plain
 * number. */
bool unit_factor(const char *from, const char *to, double *factor);
