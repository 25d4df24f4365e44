/* keys: the keys of a JSON object as the rows of a table. A row says a key's name, type, default and bounds
 * once; reading, writing, the list of known keys and the tests of the JSON Schemas all work from it.
 *
 * A key may stand in a plan, in the job that is made from it, or in both. Where a plan groups keys in an
 * object ("sampling": {"interval_ms": 100}), the row names that object; a job is flat. Strings are borrowed
 * from the JSON. Knows nothing of any particular key. Errors: ERR_INPUT with file, place and what was found.
 */
#ifndef KERNSWEEP_COMMON_CONTRACT_KEYS_H
#define KERNSWEEP_COMMON_CONTRACT_KEYS_H

#include "common/base/json.h"

#include <stddef.h>

enum key_kind {
    KEY_CONST,  /* the string `text`; not stored */
    KEY_FLAG,   /* bool */
    KEY_COUNT,  /* int64_t */
    KEY_NUMBER, /* double, finite */
    KEY_CHOICE, /* an enum: the position in `words` */
    KEY_WORD,   /* const char *: one of `words` */
    KEY_NAME,   /* const char *: as text_is_name() has it, of at most `most` bytes */
    KEY_TEXT,   /* const char *: of `least` to `most` bytes, and as `accepts` has it */
    KEY_PART,   /* an object or array with a reader of its own */
};

/* The type of a member, by kind, for tables that declare their members too. */
#define KEY_TYPE_FLAG bool
#define KEY_TYPE_COUNT int64_t
#define KEY_TYPE_NUMBER double
#define KEY_TYPE_CHOICE int
#define KEY_TYPE_WORD const char *
#define KEY_TYPE_NAME const char *
#define KEY_TYPE_TEXT const char *

/* A set of them. */
enum document { IN_PLAN = 1, IN_JOB = 2, IN_BOTH = IN_PLAN | IN_JOB };

struct key {
    const char *name;
    const char *object;   /* the object of a plan that has the key, or NULL */
    const char *job_name; /* in a job, where it is not `name` */
    enum key_kind kind;
    unsigned in;        /* set of enum document */
    bool required;      /* within its object, where that may be absent */
    bool or_empty;      /* KEY_NAME: "" is as good */
    size_t offset;      /* in the structure that the table is read into */
    double least, most; /* inclusive; of KEY_TEXT and KEY_NAME the bytes */
    double usual;       /* default of flags, numbers and choices; outside the bounds: none to write down */
    const char *text;   /* default of words, names and texts; what a KEY_CONST must be */
    const char *const *words;          /* NULL-terminated */
    bool (*accepts)(const char *text); /* or NULL */
    const char *expected;              /* for the message: "a path on the node"; NULL: as the kind says */
};

/* The most usual beginning of a row: the key is called as the member. */
#define KEY_AT(type, member) .name = #member, .offset = offsetof(type, member)

/* Rows, ended by one without a name, and the structure that they are read into. */
struct key_table {
    const struct key *rows;
    void *out;
};

/* Sets all defaults, refuses keys that none of the tables has in this document, and reads those that do. */
int keys_read(const struct json_at *at, enum document in, const struct key_table *tables, size_t n,
              struct err *err);
/* Adds the keys that a job has to it, from values (the structure of rows). Texts that are NULL stay away. */
int keys_encode_job(json_t *job, const struct key *rows, const void *values);

/* Checks one value, which is there, against its row. */
int key_check(const struct key *k, const struct json_at *at, struct err *err);
/* The default as JSON, which the caller json_decref()s; NULL when there is none. */
json_t *key_usual(const struct key *k);
/* The key's name in a document. */
const char *key_name(const struct key *k, enum document in);

#endif
