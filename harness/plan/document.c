#include "harness/plan/document.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/json_scan.h"
#include "common/contract/proto.h"
#include "harness/plan/yaml.h"

#include <stdlib.h>
#include <string.h>

static bool ends_in(const char *file, const char *ending)
{
    size_t n = strlen(file), m = strlen(ending);
    return n > m && strcmp(file + n - m, ending) == 0;
}

bool plan_document_is_yaml(const char *file)
{
    return ends_in(file, ".yaml") || ends_in(file, ".yml");
}

bool plan_document_is_named(const char *file)
{
    return ends_in(file, ".json") || ends_in(file, ".jsonc") || plan_document_is_yaml(file);
}

static bool locate(const struct json_source *s, const char *path, bool key, struct json_mark *out)
{
    const struct plan_document *d = (const struct plan_document *)s;
    const char *text = buf_str(&d->text);
    *out =
        d->yaml ? yaml_locate(text, d->text.len, path, key) : json_scan_locate(text, d->text.len, path, key);
    return out->line > 0;
}

struct blanking {
    char *text;
    size_t len;
    size_t comma;  /* position of the last comma, if it is pending */
    bool pending;  /* only white space and comments have followed that comma */
    char previous; /* the last character outside white space and comments */
    bool changed;
};

static void blank(struct blanking *b, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (b->text[i] != '\n' && b->text[i] != '\r')
            b->text[i] = ' ';
    b->changed = true;
}

/* The end of the comment at `at`, or len + 1 if it is not closed. */
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

/* A comma that follows a value and precedes a closing bracket is superfluous. */
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

/* Replaces comments (// and C style) and trailing commas by spaces, so that everything else keeps its line
 * and column. *changed: whether there were any. ERR_INPUT for a comment that is not closed. */
static int blank_relaxed(char *text, size_t len, const char *file, bool *changed, struct err *err)
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

static void hash_canonical(struct plan_document *d)
{
    AUTO_FREE char *text = json_dumps(d->root, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    sha256_of(text, strlen(text), d->sha256);
}

static int parse(struct plan_document *d, const char *file, struct err *err)
{
    bool relaxed = d->yaml;
    sha256_of(buf_str(&d->text), d->text.len, d->sha256);
    if (d->yaml)
        d->root = yaml_parse(buf_str(&d->text), d->text.len, file, err);
    else if (d->text.len == 0 || blank_relaxed(d->text.data, d->text.len, file, &relaxed, err) == 0)
        d->root = json_parse(buf_str(&d->text), d->text.len, file, err);
    if (!d->root)
        return -1;
    if (relaxed)
        hash_canonical(d);
    return 0;
}

int plan_document_load(struct plan_document *d, const char *file, struct json_problems *problems,
                       struct err *err)
{
    *d = (struct plan_document){.source = {.locate = locate, .problems = problems},
                                .yaml = plan_document_is_yaml(file)};
    buf_init(&d->text, LIMIT_PLAN_BYTES);
    if (fs_read_file(file, LIMIT_PLAN_BYTES, &d->text, err) == 0 && parse(d, file, err) == 0)
        return 0;
    plan_document_release(d);
    return -1;
}

void plan_document_release(struct plan_document *d)
{
    buf_release(&d->text);
    json_decref(d->root);
    *d = (struct plan_document){.yaml = false};
}
