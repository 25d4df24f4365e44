#include "harness/propose/pattern.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PADDING_MIN = 3, PART_MIN = 2 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_token(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

void segment_add(struct segment *s, const char *pattern)
{
    size_t n = strlen(pattern);
    if (s->used + n + 1 > sizeof s->text) {
        s->cut = true;
        return;
    }
    memcpy(s->text + s->used, pattern, n + 1);
    s->used += n;
}

void segment_add_number(struct segment *s, const char *name)
{
    segment_add(s, "(?<");
    segment_add(s, name);
    segment_add(s, ">" PATTERN_NUMBER ")");
}

/* Words that label numbers, even if a command contains them. */
static bool is_usual(const char *part, size_t n)
{
    static const char *const usual[] = {"time",   "mean",   "avg",     "average", "median",    "total",
                                        "kernel", "gpu",    "latency", "memory",  "bandwidth", "throughput",
                                        "ms",     "us",     "ns",      "sec",     "tokens",    "test",
                                        "host",   "device", "sh",      "true",    NULL};
    for (const char *const *u = usual; *u; u++)
        if (strlen(*u) == n && strncasecmp(*u, part, n) == 0)
            return true;
    return false;
}

/* Whether the word of the command contains the part, between other characters. */
static bool word_has(const char *word, const char *part, size_t n)
{
    for (const char *at = word; *at;) {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]))
            length++;
        if (length == n && strncasecmp(at, part, n) == 0)
            return true;
        at += length + (length == 0);
    }
    return false;
}

/* An option's own name says nothing of a variant, what follows '=' does. Of a path, only the last name
 * counts. */
static bool in_command(const struct strvec *command, const char *part, size_t n)
{
    for (size_t i = 0; command && i < command->n; i++) {
        const char *word = command->v[i], *equals = strchr(word, '='), *slash = strrchr(word, '/');
        if (*word == '-' && !equals)
            continue;
        if (word_has(equals ? equals + 1 : slash && !strchr(word, ' ') ? slash + 1 : word, part, n))
            return true;
    }
    return false;
}

bool pattern_names_variant(const char *token, size_t len, const struct strvec *command)
{
    for (size_t i = 0; i < len;) {
        size_t from = i;
        while (i < len && isalnum((unsigned char)token[i]))
            i++;
        size_t n = i - from;
        bool number = n > 0 && strspn(token + from, "0123456789") >= n;
        if (n >= PART_MIN && !number && !is_usual(token + from, n) && in_command(command, token + from, n))
            return true;
        i += n == 0;
    }
    return false;
}

/* Letters before digits that count something, so that the digits may differ: GPU0, rank3, iter12, n4096. */
static bool is_counter(const char *s, size_t n)
{
    static const char *const words[] = {"gpu", "device", "dev",  "rank", "iter",   "iteration", "rep",
                                        "run", "step",   "core", "node", "stream", "n",         "m",
                                        "k",   "size",   "seq",  "ctx",  "batch",  NULL};
    for (const char *const *w = words; *w; w++)
        if (strlen(*w) == n && strncasecmp(*w, s, n) == 0)
            return true;
    return false;
}

static void add_literal(struct segment *s, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const char one[] = {text[i], '\0'};
        if (strchr("\\^$.[]|()?*+{}#", text[i]))
            segment_add(s, "\\");
        segment_add(s, one);
    }
}

static void add_token(struct segment *s, const char *token, size_t len, const struct strvec *command)
{
    size_t letters = 0;
    if (pattern_names_variant(token, len, command)) {
        segment_add(s, "[\\w.-]+");
        return;
    }
    while (letters < len && !is_digit(token[letters]))
        letters++;
    size_t first = strspn(token, "0123456789");
    if (first > 0 && first < len && strspn(token, "0123456789x") >= len &&
        in_command(command, token, first)) {
        segment_add(s, "[0-9x]+"); /* "4096x4096" of "--n 4096" */
        return;
    }
    bool digits = letters < len && strspn(token + letters, "0123456789") >= len - letters;
    if (letters > 0 && digits &&
        (is_counter(token, letters) ||
         (len - letters >= PART_MIN && in_command(command, token + letters, len - letters)))) {
        add_literal(s, token, letters);
        segment_add(s, "[0-9]+");
        return;
    }
    add_literal(s, token, len);
}

/* The length of the number at the start of s, with its fraction and exponent. */
static size_t digits_at(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && (is_digit(s[n]) || (n > 0 && s[n] == '.' && n + 1 < len && is_digit(s[n + 1]))))
        n++;
    size_t e = n + (n > 0 && n + 1 < len && strchr("eE", s[n]));
    if (e > n && e < len && strchr("+-", s[e]))
        e++;
    if (e == n || e == len || !is_digit(s[e]))
        return n;
    while (e < len && is_digit(s[e]))
        e++;
    return e;
}

static size_t same_at(const char *s, size_t len, const char *which)
{
    size_t n = 0;
    while (n < len && s[n] && strchr(which, s[n]))
        n++;
    return n;
}

/* "99% percentile", "50.00 percentile latency" */
static bool is_percentile(const char *s, size_t len)
{
    static const char word[] = "percentile";
    size_t at = len > 0 && *s == '%';
    at += same_at(s + at, len - at, " \t");
    return len - at >= strlen(word) && strncasecmp(s + at, word, strlen(word)) == 0;
}

void segment_add_label(struct segment *s, const char *label, size_t len, const struct strvec *command)
{
    for (size_t i = 0; i < len;) {
        const char one[] = {label[i], '\0'};
        size_t space = same_at(label + i, len - i, " \t"), padding = same_at(label + i, len - i, one),
               number = digits_at(label + i, len - i), token = 0;
        while (i + token < len && is_token(label[i + token]))
            token++;
        if (space > 0) {
            segment_add(s, "\\s+");
            i += space;
        } else if (padding >= PADDING_MIN && strchr("._-=*~", label[i])) {
            add_literal(s, one, 1);
            segment_add(s, "+");
            i += padding;
        } else if (number > 0 && is_percentile(label + i + number, len - i - number)) {
            add_literal(s, label + i, number);
            i += number;
        } else if (number > 0 && !(i + number < len && isalpha((unsigned char)label[i + number]))) {
            segment_add(s, PATTERN_NUMBER);
            i += number;
        } else if (token > 0) {
            add_token(s, label + i, token, command);
            i += token;
        } else
            add_literal(s, label + i++, 1);
    }
}

/* The pattern without the names of its groups. */
static void without_names(const char *pattern, char *out)
{
    size_t n = 0;
    for (const char *s = pattern; *s; s++) {
        out[n++] = *s;
        if (s[0] == '<' && s > pattern && s[-1] == '?')
            while (s[1] && s[1] != '>')
                s++;
    }
    out[n] = '\0';
}

/* The first item of the alternative that has this form, and where that is in the pattern; out->count if none
 * has. */
static size_t find_form(const struct proposal *out, const char *form, size_t *begin, size_t *len)
{
    char bare[LIMIT_PATTERN + 1], one[LIMIT_PATTERN + 1], name[PROPOSED_NAME_MAX + 8];
    for (size_t i = 0; i < out->count; i++) {
        snprintf(name, sizeof name, "(?<%s>", out->item[i].name);
        const char *group = strstr(out->pattern, name), *from = group, *end;
        if (!group)
            continue;
        while (from > out->pattern && !(from[-1] == '|' && (from - 1 == out->pattern || from[-2] != '\\')))
            from--;
        for (end = group; *end && !(*end == '|' && end[-1] != '\\');)
            end++;
        snprintf(one, sizeof one, "%.*s", (int)(end - from), from);
        without_names(one, bare);
        *begin = (size_t)(from - out->pattern);
        *len = (size_t)(end - from);
        if (strcmp(bare, form) == 0)
            return i;
    }
    return out->count;
}

static bool same_units(const struct proposed *a, const struct proposed *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(a[i].unit, b[i].unit) != 0 || a[i].more != b[i].more)
            return false;
    return true;
}

/* Takes an alternative out, with its items. */
static void drop_form(struct proposal *out, size_t begin, size_t len, size_t first, size_t count)
{
    size_t end = begin + len;
    if (out->pattern[end] == '|')
        end++;
    else if (begin > 0)
        begin--;
    memmove(out->pattern + begin, out->pattern + end, strlen(out->pattern + end) + 1);
    memmove(&out->item[first], &out->item[first + count], (out->count - first - count) * sizeof *out->item);
    out->count -= count;
}

void pattern_take(struct proposal *out, const struct segment *s, const struct proposed *found, size_t count)
{
    char form[PATTERN_SEGMENT_MAX];
    size_t begin, len;
    if (count == 0 || s->cut)
        return;
    without_names(s->text, form);
    size_t first = find_form(out, form, &begin, &len);
    if (first < out->count && !same_units(&out->item[first], found, count)) {
        drop_form(out, begin, len, first,
                  count); /* what is last in the output is what such a line is read as */
        first = out->count;
    }
    for (size_t i = 0; first < out->count && i < count; i++) {
        out->item[first + i].value = found[i].value;
        out->item[first + i].line = found[i].line;
    }
    if (first < out->count) {
        out->item[first].again = true;
        return;
    }
    size_t used = strlen(out->pattern);
    if (out->count + count > PROPOSED_MAX || used + s->used + 1 > LIMIT_PATTERN) {
        out->too_many += count;
        return;
    }
    snprintf(out->pattern + used, sizeof out->pattern - used, "%s%s", used ? "|" : "", s->text);
    memcpy(&out->item[out->count], found, count * sizeof *found);
    out->count += count;
}

size_t pattern_number(const char *line, size_t len, size_t at)
{
    char text[40], *end;
    char before = at > 0 ? line[at - 1] : ' ', earlier = at > 1 ? line[at - 2] : ' ';
    if (!is_digit(line[at]) || isalnum((unsigned char)before) || (before && strchr("._^/", before)) ||
        (before && strchr(",:-", before) && is_digit(earlier)) ||
        (before == '-' && earlier != '-') ||                /* a negative number is no result, */
        before == '<' || (before == ' ' && earlier == '<')) /* nor is a bound */
        return 0;
    size_t n = len - at < sizeof text - 1 ? len - at : sizeof text - 1;
    memcpy(text, line + at, n);
    text[n] = '\0';
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return 0;
    strtod(text, &end);
    if (*end && strchr(",:-/.", *end) && is_digit(end[1]))
        return 0;
    return (size_t)(end - text);
}

/* The length of what separates groups of digits; 0 if nothing does. */
static size_t mark_at(const char *s, size_t len, bool blanks)
{
    static const char *const marks[] = {",", "'", "\xe2\x80\x99", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89",
                                        " "};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t n = strlen(marks[i]);
        if (n < len && memcmp(s, marks[i], n) == 0 && is_digit(s[n]) && (*s != ' ' || blanks))
            return n;
    }
    return 0;
}

size_t pattern_grouped(const char *line, size_t len, size_t at, bool blanks)
{
    size_t end = at, digits = 0, groups = 0, mark;
    if (at > 0 && (isalnum((unsigned char)line[at - 1]) || strchr("._^/,:-", line[at - 1])))
        return 0;
    for (;; end += mark, groups++, digits = 0) {
        while (end + digits < len && is_digit(line[end + digits]))
            digits++;
        mark = mark_at(line + end + digits, len - end - digits, blanks);
        if (blanks && groups > 0 && line[end - 1] == ' ' && digits != 3)
            return 0;
        end += digits;
        if (digits == 0 || mark == 0)
            break;
    }
    if (groups > 0 && end + 1 < len && line[end] == '.' && is_digit(line[end + 1]))
        for (end++; end < len && is_digit(line[end]);)
            end++;
    return groups > 0 ? end - at : 0;
}

/* The length of one part of a time such as "1h" or "30.5 s"; rank: 0 for seconds' thousandths, 4 for days. */
static size_t part_at(const char *s, size_t len, bool whole, int *rank)
{
    static const char *const words[][8] = {{"ms", "msec", "milliseconds", NULL},
                                           {"s", "sec", "secs", "second", "seconds", NULL},
                                           {"m", "min", "mins", "minute", "minutes", NULL},
                                           {"h", "hr", "hrs", "hour", "hours", NULL},
                                           {"d", "day", "days", NULL}};
    size_t n = digits_at(s, len), letters = 0;
    if (n == 0 || (whole && (memchr(s, '.', n) || memchr(s, 'e', n) || memchr(s, 'E', n))))
        return 0;
    n += n < len && s[n] == ' ';
    while (n + letters < len && isalpha((unsigned char)s[n + letters]))
        letters++;
    for (*rank = 0; *rank < (int)(sizeof words / sizeof *words); ++*rank)
        for (const char *const *w = words[*rank]; *w; w++)
            if (strlen(*w) == letters && memcmp(*w, s + n, letters) == 0)
                return n + letters;
    return 0;
}

size_t pattern_duration(const char *line, size_t len, size_t at)
{
    int rank, last;
    size_t n, end = at;
    if ((at > 0 && (isalnum((unsigned char)line[at - 1]) || strchr("._^/,:-", line[at - 1]))) ||
        (n = part_at(line + at, len - at, true, &last)) == 0)
        return 0;
    for (size_t parts = 1;; parts++, last = rank) {
        end += n;
        size_t next = end;
        next += next < len && line[next] == ',';
        next += same_at(line + next, len - next, " ");
        if (len - next > 4 && memcmp(line + next, "and ", 4) == 0)
            next += 4;
        n = part_at(line + next, len - next, false, &rank);
        if (n == 0 || rank != last - 1)
            return parts > 1 ? end - at : 0;
        end = next;
    }
}
