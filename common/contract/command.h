/* command: an argv in a plan or job: an array of 1 to LIMIT_ARGV templates (see subst), the first of which is
 * the program. The array is owned, the words are borrowed from the JSON.
 */
#pragma once

#include "common/base/json.h"
#include "common/contract/subst.h"

struct command {
    const char **argv; /* NULL-terminated */
    size_t argc;
};

/* allowed: the placeholders that have a value there, or SUBST_LITERAL. c must be zeroed; call
 * command_release() even after a failure. */
int command_read(struct command *c, const struct json_at *at, unsigned allowed, struct err *err);
void command_release(struct command *c);

/* Checks one word, or the value of an environment variable. */
int command_check_word(const struct json_at *at, unsigned allowed, struct err *err);

/* Counts the elements of an array, which may be absent; fails for more than `max` of `what`. */
int command_list_length(const struct json_at *at, const char *what, size_t max, size_t *count,
                        struct err *err);
