#include "harness/propose/name.h"

#include "common/contract/own_metric.h"
#include "harness/propose/pattern.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WORDS = 4, WORD_MAX = 48 };

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool is_part(char c)
{
    return is_letter(c) || isdigit((unsigned char)c);
}

static bool is_one_of(const char *word, size_t n, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == n && strncasecmp(*list, word, n) == 0)
            return true;
    return false;
}

bool propose_is_average(const char *word, size_t len)
{
    static const char *const words[] = {"average", "avg",  "mean", "median",  "min",     "max",
                                        "per",     "each", "best", "fastest", "slowest", NULL};
    return is_one_of(word, len, words);
}

/* Drops the first of two or more words, or the second if the first says of what the number is. */
static size_t drop_word(char words[WORDS][WORD_MAX], size_t n)
{
    size_t i = propose_is_average(words[0], strlen(words[0])) ? 1 : 0;
    memmove(words[i], words[i + 1], (n - 1 - i) * sizeof words[0]);
    return n - 1;
}

/* Keeps the last WORDS words of the label, in order, and returns their number. */
static size_t last_words(const char *label, size_t len, const struct strvec *command,
                         char words[WORDS][WORD_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        size_t from = i;
        while (i < len && is_part(label[i]))
            i++;
        size_t size = i - from;
        if (size > 1 && is_letter(label[from]) && size < WORD_MAX &&
            !pattern_names_variant(label + from, size, command)) {
            n = n == WORDS ? drop_word(words, n) : n;
            memcpy(words[n], label + from, size);
            words[n++][size] = '\0';
        }
        i += i == from;
    }
    return n;
}

/* With a character between the words. */
static size_t length_of(char words[WORDS][WORD_MAX], size_t n)
{
    size_t all = n - 1;
    for (size_t i = 0; i < n; i++)
        all += strlen(words[i]);
    return all;
}

/* Without a unit in brackets that has several words, such as "(tok/s)", which would take the place of better
 * ones. */
static size_t without_rate(const char *label, size_t len)
{
    size_t end = len;
    while (end > 0 && strchr(" \t:=)]", label[end - 1]))
        end--;
    size_t open = end;
    while (open > 0 && (is_part(label[open - 1]) || label[open - 1] == '/'))
        open--;
    return end < len && open > 1 && strchr("([", label[open - 1]) && memchr(label + open, '/', end - open)
               ? open - 1
               : len;
}

static void from_unit(const char *unit, char *name, size_t cap)
{
    static const char *const known[][2] = {
        {"GB/s", "bandwidth"},  {"TB/s", "bandwidth"},  {"GiB/s", "bandwidth"}, {"MB/s", "bandwidth"},
        {"MiB/s", "bandwidth"}, {"TFLOP/s", "compute"}, {"GFLOP/s", "compute"}, {"tok/s", "tokens"}};
    snprintf(name, cap, "%s", own_metric_seconds(unit) > 0 ? "time" : "rate");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i][0], unit) == 0)
            snprintf(name, cap, "%s", known[i][1]);
}

/* AverageNs becomes average_ns. */
static void lower(const char *own, char *name)
{
    size_t n = 0;
    for (size_t i = 0; own[i] && n < PROPOSED_NAME_MAX; i++) {
        if (i > 1 && isupper((unsigned char)own[i]) && islower((unsigned char)own[i - 1]) &&
            islower((unsigned char)own[i - 2]) && n + 1 < PROPOSED_NAME_MAX)
            name[n++] = '_';
        name[n++] = (char)tolower((unsigned char)own[i]);
    }
    name[n] = '\0';
}

static bool taken(const struct proposal *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->item[i].name, name) == 0)
            return true;
    return own_metric_is_reserved(name);
}

void propose_name(const struct proposal *p, const char *label, size_t from, size_t len,
                  const struct strvec *command, struct proposed *out)
{
    char words[WORDS][WORD_MAX], name[PROPOSED_NAME_MAX + 1] = "", own[WORDS * WORD_MAX + WORDS];
    size_t used = 0;
    len = without_rate(label, len);
    from = from < len ? from : 0;
    size_t n = last_words(label + from, len - from, command, words);
    if (n == 0)
        n = last_words(label, len, command, words);
    own[0] = '\0';
    while (n > 1 && length_of(words, n) > PROPOSED_NAME_MAX)
        n = drop_word(words, n);
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(own + used, sizeof own - used, "%s%s", i > 0 ? "_" : "", words[i]);
    lower(own, name);
    if (strlen(name) <= 2 && !propose_is_aside(name)) /* "us=7.5" says less than what is measured in it */
        from_unit(out->unit, name, sizeof name);
    snprintf(out->name, sizeof out->name, "%s", name);
    for (int i = 2; taken(p, out->name) && i < 100; i++)
        snprintf(out->name, sizeof out->name, "%.*s_%d", PROPOSED_NAME_MAX, name, i);
}

/* Whether one of the words is a word of the name. */
static bool has(const char *name, const char *const *words)
{
    for (; *words; words++) {
        size_t n = strlen(*words);
        for (const char *at = name; (at = strstr(at, *words)) != NULL; at++)
            if ((at == name || at[-1] == '_') && !isalpha((unsigned char)at[n]))
                return true;
    }
    return false;
}

/* A time of one thing ("ns/op") is a time, too. */
static bool is_time(const char *unit)
{
    char above[LIMIT_UNIT + 1];
    snprintf(above, sizeof above, "%.*s", (int)strcspn(unit, "/"), unit);
    return own_metric_seconds(above) > 0;
}

bool propose_is_aside(const char *name)
{
    static const char *const words[] = {"std",  "stddev", "stdev", "stderr", "sigma", "deviation", "variance",
                                        "user", "system", "error", "iqr",    "ci95",  "ci99",      NULL};
    return has(name, words) || strcmp(name, "sd") == 0;
}

bool propose_is_date(double value, const char *unit)
{
    return value * own_metric_seconds(unit) >= 1e9;
}

bool propose_counts(const char *label, size_t len)
{
    static const char *const words[] = {
        "iterations",  "iteration",    "iters",      "iter",  "runs",        "steps",  "loops",  "reps",
        "repetitions", "repeats",      "launches",   "calls", "passes",      "trials", "rounds", "times",
        "requests",    "measurements", "executions", "evals", "invocations", NULL};
    size_t from = 0, n = 0;
    while (from < len && label[from] == ' ')
        from++;
    while (from + n < len && isalpha((unsigned char)label[from + n]))
        n++;
    return is_one_of(label + from, n, words);
}

/* Whether a number above 1 with such a word begins at s. */
static bool counts_at(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && isdigit((unsigned char)s[n]))
        n++;
    return n > 0 && !(n == 1 && *s < '2') && propose_counts(s + n, len - n);
}

/* "/ 100 = ", before the time of one */
static bool divides_at(const char *s, size_t len)
{
    size_t n = len > 0 && *s == '/';
    while (n > 0 && n < len && (*(s + n) == ' ' || isdigit((unsigned char)s[n])))
        n++;
    return n > 2 && n < len && s[n] == '=' && isdigit((unsigned char)s[n - 1 - (s[n - 1] == ' ')]);
}

bool propose_is_total(const char *before, size_t n_before, const char *behind, size_t n_behind)
{
    static const char *const links[] = {"for", "over", "in", "of", "all", "total", "per", NULL};
    bool counted = false;
    for (size_t i = 0, n = 0; i < n_before; i += n + (n == 0), n = 0) {
        while (i + n < n_before && isalpha((unsigned char)before[i + n]))
            n++;
        if (propose_is_average(before + i, n))
            return false;
        bool begins = i == 0 || !is_part(before[i - 1]);
        counted = counted || (begins && counts_at(before + i, n_before - i));
    }
    for (size_t i = 0, n = 0; !counted && i < n_behind; i += n + (n == 0), n = 0) {
        while (i + n < n_behind && isalpha((unsigned char)behind[i + n]))
            n++;
        counted = counts_at(behind + i, n_behind - i) || divides_at(behind + i, n_behind - i);
        if (n > 0 ? !is_one_of(behind + i, n, links) : !strchr(" \t(,/", behind[i]))
            break;
    }
    return counted;
}

static int score(const struct proposed *one)
{
    static const char *const
        good[] = {"mean", "median", "avg", "average", "kernel", "best", "gpu", "cuda", "device", NULL},
        *const bad[] = {"memcpy", "h2d",  "d2h",  "min",      "max",      "percent",    "overhead", "host",
                        "cpu",    "core", "peak", "sampling", "duration", "connection", NULL},
        *const none[] = {"load",       "init",
                         "setup",      "warm",
                         "warmup",     "compile",
                         "build",      "alloc",
                         "creation",   "startup",
                         "teardown",   "jit",
                         "first_run",  "first_iteration",
                         "first_call", "timeout",
                         "eta",        "interval",
                         "resolution", "timestamp",
                         "uptime",     "theoretical",
                         "target",     "expected",
                         "task_clock", NULL},
        *const sums[] = {"total", "sum", NULL}, *const means[] = {"mean", "median", "avg", "average", NULL};
    int n = is_time(one->unit) && !one->more ? 1 : 0;
    n += one->labelled ? 1 + one->labelled : 0;
    n += has(one->name, good) ? 2 : 0;
    n -= has(one->name, bad) ? 3 : 0;
    n -= has(one->name, none) ? 6 : 0;
    n -= has(one->name, sums) && !has(one->name, means) ? 3 : one->total ? 2 : 0;
    n -= is_time(one->unit) && strstr(one->name, "copy") ? 3 : 0;
    return n - (one->value <= 0 ? 5 : 0);
}

size_t propose_primary(const struct proposal *p)
{
    size_t best = 0;
    for (size_t i = 1; i < p->count; i++)
        if (score(&p->item[i]) > score(&p->item[best]))
            best = i;
    return best;
}
