#include "common/contract/pattern.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Nodes of a group so far, and of the last thing in it, which a repetition would copy. */
struct level {
    unsigned long all, last;
};

unsigned long pattern_bracket_length(const char *s)
{
    size_t i = 1;
    if (s[i] == '^')
        i++;
    if (s[i] == ']')
        i++;
    while (s[i] && s[i] != ']') {
        if (s[i] == '[' && s[i + 1] == ':') {
            const char *end = strstr(s + i, ":]");
            i = end ? (size_t)(end - s) + 2 : i + 1;
        } else {
            i++;
        }
    }
    return s[i] ? i + 1 : i;
}

/* The larger number of "{n,m}", one more for "{n,}"; *end is behind the numbers. */
static unsigned long most_of(const char *s, const char **end)
{
    unsigned long most = 1;
    while (isdigit((unsigned char)*s) || *s == ',') {
        if (*s == ',') {
            s++;
            continue;
        }
        char *behind;
        unsigned long n = strtoul(s, &behind, 10);
        most = n > most ? n : most;
        s = behind;
    }
    *end = s;
    return s[-1] == ',' ? most + 1 : most;
}

static void add(struct level *l, unsigned long nodes)
{
    l->all += nodes;
    l->last = nodes;
}

/* False when that is too much; nothing overflows, as both stay below the limit. */
static bool repeat(struct level *l, unsigned long times)
{
    if (times > PATTERN_NODES_MAX || l->last * times > PATTERN_NODES_MAX)
        return false;
    l->all += l->last * (times - 1);
    l->last *= times;
    return true;
}

bool pattern_is_too_large(const char *pattern)
{
    struct level levels[PATTERN_DEPTH_MAX + 1] = {0}, *l = levels;
    for (const char *p = pattern; *p;) {
        const char *next = p + 1;
        if (*p == '(') {
            if (l == levels + PATTERN_DEPTH_MAX)
                return true;
            *++l = (struct level){0};
        } else if (*p == ')' && l > levels) {
            unsigned long inside = l->all + 1;
            add(--l, inside);
        } else if (*p == '+' || *p == '{') {
            unsigned long times = *p == '+' ? 2 : most_of(next, &next);
            if (!repeat(l, times))
                return true;
        } else if (*p == '[') {
            add(l, 1);
            next = p + pattern_bracket_length(p);
        } else if (!strchr("*?|}", *p)) {
            add(l, 1);
            next += *p == '\\' && p[1];
        }
        if (l->all > PATTERN_NODES_MAX)
            return true;
        p = next;
    }
    return false;
}
