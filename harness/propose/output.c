#include "common/base/alloc.h"
#include "common/base/text.h"
#include "common/contract/timings.h"
#include "harness/propose/json.h"
#include "harness/propose/lines.h"
#include "harness/propose/name.h"
#include "harness/propose/table.h"

#include <stdio.h>
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
    struct proposal *out = arg;
    json_auto_t *value = len > 0 && line[0] == '{' ? json_loadb(line, len, 0, NULL) : NULL;
    out->kind = PROPOSE_JSON;
    if (value)
        propose_json(out, value, number);
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

struct reading {
    struct proposal *out;
    const struct strvec *command;
    struct table table;
    int column;    /* of llama-bench's rates */
    bool labelled; /* lines with "label:", otherwise those without */
};

static void text_line(const char *line, size_t len, size_t number, void *arg)
{
    struct reading *r = arg;
    if (is_text(line, len))
        propose_line(r->out, line, len, number, r->labelled, r->command);
}

static void rate_line(const char *line, size_t len, size_t number, void *arg)
{
    struct reading *r = arg;
    if (is_text(line, len))
        propose_table_row(r->out, line, len, number, &r->column);
}

static void table_line(const char *line, size_t len, size_t number, void *arg)
{
    struct reading *r = arg;
    if (is_text(line, len))
        propose_table_line(&r->table, r->out, line, len, number, r->command);
}

/* Catch2 prints its mean and its deviation in lines of one form, below the total that it estimated. */
static void catch2_line(const char *line, size_t len, size_t number, void *arg)
{
    struct proposal *out = arg;
    if (out->n_left == 0 && memmem(line, len, "samples", 7) && memmem(line, len, "iterations", 10) &&
        (memmem(line, len, "est run time", 12) || memmem(line, len, " estimated", 10))) {
        snprintf(out->left[0].label, sizeof out->left[0].label, "benchmark name");
        out->left[0].why = "no pattern tells the mean of Catch2 from its deviation";
        out->left[0].line = number;
        out->n_left = 1;
    }
}

/* Tables say best what their numbers are; beside lines with "label:", lines of many numbers may be anything.
 */
static void read_lines(struct proposal *out, const char *text, size_t len, const struct strvec *command)
{
    static line_fn *const ways[] = {rate_line, table_line, text_line, text_line};
    struct reading r = {.out = out, .command = command};
    begin(out, PROPOSE_REGEX);
    for (size_t i = 0; i < sizeof ways / sizeof *ways && (out->count == 0 || r.labelled); i++) {
        r.labelled = i == 2;
        each_line(text, len, ways[i], &r);
    }
}

/* Reads the text as a node would, and drops what is not found again. Returns false if anything else is found.
 */
static bool read_again(struct proposal *p, const char *text, size_t len)
{
    json_auto_t *spec = json_pack("{s:s, s:s}", "kind", "regex", "pattern", p->pattern);
    struct json_at at = json_root(spec, "pattern");
    AUTO(timing_rule_release) struct timing_rule rule = {0};
    AUTO_FREE struct timing_reader *reader = xcalloc(1, sizeof *reader);
    struct err ignored = {0};
    size_t kept = 0;
    bool same = true;
    if (timing_rule_init(&rule, &at, &ignored) != 0)
        return false;
    timing_reader_init(reader, &rule);
    timing_reader_feed(reader, text, len);
    timing_reader_finish(reader);
    for (size_t i = 0; i < p->count; i++) {
        const double *value = timings_get(&reader->result, p->item[i].name);
        same = same && value && *value == p->item[i].value;
        if (!value)
            continue;
        p->item[kept] = p->item[i];
        p->item[kept].again |= *value != p->item[i].value;
        p->item[kept++].value = *value;
    }
    p->count = kept;
    timing_reader_release(reader);
    return same;
}

/* In the order of the output, as people look for them. */
static void sort_by_line(struct proposal *p)
{
    for (size_t i = 1; i < p->count; i++)
        for (size_t k = i; k > 0 && p->item[k].line < p->item[k - 1].line; k--) {
            struct proposed later = p->item[k - 1];
            p->item[k - 1] = p->item[k];
            p->item[k] = later;
        }
}

static void read_text(struct proposal *out, const char *text, size_t len, const struct strvec *command)
{
    each_line(text, len, catch2_line, out);
    if (out->n_left > 0)
        return;
    read_lines(out, text, len, command);
    if (out->count > 0 && !read_again(out, text, len)) {
        read_lines(out, text, len, NULL); /* what varies cannot be left open here */
        read_again(out, text, len);
    }
    sort_by_line(out);
}

void propose_from_output(struct proposal *out, const char *text, size_t len, const struct strvec *command)
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
        read_text(out, text, len, command);
    out->primary = propose_primary(out);
    if (out->count == 0)
        out->kind = PROPOSE_WALL;
}
