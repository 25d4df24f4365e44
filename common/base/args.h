/* args: command-line parsing. Each command declares its options once; parsing, help and errors follow from
 * it.
 *
 * A command lists its options as struct arg; args_parse() fills them and the positional words, which remain
 * pointers into argv. Options may appear anywhere before "--". A word that names an option is not taken as
 * the value of the option before it; write --tag=--detach for that. Errors: ERR_INPUT naming the option.
 */
#ifndef KERNSWEEP_COMMON_BASE_ARGS_H
#define KERNSWEEP_COMMON_BASE_ARGS_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct arg {
    const char *name;  /* "--contexts" or "-v"; both as "-v,--verbose" */
    const char *value; /* how help names the value; NULL for a flag */
    const char **text; /* destination of a value */
    bool *flag;        /* destination of a flag */
    const char *help;
};

struct args {
    const char *program; /* "kernsweep" */
    const char *command; /* "run" */
    const char *usage;   /* "PLAN|NODE" */
    const char *about;   /* one sentence */
    const struct arg *options;
    size_t n_options;
    const struct arg *common; /* options that all commands share */
    size_t n_common;
    size_t min_words, max_words;
    const char *without; /* a common option that this command does not have: "--json"; NULL: it has all */
    const char *const
        *unlisted; /* common options that it takes but has no use for: not in its help; ends with NULL */
};

/* words: const char *[max_words]; *n: how many there are. */
int args_parse(const struct args *a, int argc, char **argv, const char **words, size_t *n, struct err *err);
void args_help(const struct args *a, FILE *out);
void args_help_options(const struct arg *options, size_t n, FILE *out);

#endif
