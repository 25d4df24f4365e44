#include "harness/propose/lines.h"

#include "common/base/alloc.h"
#include "common/contract/own_metric.h"
#include "harness/propose/name.h"
#include "harness/propose/pattern.h"
#include "harness/propose/unit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_MAX = 48, LINE_MAX_SEEN = 2000, FEW = 4 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A line while its pattern is built. */
struct line {
    const char *text;
    size_t len, from; /* where the label of the next number begins */
    size_t named;     /* where the words of that label begin that are its name */
    bool labelled;    /* a number of it stands behind "label:" */
    const struct strvec *command;
    struct segment pattern;
    struct proposed found[PROPOSED_MAX];
    size_t count;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* The start of the label: at most LABEL_MAX bytes before end, of which white space counts once, from the
 * beginning of a word. */
static size_t label_start(const struct line *l, size_t end)
{
    size_t at = end, bytes = 0, word = end;
    while (at > l->from && bytes < LABEL_MAX) {
        at--;
        bytes += !is_space(l->text[at]) || !is_space(l->text[at + 1 < end ? at + 1 : at]) || at + 1 == end;
        if (!is_space(l->text[at]) && (at == l->from || is_space(l->text[at - 1])))
            word = at;
    }
    return word;
}

/* Text before a label may be long; only the label is required then. */
static void add_gap(struct line *l, size_t label, size_t at)
{
    size_t space = l->from;
    while (space < label && is_space(l->text[space]))
        space++;
    if (l->count == 0)
        segment_add(&l->pattern, space == label ? "^\\s*" : "");
    else if (label > l->from)
        segment_add(&l->pattern, space == label ? "\\s+" : ".*?\\s");
    segment_add_label(&l->pattern, l->text + label, at - label, l->command);
}

/* A pattern that is built in pieces: what follows the number up to its unit. */
struct behind {
    size_t at, end; /* of the unit; equal: it is in the label */
    bool spread;    /* a deviation stands before it */
};

static bool is_aside(const struct line *l, size_t at)
{
    static const char *const signs[] = {"\xc2\xb1", "+/-", "+-", "\xef\xbf\xbd"};
    while (at > 0 && is_space(l->text[at - 1]))
        at--;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t n = strlen(signs[i]);
        if (at >= n && memcmp(l->text + at - n, signs[i], n) == 0)
            return true;
    }
    return false;
}

static bool ends_label(const struct line *l, size_t at)
{
    while (at > l->from && is_space(l->text[at - 1]))
        at--;
    return at > l->from && strchr(":=", l->text[at - 1]);
}

/* The words behind the unit that name a number: "0.5s GPU, 1.2s total CPU", or those of a line that begins
 * with it. Words before a comma name the number before it. Returns 0 where there are none. */
static size_t words_behind(const struct line *l, size_t at, const struct behind *b)
{
    size_t before = at, end = b->end;
    while (before > l->from && is_space(l->text[before - 1]))
        before--;
    bool begins = l->count == 0 && before == 0,
         next = l->count > 0 && before > l->from && l->text[before - 1] == ',';
    if ((!begins && !next) || b->end <= b->at)
        return 0;
    while (end < l->len && (isalpha((unsigned char)l->text[end]) || strchr(" _-", l->text[end])))
        end++;
    bool whole = end == l->len || l->text[end] == ',' || (begins && strchr("#(", l->text[end]));
    return whole && end > b->end ? end - b->end : 0;
}

/* The length of a word such as "Best" or "Average" that begins the line, before its label; 0 if none does. */
static size_t first_word(const struct line *l)
{
    size_t n = 0;
    while (n < l->len && isalpha((unsigned char)l->text[n]))
        n++;
    return n < LABEL_MAX && propose_is_average(l->text, n) ? n : 0;
}

/* Words before a comma belong to the number before it. */
static size_t after_comma(const struct line *l, size_t label, size_t named, size_t at)
{
    bool letters = false;
    for (size_t i = at; l->count > 0 && i > label; i--) {
        letters = letters || isalpha((unsigned char)l->text[i - 1]);
        if (letters && strchr(",;", l->text[i - 1]))
            return i > named ? i : named;
    }
    return named;
}

/* The length of a word behind the unit that says that nobody measured the number: "5.3 TB/s peak". */
static size_t given_behind(const struct line *l, const struct behind *b, size_t *at)
{
    static const char *const words[] = {"peak", "theoretical", "expected", "target", NULL};
    size_t from = b->end;
    while (from < l->len && strchr(" (", l->text[from]))
        from++;
    *at = from;
    for (const char *const *w = words; *w; w++) {
        size_t n = strlen(*w);
        if (from + n <= l->len && strncasecmp(*w, l->text + from, n) == 0 &&
            (from + n == l->len || !isalpha((unsigned char)l->text[from + n])))
            return n;
    }
    return 0;
}

static void name_by_label(const struct line *l, const struct proposal *p, size_t label, size_t named,
                          size_t at, const struct behind *b, struct proposed *one)
{
    char text[LABEL_MAX + 2 * LINE_MAX_SEEN];
    size_t first = l->count == 0 && label > 0 ? first_word(l) : 0, given_at;
    size_t given = given_behind(l, b, &given_at), from = first > 0 ? 0 : named - label;
    snprintf(text, sizeof text, "%.*s%s%.*s %.*s", (int)first, l->text, first > 0 ? " " : "",
             (int)(at - label), l->text + label, (int)given, l->text + given_at);
    size_t end = strlen(text);
    propose_name(p, text, from, given > 0 ? end : end - 1, l->command, one);
}

static void take_number(struct line *l, const struct proposal *p, size_t at, size_t end,
                        const struct propose_unit *u, const struct behind *b, size_t number)
{
    size_t label = label_start(l, at), named = l->named > label ? l->named : label;
    size_t words = words_behind(l, at, b);
    if (named > label && propose_counts(l->text + named, at - named))
        named = label;         /* "100 iterations took 2.5 s" */
    struct proposal both = *p; /* names must differ from all others */
    struct proposed *one = &l->found[l->count];
    for (size_t i = 0; i < l->count && both.count < PROPOSED_MAX; i++)
        both.item[both.count++] = l->found[i];
    *one = (struct proposed){
        .more = u->more, .labelled = ends_label(l, at), .value = strtod(l->text + at, NULL), .line = number};
    snprintf(one->unit, sizeof one->unit, "%s", u->unit);
    if (words > 0)
        propose_name(&both, l->text + b->end, 0, words, l->command, one);
    else
        name_by_label(l, &both, label, after_comma(l, label, named, at), at, b, one);
    if (propose_is_aside(one->name) || propose_is_date(one->value, one->unit))
        return;
    one->total = own_metric_seconds(one->unit) > 0 &&
                 propose_is_total(l->text + label, at - label, l->text + b->end, l->len - b->end);
    add_gap(l, label, at);
    segment_add_number(&l->pattern, one->name);
    if (b->spread)
        segment_add(&l->pattern, "\\s*\\S+\\s*" PATTERN_NUMBER);
    if (b->end > b->at) {
        segment_add(&l->pattern, b->at > end ? "\\s*" : "");
        segment_add_label(&l->pattern, l->text + b->at, b->end - b->at, NULL);
        segment_add(&l->pattern, isalpha((unsigned char)l->text[b->end - 1]) ? "(?![A-Za-z])" : "");
    }
    l->from = b->end > b->at ? b->end : end;
    l->count++;
}

static size_t skip_space(const struct line *l, size_t at)
{
    while (at < l->len && is_space(l->text[at]))
        at++;
    return at;
}

/* What follows is the unit of an amount that is no result, or the number is only a part of one. */
static bool is_amount(const struct line *l, size_t end)
{
    static const char *const amounts[] = {
        "B",      "KB",     "kB",  "MB",  "GB", "TB", "KiB",    "MiB", "GiB",   "Bytes", "bytes", "KBytes",
        "MBytes", "GBytes", "MHz", "GHz", "W",  "J",  "tokens", "C",   "flops", "FLOPs", NULL};
    size_t at = skip_space(l, end), n = 0;
    if (end < l->len && (isalpha((unsigned char)l->text[end]) || strchr("%^", l->text[end])))
        return true;
    while (at + n < l->len && isalpha((unsigned char)l->text[at + n]))
        n++;
    for (const char *const *a = amounts; *a; a++)
        if (strlen(*a) == n && memcmp(*a, l->text + at, n) == 0)
            return at + n == l->len || !strchr("/=:", l->text[at + n]);
    return at < l->len && l->text[at] == '%';
}

/* Between two numbers, a unit alone ("10.00 sec 10.9 GBytes", "7 total tokens/s, 3 ...") is that of the first
 * one, unless it is said to be the label of the second. */
static bool is_label_of(const struct line *l, size_t label, size_t at)
{
    size_t end = at, from;
    while (end > label && is_space(l->text[end - 1]))
        end--;
    if (l->named <= label || (end > label && strchr(":=)]", l->text[end - 1])))
        return true;
    for (from = end; from > label && (isalnum((unsigned char)l->text[from - 1]) || l->text[from - 1] == '_');)
        from--;
    return memchr(l->text + from, '_', end - from) != NULL;
}

/* "12.3 M elements/s", "973 billion interactions per second" */
static void add_prefix(const char *word, size_t len, struct propose_unit *u)
{
    static const char *const words[][2] = {{"k", "k"},       {"K", "k"},       {"M", "M"},
                                           {"G", "G"},       {"T", "T"},       {"thousand", "k"},
                                           {"million", "M"}, {"billion", "G"}, {"trillion", "T"}};
    size_t n = strlen(u->unit);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i][0]) == len && memcmp(words[i][0], word, len) == 0) {
            bool fits = n > 0 && n + 1 < sizeof u->unit;
            memmove(u->unit + 1, u->unit, fits ? n + 1 : 0);
            u->unit[0] = fits ? *words[i][1] : '\0';
            return;
        }
}

/* Whether the unit behind a number is the label of the next one: "us 7.5 TFLOPS 512.3". */
static bool is_next_label(const struct line *l, size_t at, size_t end)
{
    struct propose_unit ignored;
    size_t label = label_start(l, at), next = skip_space(l, end);
    return next > end && next < l->len && is_digit(l->text[next]) &&
           propose_unit_of(l->text + label, at - label, &ignored);
}

/* Looks behind the number, perhaps behind its deviation: "1234.5 +/- 3.2 ops/ms". */
static bool find_behind(const struct line *l, size_t end, struct propose_unit *u, struct behind *b)
{
    size_t at = skip_space(l, end), next = at, word = at;
    *b = (struct behind){.at = at};
    if (propose_unit_at(l->text + at, l->len - at, u)) {
        b->end = at + u->length;
        return true;
    }
    while (word < l->len && isalpha((unsigned char)l->text[word]))
        word++;
    size_t ends = word; /* of the word between */
    word = word > at ? skip_space(l, word) : at;
    if (word > ends && word < l->len && l->text[word] != '[' && l->text[word] != '(' &&
        propose_unit_at(l->text + word, l->len - word, u) && strchr(u->unit, '/')) {
        b->end = word + u->length; /* "7561 total tokens/s" */
        add_prefix(l->text + at, ends - at, u);
        return true;
    }
    while (next < l->len && !is_space(l->text[next]) && !is_digit(l->text[next]))
        next++;
    next = skip_space(l, next);
    size_t n = next < l->len && is_aside(l, next) ? pattern_number(l->text, l->len, next) : 0;
    at = skip_space(l, next + n);
    if (n == 0 || !propose_unit_at(l->text + at, l->len - at, u))
        return false;
    *b = (struct behind){.at = at, .end = at + u->length, .spread = true};
    return true;
}

/* Names that a line gives to results whose unit its tool leaves out, or puts elsewhere. */
static bool is_known(const char *label, size_t len, struct propose_unit *u)
{
    static const struct {
        const char *label;
        struct propose_unit unit;
    } known[] = {{"Avg bus bandwidth", {.unit = "GB/s", .more = true}}, /* of nccl-tests and rccl-tests */
                 {"GFLOP/s rating of", {.unit = "GFLOP/s", .more = true}}};
    while (len > 0 && strchr(" \t:=", label[len - 1]))
        len--;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].label);
        *u = known[i].unit;
        if (n <= len && memcmp(label + len - n, known[i].label, n) == 0)
            return true;
    }
    return false;
}

/* Words that name a result, whatever it is measured in. */
static bool sounds_like_result(const char *s, size_t len)
{
    static const char *const words[] = {"time",    "elapsed",  "latency", "throughput", "bandwidth", "speed",
                                        "runtime", "duration", "_s",      "perf",       NULL};
    char label[PROPOSED_LABEL_MAX];
    snprintf(label, sizeof label, "%.*s", (int)(len < sizeof label ? len : sizeof label - 1), s);
    for (const char *const *w = words; *w; w++)
        if (strcasestr(label, *w))
            return true;
    return false;
}

/* What cannot be told is said, not guessed. */
static void leave_out(struct proposal *out, const char *label, size_t len, size_t number, const char *why)
{
    while (len > 0 && strchr(" \t:=", label[len - 1]))
        len--;
    bool seen = out->n_left > 0 && out->left[out->n_left - 1].line >= number;
    if (seen || !isalpha((unsigned char)*label) || out->n_left == PROPOSED_LEFT_MAX || len == 0)
        return;
    snprintf(out->left[out->n_left].label, PROPOSED_LABEL_MAX, "%.*s",
             (int)(len < PROPOSED_LABEL_MAX ? len : PROPOSED_LABEL_MAX - 1), label);
    out->left[out->n_left].why = why;
    out->left[out->n_left++].line = number;
}

/* Returns the length of a number that no pattern reads, and says so; 0 if none begins there. */
static size_t leave_unreadable(const struct line *l, struct proposal *out, size_t at, size_t number)
{
    struct propose_unit u;
    struct behind b;
    size_t label = label_start(l, at), n = pattern_duration(l->text, l->len, at);
    label = l->named > label ? l->named : label;
    if (n > 0) {
        leave_out(out, l->text + label, at - label, number, "the time is in several units");
        return n;
    }
    n = pattern_grouped(l->text, l->len, at, ends_label(l, at));
    if (n > 0 && (find_behind(l, at + n, &u, &b) ||
                  (ends_label(l, at) && sounds_like_result(l->text + label, at - label))))
        leave_out(out, l->text + label, at - label, number,
                  "no pattern reads a number with a comma or separated thousands");
    return n;
}

static void look_at_number(struct line *l, struct proposal *p, size_t at, size_t end, size_t number)
{
    struct propose_unit u;
    struct behind b;
    size_t label = label_start(l, at);
    bool labelled = ends_label(l, at);
    if (is_aside(l, at))
        return;
    if (find_behind(l, end, &u, &b) && !is_next_label(l, at, b.end)) {
        take_number(l, p, at, end, &u, &b, number);
        l->labelled |= labelled;
        return;
    }
    if (is_amount(l, end))
        return;
    b = (struct behind){.at = end, .end = end};
    if ((is_label_of(l, label, at) && propose_unit_of(l->text + label, at - label, &u)) ||
        is_known(l->text + label, at - label, &u)) {
        take_number(l, p, at, end, &u, &b, number);
        l->labelled |= labelled;
    } else if (labelled) {
        label = l->named > label ? l->named : label;
        if (sounds_like_result(l->text + label, at - label))
            leave_out(p, l->text + label, at - label, number, "the line does not say in which unit");
    }
}

/* A progress bar overwrites itself; what it last said counts. */
static size_t last_part(const char *line, size_t len)
{
    const char *cr = memrchr(line, '\r', len);
    return cr ? (size_t)(cr + 1 - line) : 0;
}

void propose_line(struct proposal *out, const char *line, size_t len, size_t number, bool labelled,
                  const struct strvec *command)
{
    AUTO_FREE struct line *l = xcalloc(1, sizeof *l);
    size_t skip = last_part(line, len);
    if (memmem(line, len, "%|", 2) && (labelled || out->count > 0)) /* a progress bar is no result */
        return;
    l->text = line + skip;
    l->len = len - skip < LINE_MAX_SEEN ? len - skip : LINE_MAX_SEEN;
    l->command = command;
    for (size_t at = 0; at < l->len && l->count < PROPOSED_MAX;) {
        size_t odd = is_digit(l->text[at]) ? leave_unreadable(l, out, at, number) : 0;
        size_t n = odd > 0 ? odd : pattern_number(l->text, l->len, at);
        if (n > 0 && odd == 0)
            look_at_number(l, out, at, at + n, number);
        if (n > 0)
            l->named = at + n;
        at += n > 0 ? n : 1;
    }
    for (size_t i = 0; i < l->count; i++)
        l->found[i].labelled += l->labelled;
    if (l->labelled == labelled && (labelled || out->count == 0 || l->count <= FEW))
        pattern_take(out, &l->pattern, l->found, l->count);
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
    if (out->count == PROPOSED_MAX || !cell_of(line, len, column - 1, &test, &test_len) ||
        !cell_of(line, len, column, &rate, &rate_len) || rate_len == 0 || !is_digit(*rate) || test_len == 0)
        return;
    struct proposed *one = &out->item[out->count];
    *one = (struct proposed){.more = true, .value = strtod(rate, NULL), .line = number, .unit = "tok/s"};
    propose_name(out, test, 0, test_len, NULL, one);
    struct segment s = {.used = 0};
    segment_add(&s, "\\|\\s*");
    segment_add_label(&s, test, test_len, NULL); /* pp512 and pp1024 differ */
    segment_add(&s, "\\s*\\|\\s*");
    segment_add_number(&s, one->name);
    struct proposed found = *one;
    pattern_take(out, &s, &found, 1);
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
