#include "executor/bundle/job.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/problems.h"
#include "common/base/sha256.h"
#include "common/contract/proto.h"

#include <stdlib.h>
#include <string.h>

/* A part, and its mark of a test, as the JSON has them. */
struct written_part {
    struct job_part part;
    const char *variant;
};
struct written_mark {
    int64_t index, attempts;
};

static bool is_build(const char *key)
{
    return !*key || sha256_is_hex(key);
}

const struct key part_keys[] = {
    {KEY_AT(struct written_part, variant), .kind = KEY_NAME, .in = IN_JOB, .required = true,
     .most = LIMIT_NAME},
    {.name = "prepare",
     .offset = offsetof(struct written_part, part.prepare),
     .kind = KEY_FLAG,
     .in = IN_JOB},
    {.name = "build",
     .offset = offsetof(struct written_part, part.build),
     .kind = KEY_TEXT,
     .in = IN_JOB,
     .most = SHA256_HEX_LEN,
     .text = "",
     .accepts = is_build,
     .expected = "64 lower-case hex digits"},
    {.name = "host",
     .offset = offsetof(struct written_part, part.host),
     .kind = KEY_TEXT,
     .in = IN_JOB,
     .most = FS_PATH_MAX - 1,
     .text = ""},
    {.name = "fence",
     .offset = offsetof(struct written_part, part.fence),
     .kind = KEY_TEXT,
     .in = IN_JOB,
     .required = true,
     .most = FS_PATH_MAX - 1},
    {.name = "cancel",
     .offset = offsetof(struct written_part, part.cancel),
     .kind = KEY_TEXT,
     .in = IN_JOB,
     .required = true,
     .most = FS_PATH_MAX - 1},
    {.name = "tests", .kind = KEY_PART, .in = IN_JOB, .required = true},
    {.name = NULL},
};
const struct key part_test_keys[] = {
    {KEY_AT(struct written_mark, index), .kind = KEY_COUNT, .in = IN_JOB, .required = true, .least = 1,
     .most = LIMIT_TESTS},
    {KEY_AT(struct written_mark, attempts), .kind = KEY_COUNT, .in = IN_JOB, .required = true, .most = 1000},
    {.name = NULL},
};

static int mark_test(struct job *job, const struct json_at *at, struct err *err)
{
    struct written_mark w;
    const struct key_table table = {part_test_keys, &w};
    struct json_at index = json_member(at, "index");
    if (keys_read(at, IN_JOB, &table, 1, err) != 0)
        return -1;
    if (w.index > (int64_t)job->test_count)
        return json_fail(&index, err, "there are only %zu tests", job->test_count);
    struct job_test *test = &job->test[w.index - 1];
    if (test->variant != job->part.variant)
        return json_fail(at, err, "this test belongs to another variant");
    test->attempts = w.attempts;
    test->elsewhere = false;
    return 0;
}

static int mark_tests(struct job *job, const struct json_at *at, struct err *err)
{
    if (!json_is_array(at->value) || json_array_size(at->value) > LIMIT_TESTS)
        return json_fail(at, err, "expected an array of at most %d tests", LIMIT_TESTS);
    for (size_t i = 0; i < job->test_count; i++)
        job->test[i].elsewhere = true;
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at test = json_element(at, i);
        if (mark_test(job, &test, err) != 0)
            return -1;
    }
    return 0;
}

/* Marks the tests that belong to other parts. The tests must have been read. */
static int read_part(struct job *job, const struct json_at *root, struct err *err)
{
    struct written_part w = {0};
    const struct key_table table = {part_keys, &w};
    struct json_at at = json_member(root, "part"), tests = json_member(&at, "tests");
    job->part = (struct job_part){.build = "", .host = "", .fence = "", .cancel = ""};
    if (!at.value)
        return 0;
    if (keys_read(&at, IN_JOB, &table, 1, err) != 0)
        return -1;
    job->part = w.part;
    if (!variant_find(job->variant, job->variant_count, w.variant, &job->part.variant))
        return json_fail(&at, err, "$.variants has no variant \"%s\"", w.variant);
    job->part.on = true;
    return mark_tests(job, &tests, err);
}

/* A test as the JSON has it. */
struct written_test {
    int64_t index, context, repetition;
    const char *variant;
    double timeout_s;
    bool warmup;
    double until;
    int64_t least;
    const char *home, *gpu;
    double expected_s;
    const char *unless, *measured;
    int64_t turn;
    bool open, smoke;
};

const struct key test_keys[] = {
    {KEY_AT(struct written_test, index), .kind = KEY_COUNT, .in = IN_JOB, .required = true, .least = 1,
     .most = LIMIT_TESTS},
    {KEY_AT(struct written_test, variant), .kind = KEY_NAME, .in = IN_JOB, .required = true,
     .most = LIMIT_NAME},
    {KEY_AT(struct written_test, context), .kind = KEY_COUNT, .in = IN_JOB, .required = true, .least = 1,
     .most = LIMIT_CONTEXT},
    {KEY_AT(struct written_test, repetition), .kind = KEY_COUNT, .in = IN_JOB, .required = true, .least = 1,
     .most = LIMIT_REPETITIONS},
    {KEY_AT(struct written_test, timeout_s), .kind = KEY_NUMBER, .in = IN_JOB, .required = true,
     .least = TEST_TIMEOUT_MIN_S, .most = TEST_TIMEOUT_MAX_S},
    {KEY_AT(struct written_test, warmup), .kind = KEY_FLAG, .in = IN_JOB},
    {KEY_AT(struct written_test, until), .kind = KEY_NUMBER, .in = IN_JOB, .most = UNTIL_MAX},
    {KEY_AT(struct written_test, least), .kind = KEY_COUNT, .in = IN_JOB, .most = LIMIT_REPETITIONS},
    {KEY_AT(struct written_test, home), .kind = KEY_TEXT, .in = IN_JOB, .least = 1, .most = GPU_IDS_MAX},
    {KEY_AT(struct written_test, gpu), .kind = KEY_TEXT, .in = IN_JOB, .least = 1, .most = GPU_WORD_MAX},
    {KEY_AT(struct written_test, expected_s), .kind = KEY_NUMBER, .in = IN_JOB, .most = TEST_TIMEOUT_MAX_S},
    {KEY_AT(struct written_test, unless), .kind = KEY_TEXT, .in = IN_JOB, .least = SHA256_HEX_LEN,
     .most = SHA256_HEX_LEN, .accepts = sha256_is_hex, .expected = "64 lower-case hex digits"},
    {KEY_AT(struct written_test, measured), .kind = KEY_TEXT, .in = IN_JOB, .least = CLOCK_DAY_LEN,
     .most = CLOCK_DAY_LEN, .accepts = clock_is_day, .expected = "a date like 2026-02-14"},
    {KEY_AT(struct written_test, turn), .kind = KEY_COUNT, .in = IN_JOB, .most = LIMIT_TESTS},
    {KEY_AT(struct written_test, open), .kind = KEY_FLAG, .in = IN_JOB},
    {KEY_AT(struct written_test, smoke), .kind = KEY_FLAG, .in = IN_JOB},
    {.name = NULL},
};

static int read_test(struct job *job, size_t position, const struct json_at *at, struct err *err)
{
    struct written_test w;
    struct job_test *test = &job->test[position];
    const struct key_table table = {test_keys, &w};
    if (keys_read(at, IN_JOB, &table, 1, err) != 0)
        return -1;
    struct json_at variant = json_member(at, "variant"), index = json_member(at, "index");
    if (w.index != (int64_t)position + 1)
        return json_fail(&index, err, "expected %zu: tests are numbered from 1 in the order they run",
                         position + 1);
    *test = (struct job_test){.context = w.context,
                              .repetition = w.repetition,
                              .timeout_s = w.timeout_s,
                              .warmup = w.warmup,
                              .until = w.until,
                              .least = w.least,
                              .home = w.home,
                              .gpu = w.gpu,
                              .expected_s = w.expected_s,
                              .unless = w.measured ? w.unless : NULL,
                              .measured = w.measured,
                              .turn = w.turn,
                              .open = w.open,
                              .smoke = w.smoke};
    if (!variant_find(job->variant, job->variant_count, w.variant, &test->variant))
        return json_fail(&variant, err, "$.variants has no variant \"%s\"", w.variant);
    return 0;
}

static int compare_tests(const void *a, const void *b)
{
    const struct job_test *x = a, *y = b;
    if (x->variant != y->variant)
        return x->variant < y->variant ? -1 : 1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->repetition < y->repetition ? -1 : x->repetition > y->repetition;
}

/* Duplicates would share a folder and overwrite each other. */
static int check_unique(const struct job *job, const struct json_at *at, struct err *err)
{
    AUTO_FREE struct job_test *sorted = xmemdup(job->test, job->test_count * sizeof *sorted);
    qsort(sorted, job->test_count, sizeof *sorted, compare_tests);
    for (size_t i = 1; i < job->test_count; i++)
        if (compare_tests(&sorted[i - 1], &sorted[i]) == 0)
            return json_fail(at, err, "duplicate test: variant \"%s\", context %lld, repetition %lld",
                             job->variant[sorted[i].variant].name, (long long)sorted[i].context,
                             (long long)sorted[i].repetition);
    return 0;
}

/* The variants must have been read. */
static int read_tests(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "tests");
    size_t n = json_array_size(at.value);
    if (!json_is_array(at.value) || n > LIMIT_TESTS)
        return json_fail(&at, err, "expected an array of at most %d tests", LIMIT_TESTS);
    job->test = xcalloc(n, sizeof *job->test);
    for (; job->test_count < n; job->test_count++) {
        struct json_at test = json_element(&at, job->test_count);
        if (read_test(job, job->test_count, &test, err) != 0)
            return -1;
    }
    return check_unique(job, &at, err);
}

enum { SHORT_TEXT = 255 };

const struct key job_keys[] = {
    {.name = "schema",
     .kind = KEY_CONST,
     .in = IN_JOB,
     .required = true,
     .text = PROTO_SCHEMA_JOB,
     .expected = "from a harness of the executor's version"},
    {KEY_AT(struct job, run_id), .kind = KEY_NAME, .in = IN_JOB, .required = true, .most = LIMIT_NAME},
    {KEY_AT(struct job, date), .kind = KEY_TEXT, .in = IN_JOB, .most = SHORT_TEXT, .text = ""},
    {KEY_AT(struct job, node), .kind = KEY_TEXT, .in = IN_JOB, .most = SHORT_TEXT, .text = ""},
    {KEY_AT(struct job, fresh), .kind = KEY_FLAG, .in = IN_JOB},
    {KEY_AT(struct job, compile_only), .kind = KEY_FLAG, .in = IN_JOB},
    {KEY_AT(struct job, purpose), .kind = KEY_CHOICE, .in = IN_JOB, .words = run_purpose_names},
    {KEY_AT(struct job, controls), .kind = KEY_COUNT, .in = IN_JOB, .most = LIMIT_TESTS},
    {KEY_AT(struct job, budget_s), .kind = KEY_NUMBER, .in = IN_JOB, .most = TEST_TIMEOUT_MAX_S},
    {.name = "plan_sha256", .kind = KEY_PART, .in = IN_JOB},
    {.name = "harness_version", .kind = KEY_PART, .in = IN_JOB},
    {.name = "preflight", .kind = KEY_PART, .in = IN_JOB},
    {.name = "sweep", .kind = KEY_PART, .in = IN_JOB},
    {.name = "tests", .kind = KEY_PART, .in = IN_JOB, .required = true},
    {.name = "part", .kind = KEY_PART, .in = IN_JOB},
    {.name = NULL},
};

static int read_source(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "source");
    if (!at.value || json_is_null(at.value))
        return 0;
    if (!json_is_object(at.value))
        return json_fail(&at, err, "expected null or an object with \"sha256\"");
    if (json_get_str(&at, "sha256", &job->source_sha256, err) != 0)
        return -1;
    if (!sha256_is_hex(job->source_sha256))
        return json_fail(&at, err, "\"sha256\": expected 64 lower-case hex digits");
    return 0;
}

static int read_preflight(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "preflight");
    if (at.value && !json_is_array(at.value))
        return json_fail(&at, err, "expected an array");
    job->preflight = at.value;
    return 0;
}

static int read_variants(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "variants");
    const struct variant_context context = {
        .in = IN_JOB, .secrets = &job->secrets, .sources = job->source_sha256 != NULL, .shapes = true};
    size_t n = json_array_size(at.value), other;
    if (!json_is_array(at.value) || n < 1 || n > LIMIT_VARIANTS)
        return json_fail(&at, err, "expected an array of 1 to %d variants", LIMIT_VARIANTS);
    job->variant = xcalloc(n, sizeof *job->variant);
    for (size_t i = 0; i < n; i++) {
        struct json_at v = json_element(&at, i);
        job->variant_count++;
        if (variant_read(&job->variant[i], &v, &context, err) != 0)
            return -1;
        if (variant_find(job->variant, i, job->variant[i].name, &other))
            return json_fail(&v, err, "duplicate name \"%s\": $.variants[%zu] has it too",
                             job->variant[i].name, other);
    }
    return 0;
}

static int read_parts(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at secrets = json_member(root, "secrets"), env = json_member(root, "env"),
                   timings = json_member(root, "timings"), scheduler = json_member(root, "scheduler"),
                   metrics = json_member(root, "metrics"), counters = json_member(root, "counters");
    if (counters_load(&job->counters, &counters, err) != 0 || read_source(job, root, err) != 0 ||
        read_preflight(job, root, err) != 0 || secret_names_read(&job->secrets, &secrets, err) != 0 ||
        env_read(&job->env, &env, IN_JOB, &job->secrets, SUBST_FOR_TEST, err) != 0 ||
        own_metrics_read(&job->metrics, &metrics, IN_JOB, err) != 0 ||
        timing_rule_init(&job->timings, &timings, err) != 0 ||
        timing_rule_add_metrics(&job->timings, &job->metrics, &metrics, err) != 0 ||
        scheduler_load(&job->scheduler, &scheduler, 0, err) != 0 ||
        settings_check(&job->settings, root, job->scheduler.on, err) != 0 ||
        gpu_wish_read(&job->gpus, root, &job->settings, job->scheduler.on, err) != 0 ||
        read_variants(job, root, err) != 0 || read_tests(job, root, err) != 0)
        return -1;
    return read_part(job, root, err);
}

int job_init(struct job *job, json_t *root, const char *file, struct err *err)
{
    *job = (struct job){.root = root};
    const struct key_table tables[] = {{job_keys, job}, {settings_keys, &job->settings}};
    AUTO(problems_release) struct json_problems problems = {0};
    const struct json_source source = {.problems = &problems};
    struct json_at at = json_root(root, file);
    at.source = &source;
    if (keys_read(&at, IN_JOB, tables, sizeof tables / sizeof *tables, err) == 0 &&
        read_parts(job, &at, err) == 0)
        return 0;
    job_release(job);
    return problems_first(&problems, -1, err);
}

void job_release(struct job *job)
{
    for (size_t i = 0; i < job->variant_count; i++)
        variant_release(&job->variant[i]);
    free(job->variant);
    free(job->test);
    secret_names_release(&job->secrets);
    env_release(&job->env);
    timing_rule_release(&job->timings);
    json_decref(job->root);
    *job = (struct job){.root = NULL};
}

bool job_is_secret(const struct job *job, const char *name)
{
    return secret_names_have(&job->secrets, name);
}
