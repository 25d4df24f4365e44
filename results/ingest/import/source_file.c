#include "results/ingest/import/source_file.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/sha256.h"
#include "results/ingest/text/csv.h"
#include "results/ingest/text/lenient.h"
#include "results/ingest/text/rocpd.h"

#include <string.h>

static const size_t file_max = (size_t)256 << 20;

/* Bytes before the JSON: lines of a log, or the name that a file of JavaScript gives it. */
static size_t before_value(const char *text, size_t len)
{
    static const char script[] = "window.";
    size_t at = lenient_mark(text, len);
    if (len - at > strlen(script) && memcmp(text + at, script, strlen(script)) == 0) {
        const char *equals = memchr(text + at, '=', len - at);
        return equals ? (size_t)(equals + 1 - text) : 0;
    }
    while (at < len && text[at] != '{' &&
           !(text[at] == '[' && (at + 1 == len || strchr("\n\r {[", text[at + 1])))) {
        const char *eol = memchr(text + at, '\n', len - at);
        at = eol ? (size_t)(eol + 1 - text) : len;
    }
    return at < len ? at : 0;
}

/* Parses a JSON value, or JSON lines as an array; an error is that of the text as one value. */
static json_t *parse_json(const char *text, size_t len, const char *file, struct err *err)
{
    struct err ignored;
    size_t values = 0;
    json_t *whole = lenient_parse(text, len, file, err);
    size_t skip = whole ? 0 : before_value(text, len);
    if (!whole && skip > 0)
        whole = lenient_parse(text + skip, len - skip, file, &ignored);
    if (whole) {
        *err = (struct err){0};
        return whole;
    }
    text += skip;
    len -= skip;
    json_auto_t *lines = json_array();
    for (const char *p = text + lenient_mark(text, len), *end = text + len; p < end;) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        size_t n = eol ? (size_t)(eol - p) : (size_t)(end - p);
        bool blank = strspn(p, " \t\r") >= n;
        values += json_count_values(p, n);
        if (values > JSON_VALUES_MAX) {
            err_set(err, ERR_INPUT, "%s: more than %d JSON values", file, JSON_VALUES_MAX);
            return NULL;
        }
        json_t *value = blank ? NULL : lenient_parse(p, n, file, &ignored);
        if (!value && !blank)
            return NULL;
        if (value)
            json_array_append_new(lines, value);
        p += n + (eol != NULL);
    }
    return json_array_size(lines) > 0 ? json_incref(lines) : NULL;
}

/* The table whose columns the mapping speaks of: kernel_stats.csv has another name for kernels. */
static enum rocpd_rows table_of(const json_t *map)
{
    const char *variant = json_text(json_object_get(map, "test"), "variant");
    return strcmp(variant, "/Name") == 0 ? ROCPD_KERNELS : ROCPD_DISPATCHES;
}

int source_file_load(const json_t *map, const char *path, json_t **root, json_t **units, char *hex,
                     struct err *err)
{
    const struct csv_options options = {json_string_value(json_object_get(map, "heading")),
                                        json_is_true(json_object_get(map, "units"))};
    bool csv = strcmp(json_string_value(json_object_get(map, "input")), "csv") == 0;
    AUTO(buf_release) struct buf text = {.max = file_max};
    *root = *units = NULL;
    if (fs_is_dir(path))
        return err_set(err, ERR_INPUT,
                       "%s: a folder: name its files, or use `kernsweep ingest` if it is of a run", path);
    if (fs_read_file(path, file_max, &text, err) != 0)
        return -1;
    size_t mark = lenient_mark(buf_str(&text), text.len);
    sha256_of(buf_str(&text), text.len, hex);
    if (csv && rocpd_is(buf_str(&text), text.len))
        *root = rocpd_read(&text, table_of(map), path, err);
    else
        *root = csv ? csv_parse(buf_str(&text) + mark, text.len - mark, path, &options, units, err)
                    : parse_json(buf_str(&text), text.len, path, err);
    return *root ? 0 : -1;
}
