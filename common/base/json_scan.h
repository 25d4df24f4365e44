/* json_scan: the tokens of a JSON text, for positions in messages. Never fails: text that is not JSON yields
 * tokens of the kind JSON_OTHER. Columns count characters, both from 1.
 */
#pragma once

#include "common/base/json_at.h"

#include <stddef.h>

struct json_scan {
    const char *text;
    size_t len, next; /* bytes; where the next token is searched */
};

struct json_token {
    size_t at, len; /* bytes */
    char kind;      /* one of {}[]:, or JSON_TEXT, JSON_OTHER, JSON_END */
};

enum { JSON_TEXT = '"', JSON_OTHER = 'x', JSON_END = '\0' };

struct json_token json_scan_next(struct json_scan *s);
struct json_mark json_scan_mark(const char *text, size_t at);

/* Describes an error of jansson at text in plain words: what was expected and what was found. mark: of what
 * was found. out: char[cap]. */
void json_scan_explain(const char *text, size_t len, const json_error_t *e, struct json_mark *mark, char *out,
                       size_t cap);

/* Returns the position of the value at path ("$.a[0].b") of a valid text or, with key, of its key; of what
 * contains it if it is absent. */
struct json_mark json_scan_locate(const char *text, size_t len, const char *path, bool key);
