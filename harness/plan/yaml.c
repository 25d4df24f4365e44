#include "harness/plan/yaml.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct anchor {
    char *name;
    json_t *value;
    size_t values, depth;
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the current event */
    const char *file;
    struct err *err;
    size_t values;
    struct anchor anchor[YAML_ANCHORS_MAX];
    size_t anchors;
};

struct node {
    json_t *value;
    size_t values, depth;
};

static int fail(struct reader *r, const yaml_mark_t *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(struct reader *r, const yaml_mark_t *at, const char *fmt, ...)
{
    struct err why = {0};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why.msg, sizeof why.msg, fmt, ap);
    va_end(ap);
    return err_set(r->err, ERR_INPUT, "%s:%zu:%zu: not valid YAML: %s", r->file, at->line + 1, at->column + 1,
                   why.msg);
}

static int fail_syntax(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem ? p->problem : "no memory";
    const char *context = p->context ? p->context : "";
    if (strcmp(problem, "found character that cannot start any token") == 0)
        problem = "found a character that cannot begin a value (a tab may not indent; quote strings that "
                  "begin with @, ` or %)";
    return fail(r, &p->problem_mark, "%s%s%s", problem, *context ? " " : "", context);
}

/* Replaces r->event by the next one. */
static int next(struct reader *r)
{
    yaml_event_delete(&r->event);
    return yaml_parser_parse(&r->parser, &r->event) ? 0 : fail_syntax(r);
}

static int count_value(struct reader *r, size_t n)
{
    r->values += n;
    return r->values <= YAML_COUNT_MAX
               ? 0
               : fail(r, &r->event.start_mark, "more than %d values, aliases included", YAML_COUNT_MAX);
}

static int keep_anchor(struct reader *r, char *name, const struct node *n, const yaml_mark_t *at)
{
    struct anchor *a = &r->anchor[r->anchors];
    if (!name)
        return 0;
    if (r->anchors == YAML_ANCHORS_MAX)
        return fail(r, at, "more than %d anchors", YAML_ANCHORS_MAX);
    *a = (struct anchor){xstrdup(name), json_incref(n->value), n->values, n->depth};
    r->anchors++;
    return 0;
}

/* Copies the value, since a shared one would change in both places at once. */
static int read_alias(struct reader *r, size_t depth, struct node *out)
{
    const char *name = (const char *)r->event.data.alias.anchor;
    for (size_t i = r->anchors; i-- > 0;) {
        const struct anchor *a = &r->anchor[i];
        if (strcmp(a->name, name) != 0)
            continue;
        if (depth + a->depth > YAML_DEPTH_MAX)
            return fail(r, &r->event.start_mark, "nested more than %d levels deep", YAML_DEPTH_MAX);
        if (count_value(r, a->values) != 0)
            return -1;
        *out = (struct node){json_deep_copy(a->value), a->values, a->depth};
        return 0;
    }
    return fail(r, &r->event.start_mark, "the alias *%.40s has no anchor &%.40s before it", name, name);
}

static int refuse_tag(struct reader *r, const yaml_char_t *tag)
{
    return !tag || strcmp((const char *)tag, "!") == 0
               ? 0
               : fail(r, &r->event.start_mark, "tags such as %.40s are not supported", (const char *)tag);
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

static const char *after_sign(const char *s)
{
    return *s == '+' || *s == '-' ? s + 1 : s;
}

/* Returns 10, 16 (for 0x) or 8 (for 0o); 0 if the text is no integer. */
static int base_of(const char *text)
{
    const char *s = after_sign(text);
    if (s[0] == '0' && s == text && s[1] == 'x')
        return s[2] && !s[2 + strspn(s + 2, "0123456789abcdefABCDEF")] ? 16 : 0;
    if (s[0] == '0' && s == text && s[1] == 'o')
        return s[2] && !s[2 + strspn(s + 2, "01234567")] ? 8 : 0;
    return *s && !s[digits(s)] ? 10 : 0;
}

static bool is_real(const char *text)
{
    const char *s = after_sign(text);
    size_t whole = digits(s), fraction = 0;
    s += whole;
    if (*s == '.') {
        fraction = digits(s + 1);
        s += 1 + fraction;
    }
    if (whole + fraction == 0)
        return false;
    if (*s == 'e' || *s == 'E') {
        s = after_sign(s + 1);
        if (digits(s) == 0)
            return false;
        s += digits(s);
    }
    return *s == '\0';
}

static json_t *integer(const char *text, int base, const char **why)
{
    errno = 0;
    long long value = strtoll(base == 10 ? text : text + 2, NULL, base);
    *why = "an integer beyond 64 bits";
    return errno ? NULL : json_integer(value);
}

static json_t *real(const char *text, const char **why)
{
    double value = strtod(text, NULL);
    *why = "a number that is too large";
    return isfinite(value) ? json_real(value) : NULL;
}

/* NULL with *why for what JSON cannot represent. */
static json_t *text_scalar(const char *text, size_t len, const char **why)
{
    *why = "a string with a NUL character or invalid UTF-8";
    return memchr(text, '\0', len) ? NULL : json_stringn(text, len);
}

static json_t *plain_scalar(const char *text, size_t len, const char **why)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL},
                             *const yes[] = {"true", "True", "TRUE", NULL},
                             *const no[] = {"false", "False", "FALSE", NULL}, *const none[] = {".inf", ".Inf",
                                                                                               ".INF", ".nan",
                                                                                               ".NaN", ".NAN",
                                                                                               NULL};
    if (strlen(text) != len)
        return text_scalar(text, len, why);
    if (is_one_of(text, nulls))
        return json_null();
    if (is_one_of(text, yes))
        return json_true();
    if (is_one_of(text, no))
        return json_false();
    *why = "a number that is infinite or NaN";
    if (is_one_of(after_sign(text), none))
        return NULL;
    int base = base_of(text);
    if (base)
        return integer(text, base, why);
    return is_real(text) ? real(text, why) : text_scalar(text, len, why);
}

static int read_scalar(struct reader *r, struct node *out)
{
    const char *text = (const char *)r->event.data.scalar.value, *why = NULL;
    size_t len = r->event.data.scalar.length;
    bool plain = r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE && r->event.data.scalar.plain_implicit;
    size_t values = 1 + len / YAML_TEXT_OF_VALUE; /* many aliases of a long text must not exhaust memory */
    if (refuse_tag(r, r->event.data.scalar.tag) != 0 || count_value(r, values) != 0)
        return -1;
    *out = (struct node){plain ? plain_scalar(text, len, &why) : text_scalar(text, len, &why), values, 0};
    return out->value ? 0 : fail(r, &r->event.start_mark, "%s", why);
}

static int read_node(struct reader *r, size_t depth, struct node *out);

static int read_items(struct reader *r, size_t depth, struct node *out)
{
    while (r->event.type != YAML_SEQUENCE_END_EVENT) {
        struct node item = {0};
        if (read_node(r, depth + 1, &item) != 0)
            return -1;
        out->values += item.values;
        out->depth = item.depth + 1 > out->depth ? item.depth + 1 : out->depth;
        json_array_append_new(out->value, item.value);
        if (next(r) != 0)
            return -1;
    }
    return 0;
}

/* The caller frees *key. */
static int read_key(struct reader *r, const json_t *object, char **key)
{
    if (r->event.type != YAML_SCALAR_EVENT)
        return fail(r, &r->event.start_mark, "a key must be a string");
    const char *text = (const char *)r->event.data.scalar.value;
    if (strlen(text) != r->event.data.scalar.length || !text_is_utf8(text, strlen(text)))
        return fail(r, &r->event.start_mark, "a key with a NUL character");
    if (strcmp(text, "<<") == 0)
        return fail(r, &r->event.start_mark,
                    "merge keys (<<) are not supported: use an alias for the whole value");
    if (json_object_get(object, text))
        return fail(r, &r->event.start_mark, "the key \"%.80s\" is duplicated", text);
    *key = xstrdup(text);
    return 0;
}

static int read_member(struct reader *r, size_t depth, struct node *out)
{
    AUTO_FREE char *key = NULL;
    struct node item = {0};
    if (read_key(r, out->value, &key) != 0 || !key)
        return -1;
    size_t long_key = strlen(key) / YAML_TEXT_OF_VALUE;
    if (count_value(r, long_key) != 0 || next(r) != 0 || read_node(r, depth + 1, &item) != 0)
        return -1;
    out->values += item.values + long_key;
    out->depth = item.depth + 1 > out->depth ? item.depth + 1 : out->depth;
    json_object_set_new(out->value, key, item.value);
    return next(r);
}

static int read_container(struct reader *r, size_t depth, struct node *out)
{
    bool map = r->event.type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *tag = map ? r->event.data.mapping_start.tag : r->event.data.sequence_start.tag;
    if (depth >= YAML_DEPTH_MAX)
        return fail(r, &r->event.start_mark, "nested more than %d levels deep", YAML_DEPTH_MAX);
    if (refuse_tag(r, tag) != 0 || count_value(r, 1) != 0)
        return -1;
    *out = (struct node){map ? json_object() : json_array(), 1, 1};
    int rc = next(r);
    if (rc == 0 && !map)
        rc = read_items(r, depth, out);
    while (rc == 0 && map && r->event.type != YAML_MAPPING_END_EVENT)
        rc = read_member(r, depth, out);
    if (rc != 0)
        json_decref(out->value);
    return rc;
}

static char *anchor_of(const yaml_event_t *e)
{
    const yaml_char_t *name = e->type == YAML_SCALAR_EVENT           ? e->data.scalar.anchor
                              : e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.anchor
                              : e->type == YAML_MAPPING_START_EVENT  ? e->data.mapping_start.anchor
                                                                     : NULL;
    return name ? xstrdup((const char *)name) : NULL;
}

/* Reads the value that begins with r->event, and leaves r->event at its last event. */
static int read_node(struct reader *r, size_t depth, struct node *out)
{
    yaml_mark_t at = r->event.start_mark;
    AUTO_FREE char *anchor = anchor_of(&r->event);
    int rc;
    if (r->event.type == YAML_ALIAS_EVENT)
        rc = read_alias(r, depth, out);
    else if (r->event.type == YAML_SCALAR_EVENT)
        rc = read_scalar(r, out);
    else
        rc = read_container(r, depth, out);
    if (rc != 0 || keep_anchor(r, anchor, out, &at) == 0)
        return rc;
    json_decref(out->value);
    return -1;
}

static int skip(struct reader *r, int events)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < events; i++)
        rc = next(r);
    return rc;
}

static int read_document(struct reader *r, struct node *out)
{
    if (skip(r, 2) != 0)
        return -1;
    if (r->event.type != YAML_DOCUMENT_START_EVENT)
        return fail(r, &r->event.start_mark, "the file is empty");
    if (next(r) != 0 || read_node(r, 0, out) != 0)
        return -1;
    if (skip(r, 2) == 0 && r->event.type == YAML_STREAM_END_EVENT)
        return 0;
    json_decref(out->value);
    return r->err->kind != ERR_NONE
               ? -1
               : fail(r, &r->event.start_mark, "a second document: a plan must be a single one");
}

json_t *yaml_parse(const char *text, size_t len, const char *file, struct err *err)
{
    AUTO_FREE struct reader *r = xcalloc(1, sizeof *r);
    struct node root = {0};
    struct err why = {0};
    r->file = file;
    r->err = &why;
    if (!yaml_parser_initialize(&r->parser)) {
        err_set(err, ERR_INTERNAL, "%s: libyaml has no memory", file);
        return NULL;
    }
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, len);
    int rc = read_document(r, &root);
    yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
    for (size_t i = 0; i < r->anchors; i++) {
        free(r->anchor[i].name);
        json_decref(r->anchor[i].value);
    }
    if (rc != 0 && err)
        *err = why;
    return rc == 0 ? root.value : NULL;
}
