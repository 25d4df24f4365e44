#include "results/ingest/import/source.h"

#include "results/ingest/text/csv.h"
#include "results/ingest/text/lenient.h"

#include "common/base/buf.h"
#include "common/base/fs.h"

#include <string.h>

static const size_t file_max = (size_t)256 << 20;

/* A JSON value, or JSON lines as an array. */
static json_t *parse_json(const char *text, size_t len, const char *file, struct err *err)
{
    struct err ignored;
    json_t *whole = lenient_parse(text, len, file, err);
    if (whole)
        return whole;
    json_t *lines = json_array();
    for (const char *p = text + lenient_mark(text, len), *end = text + len; p < end;) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        size_t n = eol ? (size_t)(eol - p) : (size_t)(end - p);
        if (strspn(p, " \t\r") < n) {
            json_t *value = lenient_parse(p, n, file, &ignored);
            if (!value || json_array_append_new(lines, value) != 0) {
                /* keep the message about the whole file */
                json_decref(lines);
                return NULL;
            }
        }
        p += n + (eol != NULL);
    }
    if (json_array_size(lines) == 0) {
        json_decref(lines);
        return NULL;
    }
    return lines;
}

json_t *import_source_load(const char *path, bool csv, char *hex, struct err *err)
{
    struct buf text;
    json_t *root = NULL;
    if (fs_is_dir(path)) {
        err_set(err, ERR_INPUT, "%s: a folder: name its files, or use `kernsweep ingest` if it is of a run",
                path);
        return NULL;
    }
    buf_init(&text, file_max);
    if (fs_read_file(path, file_max, &text, err) == 0) {
        size_t mark = lenient_mark(buf_str(&text), text.len);
        sha256_of(buf_str(&text), text.len, hex);
        root = csv ? csv_parse(buf_str(&text) + mark, text.len - mark, path, err)
                   : parse_json(buf_str(&text), text.len, path, err);
    }
    buf_release(&text);
    return root;
}
