#include "harness/session/event.h"

#include "common/base/json.h"
#include "common/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_text(const json_t *obj, const char *key, char *out, size_t cap)
{
    const char *s = json_string_value(json_object_get(obj, key));
    if (s)
        text_printable_fixed(out, cap, s, strlen(s));
}

/* The last lines of a text, as many as fit whatever they are escaped to (at most four bytes a byte). */
static void take_lines(const json_t *obj, const char *key, char *out, size_t cap)
{
    const char *s = json_string_value(json_object_get(obj, key));
    size_t len = s ? strlen(s) : 0, keep = cap / 5;
    if (len > keep) {
        s += len - keep;
        s += strcspn(s, "\n") < keep / 2 ? strcspn(s, "\n") : 0; /* a whole line, unless it is all there is */
    }
    struct buf text;
    buf_init(&text, cap - 1);
    while (s && *s) {
        size_t n = strcspn(s, "\n");
        if (n > 0) {
            text_printable(&text, s, n, n);
            buf_putc(&text, '\n');
        }
        s += n + (s[n] == '\n');
    }
    memcpy(out, buf_str(&text), text.len + 1);
    buf_release(&text);
}

static int64_t take_int(const json_t *obj, const char *key)
{
    const json_t *v = json_object_get(obj, key);
    return json_is_integer(v) ? json_integer_value(v) : 0;
}

static double take_num(const json_t *obj, const char *key)
{
    const json_t *v = json_object_get(obj, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static void take_stall(struct event *e, const json_t *obj)
{
    const json_t *stalled = json_object_get(obj, "stalled");
    e->patience_s = take_num(stalled, "patience_s");
    e->stall = json_is_object(stalled) ? STALL_BEGINS : stalled ? STALL_ENDS : STALL_UNSAID;
}

/* Names that are none are left out: nothing else of the journal can mean them. */
static void take_matrix(struct event *e, const json_t *obj)
{
    const json_t *v;
    size_t i, len = 0;
    json_array_foreach(json_object_get(obj, "variants"), i, v)
    {
        const char *name = json_string_value(v);
        if (name && text_is_name(name) && len + strlen(name) + 2 <= sizeof e->variants)
            len += (size_t)snprintf(e->variants + len, sizeof e->variants - len, "%s\n", name);
    }
    json_array_foreach(json_object_get(obj, "contexts"), i, v)
    {
        if (json_is_integer(v) && e->n_contexts < EVENT_CONTEXTS_MAX)
            e->contexts[e->n_contexts++] = json_integer_value(v);
    }
}

static void take_fields(struct event *e, const json_t *obj)
{
    e->seq = take_int(obj, "seq");
    take_text(obj, "variant", e->variant, sizeof e->variant);
    take_text(obj, "host", e->host, sizeof e->host);
    take_text(obj, "gate", e->gate, sizeof e->gate);
    take_text(obj, "message", e->reason, sizeof e->reason);
    take_text(obj, "reason", e->reason, sizeof e->reason);
    take_text(obj, "status", e->status, sizeof e->status);
    take_text(obj, "exit_status", e->status, sizeof e->status);
    take_lines(obj, "log_tail", e->log_tail, sizeof e->log_tail);
    e->ctx = take_int(obj, "ctx");
    e->run_idx = take_int(obj, "run_idx");
    e->test_index = take_int(obj, "test_index");
    e->total_tests = take_int(obj, "total_tests");
    e->ok = take_int(obj, "ok");
    e->failed = take_int(obj, "failed");
    e->skipped = take_int(obj, "skipped");
    e->elapsed_s = take_num(obj, "elapsed_s");
    e->timeout_s = take_num(obj, "timeout_s");
    e->wall_s = take_num(obj, "wall_s");
    e->prefill_s = take_num(obj, "prefill_s");
    e->suite_eta_s = take_num(obj, "suite_eta_s");
    e->eta_remaining_s = take_num(obj, "eta_remaining_s");
    take_stall(e, obj);
    e->gpu_use = take_num(obj, "gpu_use");
    e->vram_used = take_num(obj, "vram_used");
    e->rss = take_num(obj, "rss");
    if (e->type == EVENT_SUITE_START)
        take_matrix(e, obj);
}

int event_decode(struct event *e, const char *line, size_t len, struct err *err)
{
    *e = (struct event){0};
    json_t *obj = json_parse(line, len, "events.jsonl", err);
    const char *name = obj ? json_string_value(json_object_get(obj, "event")) : NULL;
    int rc = 0;
    if (!obj)
        rc = -1;
    else if (!name || !event_from_name(name, &e->type))
        rc =
            err_set(err, ERR_NODE, "events.jsonl: not a known event: %.*s", len < 200 ? (int)len : 200, line);
    else
        take_fields(e, obj);
    if (rc != 0 && err)
        err->kind = ERR_NODE;
    json_decref(obj);
    return rc;
}

void event_stream_init(struct event_stream *s, int (*on_line)(void *, const char *, size_t, struct err *),
                       void *arg)
{
    *s = (struct event_stream){.on_line = on_line, .arg = arg};
}

void event_stream_release(struct event_stream *s)
{
    free(s->line);
    s->line = NULL;
    s->len = 0;
}

void event_stream_rewind(struct event_stream *s)
{
    s->len = 0;
}

static int end_line(struct event_stream *s, struct err *err)
{
    size_t len = s->len;
    s->len = 0;
    if (len == 0)
        return 0;
    if (s->on_line(s->arg, s->line, len, err) != 0)
        return -1;
    s->offset += (int64_t)len + 1;
    return 0;
}

int event_stream_write(void *arg, const char *data, size_t len, struct err *err)
{
    struct event_stream *s = arg;
    if (!s->line && !(s->line = malloc(LIMIT_EVENT_LINE)))
        return err_set(err, ERR_INTERNAL, "no memory for a line of the journal");
    for (size_t i = 0; i < len; i++) {
        if (data[i] == '\n') {
            if (end_line(s, err) != 0)
                return -1;
        } else if (s->len == LIMIT_EVENT_LINE)
            return err_set(err, ERR_NODE, "events.jsonl: a line longer than %d bytes at offset %lld",
                           LIMIT_EVENT_LINE, (long long)s->offset);
        else
            s->line[s->len++] = data[i];
    }
    return 0;
}
