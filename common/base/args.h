/* args: the words of a command line, declared once per command: what it takes, its help, its errors.
 *
 * A command lists its options as struct arg; args_parse() fills them and the positional words, which stay
 * pointers into argv. Options may stand anywhere; "--" ends them. A word that is an option is no value: say
 * --tag=--detach for that. Errors: ERR_INPUT naming the option.
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
    const char **text; /* where a value goes */
    bool *flag;        /* where a flag goes */
    const char *help;
};

struct args {
    const char *program; /* "kernsweep" */
    const char *command; /* "run" */
    const char *usage;   /* "PLAN|NODE" */
    const char *about;   /* one sentence */
    const struct arg *options;
    size_t n_options;
    const struct arg *common; /* options of every command */
    size_t n_common;
    size_t min_words, max_words;
};

/* Fills the options, words (const char *[max_words]) and their number. */
int args_parse(const struct args *a, int argc, char **argv, const char **words, size_t *n, struct err *err);
void args_help(const struct args *a, FILE *out);
/* One line per option. */
void args_help_options(const struct arg *options, size_t n, FILE *out);

#endif
