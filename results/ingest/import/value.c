#include "results/ingest/import/value.h"

#include "common/base/alloc.h"
#include "common/base/regex.h"
#include "results/ingest/import/pointer.h"
#include "results/ingest/text/grouped.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOINS_MAX = 8 };

static int field_fail(const struct import_scope *s, const char *name, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static int field_fail(const struct import_scope *s, const char *name, struct err *err, const char *fmt, ...)
{
    char text[ERR_MSG_MAX / 2];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(err, ERR_INPUT, "%s: %s: %s (mapping: %s)", s->file, *s->place ? s->place : "/", text,
                   name);
}

/* The pointer of a field, or "". */
static const char *pointer_of(const json_t *field)
{
    const json_t *at = json_is_string(field) ? field : json_object_get(field, "at");
    return json_is_string(at) ? json_string_value(at) : "";
}

static json_t *find_value(const struct import_scope *s, const json_t *field)
{
    if (json_is_string(field))
        return pointer_find(s->row, json_string_value(field), s->index);
    json_t *fixed = json_object_get(field, "const");
    if (fixed)
        return fixed;
    if (json_is_true(json_object_get(field, "element")))
        return s->element;
    const char *from = json_string_value(json_object_get(field, "from"));
    json_t *root = from && strcmp(from, "file") == 0     ? s->root
                   : from && strcmp(from, "units") == 0  ? s->units
                   : from && strcmp(from, "parent") == 0 ? s->parent
                                                         : s->row;
    json_t *at = json_object_get(field, "at");
    return json_is_string(at) ? pointer_find(root, json_string_value(at), s->index) : NULL;
}

enum { GROUPS_MAX = 9 };

/* Replaces text by the group that "group" selects, by default the first one, else by the whole match. */
static int match_text(const struct import_scope *s, const json_t *field, const char *name, char *text,
                      size_t size, struct err *err)
{
    const char *pattern = json_string_value(json_object_get(field, "match"));
    const json_t *wanted = json_object_get(field, "group");
    json_int_t g = wanted ? json_integer_value(wanted) : 1;
    struct regex re;
    struct err why = {0};
    if (g < 1 || g > GROUPS_MAX)
        return field_fail(s, name, err, "\"group\" is a number from 1 to %d", GROUPS_MAX);
    if (regex_compile(&re, pattern, &why) != 0)
        return field_fail(s, name, err, "\"%.100s\" is not a regular expression: %s", pattern, why.msg);
    int rc = regex_match(&re, text, strlen(text), 0, &why);
    size_t at = 0, n = 0;
    bool there = rc == 1 && regex_group(&re, (size_t)g, &at, &n);
    if (rc == 1 && !there && !wanted)
        regex_group(&re, 0, &at, &n);
    regex_release(&re);
    if (rc < 0)
        return field_fail(s, name, err, "\"%.100s\": %s", pattern, why.msg);
    if (rc == 0 || (wanted && n == 0))
        return 0;
    if (n >= size)
        n = size - 1;
    memmove(text, text + at, n);
    text[n] = '\0';
    return 1;
}

static int copied(const struct import_scope *s, const char *text, const char *name, char *out, size_t size,
                  struct err *err)
{
    int n = snprintf(out, size, "%s", text);
    return n >= 0 && (size_t)n < size ? 1 : field_fail(s, name, err, "longer than %zu bytes", size - 1);
}

static int value_text(const struct import_scope *s, const json_t *value, const char *name, char *out,
                      size_t size, struct err *err)
{
    if (json_is_string(value))
        return copied(s, json_string_value(value), name, out, size, err);
    if (json_is_integer(value))
        snprintf(out, size, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(out, size, "%.17g", json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(out, size, "%s", json_is_true(value) ? "true" : "false");
    else
        return field_fail(s, name, err, "expected a string or a number");
    return 1;
}

static int joined(const struct import_scope *s, const json_t *field, const char *name, char *out, size_t size,
                  struct err *err)
{
    const json_t *parts = json_object_get(field, "join"), *separator = json_object_get(field, "with");
    size_t used = 0;
    if (json_array_size(parts) > JOINS_MAX)
        return field_fail(s, name, err, "joins more than %d parts", JOINS_MAX);
    for (size_t i = 0; i < json_array_size(parts); i++) {
        char part[IMPORT_TEXT_MAX];
        int rc = import_text(s, json_array_get(parts, i), name, part, sizeof part, err);
        if (rc < 0)
            return -1;
        if (rc == 0)
            continue;
        int n = snprintf(out + used, size - used, "%s%s",
                         used ? json_is_string(separator) ? json_string_value(separator) : "-" : "", part);
        if (n < 0 || (size_t)n >= size - used)
            return field_fail(s, name, err, "longer than %zu bytes", size - 1);
        used += (size_t)n;
    }
    return used > 0;
}

/* Whether it is a whole number, perhaps written as a text. */
static bool is_whole(const json_t *value)
{
    const char *text = json_string_value(value);
    size_t n = text ? strspn(text + (*text == '-'), "0123456789") : 0;
    return json_is_integer(value) || (n > 0 && !text[n + (*text == '-')]);
}

/* The parameters of a row: the members of an object, the elements with "name" and "value" of an array, or, of
 * an array of arrays, one value of each, which have no name: the combination of this number, as nested loops
 * count them. */
struct parameters {
    json_t *list;
    void *member;
    size_t i, number, left; /* left: how many combinations the axes from the i-th on have */
};

static struct parameters parameters_of(json_t *list, size_t number)
{
    struct parameters p = {.list = list, .member = json_object_iter(list), .number = number, .left = 1};
    size_t i;
    json_t *axis;
    bool several = false;
    json_array_foreach(list, i, axis)
    {
        several = several || json_is_array(axis);
        if (json_is_array(axis) && __builtin_mul_overflow(p.left, json_array_size(axis), &p.left))
            p.left = 0;
    }
    if (several && number >= p.left)
        p.list = NULL;
    return p;
}

static bool next_parameter(struct parameters *p, const char **name, json_t **value)
{
    json_t *element = json_array_get(p->list, p->i++);
    *name = p->member ? json_object_iter_key(p->member) : "";
    *value = p->member ? json_object_iter_value(p->member) : NULL;
    if (p->member) {
        p->member = json_object_iter_next(p->list, p->member);
        return true;
    }
    if (json_is_array(element)) {
        p->left /= json_array_size(element);
        *value = json_array_get(element, p->number / p->left % json_array_size(element));
    } else if (json_is_string(json_object_get(element, "name"))) {
        *name = json_string_value(json_object_get(element, "name"));
        *value = json_object_get(element, "value");
    }
    return element != NULL;
}

/* A size, which is the context of its row: the first whole number that a context can be. NULL: none. */
static json_t *first_whole(json_t *list, size_t number)
{
    struct parameters p = parameters_of(list, number);
    const char *name;
    json_t *value;
    while (next_parameter(&p, &name, &value)) {
        double n = json_is_string(value) ? strtod(json_string_value(value), NULL) : json_number_value(value);
        if (is_whole(value) && n >= 0 && n <= INT32_MAX)
            return value;
    }
    return NULL;
}

static int parameter_text(const struct import_scope *s, const json_t *value, const char *name, char *out,
                          size_t size, struct err *err)
{
    if (!json_is_object(value) && !json_is_array(value))
        return value_text(s, value, name, out, size, err);
    AUTO_FREE char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);
    return copied(s, text ? text : "?", name, out, size, err);
}

/* "name=value" of all parameters; without the first whole number if "pairs" is "others". */
static int pairs_text(const struct import_scope *s, const json_t *field, const char *name, char *out,
                      size_t size, struct err *err)
{
    json_t *list = find_value(s, field), *value;
    const char *which = json_string_value(json_object_get(field, "pairs")), *key;
    const json_t *without = which && strcmp(which, "others") == 0 ? first_whole(list, s->index) : NULL;
    struct parameters p = parameters_of(list, s->index);
    size_t used = 0;
    while (next_parameter(&p, &key, &value)) {
        char text[IMPORT_TEXT_MAX];
        if (value == without || !value || json_is_null(value))
            continue;
        if (parameter_text(s, value, name, text, sizeof text, err) < 0)
            return -1;
        int n = snprintf(out + used, size - used, "%s%s%s%s", used ? " " : "", key, *key ? "=" : "", text);
        if (n < 0 || (size_t)n >= size - used)
            return field_fail(s, name, err, "longer than %zu bytes", size - 1);
        used += (size_t)n;
    }
    return used > 0;
}

/* The text of a field before "match" and "words" are applied. */
static int raw_text(const struct import_scope *s, const json_t *field, const char *name, char *out,
                    size_t size, struct err *err)
{
    if (json_object_get(field, "join"))
        return joined(s, field, name, out, size, err);
    if (json_is_true(json_object_get(field, "key"))) {
        snprintf(out, size, "%s", s->key ? s->key : "");
        return s->key != NULL;
    }
    if (json_object_get(field, "pairs"))
        return pairs_text(s, field, name, out, size, err);
    const char *from = json_string_value(json_object_get(field, "from"));
    if (from && strcmp(from, "path") == 0)
        return copied(s, s->file, name, out, size, err);
    const json_t *value = find_value(s, field);
    if (json_object_get(field, "first"))
        value = first_whole(find_value(s, field), s->index);
    return value && !json_is_null(value) ? value_text(s, value, name, out, size, err) : 0;
}

static int fall_back(const struct import_scope *s, const json_t *field, const char *name, char *out,
                     size_t size, struct err *err)
{
    const json_t *other = json_object_get(field, "default");
    if (json_is_null(other))
        return 0;
    if (other)
        return value_text(s, other, name, out, size, err);
    const char *pointer = pointer_of(field);
    return field_fail(s, name, err, *pointer ? "%s is missing or has the wrong type" : "has no value%s",
                      pointer);
}

static int add_prefix(const struct import_scope *s, const json_t *field, const char *name, char *out,
                      size_t size, struct err *err)
{
    const char *prefix = json_string_value(json_object_get(field, "prefix"));
    size_t n = prefix ? strlen(prefix) : 0, len = strlen(out);
    if (n + len >= size)
        return field_fail(s, name, err, "longer than %zu bytes", size - 1);
    memmove(out + n, out, len + 1);
    memcpy(out, prefix ? prefix : "", n);
    return 1;
}

int import_text(const struct import_scope *s, const json_t *field, const char *name, char *out, size_t size,
                struct err *err)
{
    if (!field)
        return 0;
    int rc = raw_text(s, field, name, out, size, err);
    const json_t *words = json_object_get(field, "words");
    if (rc > 0 && json_is_string(json_object_get(field, "match")))
        rc = match_text(s, field, name, out, size, err);
    if (rc > 0 && words) {
        const json_t *word = json_object_get(words, out);
        if (!word)
            word = json_object_get(words, "*");
        if (word)
            rc = value_text(s, word, name, out, size, err);
    }
    if (rc == 0)
        return fall_back(s, field, name, out, size, err);
    return rc > 0 ? add_prefix(s, field, name, out, size, err) : rc;
}

enum dimension { PLAIN, TIME, SIZE, TOKENS, FLOPS, ENERGY, FREQUENCY, RATE };

static const struct unit {
    const char *name;
    enum dimension dimension;
    double base; /* in the dimension's first unit */
} units[] = {
    {"", PLAIN, 1},          {"s", TIME, 1},           {"sec", TIME, 1},
    {"seconds", TIME, 1},    {"ms", TIME, 1e-3},       {"us", TIME, 1e-6},
    {"ns", TIME, 1e-9},      {"min", TIME, 60},        {"h", TIME, 3600},
    {"bytes", SIZE, 1},      {"B", SIZE, 1},           {"kB", SIZE, 1e3},
    {"KB", SIZE, 1e3},       {"MB", SIZE, 1e6},        {"GB", SIZE, 1e9},
    {"KiB", SIZE, 1024},     {"second", TIME, 1},      {"msecond", TIME, 1e-3},
    {"usecond", TIME, 1e-6}, {"nsecond", TIME, 1e-9},  {"msec", TIME, 1e-3},
    {"usec", TIME, 1e-6},    {"nsec", TIME, 1e-9},     {"MiB", SIZE, 1 << 20},
    {"GiB", SIZE, 1 << 30},  {"tok/s", TOKENS, 1},     {"FLOP/s", FLOPS, 1},
    {"GFLOP/s", FLOPS, 1e9}, {"TFLOP/s", FLOPS, 1e12}, {"J", ENERGY, 1},
    {"kJ", ENERGY, 1e3},     {"Wh", ENERGY, 3600},     {"MHz", FREQUENCY, 1},
    {"GHz", FREQUENCY, 1e3}, {"ops/s", RATE, 1},       {"ops/ms", RATE, 1e3},
    {"ops/us", RATE, 1e6},   {"ops/ns", RATE, 1e9},    {"ops/min", RATE, 1.0 / 60},
};

static const struct unit *find_unit(const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

bool unit_factor(const char *from, const char *to, double *factor)
{
    const struct unit *a = find_unit(from), *b = find_unit(to);
    *factor = 1;
    if (strcmp(from, to) == 0)
        return true;
    if (!a || !b || a->dimension != b->dimension)
        return false;
    *factor = a->base / b->base;
    return true;
}

/* 0: the unit is missing, and so the number is no measurement. */
static int unit_of(const struct import_scope *s, const json_t *field, const char *name, const char *wanted,
                   double *factor, struct err *err)
{
    char unit[32];
    const json_t *given = json_object_get(field, "unit");
    int rc = json_is_string(given) ? copied(s, json_string_value(given), name, unit, sizeof unit, err)
                                   : import_text(s, given, name, unit, sizeof unit, err);
    *factor = 1;
    if (!given || rc <= 0)
        return given ? rc : 1;
    if (unit_factor(unit, wanted, factor))
        return 1;
    return field_fail(s, name, err, "\"%s\" is not a unit of what is stored in \"%s\"", unit, wanted);
}

/* A number written with separators of thousands, as "decimal" says. Any other text stays as it is, and is no
 * number. */
static bool plain_number(const json_t *field, char *text)
{
    char plain[IMPORT_TEXT_MAX];
    const char *decimal = json_string_value(json_object_get(field, "decimal"));
    if (!decimal)
        return true;
    bool fits = grouped_plain(text, *decimal, plain, sizeof plain);
    if (fits)
        memcpy(text, plain, strlen(plain) + 1);
    return fits;
}

/* Time stamps in nanoseconds have more digits than a double: whole numbers are subtracted as such. */
static double exact_difference(const char *text, double v, const struct import_scope *s, const json_t *minus,
                               double other)
{
    struct err ignored = {0};
    char text2[IMPORT_TEXT_MAX], *end, *end2;
    bool plain = minus && !json_object_get(minus, "times") && !json_object_get(minus, "minus");
    if (!plain || import_text(s, minus, "", text2, sizeof text2, &ignored) <= 0 ||
        !plain_number(minus, text2))
        return v - other;
    errno = 0;
    long long a = strtoll(text, &end, 10), b = strtoll(text2, &end2, 10), difference;
    bool exact = !*end && !*end2 && errno == 0 && !__builtin_sub_overflow(a, b, &difference);
    return exact ? (double)difference : v - other;
}

/* Without the field, *out stays as it is. */
static int operand(const struct import_scope *s, const json_t *field, const char *name, double *out,
                   struct err *err)
{
    return field ? import_number(s, field, name, "", out, err) : 1;
}

int import_number(const struct import_scope *s, const json_t *field, const char *name, const char *unit,
                  double *out, struct err *err)
{
    char text[IMPORT_TEXT_MAX], *end;
    double factor;
    text[0] = '\0';
    int rc = import_text(s, field, name, text, sizeof text, err);
    *out = NAN;
    if (rc > 0 && !*text)
        rc = fall_back(s, field, name, text, sizeof text, err);
    if (rc <= 0)
        return rc;
    bool plain = plain_number(field, text);
    double v = strtod(text, &end), other = 0, over = 1;
    if (!plain || end == text || *end)
        return field_fail(s, name, err, "expected a number, found \"%.60s\"", text);
    if ((rc = unit_of(s, field, name, unit, &factor, err)) <= 0)
        return rc;
    if (!isfinite(v))
        return 1;
    const json_t *minus = json_object_get(field, "minus");
    if ((rc = operand(s, minus, name, &other, err)) <= 0 ||
        (rc = operand(s, json_object_get(field, "over"), name, &over, err)) <= 0)
        return rc;
    v = exact_difference(text, v, s, minus, other);
    const json_t *times = json_object_get(field, "times");
    v = v * factor * (json_is_number(times) ? json_number_value(times) : 1) / over;
    *out = isfinite(v) ? v : NAN;
    return 1;
}

int import_integer(const struct import_scope *s, const json_t *field, const char *name, int64_t lo,
                   int64_t hi, int64_t *out, struct err *err)
{
    double v;
    int rc = import_number(s, field, name, "", &v, err);
    if (rc <= 0)
        return rc;
    if (v < (double)lo || v > (double)hi || v != floor(v))
        return field_fail(s, name, err, "expected a whole number from %lld to %lld, found %.17g",
                          (long long)lo, (long long)hi, v);
    *out = (int64_t)v;
    return 1;
}
