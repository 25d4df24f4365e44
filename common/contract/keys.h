/* keys: the keys of a JSON object as rows of a table. A row gives a key's name, type, default and bounds;
 * reading, writing, the list of known keys and the tests of the JSON Schemas all use it.
 *
 * A key may appear in a plan, in the job made from it, or in both. Where a plan groups keys in an object
 * ("sampling": {"interval_ms": 100}), the row names that object; a job is flat. Strings are borrowed from the
 * JSON. Errors: ERR_INPUT with file, location and what was found.
 */
#pragma once

#include "common/base/json.h"

#include <stddef.h>

enum key_kind {
    KEY_CONST,  /* the string `text`; not stored */
    KEY_FLAG,   /* bool */
    KEY_COUNT,  /* int64_t */
    KEY_NUMBER, /* double, finite */
    KEY_CHOICE, /* an enum: the index in `words` */
    KEY_WORD,   /* const char *: one of `words` */
    KEY_NAME,   /* const char *: text_is_name() and at most `most` bytes */
    KEY_TEXT,   /* const char *: `least` to `most` bytes, and `accepts` returns true */
    KEY_PART,   /* an object or array that is read elsewhere */
};

/* The type of a member, by kind, for tables that declare their members too. */
#define KEY_TYPE_FLAG bool
#define KEY_TYPE_COUNT int64_t
#define KEY_TYPE_NUMBER double
#define KEY_TYPE_CHOICE int
#define KEY_TYPE_WORD const char *
#define KEY_TYPE_NAME const char *
#define KEY_TYPE_TEXT const char *

/* Bits of a set. */
enum document { IN_PLAN = 1, IN_JOB = 2, IN_BOTH = IN_PLAN | IN_JOB };

struct key {
    const char *name;
    const char *object;   /* the object that contains it in a plan, or NULL */
    const char *job_name; /* its name in a job, where different */
    enum key_kind kind;
    unsigned in;        /* set of enum document bits */
    bool required;      /* within its object, which may itself be absent */
    bool or_empty;      /* KEY_NAME: "" is allowed */
    size_t offset;      /* in the struct that the table is read into */
    double least, most; /* inclusive; lengths in bytes for KEY_TEXT and KEY_NAME */
    double usual;     /* default of flags, numbers and choices; outside the bounds: no default to document */
    const char *text; /* default of words, names and texts; the value of a KEY_CONST */
    const char *const *words;          /* NULL-terminated */
    bool (*accepts)(const char *text); /* or NULL */
    const char *expected;              /* for messages: "a path on the node"; NULL: derived from the kind */
};

/* Begins a row whose key has the name of the struct member. */
#define KEY_AT(type, member) .name = #member, .offset = offsetof(type, member)

/* The same for a member of a part of the struct, and a key of the object that is named as the part. */
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member cannot stand in parentheses
#define KEY_IN(type, part, member) .name = #member, .object = #part, .offset = offsetof(type, part.member)

/* Rows, terminated by one without a name, and the struct to read them into. */
struct key_table {
    const struct key *rows;
    void *out;
};

/* Sets all defaults, rejects keys that no table has for this document, and reads the others. */
int keys_read(const struct json_at *at, enum document in, const struct key_table *tables, size_t n,
              struct err *err);
/* Adds to job the rows that a job has, from values (the struct of the rows). NULL texts are omitted. */
void keys_encode_job(json_t *job, const struct key *rows, const void *values);

/* Checks a value, which must not be absent, against its row. */
int key_check(const struct key *k, const struct json_at *at, struct err *err);
/* Returns the default as JSON, owned by the caller; NULL when there is none. */
json_t *key_usual(const struct key *k);
const char *key_name(const struct key *k, enum document in);
