#include "harness/propose/name.h"

#include "common/contract/own_metric.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 3, WORD_MAX = 24 };

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool is_part(char c)
{
    return is_letter(c) || isdigit((unsigned char)c);
}

/* Keeps the last WORDS words of the label, in order, and returns their number. */
static size_t last_words(const char *label, size_t len, char words[WORDS][WORD_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        size_t from = i;
        while (i < len && is_part(label[i]))
            i++;
        size_t size = i - from;
        if (size > 1 && is_letter(label[from]) && size < WORD_MAX) {
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

void propose_name(const struct proposal *p, const char *label, size_t len, struct proposed *out)
{
    char words[WORDS][WORD_MAX], name[PROPOSED_NAME_MAX + 1] = "", own[WORDS * WORD_MAX + WORDS];
    size_t n = last_words(label, len, words), used = 0;
    own[0] = '\0';
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(own + used, sizeof own - used, "%s%s", i > 0 ? "_" : "", words[i]);
    for (size_t i = 0; own[i] && i < PROPOSED_NAME_MAX; i++)
        name[i] = (char)tolower((unsigned char)own[i]);
    if (!*name)
        from_unit(out->unit, name, sizeof name);
    snprintf(out->name, sizeof out->name, "%s", name);
    for (int i = 2; taken(p, out->name) && i < 100; i++)
        snprintf(out->name, sizeof out->name, "%.*s_%d", PROPOSED_NAME_MAX, name, i);
}

static bool has(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strstr(name, *words))
            return true;
    return false;
}

bool propose_is_aside(const char *name)
{
    static const char *const words[] = {"std", "sigma", "deviation", "variance", "user", "system", NULL};
    return has(name, words);
}

static int score(const struct proposed *one)
{
    static const char *const good[] = {"mean", "median", "avg", "average", "kernel", "best", NULL},
                             *const bad[] = {"load",  "init", "setup", "warm",    "compile",
                                             "build", "copy", "h2d",   "d2h",     "alloc",
                                             "min",   "max",  "total", "percent", NULL};
    int n = own_metric_seconds(one->unit) > 0 ? 1 : 0;
    n += has(one->name, good) ? 2 : 0;
    n -= has(one->name, bad) ? 3 : 0;
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
