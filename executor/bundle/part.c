#include "executor/bundle/part.h"

#include "common/base/fs.h"
#include "common/base/sha256.h"
#include "common/contract/proto.h"

/* As in the JSON. */
struct written {
    struct job_part part;
    const char *variant;
};
struct written_test {
    int64_t index, attempts;
};

static bool is_build(const char *key)
{
    return !*key || sha256_is_hex(key);
}

const struct key part_keys[] = {
    {KEY_AT(struct written, variant), .kind = KEY_NAME, .in = IN_JOB, .required = true, .most = LIMIT_NAME},
    {.name = "prepare", .offset = offsetof(struct written, part.prepare), .kind = KEY_FLAG, .in = IN_JOB},
    {.name = "build",
     .offset = offsetof(struct written, part.build),
     .kind = KEY_TEXT,
     .in = IN_JOB,
     .most = SHA256_HEX_LEN,
     .text = "",
     .accepts = is_build,
     .expected = "64 lower-case hex digits"},
    {.name = "host",
     .offset = offsetof(struct written, part.host),
     .kind = KEY_TEXT,
     .in = IN_JOB,
     .most = FS_PATH_MAX - 1,
     .text = ""},
    {.name = "fence",
     .offset = offsetof(struct written, part.fence),
     .kind = KEY_TEXT,
     .in = IN_JOB,
     .required = true,
     .most = FS_PATH_MAX - 1},
    {.name = "cancel",
     .offset = offsetof(struct written, part.cancel),
     .kind = KEY_TEXT,
     .in = IN_JOB,
     .required = true,
     .most = FS_PATH_MAX - 1},
    {.name = "tests", .kind = KEY_PART, .in = IN_JOB, .required = true},
    {.name = NULL},
};
const struct key part_test_keys[] = {
    {KEY_AT(struct written_test, index), .kind = KEY_COUNT, .in = IN_JOB, .required = true, .least = 1,
     .most = LIMIT_TESTS},
    {KEY_AT(struct written_test, attempts), .kind = KEY_COUNT, .in = IN_JOB, .required = true, .most = 1000},
    {.name = NULL},
};

static int read_test(const struct job_part *part, const struct json_at *at, struct job_test *tests,
                     size_t test_count, struct err *err)
{
    struct written_test w;
    const struct key_table table = {part_test_keys, &w};
    struct json_at index = json_member(at, "index");
    if (keys_read(at, IN_JOB, &table, 1, err) != 0)
        return -1;
    if (w.index > (int64_t)test_count)
        return json_fail(&index, err, "there are only %zu tests", test_count);
    struct job_test *test = &tests[w.index - 1];
    if (test->variant != part->variant)
        return json_fail(at, err, "this test belongs to another variant");
    test->attempts = w.attempts;
    test->elsewhere = false;
    return 0;
}

static int read_tests(const struct job_part *part, const struct json_at *at, struct job_test *tests,
                      size_t test_count, struct err *err)
{
    if (!json_is_array(at->value) || json_array_size(at->value) > LIMIT_TESTS)
        return json_fail(at, err, "expected an array of at most %d tests", LIMIT_TESTS);
    for (size_t i = 0; i < test_count; i++)
        tests[i].elsewhere = true;
    for (size_t i = 0; i < json_array_size(at->value); i++) {
        struct json_at test = json_element(at, i);
        if (read_test(part, &test, tests, test_count, err) != 0)
            return -1;
    }
    return 0;
}

int part_read(struct job_part *part, const struct json_at *at, const struct variant *variants,
              size_t variant_count, struct job_test *tests, size_t test_count, struct err *err)
{
    struct written w = {0};
    const struct key_table table = {part_keys, &w};
    *part = (struct job_part){.build = "", .host = "", .fence = "", .cancel = ""};
    if (!at->value)
        return 0;
    if (keys_read(at, IN_JOB, &table, 1, err) != 0)
        return -1;
    *part = w.part;
    if (!variant_find(variants, variant_count, w.variant, &part->variant))
        return json_fail(at, err, "$.variants has no variant \"%s\"", w.variant);
    part->on = true;
    struct json_at list = json_member(at, "tests");
    return read_tests(part, &list, tests, test_count, err);
}
