#include "harness/propose/table.h"

#include "harness/propose/name.h"
#include "harness/propose/pattern.h"
#include "harness/propose/unit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    BETWEEN_WORDS = 2, /* so many spaces separate the columns of a heading */
    LINES_BETWEEN = 3  /* so many lines at most are between a heading and its rows */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static struct table_cell trim(const char *from, const char *end)
{
    while (from < end && is_space(*from))
        from++;
    while (end > from && is_space(end[-1]))
        end--;
    return (struct table_cell){from, (size_t)(end - from)};
}

/* Splits at a separator, between an optional first and last one. */
static size_t split_at(const char *line, size_t len, char separator, struct table_cell *out)
{
    const char *at = line, *end = line + len;
    size_t n = 0;
    if (separator == '|' && at < end && *at == '|')
        at++;
    if (separator == '|' && end > at && end[-1] == '|')
        end--;
    while (n < TABLE_COLUMNS_MAX) {
        const char *next = memchr(at, separator, (size_t)(end - at));
        out[n++] = trim(at, next ? next : end);
        if (!next)
            return n;
        at = next + 1;
    }
    return 0;
}

/* Splits at runs of at least `least` spaces. */
static size_t split_spaces(const char *line, size_t len, size_t least, struct table_cell *out)
{
    size_t n = 0;
    for (size_t at = 0; at < len;) {
        size_t from = at, end;
        for (;;) {
            while (at < len && !is_space(line[at]))
                at++;
            end = at;
            while (at < len && is_space(line[at]))
                at++;
            if (at == len || at - end >= least || memchr(line + end, '\t', at - end))
                break;
        }
        if (end > from && n == TABLE_COLUMNS_MAX)
            return 0;
        if (end > from)
            out[n++] = (struct table_cell){line + from, end - from};
    }
    return n;
}

static size_t split(const char *line, size_t len, char separator, size_t least, struct table_cell *out)
{
    struct table_cell all = trim(line, line + len);
    return separator == ' ' ? split_spaces(all.text, all.len, least, out)
                            : split_at(all.text, all.len, separator, out);
}

static char separator_of(const char *line, size_t len)
{
    size_t bars = 0, commas = 0, tabs = 0;
    for (size_t i = 0; i < len; i++) {
        bars += line[i] == '|';
        commas += line[i] == ',';
        tabs += line[i] == '\t';
    }
    return bars > 1 ? '|' : commas > 1 ? ',' : tabs > 1 ? '\t' : ' ';
}

/* A heading has words only, two or more, and a unit in one of them, unless bars make it one. */
static bool read_heading(struct table *t, const char *line, size_t len, size_t number)
{
    struct table_cell cell[TABLE_COLUMNS_MAX];
    struct propose_unit u;
    bool units = false, words = false, numbers = false;
    const char *begin = line;
    while (len > 0 && (*line == '#' || (len > 1 && is_space(*line) && line[1] == '#'))) {
        line++;
        len--;
    }
    char separator = separator_of(line, len);
    size_t n = split(line, len, separator, BETWEEN_WORDS, cell);
    if (n < 2)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (cell[i].len > 0 && (isdigit((unsigned char)*cell[i].text) || strchr("-=", *cell[i].text)))
            return false;
        units |= propose_unit_of(cell[i].text, cell[i].len, &u);
        words |= cell[i].len > 0 && !strchr("([", *cell[i].text);
        for (size_t k = 1; k < cell[i].len; k++)
            numbers |= is_space(cell[i].text[k - 1]) && isdigit((unsigned char)cell[i].text[k]);
    }
    if ((!units && separator != '|') || numbers)
        return false;
    if (!units && t->separator == '|' && n == t->columns && number <= t->line + 1)
        return false; /* a row of words in the table */
    *t = (struct table){.separator = separator, .columns = n, .beside = !words, .line = number};
    t->indent = (size_t)(cell[0].text - begin);
    memcpy(t->heading, cell, n * sizeof *cell);
    return true;
}

/* The number of a cell, its unit and the bytes that both take: "5.678 us", "4312.02 +/- 10.11", "7.5". */
static size_t read_cell(const struct table_cell *c, struct propose_unit *u)
{
    size_t n = c->len > 0 ? pattern_number(c->text, c->len, 0) : 0, at = n;
    *u = (struct propose_unit){.length = 0};
    while (at < c->len && is_space(c->text[at]))
        at++;
    if (n == 0 || at == c->len)
        return n;
    if (propose_unit_at(c->text + at, c->len - at, u) && at + u->length == c->len)
        return n;
    *u = (struct propose_unit){.length = 0};
    return (c->len - at > 1 && memcmp(c->text + at, "\xc2\xb1", 2) == 0) || c->text[at] == '+' ? n : 0;
}

/* A row while its pattern is built. */
struct row {
    const struct table *t;
    const struct strvec *command;
    struct table_cell cell[TABLE_COLUMNS_MAX];
    size_t n;
    size_t label;   /* the column that says what the row is of; n: none */
    size_t skipped; /* columns since the last one in the pattern, of which: */
    bool blanks;    /* one has several words */
    struct segment pattern;
    struct proposed found[PROPOSED_MAX];
    size_t count;
};

static void add_skipped(struct row *r)
{
    char text[48], separator = r->t->separator;
    if (r->skipped == 0)
        return;
    if (separator == ' ')
        snprintf(text, sizeof text, r->blanks ? "(?:\\S+(?: \\S+)*\\s\\s+){%zu}" : "(?:\\S+\\s+){%zu}",
                 r->skipped);
    else
        snprintf(text, sizeof text,
                 separator == '|'   ? "(?:[^\\|]*\\|){%zu}" /* a bare | would begin another form */
                 : separator == ',' ? "(?:[^,]*,){%zu}"
                                    : "(?:[^\t]*\t){%zu}",
                 r->skipped);
    segment_add(&r->pattern, text);
    r->skipped = 0;
    r->blanks = false;
}

static void skip(struct row *r, size_t i)
{
    r->skipped++;
    r->blanks = r->blanks || (i != r->label && memchr(r->cell[i].text, ' ', r->cell[i].len));
}

/* Closes a column: its separator, unless it is the last one. */
static void end_column(struct row *r, size_t i)
{
    static const struct {
        char separator;
        const char *pattern;
    } ends[] = {{' ', "\\s+"}, {'|', "\\s*\\|"}, {',', "\\s*,"}, {'\t', "\\s*\t"}};
    for (size_t k = 0; i + 1 < r->n && k < sizeof ends / sizeof *ends; k++)
        if (ends[k].separator == r->t->separator)
            segment_add(&r->pattern, ends[k].pattern);
}

static bool is_name(const struct table_cell *c)
{
    return c->len > 0 && (isalpha((unsigned char)*c->text) ||
                          (c->len > 1 && strchr("`'\"", *c->text) && !isdigit((unsigned char)c->text[1])));
}

/* The first column often says what the row is of, sometimes the last one. */
static size_t find_label(const struct row *r)
{
    static const char *const names[] = {"name", "benchmark", "kernel",  "function", "operation", "op", "test",
                                        "case", "variant",   "command", "activity", "range",     NULL};
    const struct table_cell *last = &r->t->heading[r->t->columns - 1];
    if (is_name(&r->cell[0]))
        return 0;
    for (const char *const *n = names; !r->t->beside && *n; n++)
        if (strlen(*n) == last->len && strncasecmp(*n, last->text, last->len) == 0 &&
            is_name(&r->cell[r->n - 1]))
            return r->n - 1;
    return r->n;
}

static void add_row_label(struct row *r)
{
    segment_add(&r->pattern, r->t->separator == ' ' ? "" : "\\s*");
    segment_add_label(&r->pattern, r->cell[r->label].text, r->cell[r->label].len, r->command);
    end_column(r, r->label);
}

static void add_value(struct row *r, const struct proposal *p, size_t i, size_t number)
{
    struct propose_unit u, heading;
    const struct table_cell *c = &r->cell[i],
                            *h = i >= r->t->beside ? &r->t->heading[i - r->t->beside] : NULL;
    size_t n = h ? read_cell(c, &u) : 0;
    struct proposed *one = &r->found[r->count];
    struct proposal both = *p;
    char label[2 * PROPOSED_LABEL_MAX];
    if (n == 0 || i == r->label || r->count == PROPOSED_MAX ||
        (!u.length && !propose_unit_of(h->text, h->len, &heading))) {
        skip(r, i);
        return;
    }
    const struct table_cell *row = &r->cell[r->label < r->n ? r->label : 0];
    size_t before = r->label < r->n ? row->len : 0;
    before = before < PROPOSED_LABEL_MAX ? before : PROPOSED_LABEL_MAX - 1;
    snprintf(label, sizeof label, "%.*s %.*s", (int)before, row->text,
             (int)(h->len < PROPOSED_LABEL_MAX ? h->len : PROPOSED_LABEL_MAX - 1), h->text);
    for (size_t k = 0; k < r->count && both.count < PROPOSED_MAX; k++)
        both.item[both.count++] = r->found[k];
    *one = (struct proposed){
        .more = u.length ? u.more : heading.more, .value = strtod(c->text, NULL), .line = number};
    snprintf(one->unit, sizeof one->unit, "%s", u.length ? u.unit : heading.unit);
    propose_name(&both, label, 0, strlen(label), r->command, one);
    if (propose_is_aside(one->name)) {
        skip(r, i);
        return;
    }
    add_skipped(r);
    segment_add(&r->pattern, r->t->separator == ' ' ? "" : "\\s*");
    segment_add_number(&r->pattern, one->name);
    if (c->len > n) {
        segment_add(&r->pattern, u.length ? "\\s*" : "[^\\|,]*");
        segment_add_label(&r->pattern, u.length ? c->text + c->len - u.length : "", u.length, NULL);
    }
    end_column(r, i);
    r->count++;
}

/* After the last number, so many columns follow, and then the end. */
static void end_row(struct row *r)
{
    if (r->label > 0 && r->label < r->n) {
        r->skipped--;
        add_skipped(r);
        add_row_label(r);
        segment_add(&r->pattern, r->t->separator == '|' ? "\\s*(?:\\|\\s*)?$" : "\\s*$");
        return;
    }
    if (r->skipped > 1)
        add_skipped((r->skipped--, r));
    else
        r->skipped = 0;
    segment_add(&r->pattern, r->t->separator == ' ' ? "\\S*\\s*$" : "");
}

/* Which columns are numbers. The rows of a table are alike, other lines with as many words are not. */
static unsigned long numbers_of(const struct row *r)
{
    unsigned long bits = 0;
    for (size_t i = 0; i < r->n; i++)
        bits |= (unsigned long)(r->cell[i].len > 0 && isdigit((unsigned char)*r->cell[i].text)) << i;
    return bits;
}

/* Whether a cell stands left of the headings, as the labels of rows that have none do. */
static bool ends_before(const struct table_cell *c, const char *line, size_t indent)
{
    return (size_t)(c->text - line) + c->len <= indent;
}

bool propose_table_line(struct table *t, struct proposal *out, const char *line, size_t len, size_t number,
                        const struct strvec *command)
{
    struct row r = {.t = t, .command = command};
    if (read_heading(t, line, len, number) || !t->separator)
        return false;
    r.n = split(line, len, t->separator, 1, r.cell);
    if (r.n == t->columns + 1 && t->separator == ' ' && !t->seen && ends_before(&r.cell[0], line, t->indent))
        t->beside = true;
    if (r.n > t->columns + t->beside) /* a name of several words */
        r.n = split(line, len, t->separator, BETWEEN_WORDS, r.cell);
    unsigned long numbers = numbers_of(&r);
    if (r.n != t->columns + t->beside || (!t->seen && number > t->line + LINES_BETWEEN) ||
        (t->seen && t->separator == ' ' && numbers != t->numbers))
        return false;
    t->line = number;
    segment_add(&r.pattern, t->separator == '|' ? "^\\s*\\|?" : "^\\s*");
    r.label = find_label(&r);
    if (r.label == 0)
        add_row_label(&r);
    for (size_t i = r.label == 0 ? 1 : 0; i < r.n; i++)
        add_value(&r, out, i, number);
    end_row(&r);
    pattern_take(out, &r.pattern, r.found, r.count);
    if (r.count > 0) {
        t->seen = true;
        t->numbers = numbers;
    }
    return r.count > 0;
}
