#include "common/base/text.h"
#include "harness/propose/json.h"
#include "harness/propose/lines.h"
#include "harness/propose/name.h"

#include <string.h>

enum { OUTPUT_BYTES_MAX = 1 << 20 };

static void begin(struct proposal *out, enum proposal_kind kind)
{
    *out = (struct proposal){.kind = kind};
}

typedef void line_fn(const char *line, size_t len, size_t number, void *arg);

/* Calls fn for each line, without its end. */
static void each_line(const char *text, size_t len, line_fn *fn, void *arg)
{
    for (size_t at = 0, number = 1; at < len; number++) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t n = end ? (size_t)(end - text) - at : len - at;
        fn(text + at, n > 0 && text[at + n - 1] == '\r' ? n - 1 : n, number, arg);
        at += n + 1;
    }
}

static void mark_line(const char *line, size_t len, size_t number, void *arg)
{
    struct proposal *out = arg;
    const char *at = memmem(line, len, PROTO_TIMING_MARK, strlen(PROTO_TIMING_MARK));
    if (!at)
        return;
    at += strlen(PROTO_TIMING_MARK);
    json_auto_t *value = json_loadb(at, (size_t)(line + len - at), 0, NULL);
    if (json_is_object(value)) {
        bool timed = json_object_get(value, "prefill_s") || json_object_get(value, "kernel_ms");
        begin(out, PROPOSE_MARK);
        json_t *own = json_copy(value);
        static const char *const built_in[] = {"prefill_s", "kernel_ms", "model_load_s", "tokenize_s",
                                               "decode_s"};
        for (size_t i = 0; i < sizeof built_in / sizeof *built_in; i++)
            json_object_del(own, built_in[i]);
        propose_json(out, own, number);
        json_decref(own);
        out->primary = timed ? out->count : propose_primary(out);
    }
}

static void json_line(const char *line, size_t len, size_t number, void *arg)
{
    struct proposal one, *out = arg;
    json_auto_t *value = len > 0 && line[0] == '{' ? json_loadb(line, len, 0, NULL) : NULL;
    begin(&one, PROPOSE_JSON);
    if (value)
        propose_json(&one, value, number);
    if (one.count > 0)
        *out = one;
}

static void read_document(struct proposal *out, const char *text, size_t len)
{
    json_auto_t *value = json_loadb(text, len, 0, NULL);
    begin(out, PROPOSE_JSON);
    if (value)
        propose_json(out, value, 0);
}

/* Whether the line is text, since no pattern can be made of binary output. */
static bool is_text(const char *line, size_t len)
{
    return !memchr(line, '\0', len) && text_is_utf8(line, len);
}

static void text_line(const char *line, size_t len, size_t number, void *arg)
{
    if (is_text(line, len))
        propose_line(arg, line, len, number);
}

struct table {
    struct proposal *out;
    int column;
};

static void table_line(const char *line, size_t len, size_t number, void *arg)
{
    struct table *t = arg;
    if (is_text(line, len))
        propose_table_row(t->out, line, len, number, &t->column);
}

static void read_lines(struct proposal *out, const char *text, size_t len)
{
    struct table table = {.out = out};
    begin(out, PROPOSE_REGEX);
    each_line(text, len, table_line, &table);
    if (out->count == 0)
        each_line(text, len, text_line, out);
}

void propose_from_output(struct proposal *out, const char *text, size_t len)
{
    len = len < OUTPUT_BYTES_MAX ? len : OUTPUT_BYTES_MAX;
    begin(out, PROPOSE_WALL);
    each_line(text, len, mark_line, out);
    if (out->kind == PROPOSE_MARK)
        return;
    each_line(text, len, json_line, out);
    if (out->count == 0)
        read_document(out, text, len);
    if (out->count == 0)
        read_lines(out, text, len);
    out->primary = propose_primary(out);
    if (out->count == 0)
        begin(out, PROPOSE_WALL);
}
