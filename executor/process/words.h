/* words: a growable NULL-terminated list of owned strings, as argv and as environment.
 * Knows nothing of where the strings come from. The owner calls words_release().
 */
#ifndef KERNSWEEP_EXECUTOR_PROCESS_WORDS_H
#define KERNSWEEP_EXECUTOR_PROCESS_WORDS_H

#include "common/base/err.h"

#include <stddef.h>

struct words {
    char **item; /* NULL until the first word */
    size_t count;
    size_t cap;
};

void words_release(struct words *w);
/* Takes the string (also when it fails); NULL is a failed allocation of the caller's. */
int words_take(struct words *w, char *s, struct err *err);
int words_add(struct words *w, const char *s, struct err *err);
/* The environment of this process, without what belongs to the connection that started it. */
int words_environment(struct words *w, struct err *err);
/* Sets NAME=value, in place of an earlier NAME. */
int words_setenv(struct words *w, const char *name, const char *value, struct err *err);
/* NULL when it is not there. */
const char *words_getenv(const struct words *w, const char *name);

#endif
