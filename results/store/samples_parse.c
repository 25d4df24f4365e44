#include "results/store/samples.h"

#include "common/base/json.h"
#include "common/contract/proto.h"

#include <math.h>
#include <string.h>

struct plain_value {
    size_t column;
    double value;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Decimals of at most 15 digits are correctly rounded: the digits and the power of ten are exact doubles. */
static bool plain_number(const char **at, const char *end, double *out)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
    const char *p = *at;
    bool negative = p < end && *p == '-';
    p += negative;
    if (end - p > 1 && p[0] == '0' && is_digit(p[1]))
        return false;
    int64_t whole = 0;
    size_t digits = 0, decimals = 0;
    for (; p < end && is_digit(*p) && digits < 16; p++, digits++)
        whole = 10 * whole + (*p - '0');
    if (digits > 0 && p < end && *p == '.')
        for (p++; p < end && is_digit(*p) && digits < 16; p++, digits++, decimals++)
            whole = 10 * whole + (*p - '0');
    if (digits == 0 || digits > 15 || p[-1] == '.' || (negative && whole == 0))
        return false;
    *out = (double)(negative ? -whole : whole) / powers[decimals];
    *at = p;
    return true;
}

/* guess: the columns of a line are usually in the order of the line before it. */
static bool known_column(const struct samples *t, const char *name, size_t len, size_t guess, size_t *out)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        *out = (guess + i) % t->n_columns;
        if (strncmp(t->columns[*out].name, name, len) == 0 && !t->columns[*out].name[len])
            return true;
    }
    return false;
}

/* A fast path for almost all lines: {"name":number,...} without blanks and with known columns. False for any
 * other line, which jansson then parses. */
static bool plain_line(const struct samples *t, const char *p, const char *end, struct plain_value *out,
                       size_t *count)
{
    uint32_t seen = 0;
    *count = 0;
    if (end - p < 2 || *p != '{' || end[-1] != '}')
        return false;
    for (end--; *p != '}' && *count < SAMPLES_COLUMNS_MAX; (*count)++) {
        struct plain_value *v = &out[*count];
        const char *name = p + 2,
                   *quote = end - p > 2 && p[1] == '"' ? memchr(name, '"', (size_t)(end - name)) : NULL;
        if (!quote || quote - name >= SAMPLES_NAME_MAX || quote[1] != ':' ||
            !known_column(t, name, (size_t)(quote - name), *count, &v->column) || seen >> v->column & 1)
            return false;
        seen |= UINT32_C(1) << v->column;
        p = quote + 2;
        if (!plain_number(&p, end, &v->value) || (*p != ',' && p != end))
            return false;
    }
    return p == end;
}

static int parsed_line(struct samples *t, const char *line, size_t len, int *skipped, struct err *err)
{
    json_auto_t *obj = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
    bool usable = json_is_object(obj);
    if (usable && samples_add(t, err) != 0)
        return -1;
    const char *key;
    json_t *value;
    json_object_foreach(obj, key, value)
    {
        double v = json_number_value(value);
        if (json_is_number(value) && isfinite(v))
            usable = samples_set(t, key, v) && usable;
    }
    *skipped += !usable;
    return 0;
}

static int add_line(struct samples *t, const char *line, size_t len, int *skipped, struct err *err)
{
    struct plain_value values[SAMPLES_COLUMNS_MAX];
    size_t n;
    if (!plain_line(t, line, line + len, values, &n))
        return parsed_line(t, line, len, skipped, err);
    if (samples_add(t, err) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        t->columns[values[i].column].values[t->count - 1] = values[i].value;
    return 0;
}

static size_t without_blanks(const char **line, size_t len)
{
    while (len && strchr(" \t\r", (*line)[len - 1]))
        len--;
    while (len && strchr(" \t", **line)) {
        (*line)++;
        len--;
    }
    return len;
}

int samples_parse(const char *text, size_t len, const char *file, struct samples *out, int *skipped,
                  struct err *err)
{
    samples_init(out);
    *skipped = 0;
    int rc = 0;
    for (const char *p = text, *end = text + len, *next; rc == 0 && p < end; p = next) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        next = eol ? eol + 1 : end;
        size_t n = (size_t)((eol ? eol : end) - p);
        if (n >= LIMIT_EVENT_LINE)
            rc = err_set(err, ERR_INPUT, "%s: a line longer than %d bytes", file, LIMIT_EVENT_LINE);
        else if ((n = without_blanks(&p, n)) > 0)
            rc = add_line(out, p, n, skipped, err);
    }
    if (rc != 0)
        samples_release(out);
    return rc;
}
