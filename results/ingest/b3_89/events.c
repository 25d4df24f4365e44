#include "results/ingest/b3_89/events.h"

#include "results/ingest/bundle/artifact.h"
#include "results/store/when.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES_MAX = 256 << 20, EVENT_LINES_MAX = 8 };

void b3_events_init(struct b3_events *e)
{
    *e = (struct b3_events){.started = WHEN_UNKNOWN, .ended = WHEN_UNKNOWN};
}

void b3_events_release(struct b3_events *e)
{
    free(e->items);
    free(e->faults);
    b3_events_init(e);
}

bool b3_events_may_be_in(const char *rel)
{
    return !strstr(rel, "ctx_") && !text_ends_with(rel, "_gate.log") &&
           (text_ends_with(rel, ".log") || text_ends_with(rel, "events.jsonl"));
}

/* "ts" is a date, or seconds since the epoch. */
static int64_t time_of(const json_t *event)
{
    const json_t *ts = json_object_get(event, "ts");
    double seconds = json_number_value(ts);
    if (json_is_string(ts))
        return when_parse(json_string_value(ts));
    return json_is_number(ts) && seconds > 0 && seconds < 1e11 ? (int64_t)(seconds * 1e3) : WHEN_UNKNOWN;
}

/* A text, or "". A test that printed its timings several times has several words; the last one counts. */
static const char *last_word(const json_t *event, const char *key)
{
    const char *text = json_text(event, key), *space = strrchr(text, ' ');
    return space ? space + 1 : text;
}

/* A number, or a text that is one; NaN for anything else ("NA") and for what lies outside 0 to most. */
static double number_of(const json_t *event, const char *key, double most)
{
    const json_t *value = json_object_get(event, key);
    const char *text = json_is_string(value) ? last_word(event, key) : NULL;
    char *end = NULL;
    double v = text ? strtod(text, &end) : json_is_number(value) ? json_number_value(value) : NAN;
    if (text && (end == text || *end))
        return NAN;
    return v >= 0 && v <= most ? v : NAN;
}

/* The executor wrote "NA" for a missing value; it becomes "". */
static void value_of(const json_t *event, const char *key, char *out, size_t size)
{
    const char *text = last_word(event, key);
    snprintf(out, size, "%s", strcmp(text, "NA") != 0 ? text : "");
}

static void read_values(const json_t *event, struct b3_event *out)
{
    for (int m = 0; m < METRIC_BUILT_IN; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        const char *key = info->event ? info->event : info->unit && *info->unit == 's' ? info->timing : NULL;
        out->value[m] = key ? number_of(event, key, 1e9) : NAN;
    }
}

static int read_test(const struct json_at *at, enum b3_stage stage, struct b3_event *out, struct err *err)
{
    int64_t context, repetition;
    const char *status = status_name(stage == B3_SKIPPED ? STATUS_SKIPPED : STATUS_OK);
    if (artifact_name(at, "variant", out->variant, sizeof out->variant, err) != 0 ||
        json_get_int(at, "ctx", 0, INT32_MAX, &context, err) != 0 ||
        json_get_int(at, "run_idx", 0, INT32_MAX, &repetition, err) != 0 ||
        json_get_str_def(at, "exit_status", &status, err) != 0 ||
        artifact_cut(at, "reason", out->reason, sizeof out->reason, err) != 0)
        return -1;
    double code = number_of(at->value, "exit_code", 255);
    out->stage = stage;
    out->context = (int)context;
    out->repetition = (int)repetition;
    out->exit_code = isnan(code) ? RUN_UNKNOWN : (int)code;
    out->signal = RUN_UNKNOWN;
    out->timeout_s = number_of(at->value, "timeout_s", 1e9);
    read_values(at->value, out);
    value_of(at->value, "attn_impl", out->attn_impl, sizeof out->attn_impl);
    if (stage == B3_STARTED && time_of(at->value) != WHEN_UNKNOWN)
        when_format(time_of(at->value), out->started_at);
    return status_from_name(status, &out->status) ? 0 : err_set(err, ERR_INPUT, "no status");
}

static int keep_test(struct b3_events *e, const struct b3_event *test, struct err *err)
{
    if (e->count == (size_t)4 * LIMIT_TESTS)
        return err_set(err, ERR_INPUT, "more than %d events of tests in the log", 4 * LIMIT_TESTS);
    ALLOC_GROW(e->items, e->count + 1, e->cap);
    e->items[e->count] = *test;
    e->items[e->count].sequence = e->count;
    e->count++;
    return 0;
}

static struct b3_fault *find_fault(const struct b3_events *e, const char *variant)
{
    for (size_t i = 0; i < e->n_faults; i++)
        if (strcmp(e->faults[i].variant, variant) == 0)
            return &e->faults[i];
    return NULL;
}

static int take_test(struct b3_events *e, const struct json_at *at, enum b3_stage stage, struct err *err)
{
    struct b3_event test = {0};
    struct err odd;
    if (read_test(at, stage, &test, &odd) != 0) {
        e->odd++;
        return 0;
    }
    struct b3_fault *fault = find_fault(e, test.variant);
    if (fault && stage != B3_SKIPPED)
        fault->status = STATUS_OK;
    return keep_test(e, &test, err);
}

/* The repetitions of a context in a map like "4096:2,8192:1"; 1 if the map does not have it. */
static long repetitions_at(const char *map, const char *context)
{
    size_t n = strlen(context);
    for (const char *p = map; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, context, n) == 0 && p[n] == ':')
            return strtol(p + n + 1, NULL, 10);
    return 1;
}

static int plan_cell(struct b3_events *e, const char *variant, const char *context, const char *map,
                     struct err *err)
{
    char *end;
    long at = strtol(context, &end, 10), n = repetitions_at(map, context);
    struct b3_event test = {.stage = B3_PLANNED, .context = (int)at};
    if (!text_is_name(variant) || end == context || *end || at < 0 || at > INT32_MAX)
        return 0;
    snprintf(test.variant, sizeof test.variant, "%s", variant);
    for (; test.repetition < n && test.repetition < LIMIT_REPETITIONS; test.repetition++)
        if (keep_test(e, &test, err) != 0)
            return -1;
    return 0;
}

/* A list of one number was written as a number. */
static void list_of(const json_t *event, const char *key, char *out, size_t size)
{
    const json_t *value = json_object_get(event, key);
    if (json_is_integer(value))
        snprintf(out, size, "%lld", (long long)json_integer_value(value));
    else
        value_of(event, key, out, size);
}

/* Adds the tests that the suite was to run: every variant at every context. */
static int plan_tests(struct b3_events *e, const json_t *event, struct err *err)
{
    char variants[1024], contexts[1024], map[1024], *save = NULL;
    list_of(event, "variants", variants, sizeof variants);
    list_of(event, "contexts", contexts, sizeof contexts);
    list_of(event, "repeat_map", map, sizeof map);
    for (char *v = strtok_r(variants, ",", &save); v; v = strtok_r(NULL, ",", &save)) {
        char each[sizeof contexts], *rest = NULL;
        snprintf(each, sizeof each, "%s", contexts);
        for (char *c = strtok_r(each, ",", &rest); c; c = strtok_r(NULL, ",", &rest))
            if (plan_cell(e, v, c, map, err) != 0)
                return -1;
    }
    return 0;
}

static int begin_suite(struct b3_events *e, const json_t *event, struct err *err)
{
    double total = number_of(event, "total_tests", LIMIT_TESTS);
    char mode[sizeof e->mode];
    value_of(event, "mode", mode, sizeof mode);
    if (strcmp(mode, "perf") == 0 || strcmp(mode, "debug") == 0)
        snprintf(e->mode, sizeof e->mode, "%s", mode);
    e->begun = true;
    e->closed = false;
    e->started = time_of(event);
    if (total > e->total)
        e->total = (int)total;
    return plan_tests(e, event, err);
}

static int take_event(struct b3_events *e, const json_t *event, struct err *err)
{
    struct json_at at = json_root(event, "event");
    enum event_type type;
    if (!event_from_name(json_text(event, "event"), &type))
        return 0;
    if (type == EVENT_SUITE_START)
        return begin_suite(e, event, err);
    if (type == EVENT_TEST_START)
        return take_test(e, &at, B3_STARTED, err);
    if (type == EVENT_TEST_SKIP)
        return take_test(e, &at, B3_SKIPPED, err);
    if (type == EVENT_TEST_END)
        return take_test(e, &at, B3_ENDED, err);
    if (type == EVENT_SUITE_END) {
        e->closed = true;
        e->ended = time_of(event);
    }
    return 0;
}

/* Takes a line like "BUILD FAILED for v2. Check build.log". */
static void take_fault(struct b3_events *e, const char *line, size_t len, const char *mark,
                       enum status status)
{
    size_t n = strlen(mark);
    char name[RUN_NAME_MAX];
    if (len <= n || memcmp(line, mark, n) != 0)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(len - n < LIMIT_NAME ? len - n : LIMIT_NAME), line + n);
    name[strcspn(name, " \t\r")] = '\0';
    if (*name && name[strlen(name) - 1] == '.')
        name[strlen(name) - 1] = '\0';
    struct b3_fault *fault = find_fault(e, name);
    if (!text_is_name(name) || (!fault && e->n_faults == LIMIT_VARIANTS))
        return;
    if (!fault) {
        ALLOC_GROW(e->faults, e->n_faults + 1, e->cap_faults);
        fault = &e->faults[e->n_faults++];
    }
    snprintf(fault->variant, sizeof fault->variant, "%s", name);
    fault->status = status;
}

static json_t *load_event(const char *text, size_t len)
{
    return json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, NULL);
}

/* Values of an event may contain line breaks: joins as many lines as it takes. */
static json_t *load_broken_event(const char *text, const char *eol, const char *end)
{
    AUTO(buf_release) struct buf joined = {.max = LIMIT_EVENT_LINE};
    json_t *event = NULL;
    for (int i = 0; i < EVENT_LINES_MAX && !event && eol && eol < end; i++) {
        eol = memchr(eol + 1, '\n', (size_t)(end - eol - 1));
        buf_clear(&joined);
        for (const char *p = text; p < (eol ? eol : end) && buf_ok(&joined); p++)
            buf_putc(&joined, *p == '\n' ? ' ' : *p);
        event = buf_ok(&joined) ? load_event(buf_str(&joined), joined.len) : NULL;
    }
    return event;
}

/* The shell may have printed something before the object. eol: the end of the line, NULL in the last one. */
static int take_line(struct b3_events *e, const char *line, const char *eol, const char *end, struct err *err)
{
    size_t len = (size_t)((eol ? eol : end) - line);
    take_fault(e, line, len, "BUILD FAILED for ", STATUS_BUILD_FAILED);
    take_fault(e, line, len, "GATE FAILED for ", STATUS_GATE_FAILED);
    const char *brace = memchr(line, '{', len);
    size_t rest = brace ? len - (size_t)(brace - line) : 0;
    if (!brace || !memmem(brace, rest, "\"event\"", 7))
        return 0;
    json_auto_t *event = load_event(brace, rest);
    if (!event && !memchr(brace, '}', rest))
        event = load_broken_event(brace, eol, end);
    return json_is_object(event) ? take_event(e, event, err) : 0;
}

int b3_events_read(struct b3_events *e, const char *path, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = LOG_BYTES_MAX};
    if (fs_read_file(path, LOG_BYTES_MAX, &text, err) != 0)
        return -1;
    for (const char *p = buf_str(&text), *end = p + text.len, *next; p < end; p = next) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        next = eol ? eol + 1 : end;
        if (take_line(e, p, eol, end, err) != 0)
            return -1;
    }
    return 0;
}
