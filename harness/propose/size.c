/* propose_size(): finds the problem size in a command line. */
#include "harness/propose/propose.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SIZE_MIN = 2, SIZE_MAX_LIKELY = 1 << 30 };

static bool is_one_of(const char *word, size_t len, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == len && strncasecmp(word, *words, len) == 0)
            return true;
    return false;
}

/* Returns -1 for an option whose number is no size, 1 for one whose number is, 0 if unknown. */
static int judge_option(const char *word, size_t len)
{
    static const char *const sizes[] = {"n",      "m",        "k",       "size",    "len", "length",
                                        "seq",    "seqlen",   "seq-len", "seq_len", "ctx", "context",
                                        "tokens", "elements", "count",   "num",     "dim", "prompt",
                                        "p",      "batch",    "rows",    "cols",    NULL},
                             *const others[] = {"device",     "gpu",  "d",      "seed",    "iters",
                                                "iterations", "iter", "i",      "reps",    "repeat",
                                                "repeats",    "r",    "warmup", "w",       "threads",
                                                "t",          "j",    "port",   "verbose", "v",
                                                "timeout",    "ngl",  "dev",    NULL};
    while (len > 0 && *word == '-') {
        word++;
        len--;
    }
    return is_one_of(word, len, sizes) ? 1 : is_one_of(word, len, others) ? -1 : 0;
}

static bool is_size(const char *text, long long *value)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    *value = strtoll(text, &end, 10);
    return *end == '\0' && *value >= SIZE_MIN && *value <= SIZE_MAX_LIKELY;
}

/* Rates whether the number in argv[i], `before` bytes into it, is the size; 0: there is no number. */
static int score_of(const char *const *argv, size_t i, size_t *before, long long *value)
{
    const char *equals = *argv[i] == '-' ? strchr(argv[i], '=') : NULL;
    *before = equals ? (size_t)(equals + 1 - argv[i]) : 0;
    if (!is_size(argv[i] + *before, value))
        return 0;
    int option = equals                         ? judge_option(argv[i], *before - 1)
                 : i > 0 && *argv[i - 1] == '-' ? judge_option(argv[i - 1], strlen(argv[i - 1]))
                                                : 0;
    if (option < 0)
        return 0;
    return (option > 0 ? 4 : 0) + (*value >= 64 ? 2 : 0) + ((*value & (*value - 1)) == 0 ? 1 : 0);
}

bool propose_size(const char *const *argv, size_t argc, size_t *word, size_t *before, long long *size)
{
    int best = 1;
    for (size_t i = 1; i < argc; i++) {
        size_t at;
        long long value;
        int score = score_of(argv, i, &at, &value);
        if (score <= best)
            continue;
        best = score;
        *word = i;
        *before = at;
        *size = value;
    }
    return best > 1;
}
