/* ask: questions on the terminal. They go to stderr; answers come from stdin. */
#pragma once

#include "common/base/err.h"

#include <signal.h>
#include <stdbool.h>

enum { ANSWER_MAX = 4096 };

struct asker {
    bool on; /* someone can answer; otherwise every answer is the default */
    const volatile sig_atomic_t *interrupted;
};

/* out: char[ANSWER_MAX]; usual: what an empty answer means. ERR_INTERRUPTED at the end of input and on
 * Ctrl-C. */
int ask_text(const struct asker *a, const char *question, const char *usual, char *out, struct err *err);
int ask_yes(const struct asker *a, const char *question, bool usual, bool *out, struct err *err);
/* Asks for a number from 1 to most. */
int ask_number(const struct asker *a, const char *question, int usual, int most, int *out, struct err *err);
