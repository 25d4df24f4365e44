#include "results/ingest/text/csv.h"

#include "common/base/buf.h"
#include "common/base/text.h"

#include <string.h>

enum { COLUMNS_MAX = 8192, FIELDS_MAX = 2000000, FIELD_MAX = 1 << 20 };

struct csv {
    const char *p, *end;
    const char *file;
    size_t line, fields; /* so far */
    struct buf field;
};

static int csv_fail(const struct csv *c, struct err *err, const char *what)
{
    return err_set(err, ERR_INPUT, "%s: line %zu: %s", c->file, c->line, what);
}

static int quoted(struct csv *c, struct err *err)
{
    for (c->p++; c->p < c->end; c->p++) {
        if (*c->p == '"' && c->p + 1 < c->end && c->p[1] == '"')
            c->p++;
        else if (*c->p == '"') {
            c->p++;
            return 0;
        }
        c->line += *c->p == '\n';
        buf_putc(&c->field, *c->p);
    }
    return csv_fail(c, err, "unterminated quoted field");
}

/* Leaves p at the separator. */
static int read_field(struct csv *c, struct err *err)
{
    buf_clear(&c->field);
    if (c->p < c->end && *c->p == '"') {
        if (quoted(c, err) != 0)
            return -1;
    } else
        while (c->p < c->end && *c->p != ',' && *c->p != '\n' && *c->p != '\r')
            buf_putc(&c->field, *c->p++);
    if (!buf_ok(&c->field))
        return csv_fail(c, err, "a field that is too long");
    if (c->p < c->end && *c->p != ',' && *c->p != '\n' && *c->p != '\r')
        return csv_fail(c, err, "text after a quoted field");
    if (!text_is_utf8(buf_str(&c->field), c->field.len) || memchr(buf_str(&c->field), 0, c->field.len))
        return csv_fail(c, err, "a field that is not UTF-8 text");
    return 0;
}

/* Skips the separator; true if the row has another field. */
static bool next_field(struct csv *c)
{
    if (c->p < c->end && *c->p == ',') {
        c->p++;
        return true;
    }
    if (c->p < c->end && *c->p == '\r')
        c->p++;
    if (c->p < c->end && *c->p == '\n')
        c->p++;
    return false;
}

/* Returns NULL with err. The caller json_decref()s this and what the next function returns. */
static json_t *read_record(struct csv *c, struct err *err)
{
    json_auto_t *row = json_array();
    do {
        if (read_field(c, err) != 0)
            return NULL;
        json_array_append_new(row, json_string(buf_str(&c->field)));
        if (json_array_size(row) > COLUMNS_MAX || ++c->fields > FIELDS_MAX) {
            csv_fail(c, err, c->fields > FIELDS_MAX ? "more than 2000000 fields" : "too many columns");
            return NULL;
        }
    } while (next_field(c));
    return json_incref(row);
}

/* Whether a whole line ends in an empty field: the rest may be left out, too, as ncu does. A file that was
 * cut has no such line. */
static bool ends_early(const struct csv *c, const json_t *row)
{
    return c->p[-1] == '\n' && !*json_string_value(json_array_get(row, json_array_size(row) - 1));
}

static json_t *name_fields(const struct csv *c, const json_t *header, const json_t *row, struct err *err)
{
    size_t n = json_array_size(row), columns = json_array_size(header);
    if (n > columns || (n < columns && !ends_early(c, row))) {
        err_set(err, ERR_INPUT, "%s: line %zu: %zu field%s, the header has %zu", c->file, c->line, n,
                text_plural((long long)n), columns);
        return NULL;
    }
    json_t *object = json_object();
    for (size_t i = 0; i < n; i++)
        json_object_set(object, json_string_value(json_array_get(header, i)), json_array_get(row, i));
    return object;
}

static bool is_blank(const json_t *row)
{
    return json_array_size(row) == 1 && !*json_string_value(json_array_get(row, 0));
}

/* A column that occurs twice has two values, of which only one could be read. */
static int check_header(const struct csv *c, const json_t *header, struct err *err)
{
    json_auto_t *seen = json_object();
    for (size_t i = 0; i < json_array_size(header); i++) {
        const char *name = json_string_value(json_array_get(header, i));
        if (*name && json_object_get(seen, name))
            return err_set(err, ERR_INPUT, "%s: line %zu: column \"%.80s\" occurs twice: rename one", c->file,
                           c->line, name);
        json_object_set_new(seen, name, json_true());
    }
    return 0;
}

/* Skips what a program prints before its table. */
static int skip_preamble(struct csv *c, const char *heading, struct err *err)
{
    size_t n = strlen(heading);
    while (c->p < c->end) {
        const char *eol = memchr(c->p, '\n', (size_t)(c->end - c->p)),
                   *at = c->p + (*c->p == '"' && *heading != '"');
        if ((size_t)(c->end - at) >= n && memcmp(at, heading, n) == 0)
            return 0;
        c->p = eol ? eol + 1 : c->end;
        c->line++;
    }
    return err_set(err, ERR_INPUT, "%s: no line begins with \"%.80s\" (mapping: heading)", c->file, heading);
}

static int read_rows(struct csv *c, const struct csv_options *o, json_t *rows, json_t **units,
                     struct err *err)
{
    if (o && o->heading && skip_preamble(c, o->heading, err) != 0)
        return -1;
    json_auto_t *header = c->p < c->end ? read_record(c, err) : json_array();
    if (!header || check_header(c, header, err) != 0)
        return -1;
    for (c->line++; c->p < c->end; c->line++) {
        json_auto_t *row = read_record(c, err);
        if (!row)
            return -1;
        if (is_blank(row))
            continue;
        json_t *object = name_fields(c, header, row, err);
        if (!object)
            return -1;
        if (o && o->units && units && !*units)
            *units = object;
        else
            json_array_append_new(rows, object);
    }
    return 0;
}

json_t *csv_parse(const char *text, size_t len, const char *file, const struct csv_options *options,
                  json_t **units, struct err *err)
{
    struct csv c = {.p = text, .end = text + len, .file = file, .line = 1};
    json_auto_t *rows = json_array();
    buf_init(&c.field, FIELD_MAX);
    int rc = read_rows(&c, options, rows, units, err);
    buf_release(&c.field);
    return rc == 0 ? json_incref(rows) : NULL;
}
