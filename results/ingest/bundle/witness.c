#include "results/ingest/bundle/witness.h"

#include "common/base/alloc.h"
#include "results/ingest/bundle/artifact.h"
#include "results/store/identity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t journal_max = (size_t)256 << 20;
/* The records differ in how they round. */
static const double tolerance = 1e-4, tolerance_s = 2e-6;

static double number(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void take_metrics(struct witness *w, const json_t *told)
{
    const json_t *metrics = json_object_get(told, "metrics");
    size_t count = json_object_size(metrics);
    const char *name;
    json_t *value;
    if (count == 0 || count > LIMIT_METRICS)
        return;
    w->metric = xcalloc(count, sizeof *w->metric);
    json_object_foreach((json_t *)(uintptr_t)metrics, name, value)
    {
        if (!json_is_number(value))
            continue;
        struct draft_extra *m = &w->metric[w->metrics++];
        snprintf(m->name, sizeof m->name, "%s", name);
        m->value = json_number_value(value);
    }
}

static void take(struct witness *of, size_t tests, const json_t *told, const char *wall)
{
    json_int_t index = json_integer_value(json_object_get(told, "test_index"));
    struct witness w = {.known = true,
                        .wall_s = number(json_object_get(told, wall)),
                        .prefill_s = number(json_object_get(told, "prefill_s"))};
    if (index < 1 || (size_t)index > tests || !status_from_name(json_text(told, "exit_status"), &w.status))
        return;
    snprintf(w.sha256, sizeof w.sha256, "%.*s", SHA256_HEX_LEN, json_text(told, "perf_sha256"));
    take_metrics(&w, told);
    w.gpu = of[index - 1].gpu;
    free(of[index - 1].metric);
    of[index - 1] = w;
}

/* A start that names no GPUs, or names them in an unknown way, tells nothing. */
static void take_start(struct witness *of, size_t tests, const json_t *told)
{
    json_int_t index = json_integer_value(json_object_get(told, "test_index"));
    struct json_at root = json_root(told, "events.jsonl"), gpus = json_member(&root, "gpus");
    char ids[RUN_GPU_MAX] = "";
    struct err ignored = {0};
    if (index < 1 || (size_t)index > tests)
        return;
    bool told_which = gpus.value && place_join(&gpus, ids, sizeof ids, &ignored) == 0;
    of[index - 1].gpu = told_which ? gpu_identity(ids, "") : 0;
}

static void take_summary(struct witnesses *w, const json_t *summary)
{
    const json_t *list = json_object_get(summary, "tests");
    for (size_t i = 0; i < json_array_size(list); i++)
        take(w->summary, w->tests, json_array_get(list, i), "wall_time_sec");
}

/* The last end of a test counts: those before it were to be repeated. */
static void take_line(struct witnesses *w, struct json_arena *arena, const char *line, size_t len)
{
    struct err ignored = {0};
    if (!memmem(line, len, "\"TEST_END\"", strlen("\"TEST_END\"")) &&
        !memmem(line, len, "\"TEST_START\"", strlen("\"TEST_START\"")))
        return;
    const json_t *event = json_parse_in(arena, line, len, "events.jsonl", &ignored);
    const char *name = json_text(event, "event");
    if (strcmp(name, "TEST_END") == 0)
        take(w->journal, w->tests, event, "wall_s");
    else if (strcmp(name, "TEST_START") == 0)
        take_start(w->journal, w->tests, event);
    json_arena_reset(arena);
}

static void take_journal(struct witnesses *w, const char *text, size_t len)
{
    AUTO(json_arena_release) struct json_arena arena = {0};
    for (const char *end; len > 0; len -= (size_t)(end - text), text = end) {
        const char *newline = memchr(text, '\n', len);
        end = newline ? newline + 1 : text + len;
        take_line(w, &arena, text, (size_t)(end - text) - (newline ? 1 : 0));
    }
}

int witnesses_read(struct witnesses *w, struct manifest *files, const json_t *summary, size_t tests,
                   bool complete, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = journal_max};
    *w = (struct witnesses){.tests = tests,
                            .journal = xcalloc(tests, sizeof *w->journal),
                            .summary = xcalloc(tests, sizeof *w->summary)};
    take_summary(w, summary);
    w->told_by_summary = complete && json_array_size(json_object_get(summary, "tests")) > 0;
    int rc = manifest_read(files, "events.jsonl", journal_max, &text, err);
    if (rc > 0)
        take_journal(w, buf_str(&text), text.len);
    w->told_by_journal = complete && rc > 0;
    return rc < 0 ? -1 : 0;
}

static void release(struct witness *of, size_t tests)
{
    for (size_t i = 0; of && i < tests; i++)
        free(of[i].metric);
    free(of);
}

void witnesses_release(struct witnesses *w)
{
    release(w->journal, w->tests);
    release(w->summary, w->tests);
    *w = (struct witnesses){0};
}

static bool differ(double a, double b)
{
    return fabs(a - b) > tolerance_s + tolerance * fmax(fabs(a), fabs(b)); /* false for NaN */
}

static int contradict(const struct json_at *perf, const char *what, double says, const char *who,
                      double other, struct err *err)
{
    return json_fail(perf, err, "says %s %.6g, but %s says %.6g: one of them was changed", what, says, who,
                     other);
}

static double extra_of(const struct draft_test *t, const char *name)
{
    for (size_t i = 0; i < t->n_extras; i++)
        if (strcmp(t->extras[i].name, name) == 0)
            return t->extras[i].value;
    return NAN;
}

static int check_metrics(const struct witness *w, const char *who, const struct draft_test *t,
                         const struct json_at *perf, struct err *err)
{
    for (size_t i = 0; i < w->metrics; i++) {
        const struct draft_extra *told = &w->metric[i];
        double says = extra_of(t, told->name);
        if (isnan(says))
            return json_fail(perf, err, "has no %.64s, but %s says %.6g: one of them was changed", told->name,
                             who, told->value);
        if (differ(says, told->value))
            return contradict(perf, told->name, says, who, told->value, err);
    }
    return 0;
}

static int check_hash(const struct witness *w, const char *who, const char *sha256,
                      const struct json_at *perf, struct err *err)
{
    if (!*w->sha256 || !*sha256 || strcmp(w->sha256, sha256) == 0)
        return 0;
    return json_fail(perf, err,
                     "was changed after the test had ended: its sha256 is %.12s, but %s says %.12s", sha256,
                     who, w->sha256);
}

static int check(const struct witness *w, const char *who, const struct run_test *t,
                 const struct json_at *perf, struct err *err)
{
    const double *value = t->value;
    if (!w->known)
        return 0;
    if (w->status != t->status)
        return json_fail(perf, err, "says %s, but %s says %s: one of them was changed",
                         status_name(t->status), who, status_name(w->status));
    if (differ(value[METRIC_PREFILL_S], w->prefill_s))
        return contradict(perf, "prefill_s", value[METRIC_PREFILL_S], who, w->prefill_s, err);
    if (differ(value[METRIC_WALL_S], w->wall_s))
        return contradict(perf, "wall_time_sec", value[METRIC_WALL_S], who, w->wall_s, err);
    if (w->gpu && *t->gpu && w->gpu != gpu_identity(t->gpu, ""))
        return json_fail(perf, err, "says GPU %.80s, but %s names another: one of them was changed", t->gpu,
                         who);
    return 0;
}

/* Numbers are checked first: a message with both says more than one with hashes. */
static int check_all(const struct witness *w, bool told, const char *who, const struct draft_test *t,
                     const char *sha256, const struct json_at *perf, struct err *err)
{
    if (told && !w->known)
        return json_fail(perf, err, "says OK, but %s has no end of this test: one of them was changed", who);
    return check(w, who, &t->t, perf, err) != 0 || check_metrics(w, who, t, perf, err) != 0 ||
                   check_hash(w, who, sha256, perf, err) != 0
               ? -1
               : 0;
}

int witnesses_check(const struct witnesses *w, const struct draft_test *t, int64_t index, const char *sha256,
                    const struct json_at *perf, struct err *err)
{
    if (t->t.status != STATUS_OK)
        return 0;
    if (t->t.index != index)
        return json_fail(perf, err,
                         "says that it is test %d of the run, but the job says %lld: one of them was changed",
                         t->t.index, (long long)index);
    if ((size_t)index > w->tests)
        return 0;
    size_t i = (size_t)index - 1;
    return check_all(&w->journal[i], w->told_by_journal, "the journal", t, sha256, perf, err) != 0 ||
                   check_all(&w->summary[i], w->told_by_summary, "summary.json", t, sha256, perf, err) != 0
               ? -1
               : 0;
}
