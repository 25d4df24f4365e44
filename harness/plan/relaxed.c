#include "harness/plan/relaxed.h"

#include "common/base/json_scan.h"

#include <string.h>

struct blanking {
    char *text;
    size_t len;
    size_t comma;  /* the last comma after which nothing but space was found */
    bool pending;  /* there is such a comma */
    char previous; /* the last character that counts */
    bool changed;
};

static void blank(struct blanking *b, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (b->text[i] != '\n' && b->text[i] != '\r')
            b->text[i] = ' ';
    b->changed = true;
}

/* Where the comment at `at` ends; len + 1 if it does not. */
static size_t comment_end(const struct blanking *b, size_t at)
{
    if (b->text[at + 1] == '/') {
        const char *end = memchr(b->text + at, '\n', b->len - at);
        return end ? (size_t)(end - b->text) : b->len;
    }
    const char *end = memmem(b->text + at + 2, b->len - at - 2, "*/", 2);
    return end ? (size_t)(end - b->text) + 2 : b->len + 1;
}

static size_t string_end(const struct blanking *b, size_t at)
{
    for (at++; at < b->len && b->text[at] != '"'; at++)
        at += b->text[at] == '\\';
    return at < b->len ? at + 1 : b->len;
}

/* A comma is superfluous between a value and a closing bracket. */
static void take(struct blanking *b, size_t at, char c)
{
    if (b->pending && (c == '}' || c == ']'))
        blank(b, b->comma, b->comma + 1);
    b->pending = c == ',' && b->previous && !strchr(",[{:", b->previous);
    b->comma = at;
    b->previous = c;
}

static bool is_comment(const struct blanking *b, size_t at)
{
    return b->text[at] == '/' && at + 1 < b->len && (b->text[at + 1] == '/' || b->text[at + 1] == '*');
}

int relaxed_blank(char *text, size_t len, const char *file, bool *changed, struct err *err)
{
    struct blanking b = {.text = text, .len = len};
    for (size_t at = 0; at < len;) {
        char c = text[at];
        if (is_comment(&b, at)) {
            size_t end = comment_end(&b, at);
            struct json_mark m = end > len ? json_scan_mark(text, at) : (struct json_mark){0};
            if (end > len)
                return err_set(err, ERR_INPUT,
                               "%s:%u:%u: the comment that begins here does not end: */ is missing", file,
                               m.line, m.column);
            blank(&b, at, end);
            at = end;
            continue;
        }
        if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
            take(&b, at, c ? c : 'x');
        at = c == '"' ? string_end(&b, at) : at + 1;
    }
    *changed = b.changed;
    return 0;
}
