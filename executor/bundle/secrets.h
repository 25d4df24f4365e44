/* secrets: values that must not appear in any artifact, and their replacement by "***": in JSON strings, and
 * in a process's output as a stream, where a value may be split between two reads. Values shorter than
 * SECRET_MIN are refused.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"
#include "executor/bundle/job.h"

#include <jansson.h>
#include <stddef.h>

enum { SECRET_MIN = LIMIT_SECRET_MIN, SECRET_MAX = LIMIT_ARG_BYTES };

struct secrets {
    const char **value; /* borrowed from the job, the environment and `forms`; longest first */
    size_t count;
    char **forms; /* owned: the values as JSON, shells and Python quote them, where that differs */
    size_t n_forms;
    size_t longest;
};

int secrets_init(struct secrets *s, const struct job *job, struct err *err);
void secrets_release(struct secrets *s);

/* Returns a copy with every string cleaned, or a new reference if there are no secrets; NULL for NULL. */
json_t *secrets_clean_json(const struct secrets *s, json_t *value);
/* Makes a plain copy if s is NULL or empty. */
void secrets_clean_text(const struct secrets *s, const char *text, size_t len, struct buf *out);

/* Cleans the text, makes it printable, then cuts it at cap: otherwise a part of a secret might stay. */
void secrets_printable(const struct secrets *s, const char *text, size_t len, char *out, size_t cap);

typedef void secrets_sink(void *arg, const char *data, size_t len);

/* Whether any secret is in the text. */
bool secrets_in_text(const struct secrets *s, const char *text, size_t len);

/* Cleans a stream. `held` keeps the end of the last read while it may be the beginning of a secret. */
struct secrets_stream {
    const struct secrets *secrets;
    struct buf held;
    size_t found; /* secrets that were replaced */
    secrets_sink *sink;
    void *arg;
};

void secrets_stream_init(struct secrets_stream *s, const struct secrets *secrets, secrets_sink *sink,
                         void *arg);
void secrets_stream_feed(struct secrets_stream *s, const char *data, size_t len);
/* Flushes what was held. */
void secrets_stream_end(struct secrets_stream *s);
void secrets_stream_release(struct secrets_stream *s);
