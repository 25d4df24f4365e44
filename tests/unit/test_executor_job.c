/* job: what the executor accepts, and what it rejects with file and location. */
#include "tests/unit/support.h"

#include "executor/bundle/job.h"
#include "executor/bundle/secrets.h"

static const char base[] =
    "{\"schema\":\"kernsweep.job/"
    "1\",\"run_id\":\"r1\",\"ticket\":\"t\",\"tag\":\"\",\"mode\":\"perf\",\"source\":null,"
    "\"env\":{\"A\":\"{context}\",\"TOKEN\":\"{not_a_placeholder}\"},\"secrets\":[\"TOKEN\"],"
    "\"variants\":[{\"name\":\"a\",\"attn_impl\":\"x\",\"build\":[[\"make\",\"O={build}\"]],\"run\":[\"./"
    "a\",\"{context}\"],"
    "\"gates\":[{\"kind\":\"command\",\"run\":[\"true\"]}]},{\"name\":\"b\",\"run\":[\"true\"]}],"
    "\"tests\":[{\"index\":1,\"variant\":\"a\",\"context\":16,\"repetition\":1,\"timeout_s\":5,\"warmup\":"
    "true},"
    "{\"index\":2,\"variant\":\"b\",\"context\":16,\"repetition\":1,\"timeout_s\":5}]}";

TEST(a_job_is_read_with_its_defaults)
{
    struct job job;
    struct err err = {.kind = ERR_NONE};
    assert_ok(job_init(&job, json_loads(base, 0, NULL), "job.json", &err), &err);
    assert_int_equal(job.variant_count, 2);
    assert_int_equal(job.test_count, 2);
    assert_int_equal(job.variant[0].build_count, 1);
    assert_int_equal(job.variant[0].gate_count, 1);
    assert_string_equal(job.variant[1].attn_impl, "");
    assert_int_equal(job.test[1].variant, 1);
    assert_true(job.test[0].warmup);
    assert_false(job.test[1].warmup);
    assert_null(job.source_sha256);
    assert_true(job.settings.kill_grace_s == 2);
    assert_true(job_is_secret(&job, "TOKEN"));
    assert_false(job_is_secret(&job, "A"));
    job_release(&job);
}

/* Puts value (JSON) at a place like "variants.0.name"; NULL removes it. */
static json_t *changed(const char *place, const char *value)
{
    json_t *root = json_loads(base, 0, NULL), *at = root;
    char text[200], *save, *key = NULL, *next;
    snprintf(text, sizeof text, "%s", place);
    for (next = strtok_r(text, ".", &save); next; next = strtok_r(NULL, ".", &save)) {
        if (key)
            at = json_is_array(at) ? json_array_get(at, strtoul(key, NULL, 10)) : json_object_get(at, key);
        key = next;
    }
    json_t *v = value ? json_loads(value, JSON_DECODE_ANY, NULL) : NULL;
    if (!v)
        assert_int_equal(json_object_del(at, key), 0);
    else if (json_is_array(at))
        json_array_set_new(at, strtoul(key, NULL, 10), v);
    else
        json_object_set_new(at, key, v);
    return root;
}

TEST(a_wrong_value_is_refused_with_its_place)
{
    static const struct {
        const char *place, *value, *word;
    } cases[] = {
        {"schema", "\"kernsweep.job/2\"", "$.schema"},
        {"schema", NULL, "$.schema"},
        {"nonsense", "1", "nonsense"},
        {"run_id", "\"../x\"", "$.run_id"},
        {"run_id", "5", "$.run_id"},
        {"ticket", "\"a b\"", "$.ticket"},
        {"tag", "\"-x\"", "$.tag"},
        {"mode", "\"fast\"", "$.mode"},
        {"source", "{\"sha256\": \"abc\"}", "$.source"},
        {"source", "\"abc\"", "$.source"},
        {"env", "{\"A B\": \"x\"}", "environment variable"},
        {"env", "{\"A\": 5}", "$.env.A"},
        {"env", "{\"A\": \"{nonsense}\"}", "{nonsense}"},
        {"secrets", "\"TOKEN\"", "$.secrets"},
        {"secrets", "[\"a=b\"]", "$.secrets[0]"},
        {"kill_grace_s", "-1", "$.kill_grace_s"},
        {"sample_interval_ms", "0", "$.sample_interval_ms"},
        {"log_limit_bytes", "10", "$.log_limit_bytes"},
        {"prompt_tokens", "\"maybe\"", "$.prompt_tokens"},
        {"timings", "{\"kind\": \"what\"}", "$.timings"},
        {"variants", "[]", "$.variants"},
        {"variants.1.name", "\"a\"", "$.variants[0] has it"},
        {"variants.0.name", "\"a/b\"", "$.variants[0].name"},
        {"variants.0.run", "[]", "$.variants[0].run"},
        {"variants.0.run", "[\"x\", 5]", "$.variants[0].run[1]"},
        {"variants.0.run", "\"ls\"", "$.variants[0].run"},
        {"variants.0.build", "[[\"x\", \"{run_id}\"]]", "$.variants[0].build[0][1]"},
        {"variants.0.build", "[[\"{out}\"]]", "no value here"},
        {"variants.0.gates", "[{\"kind\": \"script\", \"run\": [\"x\"]}]", "$.variants[0].gates[0].kind"},
        {"variants.0.gates", "[{\"kind\": \"command\", \"run\": [\"{context}\"]}]", "no value here"},
        {"variants.0.extra", "1", "extra"},
        {"tests", "{}", "$.tests"},
        {"tests.1.index", "1", "$.tests[1].index"},
        {"tests.1.variant", "\"c\"", "no variant"},
        {"tests.1.variant", "\"a\"", "duplicate"},
        {"tests.0.context", "0", "$.tests[0].context"},
        {"tests.0.context", "1.5", "$.tests[0].context"},
        {"tests.0.repetition", "1001", "$.tests[0].repetition"},
        {"tests.0.timeout_s", "0", "$.tests[0].timeout_s"},
        {"tests.0.timeout_s", "\"5\"", "$.tests[0].timeout_s"},
        {"tests.0.warmup", "1", "$.tests[0].warmup"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct job job;
        struct err err = {.kind = ERR_NONE};
        int rc = job_init(&job, changed(cases[i].place, cases[i].value), "job.json", &err);
        if (rc == 0)
            fail_msg("%s = %s was taken", cases[i].place, cases[i].value);
        assert_err(rc, &err, ERR_INPUT, "job.json", cases[i].word);
    }
}

TEST(a_document_that_is_no_object_is_refused)
{
    struct job job;
    struct err err = {.kind = ERR_NONE};
    assert_err(job_init(&job, NULL, "job.json", &err), &err, ERR_INPUT, "job.json");
    assert_err(job_init(&job, json_array(), "job.json", &err), &err, ERR_INPUT, "job.json",
               "expected an object");
}

static struct secrets with_secrets(struct job *job, const char *one, const char *two)
{
    struct err err = {.kind = ERR_NONE};
    struct secrets s;
    json_t *root = json_loads(base, 0, NULL);
    json_object_set_new(root, "env", json_pack("{s:s, s:s}", "ONE", one, "TWO", two));
    json_object_set_new(root, "secrets", json_pack("[s, s]", "ONE", "TWO"));
    assert_ok(job_init(job, root, "job.json", &err), &err);
    assert_ok(secrets_init(&s, job, &err), &err);
    return s;
}

static void collect(void *arg, const char *data, size_t len)
{
    buf_add(arg, data, len);
}

TEST(secrets_are_hidden_wherever_they_are_cut)
{
    struct job job;
    struct secrets s = with_secrets(&job, "hunter2", "hunter2000");
    const char text[] = "a hunter2 b hunter2000 hunhunter2 hunter200 huntehunter";
    for (size_t piece = 1; piece <= sizeof text; piece++) {
        struct buf out;
        struct secrets_stream stream;
        buf_init(&out, 1000);
        secrets_stream_init(&stream, &s, collect, &out);
        for (size_t i = 0; i < sizeof text - 1; i += piece)
            secrets_stream_feed(&stream, text + i, sizeof text - 1 - i < piece ? sizeof text - 1 - i : piece);
        secrets_stream_end(&stream);
        assert_string_equal(buf_str(&out), "a *** b *** hun*** ***00 huntehunter");
        secrets_stream_release(&stream);
        buf_release(&out);
    }
    json_t *value = json_pack("{s:s, s:[s, i]}", "a", "x hunter2", "b", "hunter2000", 5);
    json_t *clean = secrets_clean_json(&s, value);
    char *dump = json_dumps(clean, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(dump, "{\"a\":\"x ***\",\"b\":[\"***\",5]}");
    free(dump);
    json_decref(clean);
    json_decref(value);
    secrets_release(&s);
    job_release(&job);
}

TEST(a_secret_too_short_is_refused)
{
    struct job job;
    struct secrets s;
    struct err err = {.kind = ERR_NONE};
    json_t *root = json_loads(base, 0, NULL);
    json_object_set_new(json_object_get(root, "env"), "TOKEN", json_string("abc"));
    assert_ok(job_init(&job, root, "job.json", &err), &err);
    int rc = secrets_init(&s, &job, &err);
    assert_err(rc, &err, ERR_INPUT, "TOKEN");
    assert_null(strstr(err.msg, "abc"));
    job_release(&job);
}
