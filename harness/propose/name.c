#include "harness/propose/name.h"

#include "common/contract/own_metric.h"
#include "harness/propose/pattern.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 4, WORD_MAX = 48 };

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool is_part(char c)
{
    return is_letter(c) || isdigit((unsigned char)c);
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
            if (n == WORDS)
                memmove(words[0], words[1], (WORDS - 1) * sizeof words[0]);
            else
                n++;
            memcpy(words[n - 1], label + from, size);
            words[n - 1][size] = '\0';
        }
        i += i == from;
    }
    return n;
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
    size_t first = 0;
    for (size_t all = 0, i = n; i > 0; i--) { /* what does not fit is left out at the front */
        all += strlen(words[i - 1]) + 1;
        first = all > PROPOSED_NAME_MAX + 1 && i < n && first == 0 ? i : first;
    }
    for (size_t i = first; i < n; i++)
        used += (size_t)snprintf(own + used, sizeof own - used, "%s%s", i > first ? "_" : "", words[i]);
    for (size_t i = 0; own[i] && i < PROPOSED_NAME_MAX; i++)
        name[i] = (char)tolower((unsigned char)own[i]);
    if (strlen(name) <= 2) /* "us=7.5" says less than what is measured in it */
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
    static const char *const words[] = {"std",      "stddev", "stdev",  "sigma", "deviation",
                                        "variance", "user",   "system", "error", NULL};
    return has(name, words);
}

static int score(const struct proposed *one)
{
    static const char *const good[] = {"mean", "median", "avg",  "average", "kernel",
                                       "best", "gpu",    "cuda", "device",  NULL},
                             *const bad[] = {"load",  "init",   "setup",    "warm",     "compile",
                                             "build", "memcpy", "h2d",      "d2h",      "alloc",
                                             "min",   "max",    "percent",  "overhead", "host",
                                             "cpu",   "core",   "sampling", "duration", "connection",
                                             NULL},
                             *const sums[] = {"total", "sum", NULL};
    int n = is_time(one->unit) && !one->more ? 1 : 0;
    n += one->labelled ? 1 + one->labelled : 0;
    n += has(one->name, good) ? 2 : 0;
    n -= has(one->name, bad) ? 3 : 0;
    n -= has(one->name, sums) ? 1 : 0;
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
