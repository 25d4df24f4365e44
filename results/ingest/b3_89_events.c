#include "results/ingest/b3_89_events.h"

#include "results/ingest/artifact.h"
#include "results/store/when.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES_MAX = 256 << 20 };

void b3_events_init(struct b3_events *e)
{
    *e = (struct b3_events){.started = WHEN_UNKNOWN, .ended = WHEN_UNKNOWN};
}

void b3_events_release(struct b3_events *e)
{
    free(e->items);
    b3_events_init(e);
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n >= k && strcmp(s + n - k, end) == 0;
}

bool b3_events_may_be_in(const char *rel)
{
    return !strstr(rel, "ctx_") && (ends_with(rel, ".log") || ends_with(rel, "events.jsonl"));
}

/* "ts" as a date, or as seconds since the epoch. */
static int64_t time_of(const json_t *event)
{
    const json_t *ts = json_object_get(event, "ts");
    double seconds = json_number_value(ts);
    if (json_is_string(ts))
        return when_parse(json_string_value(ts));
    return json_is_number(ts) && seconds > 0 && seconds < 1e11 ? (int64_t)(seconds * 1e3) : WHEN_UNKNOWN;
}

static int read_values(const struct json_at *at, double *value, struct err *err)
{
    for (int m = 0; m < METRIC_COUNT; m++) {
        const char *key = metric_info((enum metric)m)->event;
        value[m] = NAN;
        if (key && artifact_num(at, key, 0, 1e9, &value[m], err) != 0)
            return -1;
    }
    return 0;
}

static int read_test(const struct json_at *at, bool skipped, struct b3_event *out, struct err *err)
{
    int64_t context, repetition;
    const char *status = status_name(skipped ? STATUS_SKIPPED : STATUS_OK);
    if (artifact_name(at, "variant", out->variant, sizeof out->variant, err) != 0 ||
        json_get_int(at, "ctx", 0, INT32_MAX, &context, err) != 0 ||
        json_get_int(at, "run_idx", 0, INT32_MAX, &repetition, err) != 0 ||
        json_get_str_def(at, "exit_status", &status, err) != 0 || read_values(at, out->value, err) != 0 ||
        artifact_cut(at, "reason", out->reason, sizeof out->reason, err) != 0)
        return -1;
    out->context = (int)context;
    out->repetition = (int)repetition;
    return status_from_name(status, &out->status) ? 0 : err_set(err, ERR_INPUT, "no status");
}

static int keep_test(struct b3_events *e, const struct b3_event *test, struct err *err)
{
    if (e->count == LIMIT_TESTS)
        return err_set(err, ERR_INPUT, "more than %d tests", LIMIT_TESTS);
    if (!ALLOC_GROW(e->items, e->count + 1, e->cap))
        return err_set(err, ERR_INTERNAL, "no memory for the events");
    e->items[e->count++] = *test;
    return 0;
}

static int take_event(struct b3_events *e, const json_t *event, struct err *err)
{
    struct json_at at = json_root(event, "event");
    struct b3_event test = {0};
    struct err odd;
    enum event_type type;
    const char *name = json_string_value(json_object_get(event, "event"));
    if (!name || !event_from_name(name, &type))
        return 0;
    if (type == EVENT_SUITE_START) {
        e->begun = true;
        e->started = time_of(event);
    } else if (type == EVENT_SUITE_END) {
        e->closed = true;
        e->ended = time_of(event);
    } else if (type == EVENT_TEST_END || type == EVENT_TEST_SKIP) {
        if (read_test(&at, type == EVENT_TEST_SKIP, &test, &odd) == 0)
            return keep_test(e, &test, err);
        e->odd++;
    }
    return 0;
}

/* The shell may have printed something before the object. */
static int take_line(struct b3_events *e, const char *line, size_t len, struct err *err)
{
    const char *brace = memchr(line, '{', len);
    if (!brace || !memmem(brace, len - (size_t)(brace - line), "\"event\"", 7))
        return 0;
    json_t *event = json_loadb(brace, len - (size_t)(brace - line),
                               JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, NULL);
    int rc = json_is_object(event) ? take_event(e, event, err) : 0;
    json_decref(event);
    return rc;
}

int b3_events_read(struct b3_events *e, const char *path, struct err *err)
{
    struct buf text;
    buf_init(&text, LOG_BYTES_MAX);
    int rc = fs_read_file(path, LOG_BYTES_MAX, &text, err);
    for (const char *p = buf_str(&text), *end = p + text.len, *next; rc == 0 && p < end; p = next) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        next = eol ? eol + 1 : end;
        rc = take_line(e, p, (size_t)((eol ? eol : end) - p), err);
    }
    buf_release(&text);
    return rc;
}

static const struct run_test *find_test(const struct draft *d, const struct b3_event *e)
{
    for (size_t i = 0; i < d->n_tests; i++) {
        const struct run_test *t = &d->tests[i].t;
        if (t->context == e->context && t->repetition == e->repetition &&
            strcmp(d->variants[t->variant].name, e->variant) == 0)
            return t;
    }
    return NULL;
}

static int add_test(struct draft *d, const struct b3_event *e, struct err *err)
{
    size_t variant = draft_variant(d, e->variant);
    if (variant == d->n_variants && !draft_add_variant(d, e->variant, err))
        return -1;
    struct draft_test *t = draft_add_test(d, err);
    if (!t)
        return -1;
    t->t.variant = variant;
    t->t.context = e->context;
    t->t.repetition = e->repetition;
    t->t.status = e->status;
    memcpy(t->t.value, e->value, sizeof t->t.value);
    snprintf(t->t.reason, sizeof t->t.reason, "%s", e->reason);
    return 0;
}

int b3_events_apply(const struct b3_events *e, struct draft *d, struct err *err)
{
    struct run_info *r = &d->info;
    for (size_t i = 0; i < e->count; i++)
        if (!find_test(d, &e->items[i]) && add_test(d, &e->items[i], err) != 0)
            return -1;
    when_format(e->started, r->started_at);
    when_format(e->ended, r->ended_at);
    if (e->started != WHEN_UNKNOWN && e->ended >= e->started)
        r->wall_s = (double)(e->ended - e->started) / 1e3;
    if (e->begun && !e->closed)
        r->status = RUN_PARTIAL;
    if (e->odd)
        draft_warn(d, "%d invalid events in the log were ignored", e->odd);
    return 0;
}
