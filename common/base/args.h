/* args: command-line parsing. Each command declares its options once; parsing, help and errors follow from
 * it.
 *
 * Options are constant tables of struct arg, each with the place of its value in a struct of the command;
 * args_parse() fills that struct and the positional words, which remain pointers into argv. Options may
 * appear anywhere before "--". A word that names an option is not taken as the value of the option before it;
 * write --tag=--detach for that. Errors: ERR_INPUT naming the option.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Where the value of an option goes: a bool or a const char * in the struct that the options fill. */
struct arg_at {
    size_t offset;
    bool flag;
};

/* The type of the member says whether the option is a flag. */
#define ARG_AT(type, member)                                                                                 \
    {                                                                                                        \
        offsetof(type, member), _Generic(((type *)0)->member, bool : true, const char * : false)             \
    }

struct arg {
    const char *name;  /* "--contexts" or "-v"; both as "-v,--verbose" */
    const char *value; /* how help names the value; NULL for a flag */
    struct arg_at at;
    const char *help;
};

struct arg_table {
    const struct arg *v;
    size_t n;
    size_t size; /* of the struct that they fill, 0 for none */
};

#define ARG_TABLE(type, options)                                                                             \
    {                                                                                                        \
        options, sizeof(options) / sizeof *(options), sizeof(type)                                           \
    }

struct args {
    const char *program;          /* "kernsweep" */
    const char *command;          /* "run" */
    const char *usage;            /* "PLAN|NODE" */
    const char *about;            /* one sentence */
    struct arg_table own, common; /* common: options that all commands share, at most 32 */
    void *into, *common_into;     /* what the options fill */
    size_t min_words, max_words;
    unsigned without;  /* common options that this command does not have: bit i for common.v[i] */
    unsigned unlisted; /* common options that it takes but has no use for: not in its help */
};

/* words: const char *[max_words]; *n: how many there are. */
int args_parse(const struct args *a, int argc, char **argv, const char **words, size_t *n, struct err *err);
void args_help(const struct args *a, FILE *out);
void args_help_options(const struct arg_table *options, FILE *out);
