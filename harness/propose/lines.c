#include "harness/propose/lines.h"

#include "common/base/alloc.h"
#include "harness/propose/name.h"
#include "harness/propose/unit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_MAX = 40, SEGMENT_MAX = 400, LINE_MAX_SEEN = 2000, ESCAPED_ONE = 12 };

static const char number_class[] = "[-+.0-9eE]+";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Writes a pattern that matches the text, in which white space and digits may vary in number. */
static size_t escape(char *out, size_t cap, const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n + ESCAPED_ONE < cap;) {
        size_t from = i;
        while (i < len && (text[i] == ' ' || text[i] == '\t'))
            i++;
        if (i > from) {
            n += (size_t)snprintf(out + n, cap - n, "\\s+");
            continue;
        }
        while (i < len && (is_digit(text[i]) || (i > from && text[i] == '.')))
            i++;
        if (i > from) {
            n += (size_t)snprintf(out + n, cap - n, "[0-9.]+");
            continue;
        }
        if (strchr("\\^$.[]|()?*+{}#", text[i]))
            out[n++] = '\\';
        out[n++] = text[i++];
    }
    out[n] = '\0';
    return n;
}

/* Adds an alternative to the pattern. Returns false if it does not fit. */
static bool add_pattern(struct proposal *out, const char *pattern)
{
    size_t used = strlen(out->pattern), n = strlen(pattern);
    if (used + n + 1 > LIMIT_PATTERN)
        return false;
    snprintf(out->pattern + used, sizeof out->pattern - used, "%s%s", used ? "|" : "", pattern);
    return true;
}

/* The length of the number that begins at s (digits, a fraction, an exponent); 0 if there is none. */
static size_t number_length(const char *s, size_t len)
{
    char text[40], *end;
    size_t n = strnlen(s, len < sizeof text - 1 ? len : sizeof text - 1);
    memcpy(text, s, n);
    text[n] = '\0';
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return 0;
    strtod(text, &end);
    return (size_t)(end - text);
}

/* A number does not begin within a word, a version, or a number with commas. */
static bool begins_number(const char *line, size_t at)
{
    if (!is_digit(line[at]))
        return false;
    char before = at > 0 ? line[at - 1] : ' ';
    if (isalnum((unsigned char)before) || before == '.' || before == '_')
        return false;
    return !(before == ',' && at > 1 && is_digit(line[at - 2]));
}

/* A line while its pattern is built. */
struct line {
    const char *text;
    size_t len, from; /* where the label of the next number begins */
    char pattern[SEGMENT_MAX * 2];
    size_t used;
    bool cut; /* the pattern did not fit */
    struct proposed found[PROPOSED_MAX];
    size_t count;
};

/* The start of the label: at most LABEL_MAX bytes before end, from the beginning of a word. */
static size_t label_start(const struct line *l, size_t end)
{
    size_t at = l->from;
    if (l->used > 0) /* the pattern continues after the last number, so it must not skip anything */
        return at;
    while (at < end && (l->text[at] == ' ' || l->text[at] == '\t'))
        at++;
    if (end - at <= LABEL_MAX)
        return at;
    at = end - LABEL_MAX;
    while (at < end && l->text[at] != ' ')
        at++;
    return at;
}

static void append(struct line *l, const char *text)
{
    size_t n = strlen(text);
    if (l->used + n + 1 > sizeof l->pattern) {
        l->cut = true;
        return;
    }
    memcpy(l->pattern + l->used, text, n + 1);
    l->used += n;
}

static void append_escaped(struct line *l, const char *text, size_t len)
{
    char escaped[SEGMENT_MAX];
    if (escape(escaped, sizeof escaped, text, len) + ESCAPED_ONE >= sizeof escaped)
        l->cut = true;
    append(l, escaped);
}

/* Adds the number from at to end, whose unit follows it (unit_len bytes at `behind`) or is in its label. */
static void take_number(struct line *l, const struct proposal *p, size_t at, size_t end,
                        const struct propose_unit *u, size_t behind, size_t unit_len, size_t number)
{
    size_t label = label_start(l, at);
    struct proposal both = *p; /* names must differ from all others */
    struct proposed *one = &l->found[l->count];
    for (size_t i = 0; i < l->count && both.count < PROPOSED_MAX; i++)
        both.item[both.count++] = l->found[i];
    *one = (struct proposed){.more = u->more, .value = strtod(l->text + at, NULL), .line = number};
    snprintf(one->unit, sizeof one->unit, "%s", u->unit);
    propose_name(&both, l->text + label, at - label, one);
    if (propose_is_aside(one->name))
        return;
    if (label == at)
        append(l, l->used ? "" : "^\\s*");
    append_escaped(l, l->text + label, at - label);
    append(l, "(?<");
    append(l, one->name);
    append(l, ">");
    append(l, number_class);
    append(l, ")");
    if (unit_len > 0) {
        append(l, behind > end ? "\\s*" : "");
        append_escaped(l, l->text + behind, unit_len);
        append(l, "(?![A-Za-z])");
    }
    l->from = unit_len > 0 ? behind + unit_len : end;
    l->count++;
}

static void look_at_number(struct line *l, const struct proposal *p, size_t at, size_t end, size_t number)
{
    size_t behind = end;
    while (behind < l->len && l->text[behind] == ' ')
        behind++;
    const struct propose_unit *u = propose_unit_at(l->text + behind, l->len - behind);
    if (u) {
        take_number(l, p, at, end, u, behind, strlen(u->spelling), number);
        return;
    }
    u = propose_unit_of(l->text + l->from, at - l->from);
    if (u && (end == l->len || !isalpha((unsigned char)l->text[end])))
        take_number(l, p, at, end, u, end, 0, number);
}

/* Whether an earlier line had the same form, which means the same pattern apart from the names of groups. */
static bool seen_before(struct proposal *out, const struct line *l)
{
    char bare[2][LIMIT_PATTERN + 1];
    const char *from[2] = {l->pattern, out->pattern};
    for (int k = 0; k < 2; k++) {
        size_t n = 0;
        for (const char *s = from[k]; *s && n + 1 < sizeof bare[k]; s++) {
            bare[k][n++] = *s;
            if (s[0] == '<' && s > from[k] && s[-1] == '?')
                while (s[1] && s[1] != '>')
                    s++;
        }
        bare[k][n] = '\0';
    }
    return strstr(bare[1], bare[0]) != NULL;
}

/* Of lines of the same form, a node would read the last one, so its values are shown. */
static void update_values(struct proposal *out, const struct line *l)
{
    for (size_t i = 0; i < l->count; i++)
        for (size_t k = 0; k < out->count; k++)
            if (strncmp(out->item[k].name, l->found[i].name, strcspn(out->item[k].name, "0123456789")) == 0 &&
                strcmp(out->item[k].unit, l->found[i].unit) == 0) {
                out->item[k].value = l->found[i].value;
                out->item[k].line = l->found[i].line;
                break;
            }
}

void propose_line(struct proposal *out, const char *line, size_t len, size_t number)
{
    AUTO_FREE struct line *l = xcalloc(1, sizeof *l);
    l->text = line;
    l->len = len < LINE_MAX_SEEN ? len : LINE_MAX_SEEN;
    for (size_t at = 0; at < l->len && l->count < PROPOSED_MAX;) {
        size_t n = begins_number(line, at) ? number_length(line + at, l->len - at) : 0;
        if (n > 0)
            look_at_number(l, out, at, at + n, number);
        at += n > 0 ? n : 1;
    }
    if (l->cut)
        l->count = 0;
    if (l->count > 0 && seen_before(out, l))
        update_values(out, l);
    else if (l->count > 0 && out->count + l->count <= PROPOSED_MAX && add_pattern(out, l->pattern)) {
        memcpy(&out->item[out->count], l->found, l->count * sizeof *l->found);
        out->count += l->count;
    }
}

/* Finds the n-th cell of "| a | b |", without the spaces around it. */
static bool cell_of(const char *line, size_t len, int n, const char **cell, size_t *size)
{
    const char *at = line, *end = line + len;
    for (int i = 0; i <= n; i++) {
        at = memchr(at, '|', (size_t)(end - at));
        if (!at || ++at >= end)
            return false;
    }
    const char *bar = memchr(at, '|', (size_t)(end - at));
    if (!bar)
        return false;
    while (at < bar && *at == ' ')
        at++;
    while (bar > at && bar[-1] == ' ')
        bar--;
    *cell = at;
    *size = (size_t)(bar - at);
    return true;
}

static bool cell_is(const char *line, size_t len, int n, const char *text)
{
    const char *cell;
    size_t size;
    return cell_of(line, len, n, &cell, &size) && size == strlen(text) && memcmp(cell, text, size) == 0;
}

static void add_row(struct proposal *out, const char *line, size_t len, size_t number, int column)
{
    const char *test, *rate;
    size_t test_len, rate_len;
    char escaped[SEGMENT_MAX / 2], pattern[SEGMENT_MAX];
    if (out->count == PROPOSED_MAX || !cell_of(line, len, column - 1, &test, &test_len) ||
        !cell_of(line, len, column, &rate, &rate_len) || rate_len == 0 || !is_digit(*rate) || test_len == 0)
        return;
    struct proposed *one = &out->item[out->count];
    *one = (struct proposed){.more = true, .value = strtod(rate, NULL), .line = number, .unit = "tok/s"};
    propose_name(out, test, test_len, one);
    size_t n = 0;
    for (size_t i = 0; i < test_len && n + 3 < sizeof escaped; i++) { /* pp512 and pp1024 differ */
        if (strchr("\\^$.[]|()?*+{}#", test[i]))
            escaped[n++] = '\\';
        escaped[n++] = test[i];
    }
    escaped[n] = '\0';
    snprintf(pattern, sizeof pattern, "\\|\\s*%s\\s*\\|\\s*(?<%s>[0-9.]+)", escaped, one->name);
    out->count += add_pattern(out, pattern);
}

void propose_table_row(struct proposal *out, const char *line, size_t len, size_t number, int *column)
{
    if (len == 0 || line[0] != '|')
        return;
    if (*column > 0)
        add_row(out, line, len, number, *column);
    for (int i = 1; *column == 0 && i < 32; i++)
        if (cell_is(line, len, i, "t/s") && cell_is(line, len, i - 1, "test"))
            *column = i;
}
