/* job: a plan expanded in its order, and always into something that the executor takes. */
#include "tests/unit/support.h"

#include "common/base/json.h"
#include "common/base/text.h"
#include "executor/job/job.h"
#include "harness/plan/job.h"

static const struct job_request request = {
    .run_id = "20260214T031500Z-t-1a2b3c",
    .date = "2026-02-14",
    .tag = "x",
    .mode = "debug",
    .node = "user@host:22",
    .source_sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"};

#define PLAN(rest)                                                                                           \
    "{\"schema\":\"kernsweep.plan/"                                                                          \
    "1\",\"ticket\":\"t\",\"contexts\":[16,32],\"timeouts\":{\"default\":9.5}," rest "}"
#define VARIANTS "\"variants\":[{\"name\":\"b\",\"run\":[\"x\"]},{\"name\":\"a\",\"run\":[\"x\"]}]"

static void load(struct plan *p, const char *text)
{
    struct err err = {0};
    assert_ok(plan_load(p, put("plan.json", text), &err), &err);
}

static json_t *encode(const char *text)
{
    struct plan p;
    load(&p, text);
    json_t *borrowed = job_encode(&p, &request);
    assert_non_null(borrowed);
    json_t *job = json_deep_copy(borrowed);
    json_decref(borrowed);
    plan_release(&p);
    return job;
}

/* "variant/context/repetition" of each test, "!" after a warm-up. */
static const char *order(const json_t *job)
{
    static struct buf out;
    size_t i;
    json_t *test;
    buf_release(&out);
    buf_init(&out, 1 << 16);
    json_array_foreach(json_object_get(job, "tests"), i, test)
    {
        assert_int_equal(json_integer_value(json_object_get(test, "index")), i + 1);
        assert_true(json_number_value(json_object_get(test, "timeout_s")) == 9.5);
        buf_printf(&out, "%s/%lld/%lld%s ", json_string_value(json_object_get(test, "variant")),
                   (long long)json_integer_value(json_object_get(test, "context")),
                   (long long)json_integer_value(json_object_get(test, "repetition")),
                   json_is_true(json_object_get(test, "warmup")) ? "!" : "");
    }
    return buf_str(&out);
}

static void assert_order(const char *text, const char *expected)
{
    json_t *job = encode(text);
    assert_string_equal(order(job), expected);
    json_decref(job);
}

static void orders(void **state)
{
    (void)state;
    assert_order(PLAN(VARIANTS), "b/16/1 a/16/1 b/32/1 a/32/1 ");
    assert_order(PLAN(VARIANTS ",\"repetitions\":2"),
                 "b/16/1 a/16/1 b/32/1 a/32/1 b/16/2 a/16/2 b/32/2 a/32/2 ");
    assert_order(PLAN(VARIANTS ",\"repetitions\":{\"32\":3}"),
                 "b/16/1 a/16/1 b/32/1 a/32/1 b/32/2 a/32/2 b/32/3 a/32/3 ");
    assert_order(PLAN(VARIANTS ",\"warmup\":1,\"repetitions\":{\"default\":1,\"16\":2}"),
                 "b/16/1! a/16/1! b/32/1! a/32/1! b/16/2 a/16/2 b/32/2 a/32/2 b/16/3 a/16/3 ");
    assert_order(PLAN(VARIANTS ",\"warmup\":1,\"order\":\"grouped\""),
                 "b/16/1! b/16/2 a/16/1! a/16/2 b/32/1! b/32/2 a/32/1! a/32/2 ");
}

static const char *text_of(const json_t *obj, const char *key)
{
    return json_string_value(json_object_get(obj, key));
}

static void request_and_defaults(void **state)
{
    (void)state;
    json_t *job = encode(PLAN(VARIANTS));
    assert_string_equal(text_of(job, "schema"), "kernsweep.job/1");
    assert_string_equal(text_of(job, "run_id"), request.run_id);
    assert_string_equal(text_of(job, "date"), "2026-02-14");
    assert_string_equal(text_of(job, "tag"), "x");
    assert_string_equal(text_of(job, "mode"), "debug");
    assert_string_equal(text_of(job, "node"), "user@host:22");
    assert_string_equal(text_of(job, "harness_version"), KERNSWEEP_VERSION);
    assert_string_equal(text_of(json_object_get(job, "source"), "sha256"), request.source_sha256);
    assert_int_equal(strlen(text_of(job, "plan_sha256")), SHA256_HEX_LEN);
    const json_t *variant = json_array_get(json_object_get(job, "variants"), 0);
    assert_string_equal(text_of(variant, "attn_impl"), "");
    assert_true(json_is_array(json_object_get(variant, "build")) &&
                json_is_object(json_object_get(variant, "env")));
    assert_int_equal(json_array_size(json_object_get(variant, "patches")), 0);
    json_decref(job);
    struct plan p;
    struct job_request without = request;
    without.source_sha256 = NULL;
    load(&p, PLAN(VARIANTS));
    job = job_encode(&p, &without);
    assert_true(json_is_null(json_object_get(job, "source")));
    json_decref(job);
    plan_release(&p);
}

#define RULE "\"timings\":{\"kind\":\"json\",\"map\":{\"prefill_s\":\"$.p\"},\"unit\":\"ms\"}"

/* Every key of a plan that concerns the node arrives there. */
static void executor_reads_what_the_plan_said(void **state)
{
    (void)state;
    struct job job;
    struct err err = {0};
    json_t *root = encode(PLAN(
        "\"build_timeout_s\":1.5,\"kill_grace_s\":0.25,\"hang_after_s\":7,\"no_output_timeout_s\":8,"
        "\"lock_wait_s\":9,\"log_limit_bytes\":8192,\"sampling\":{\"interval_ms\":50},\"vram_settle_s\":3,"
        "\"vram_tolerance_bytes\":4,\"prompt_tokens\":\"required\",\"env\":{\"K\":\"{context}\",\"S\":\"{xyz}"
        "\"},"
        "\"secrets\":[\"S\"],\"source\":{\"dir\":\".\"},"
        "\"patches\":[{\"file\":\"a\",\"pattern\":\"b\",\"replacement\":\"c\",\"count\":3}]," RULE
        ",\"variants\":[{\"name\":\"v\",\"attn_impl\":\"impl\",\"run\":[\"{build}/x\"],"
        "\"patches\":[{\"file\":\"d\",\"pattern\":\"e\",\"replacement\":\"\"}],"
        "\"env\":{\"E\":\"1\"},\"build\":[[\"make\",\"B={build}\"]],"
        "\"gates\":[{\"kind\":\"command\",\"name\":\"right\",\"run\":[\"true\"],\"timeout_s\":11}]}]"));
    assert_ok(job_init(&job, root, "job.json", &err), &err);
    assert_string_equal(job.run_id, request.run_id);
    assert_string_equal(job.ticket, "t");
    assert_string_equal(job.mode, "debug");
    assert_string_equal(job.source_sha256, request.source_sha256);
    assert_true(job.build_timeout_s == 1.5 && job.kill_grace_s == 0.25 && job.lock_wait_s == 9);
    assert_true(job.hang_after_s == 7 && job.no_output_timeout_s == 8 && job.vram_settle_s == 3);
    assert_true(job.sample_interval_ms == 50 && job.log_limit_bytes == 8192 && job.vram_tolerance_bytes == 4);
    assert_true(job.prompt_tokens_required && job_is_secret(&job, "S") && !job_is_secret(&job, "K"));
    assert_int_equal(job.env.count, 2);
    assert_int_equal(job.timings.kind, TIMING_JSON);
    assert_true(job.timings.unit == 1e-3);
    assert_string_equal(job.variant[0].attn_impl, "impl");
    assert_string_equal(job.variant[0].gate[0].name, "right");
    assert_true(job.variant[0].gate[0].timeout_s == 11);
    assert_string_equal(job.variant[0].build[0].argv[1], "B={build}");
    assert_int_equal(job.variant[0].patch_count, 2); /* the plan's, then its own */
    assert_string_equal(job.variant[0].patch[0].file, "a");
    assert_int_equal(job.variant[0].patch[0].count, 3);
    assert_string_equal(job.variant[0].patch[1].file, "d");
    assert_int_equal(job.variant[0].patch[1].count, 1);
    assert_int_equal(job.test_count, 2);
    job_release(&job);
}

static void run_ids_are_names_with_the_time_first(void **state)
{
    (void)state;
    char id[JOB_RUN_ID_MAX], other[JOB_RUN_ID_MAX], ticket[33];
    memset(ticket, 'x', 32);
    ticket[32] = '\0';
    job_run_id(ticket, id);
    assert_int_equal(strlen(id), 16 + 1 + 32 + 1 + 6);
    assert_true(text_is_name(id));
    assert_int_equal(strspn(id, "0123456789"), 8);
    assert_true(id[8] == 'T' && id[15] == 'Z' && id[16] == '-');
    assert_memory_equal(id + 17, ticket, 32);
    for (int i = 0; i < 20; i++) { /* six hex digits: equal once in a million tries or so */
        job_run_id("t", id);
        job_run_id("t", other);
        if (strcmp(id, other) != 0)
            return;
    }
    fail_msg("run ids repeat: %s", id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),
        cmocka_unit_test(request_and_defaults),
        cmocka_unit_test(executor_reads_what_the_plan_said),
        cmocka_unit_test(run_ids_are_names_with_the_time_first),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
