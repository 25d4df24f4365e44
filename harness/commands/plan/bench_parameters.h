/* bench_parameters: the commands of `kernsweep bench -L NAME=VALUES`: each command that mentions {NAME}, once
 * for each value. Pure.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/strvec.h"

#include <jansson.h>

struct bench_commands {
    struct strvec text;
    json_t *values; /* array: for each command an object of texts, by parameter */
};

/* list: "size=1,2 mode=x,y"; NULL: none. Of several parameters in one command, the last changes fastest.
 * At most `most` commands. The caller releases out even after a failure; ERR_INPUT naming the option. */
int bench_commands_make(const char *const *commands, size_t n, const char *list, size_t most,
                        struct bench_commands *out, struct err *err);
/* Returns the text with the values (NULL: none) of a command in place of {NAME}; the caller frees it. */
char *bench_parameters_apply(const char *text, const json_t *values);
void bench_commands_release(struct bench_commands *c);
