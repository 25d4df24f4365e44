#include "common/contract/timings.h"

#include "common/base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROMPT_TOKENS_MARK "Prompt tokens:"
#define SKIP_MARK "SKIP:"

const double *timings_get(const struct timings *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++) {
        if (strcmp(t->item[i].name, name) == 0)
            return &t->item[i].value;
    }
    return NULL;
}

static void set_text(char *out, size_t size, const char *s, size_t len)
{
    AUTO(buf_release) struct buf clean = {.max = size - 1};
    while (len > 0 && (*s == ' ' || *s == '\t')) {
        s++;
        len--;
    }
    for (size_t i = 0; i < len && clean.len < size - 1; i++)
        buf_puts(&clean, s[i] >= ' ' && s[i] <= '~' ? (const char[]){s[i], '\0'} : "?");
    snprintf(out, size, "%s", buf_str(&clean));
}

static bool ends_in_s(const char *name)
{
    size_t len = strlen(name);
    bool rate = strstr(name, "_per_") != NULL;
    return len > 2 && strcmp(name + len - 2, "_s") == 0 && !rate;
}

static bool is_prompt_tokens(const char *name)
{
    return strcmp(name, "prompt_tokens") == 0;
}

/* A value that is not a number counts as printed, too. */
static void put_prompt_problem(struct timing_reader *r, const char *text, size_t len)
{
    struct timings *t = &r->result;
    t->prompt_tokens = -1;
    set_text(t->prompt_problem, sizeof t->prompt_problem, text, len);
    if (!t->prompt_problem[0])
        snprintf(t->prompt_problem, sizeof t->prompt_problem, "nothing");
}

static void put_prompt_tokens(struct timing_reader *r, double value)
{
    char text[64];
    if (value >= 0 && value < 1e15 && floor(value) == value) {
        r->result.prompt_tokens = (int64_t)value;
        r->result.prompt_problem[0] = '\0';
        return;
    }
    int n = snprintf(text, sizeof text, "%.15g", value);
    put_prompt_problem(r, text, (size_t)n);
}

/* What the store would leave out is a mistake of the program, and is told where it is made. */
static void refuse_number(struct timing_reader *r, const char *name, const char *why)
{
    char shown[80];
    set_text(shown, sizeof shown, name, strlen(name));
    snprintf(r->result.problem, sizeof r->result.problem, "the timing '%s' %s", shown, why);
}

/* factor: for times the seconds per unit of the rule, else 1. */
static void put_number(struct timing_reader *r, const char *name, double value, double factor)
{
    struct timings *t = &r->result;
    if (is_prompt_tokens(name)) {
        put_prompt_tokens(r, value);
        return;
    }
    t->found = true;
    t->times_found++;
    size_t i = 0;
    while (i < t->count && strcmp(t->item[i].name, name) != 0)
        i++;
    if (strstr(name, "***")) /* a secret was in it: its value is nobody's to know */
        return;
    if (!text_is_name(name)) {
        refuse_number(r, name, "has no name of letters, digits, '_', '.' and '-', at most 64");
        return;
    }
    if (i == TIMINGS_MAX) {
        refuse_number(r, name, "is one too many: a test has at most 64");
        return;
    }
    snprintf(t->item[i].name, sizeof t->item[i].name, "%s", name);
    t->item[i].value = value * factor;
    if (i == t->count)
        t->count++;
}

/* What is there but is no number is not missing: whoever looks for it is told what it is. */
static void note_unread(struct timing_reader *r, const char *name, const char *text, size_t len)
{
    char shown[80];
    set_text(shown, sizeof shown, text, len);
    snprintf(r->result.unread, sizeof r->result.unread, "%.64s is '%s': not a number", name, shown);
}

static void forget_unread(struct timing_reader *r, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(r->result.unread, name, n) == 0 && r->result.unread[n] == ' ')
        r->result.unread[0] = '\0';
}

static void drop_number(struct timings *t, const char *name)
{
    size_t i = 0;
    while (i < t->count && strcmp(t->item[i].name, name) != 0)
        i++;
    if (i < t->count)
        memmove(&t->item[i], &t->item[i + 1], (--t->count - i) * sizeof *t->item);
}

/* The last line counts, also if its number cannot be read, such as "1,234.5"; one with a word in the place of
 * the number is another line. */
static void note_unread_group(struct timing_reader *r, const char *name, const char *text, size_t len)
{
    if (isdigit((unsigned char)*text))
        drop_number(&r->result, name);
    if (!timings_get(&r->result, name))
        note_unread(r, name, text, len);
}

static void note_unread_json(struct timing_reader *r, const char *name, const json_t *value)
{
    if (!value || json_is_number(value) || strcmp(name, "attn_impl") == 0 || is_prompt_tokens(name))
        return;
    AUTO_FREE char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    note_unread(r, name, text ? text : "", text ? strlen(text) : 0);
}

static double factor_of(const struct timing_reader *r, const char *name, bool own)
{
    return !own && ends_in_s(name) ? r->rule->unit : 1;
}

static void put_json(struct timing_reader *r, const char *name, const json_t *value, bool own)
{
    if (json_is_number(value))
        put_number(r, name, json_number_value(value), factor_of(r, name, own));
    else if (json_is_string(value) && strcmp(name, "attn_impl") == 0)
        set_text(r->result.attn_impl, sizeof r->result.attn_impl, json_string_value(value),
                 json_string_length(value));
    else if (is_prompt_tokens(name) && json_is_string(value))
        put_prompt_problem(r, json_string_value(value), json_string_length(value));
    else if (is_prompt_tokens(name) && value && !json_is_null(value))
        put_prompt_problem(r, "no number", strlen("no number"));
}

/* Returns the value at a path such as "$.a.b[0]"; NULL when there is no such value. */
static const json_t *at_path(const json_t *value, const char *path)
{
    const char *s = path + 1;
    while (value && *s) {
        if (*s == '.') {
            char key[TIMING_PATH_KEY_MAX];
            size_t len = strcspn(++s, ".[");
            if (len == 0 || len >= sizeof key)
                return NULL;
            memcpy(key, s, len);
            key[len] = '\0';
            value = json_object_get(value, key);
            s += len;
        } else if (*s == '[') {
            char *end;
            unsigned long i = strtoul(s + 1, &end, 10);
            if (*end != ']' || end == s + 1)
                return NULL;
            value = json_array_get(value, i);
            s = end + 1;
        } else {
            return NULL;
        }
    }
    return value;
}

/* Takes the values at the paths of the rule. */
static void put_parts(struct timing_reader *r, const json_t *root)
{
    for (size_t i = 0; i < r->rule->count; i++) {
        const struct timing_part *p = &r->rule->part[i];
        const json_t *value = *p->path == '$' ? at_path(root, p->path) : json_object_get(root, p->path);
        put_json(r, p->name, value, p->own);
        note_unread_json(r, p->name, value);
    }
}

static void read_mark(struct timing_reader *r, const char *text, size_t len)
{
    json_error_t e;
    const char *name;
    json_t *value;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
    if (!json_is_object(root)) {
        snprintf(r->result.problem, sizeof r->result.problem,
                 "the [PERF_TIMING] line is not a JSON object: %.100s", root ? "another type" : e.text);
        json_decref(root);
        return;
    }
    r->result.count = 0;
    r->result.problem[0] = r->result.unread[0] = '\0';
    r->result.found = true;
    json_object_foreach(root, name, value)
    {
        put_json(r, name, value, false);
        if (own_metric_is_judged(name))
            note_unread_json(r, name, json_is_null(value) ? NULL : value);
    }
    put_parts(r, root);
    json_decref(root);
}

static void read_json(struct timing_reader *r, const char *text, size_t len)
{
    json_auto_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    if (root)
        put_parts(r, root);
}

static void put_group(struct timing_reader *r, const struct timing_part *p, const char *text, size_t len)
{
    const char *name = p->name;
    char number[400] = "", *end;
    if (strcmp(name, "attn_impl") == 0) {
        set_text(r->result.attn_impl, sizeof r->result.attn_impl, text, len);
        return;
    }
    if (len == 0)
        return;
    bool fits = len < sizeof number;
    memcpy(number, text, fits ? len : 0);
    double value = strtod(number, &end);
    if (fits && *end == '\0') {
        forget_unread(r, name);
        put_number(r, name, value, factor_of(r, name, p->own));
    } else if (is_prompt_tokens(name)) {
        put_prompt_problem(r, text, len);
    } else if (p->own || own_metric_is_judged(name)) {
        note_unread_group(r, name, text, len);
    }
}

/* The number of words of the pattern, two letters or more and no names of groups, that are in the text. */
static size_t words_in(const char *pattern, const char *text, size_t len)
{
    size_t found = 0;
    for (const char *s = pattern; *s;) {
        size_t n = 0;
        while (isalpha((unsigned char)s[n]))
            n++;
        bool name = n > 0 && s - pattern > 2 && s[-1] == '<';
        bool escape = n > 0 && s > pattern && s[-1] == '\\';
        if (n > 1 && !name && memmem(text, len, s + escape, n - escape))
            found++;
        s += n + (n == 0);
        if (name)
            s += strcspn(s, ">");
    }
    return found;
}

/* So that a message can say what was looked for and what there was instead. */
static void note_nearest(struct timing_reader *r, const char *text, size_t len)
{
    if (r->result.found)
        return;
    size_t words = words_in(r->rule->pattern, text, len);
    if (words <= r->words)
        return;
    r->words = words;
    set_text(r->result.nearest, sizeof r->result.nearest, text, len);
}

static void read_regex(struct timing_reader *r, const char *text, size_t len)
{
    const struct regex *re = &r->rule->regex;
    struct err err = {0};
    int rc = regex_match(re, text, len, 0, &err);
    if (rc < 0)
        set_text(r->result.problem, sizeof r->result.problem, err.msg, strlen(err.msg));
    if (rc == 0)
        note_nearest(r, text, len);
    for (size_t i = 0; rc == 1 && i < r->rule->count; i++) {
        size_t at, n;
        if (regex_group(re, r->rule->part[i].group, &at, &n))
            put_group(r, &r->rule->part[i], text + at, n);
    }
}

/* Accepts "4096", also with text behind it, but not "4096k", "4.5" or "4,096". */
static bool ends_number(const char *end)
{
    if (*end == '.' || *end == ',')
        return !isdigit((unsigned char)end[1]);
    return !isalnum((unsigned char)*end) && *end != '_';
}

static void read_prompt_tokens(struct timing_reader *r, const char *text, size_t len)
{
    char number[32] = "", *end;
    memcpy(number, text, len < sizeof number - 1 ? len : sizeof number - 1);
    errno = 0;
    long long n = strtoll(number, &end, 10);
    if (end == number || errno != 0 || n < 0 || !ends_number(end)) {
        put_prompt_problem(r, text, len);
        return;
    }
    r->result.prompt_tokens = n;
    r->result.prompt_problem[0] = '\0';
}

static void read_line(struct timing_reader *r, const char *text, size_t len)
{
    const char *p;
    if (len > 0 && text[len - 1] == '\r')
        len--;
    const char *end = text + len;
    if ((p = memmem(text, len, PROMPT_TOKENS_MARK, strlen(PROMPT_TOKENS_MARK)))) {
        p += strlen(PROMPT_TOKENS_MARK);
        read_prompt_tokens(r, p, (size_t)(end - p));
    }
    if (len > strlen(SKIP_MARK) && memcmp(text, SKIP_MARK, strlen(SKIP_MARK)) == 0)
        set_text(r->result.skip, sizeof r->result.skip, text + strlen(SKIP_MARK), len - strlen(SKIP_MARK));
    switch (r->rule->kind) {
    case TIMING_MARK:
        if ((p = memmem(text, len, PROTO_TIMING_MARK, strlen(PROTO_TIMING_MARK)))) {
            p += strlen(PROTO_TIMING_MARK);
            read_mark(r, p, (size_t)(end - p));
        }
        break;
    case TIMING_JSON:
        if (len > 0 && text[0] == '{')
            read_json(r, text, len);
        break;
    case TIMING_REGEX:
        read_regex(r, text, len);
        break;
    case TIMING_WALL:
        break;
    }
}

void timing_reader_init(struct timing_reader *r, const struct timing_rule *rule)
{
    *r = (struct timing_reader){.rule = rule, .result = {.prompt_tokens = -1}};
    buf_init(&r->line, LIMIT_LOG_LINE);
    buf_init(&r->document, TIMINGS_DOCUMENT_MAX);
}

void timing_reader_release(struct timing_reader *r)
{
    buf_release(&r->line);
    buf_release(&r->document);
}

static void end_line(struct timing_reader *r)
{
    if (r->line.len > 0)
        read_line(r, buf_str(&r->line), r->line.len);
    buf_clear(&r->line);
    r->line_cut = false;
}

static void add_to_line(struct timing_reader *r, const char *data, size_t len)
{
    size_t room = LIMIT_LOG_LINE - r->line.len;
    if (len > room)
        r->line_cut = true;
    buf_add(&r->line, data, len < room ? len : room);
}

void timing_reader_feed(struct timing_reader *r, const char *data, size_t len)
{
    if (r->rule->kind == TIMING_JSON)
        buf_add(&r->document, data, len);
    last_line_feed(&r->last, data, len);
    while (len > 0) {
        const char *nl = memchr(data, '\n', len);
        size_t n = nl ? (size_t)(nl - data) : len;
        if (nl && r->line.len == 0 && n <= LIMIT_LOG_LINE) /* a complete line needs no copy */
            read_line(r, data, n);
        else if (!r->line_cut)
            add_to_line(r, data, n);
        if (nl) {
            end_line(r);
            n++;
        }
        data += n;
        len -= n;
    }
}

void timing_reader_finish(struct timing_reader *r)
{
    end_line(r);
    /* A document on a single line was already parsed as a line. */
    if (r->rule->kind == TIMING_JSON && !r->result.found && buf_ok(&r->document))
        read_json(r, buf_str(&r->document), r->document.len);
}
