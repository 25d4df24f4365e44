#include "harness/session/event.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_text(const json_t *obj, const char *key, char *out, size_t cap)
{
    const char *s = json_string_value(json_object_get(obj, key));
    if (s)
        text_printable_fixed(out, cap, s, strlen(s));
}

/* Copies the last lines of a text, as many as fit even if every byte is escaped to four. */
static void read_lines(const json_t *obj, const char *key, char *out, size_t cap)
{
    const char *s = json_text(obj, key);
    size_t len = strlen(s), keep = cap / 5;
    if (len > keep) {
        s += len - keep;
        size_t part = strcspn(s, "\n"); /* a partial line, kept only if dropping it would lose too much */
        s += part < keep / 2 ? part : 0;
    }
    AUTO(buf_release) struct buf text = {.max = cap - 1};
    while (*s) {
        size_t n = strcspn(s, "\n");
        if (n > 0) {
            text_printable(&text, s, n, n);
            buf_putc(&text, '\n');
        }
        s += n + (s[n] == '\n');
    }
    memcpy(out, buf_str(&text), text.len + 1);
}

static int64_t read_int(const json_t *obj, const char *key)
{
    const json_t *v = json_object_get(obj, key);
    return json_is_integer(v) ? json_integer_value(v) : 0;
}

static double read_num(const json_t *obj, const char *key)
{
    const json_t *v = json_object_get(obj, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static void read_stall(struct event *e, const json_t *obj)
{
    const json_t *stalled = json_object_get(obj, "stalled");
    e->stall.patience_s = read_num(stalled, "patience_s");
    e->stall.state = json_is_object(stalled) ? STALL_BEGINS : stalled ? STALL_ENDS : STALL_UNSAID;
}

/* Skips invalid names, which no other event can refer to. */
static void read_suite(struct event_suite *out, const json_t *obj)
{
    const json_t *v;
    size_t i, len = 0;
    json_array_foreach(json_object_get(obj, "variants"), i, v)
    {
        const char *name = json_string_value(v);
        if (name && text_is_name(name) && len + strlen(name) + 2 <= sizeof out->variants)
            len += (size_t)snprintf(out->variants + len, sizeof out->variants - len, "%s\n", name);
    }
    json_array_foreach(json_object_get(obj, "contexts"), i, v)
    {
        if (json_is_integer(v) && out->n_contexts < EVENT_CONTEXTS_MAX)
            out->contexts[out->n_contexts++] = json_integer_value(v);
    }
}

static void read_metric(struct event_metric *out, const json_t *metric)
{
    read_text(metric, "name", out->name, sizeof out->name);
    read_text(metric, "unit", out->unit, sizeof out->unit);
    out->value = read_num(metric, "value");
}

static void read_gpus(struct event *e, const json_t *gpus)
{
    const json_t *v;
    size_t i, len = 0;
    char id[LIMIT_NAME + 1];
    json_array_foreach(gpus, i, v)
    {
        const char *s = json_string_value(v);
        text_printable_fixed(id, sizeof id, s ? s : "?", s ? strlen(s) : 1);
        if (len + strlen(id) + 2 <= sizeof e->gpus)
            len += (size_t)snprintf(e->gpus + len, sizeof e->gpus - len, "%s%s", len ? "," : "", id);
    }
}

static int64_t read_lane(const json_t *obj)
{
    int64_t lane = read_int(obj, "lane");
    return lane >= 0 && lane < EVENT_LANES_MAX ? lane : 0;
}

static void read_fields(struct event *e, const json_t *obj)
{
    if (e->type == EVENT_SUITE_START)
        read_suite(&e->suite, obj);
    e->seq = read_int(obj, "seq");
    read_text(obj, "variant", e->variant, sizeof e->variant);
    read_text(obj, "host", e->host, sizeof e->host);
    read_text(obj, "gate", e->gate, sizeof e->gate);
    read_text(obj, "message", e->reason, sizeof e->reason);
    read_text(obj, "reason", e->reason, sizeof e->reason);
    read_text(obj, "status", e->status, sizeof e->status);
    read_text(obj, "exit_status", e->status, sizeof e->status);
    read_lines(obj, "log_tail", e->log_tail, sizeof e->log_tail);
    e->ctx = read_int(obj, "ctx");
    e->run_idx = read_int(obj, "run_idx");
    e->test_index = read_int(obj, "test_index");
    e->total_tests = read_int(obj, "total_tests");
    e->counts.ok = read_int(obj, "ok");
    e->counts.failed = read_int(obj, "failed");
    e->counts.skipped = read_int(obj, "skipped");
    e->times.elapsed_s = read_num(obj, "elapsed_s");
    e->times.timeout_s = read_num(obj, "timeout_s");
    e->times.wall_s = read_num(obj, "wall_s");
    e->times.prefill_s = read_num(obj, "prefill_s");
    read_metric(&e->metric, json_object_get(obj, "metric"));
    e->times.suite_eta_s = read_num(obj, "suite_eta_s");
    e->times.eta_remaining_s = read_num(obj, "eta_remaining_s");
    read_stall(e, obj);
    e->load.gpu_use = read_num(obj, "gpu_use");
    e->load.vram_used = read_num(obj, "vram_used");
    e->load.rss = read_num(obj, "rss");
    e->retry = json_is_true(json_object_get(obj, "retry"));
    e->replaces = json_is_true(json_object_get(obj, "replaces"));
    e->lane = read_lane(obj);
    read_gpus(e, json_object_get(obj, "gpus"));
    read_text(obj, "gpu_out", e->gpu_out, sizeof e->gpu_out);
}

int event_decode(struct event *e, const char *line, size_t len)
{
    *e = (struct event){0};
    struct err ignored = {0};
    json_auto_t *obj = json_parse(line, len, "events.jsonl", &ignored);
    const char *name = json_string_value(json_object_get(obj, "event"));
    if (!name)
        return -1;
    if (!event_from_name(name, &e->type)) {
        e->seq = read_int(obj, "seq");
        return 1;
    }
    read_fields(e, obj);
    return 0;
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
    s->len = s->dropped = 0;
}

void event_stream_rewind(struct event_stream *s)
{
    s->len = s->dropped = 0;
}

static int end_line(struct event_stream *s, struct err *err)
{
    size_t len = s->len, dropped = s->dropped;
    s->len = s->dropped = 0;
    if (len == 0 || *s->line == ' ') {
        s->line[len] = '\0';
        if (s->on_aside)
            s->on_aside(s->arg, s->line);
        return 0;
    }
    if (s->on_line(s->arg, s->line, len, err) != 0)
        return -1;
    s->offset += (int64_t)(len + dropped) + 1;
    return 0;
}

int event_stream_write(void *arg, const char *data, size_t len, struct err *err)
{
    struct event_stream *s = arg;
    if (!s->line)
        s->line = xcalloc(1, LIMIT_EVENT_LINE + 1);
    for (size_t i = 0; i < len; i++) {
        if (data[i] == '\n') {
            if (end_line(s, err) != 0)
                return -1;
        } else if (s->len == LIMIT_EVENT_LINE)
            s->dropped++; /* no event is so long: what is kept of the line is none */
        else
            s->line[s->len++] = data[i];
    }
    return 0;
}
