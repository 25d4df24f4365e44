#include "executor/bundle/tests.h"

#include "common/base/alloc.h"
#include "common/contract/gpu_wish.h"
#include "common/contract/proto.h"
#include "common/contract/settings.h"

#include <stdlib.h>
#include <string.h>

/* As in the JSON. */
struct written {
    int64_t index, context, repetition;
    const char *variant;
    double timeout_s;
    bool warmup;
    double until;
    int64_t least;
    const char *home, *gpu;
    double expected_s;
};

const struct key test_keys[] = {
    {KEY_AT(struct written, index), .kind = KEY_COUNT, .in = IN_JOB, .required = true, .least = 1,
     .most = LIMIT_TESTS},
    {KEY_AT(struct written, variant), .kind = KEY_NAME, .in = IN_JOB, .required = true, .most = LIMIT_NAME},
    {KEY_AT(struct written, context), .kind = KEY_COUNT, .in = IN_JOB, .required = true, .least = 1,
     .most = LIMIT_CONTEXT},
    {KEY_AT(struct written, repetition), .kind = KEY_COUNT, .in = IN_JOB, .required = true, .least = 1,
     .most = LIMIT_REPETITIONS},
    {KEY_AT(struct written, timeout_s), .kind = KEY_NUMBER, .in = IN_JOB, .required = true,
     .least = TEST_TIMEOUT_MIN_S, .most = TEST_TIMEOUT_MAX_S},
    {KEY_AT(struct written, warmup), .kind = KEY_FLAG, .in = IN_JOB},
    {KEY_AT(struct written, until), .kind = KEY_NUMBER, .in = IN_JOB, .most = UNTIL_MAX},
    {KEY_AT(struct written, least), .kind = KEY_COUNT, .in = IN_JOB, .most = LIMIT_REPETITIONS},
    {KEY_AT(struct written, home), .kind = KEY_TEXT, .in = IN_JOB, .least = 1, .most = GPU_IDS_MAX},
    {KEY_AT(struct written, gpu), .kind = KEY_TEXT, .in = IN_JOB, .least = 1, .most = GPU_WORD_MAX},
    {KEY_AT(struct written, expected_s), .kind = KEY_NUMBER, .in = IN_JOB, .most = TEST_TIMEOUT_MAX_S},
    {.name = NULL},
};

static int read_test(struct job_test *test, size_t position, const struct json_at *at,
                     const struct variant *variants, size_t variant_count, struct err *err)
{
    struct written w;
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
                              .expected_s = w.expected_s};
    if (!variant_find(variants, variant_count, w.variant, &test->variant))
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
static int check_unique(const struct job_test *tests, size_t count, const struct json_at *at,
                        const struct variant *variants, struct err *err)
{
    AUTO_FREE struct job_test *sorted = xmemdup(tests, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_tests);
    for (size_t i = 1; i < count; i++)
        if (compare_tests(&sorted[i - 1], &sorted[i]) == 0)
            return json_fail(at, err, "duplicate test: variant \"%s\", context %lld, repetition %lld",
                             variants[sorted[i].variant].name, (long long)sorted[i].context,
                             (long long)sorted[i].repetition);
    return 0;
}

int tests_read(struct job_test **out, size_t *count, const struct json_at *at, const struct variant *variants,
               size_t variant_count, struct err *err)
{
    size_t n = json_array_size(at->value);
    if (!json_is_array(at->value) || n > LIMIT_TESTS)
        return json_fail(at, err, "expected an array of at most %d tests", LIMIT_TESTS);
    *out = xcalloc(n, sizeof **out);
    for (*count = 0; *count < n; ++*count) {
        struct json_at test = json_element(at, *count);
        if (read_test(&(*out)[*count], *count, &test, variants, variant_count, err) != 0)
            return -1;
    }
    return check_unique(*out, *count, at, variants, err);
}
