#include "common/base/json_scan.h"

#include "common/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_BYTES = 40 };

static size_t text_end(const struct json_scan *s, size_t at)
{
    for (at++; at < s->len && s->text[at] != '"' && s->text[at] != '\n'; at++)
        at += s->text[at] == '\\' && at + 1 < s->len;
    return at < s->len && s->text[at] == '"' ? at + 1 : at;
}

struct json_token json_scan_next(struct json_scan *s)
{
    while (s->next < s->len && strchr(" \t\r\n", s->text[s->next]) && s->text[s->next])
        s->next++;
    struct json_token t = {.at = s->next, .len = 1, .kind = JSON_END};
    if (t.at >= s->len)
        return (struct json_token){.at = s->len};
    char c = s->text[t.at];
    if (c && strchr("{}[]:,", c))
        t.kind = c;
    else if (c == '"') {
        t.kind = JSON_TEXT;
        t.len = text_end(s, t.at) - t.at;
    } else {
        t.kind = JSON_OTHER;
        while (t.at + t.len < s->len &&
               !(s->text[t.at + t.len] == '\0' || strchr("{}[]:,\" \t\r\n", s->text[t.at + t.len])))
            t.len++;
    }
    s->next = t.at + t.len;
    return t;
}

struct json_mark json_scan_mark(const char *text, size_t at)
{
    struct json_mark m = {1, 1};
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n')
            m = (struct json_mark){m.line + 1, 1};
        else
            m.column += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return m;
}

/* Returns the token that has the byte before end, and whether a comma precedes it. */
static struct json_token token_at(const char *text, size_t len, size_t end, bool *after_comma)
{
    struct json_scan s = {.text = text, .len = len};
    struct json_token t = json_scan_next(&s), last = {.kind = JSON_END};
    while (t.kind != JSON_END && t.at + t.len < end) {
        last = t;
        t = json_scan_next(&s);
    }
    *after_comma = last.kind == ',';
    return t;
}

/* Finds the innermost bracket that is not closed; false if all are. */
static bool find_open(const char *text, size_t len, struct json_token *open)
{
    enum { DEPTH = 2048 };
    struct json_scan s = {.text = text, .len = len};
    AUTO_FREE struct json_token *stack = xcalloc(DEPTH, sizeof *stack);
    size_t depth = 0;
    for (struct json_token t = json_scan_next(&s); t.kind != JSON_END; t = json_scan_next(&s)) {
        if ((t.kind == '{' || t.kind == '[') && depth < DEPTH)
            stack[depth++] = t;
        else if ((t.kind == '}' || t.kind == ']') && depth > 0)
            depth--;
    }
    if (depth > 0)
        *open = stack[depth - 1];
    return depth > 0;
}

static void explain_end(const char *text, size_t len, char *out, size_t cap)
{
    struct json_token open;
    if (!find_open(text, len, &open)) {
        snprintf(out, cap, "expected a value, found the end of the file");
        return;
    }
    struct json_mark m = json_scan_mark(text, open.at);
    snprintf(out, cap,
             "the '%c' of line %u, column %u is never closed: expected '%c', found the end of the file",
             open.kind, m.line, m.column, open.kind == '{' ? '}' : ']');
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static void explain_syntax(const char *what, const struct json_token *t, const char *found, bool after_comma,
                           char *out, size_t cap)
{
    bool closes = t->kind == '}' || t->kind == ']';
    if (after_comma && closes)
        snprintf(out, cap, "trailing comma: remove the comma before this bracket");
    else if (starts(what, "string or '}'"))
        snprintf(out, cap, "expected a key in double quotes or '}', found %s", found);
    else if (starts(what, "':'"))
        snprintf(out, cap, "expected ':' after the key, found %s", found);
    else if (starts(what, "'}'"))
        snprintf(out, cap, "expected ',' or '}' after the value, found %s: a comma is missing before it",
                 found);
    else if (starts(what, "']'"))
        snprintf(out, cap, "expected ',' or ']' after the value, found %s: a comma is missing before it",
                 found);
    else if (starts(what, "unexpected token"))
        snprintf(out, cap, "expected a value, found %s", found);
    else if (starts(what, "end of file"))
        snprintf(out, cap, "expected the end of the file, found %s: a bracket is closed too early", found);
    else if (starts(what, "invalid token"))
        snprintf(out, cap,
                 "expected a string in double quotes, a number, true, false, null, '{' or '[', found %s",
                 found);
    else
        snprintf(out, cap, "%s", what);
}

void json_scan_explain(const char *text, size_t len, const json_error_t *e, struct json_mark *mark, char *out,
                       size_t cap)
{
    char found[SHOWN_BYTES + 8];
    bool after_comma;
    size_t end = e->position > 0 && (size_t)e->position <= len ? (size_t)e->position : len;
    struct json_token t = token_at(text, len, end, &after_comma);
    *mark = json_scan_mark(text, t.at);
    snprintf(found, sizeof found, t.kind == JSON_END ? "the end of the file" : "%.*s",
             (int)(t.len < SHOWN_BYTES ? t.len : SHOWN_BYTES), text + t.at);
    enum json_error_code code = json_error_code(e);
    if (code == json_error_premature_end_of_input) {
        explain_end(text, len, out, cap);
    } else if (code == json_error_duplicate_key) {
        snprintf(out, cap, "the key %s is duplicated", found);
    } else if (code == json_error_invalid_syntax || code == json_error_end_of_input_expected) {
        explain_syntax(e->text, &t, found, after_comma, out, cap);
    } else {
        *mark = json_scan_mark(text, end > 0 ? end - 1 : 0);
        snprintf(out, cap, "%s", e->text);
    }
}

/* Moves behind the value that begins with t. */
static void skip_value(struct json_scan *s, struct json_token t)
{
    for (size_t depth = 0;; t = json_scan_next(s)) {
        depth += t.kind == '{' || t.kind == '[';
        depth -= depth > 0 && (t.kind == '}' || t.kind == ']');
        if (depth == 0 || t.kind == JSON_END)
            return;
    }
}

/* Returns the length of ".key" at the start of path, if the path goes on with this key; else 0. */
static size_t follows(const char *path, const char *text, const struct json_token *key)
{
    json_auto_t *value = json_loadb(text + key->at, key->len, JSON_DECODE_ANY, NULL);
    size_t n = json_string_length(value);
    bool same = *path == '.' && value && strncmp(path + 1, json_string_value(value), n) == 0 &&
                (path[n + 1] == '\0' || path[n + 1] == '.' || path[n + 1] == '[');
    return same ? n + 1 : 0;
}

struct step {
    struct json_token key, value;
    size_t used; /* bytes of the path; 0: not found */
};

static struct step step_into_object(struct json_scan *s, const char *path)
{
    struct step found = {.used = 0};
    for (;;) {
        struct json_token key = json_scan_next(s);
        if (key.kind == ',')
            continue;
        if (key.kind != JSON_TEXT)
            return found;
        json_scan_next(s);
        struct json_token value = json_scan_next(s);
        size_t used = follows(path, s->text, &key);
        if (used > found.used)
            found = (struct step){key, value, used};
        skip_value(s, value);
    }
}

static struct step step_into_array(struct json_scan *s, const char *path)
{
    char *end;
    unsigned long wanted = *path == '[' ? strtoul(path + 1, &end, 10) : 0;
    if (*path != '[' || *end != ']')
        return (struct step){.used = 0};
    for (unsigned long i = 0;; i++) {
        struct json_token value = json_scan_next(s);
        if (value.kind == ',')
            value = json_scan_next(s);
        if (value.kind == ']' || value.kind == JSON_END)
            return (struct step){.used = 0};
        if (i == wanted)
            return (struct step){value, value, (size_t)(end + 1 - path)};
        skip_value(s, value);
    }
}

struct json_mark json_scan_locate(const char *text, size_t len, const char *path, bool key)
{
    struct json_scan s = {.text = text, .len = len};
    struct json_token at = json_scan_next(&s), of_key = at;
    if (*path == '$')
        path++;
    while (*path && (at.kind == '{' || at.kind == '[')) {
        struct step step = at.kind == '{' ? step_into_object(&s, path) : step_into_array(&s, path);
        if (step.used == 0)
            break;
        path += step.used;
        at = step.value;
        of_key = step.key;
        s.next = at.at + at.len;
    }
    return json_scan_mark(text, key && !*path ? of_key.at : at.at);
}
