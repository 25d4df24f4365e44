/* json: reading untrusted JSON with jansson, with errors that give the exact location.
 *
 * A struct json_at is a value together with its location ("plan.json: $.variants[2].name"); getters fail with
 * one line that names the location, what was found and what was expected. Nothing here owns the JSON: the
 * caller keeps the root alive (json_auto_t * drops it at the end of the block). Memory never fails (alloc.h),
 * so json_pack() and its like fail only for text that is not UTF-8.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/json_at.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_VALUES_MAX = 2000000 };

/* How many values the text has, or more than JSON_VALUES_MAX: each takes up to 130 bytes of memory, however
 * short its text. */
size_t json_count_values(const char *text, size_t len);

/* Parses text (duplicate keys, trailing text and more than JSON_VALUES_MAX values are errors). Returns NULL
 * on error. The caller json_decref()s. */
json_t *json_parse(const char *text, size_t len, const char *file, struct err *err);
json_t *json_load(const char *path, size_t max, struct err *err);
/* Writes sorted keys, two-space indent and a trailing newline, atomically. */
int json_save(const char *path, const json_t *value, struct err *err);
/* Appends compact text without a newline. */
int json_encode(const json_t *value, struct buf *out, struct err *err);

struct json_at json_root(const json_t *value, const char *file);
/* Its value is NULL when the member is absent. */
struct json_at json_member(const struct json_at *obj, const char *key);
struct json_at json_element(const struct json_at *arr, size_t i);

/* Returns the string at a key of an object, borrowed; "" if there is none. obj may be NULL. */
const char *json_text(const json_t *obj, const char *key);

/* For json_object_foreach(), which takes a non-const object although it only reads it. */
json_t *json_iterable(const json_t *object);

/* err_set(ERR_INPUT, "<file>: <path>: <fmt>"). With a source, the text is "<file>:<line>:<column>: <path>:
 * ..." where the place is known, and goes to its problems instead of err. Returns -1. */
int json_fail(const struct json_at *at, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails with "expected <what>, found <the value's type>". Returns -1. */
int json_expected(const struct json_at *at, const char *what, struct err *err);

/* Fails unless at is an object whose keys are all in the NULL-terminated list; suggests the nearest known
 * key. */
int json_keys(const struct json_at *at, const char *const *known, struct err *err);

/* Getters for a member: 0, or -1 with err. The _def variants leave *out unchanged when the key is absent.
 * Strings are borrowed from the JSON and never NULL; the parser rejects embedded NUL bytes. */
int json_get_str(const struct json_at *obj, const char *key, const char **out, struct err *err);
int json_get_str_def(const struct json_at *obj, const char *key, const char **out, struct err *err);
/* Copies the string to out, char[size]; one that is longer fails. */
int json_get_text(const struct json_at *obj, const char *key, char *out, size_t size, struct err *err);
int json_get_int(const struct json_at *obj, const char *key, int64_t lo, int64_t hi, int64_t *out,
                 struct err *err);
int json_get_int_def(const struct json_at *obj, const char *key, int64_t lo, int64_t hi, int64_t *out,
                     struct err *err);
/* Accepts finite numbers, including integers. */
int json_get_num(const struct json_at *obj, const char *key, double lo, double hi, double *out,
                 struct err *err);
int json_get_bool_def(const struct json_at *obj, const char *key, bool *out, struct err *err);
