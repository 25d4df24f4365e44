/* job: plans are expanded in order, into jobs that the executor accepts. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "executor/bundle/job.h"
#include "harness/plan/job.h"
#include "harness/plan/overrides.h"

#include <poll.h>

static const struct overrides overrides = {.tag = "x", .mode = "debug", .node = "user@host:22"};
static const struct job_request request = {
    .run_id = "20260214T031500Z-t-1a2b3c",
    .date = "2026-02-14",
    .source_sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"};

#define PLAN(rest)                                                                                           \
    "{\"schema\":\"kernsweep.plan/"                                                                          \
    "1\",\"ticket\":\"t\",\"contexts\":[16,32],\"timeouts\":{\"default\":9.5}," rest "}"
#define VARIANTS "\"variants\":[{\"name\":\"b\",\"run\":[\"x\"]},{\"name\":\"a\",\"run\":[\"x\"]}]"

static void load(struct plan *p, const char *text)
{
    struct err err = {0};
    assert_ok(plan_load(p, put("plan.json", text), &err), &err);
    assert_ok(overrides_apply(&overrides, p, &err), &err);
}

static json_t *encode(const char *text)
{
    AUTO(plan_release) struct plan p = {0};
    load(&p, text);
    json_auto_t *borrowed = job_encode(&p, &request);
    assert_non_null(borrowed);
    json_t *job = json_deep_copy(borrowed);
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
    json_auto_t *job = encode(text);
    assert_string_equal(order(job), expected);
}

TEST(both_orders_number_the_tests_as_documented)
{
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

/* Two cells of the plan. */
static int keep_two(struct plan *p, struct plan_cell one, struct plan_cell other, struct err *err)
{
    const struct plan_cell cells[] = {one, other};
    load(p, p->file);
    return plan_keep_cells(p, cells, 2, err);
}

static void assert_kept(const char *text, struct plan_cell one, struct plan_cell other, const char *expected)
{
    struct plan p = {.file = (char *)text};
    struct err err = {0};
    assert_ok(keep_two(&p, one, other, &err), &err);
    json_t *job = job_encode(&p, &request);
    assert_string_equal(order(job), expected);
    assert_int_equal(json_array_size(json_object_get(job, "tests")), plan_test_count(&p));
    json_decref(job);
    plan_release(&p);
}

#define AXES "\"axes\":{\"block\":[64,128]},"

TEST(kept_cells_are_measured_and_no_others)
{
    const struct plan_cell b16 = {"b", 16}, b32 = {"b", 32}, a16 = {"a", 16}, a32 = {"a", 32};
    assert_kept(PLAN(VARIANTS ",\"repetitions\":3"), a32, b16, "a/32/1 b/16/1 a/32/2 b/16/2 a/32/3 b/16/3 ");
    assert_kept(PLAN(VARIANTS ",\"repetitions\":{\"default\":1,\"16\":2},\"order\":\"grouped\""), b16, a32,
                "b/16/1 b/16/2 a/32/1 ");
    assert_kept(PLAN(VARIANTS), a16, a32, "a/16/1 a/32/1 ");
    assert_kept(PLAN(VARIANTS), a16, (struct plan_cell){"b", 64}, "a/16/1 b/64/1 ");
    assert_kept(PLAN(VARIANTS ",\"skip\":[{\"variant\":\"b\",\"context\":32}]"), b32, a32, "a/32/1 ");
    assert_kept(PLAN(VARIANTS ",\"only\":[{\"context\":16},{\"variant\":\"a\"}]"), b32, a32, "a/32/1 ");
    assert_kept(PLAN(AXES VARIANTS), (struct plan_cell){"b_block64", 32},
                (struct plan_cell){"b_block128", 16}, "b_block64/32/1 b_block128/16/1 ");
}

TEST(cells_that_the_plan_does_not_have_are_refused)
{
    const struct plan_cell b32 = {"b", 32}, gone = {"gone", 16}, b = {"b", 16};
    struct plan p = {.file = (char *)PLAN(VARIANTS)};
    struct err err = {0};
    assert_err(keep_two(&p, b32, gone, &err), &err, ERR_INPUT, "no variant \"gone\"");
    plan_release(&p);
    p.file = (char *)PLAN(AXES VARIANTS);
    assert_err(keep_two(&p, b, b, &err), &err, ERR_INPUT, "no variant \"b\"");
    plan_release(&p);
    p.file = (char *)PLAN(VARIANTS ",\"skip\":[{\"context\":32}]");
    assert_err(keep_two(&p, b32, b32, &err), &err, ERR_INPUT, "leave nothing to measure");
    plan_release(&p);
}

TEST(few_repetitions_are_raised_and_many_stay)
{
    struct plan p;
    load(&p, PLAN(VARIANTS ",\"repetitions\":{\"default\":1,\"32\":5}"));
    matrix_repeat_at_least(&p.matrix, 3);
    assert_int_equal(p.matrix.contexts[0].repetitions, 3);
    assert_int_equal(p.matrix.contexts[1].repetitions, 5);
    matrix_repeat_exactly(&p.matrix, 1);
    assert_int_equal(plan_test_count(&p), 4);
    plan_release(&p);
}

static const char *text_of(const json_t *obj, const char *key)
{
    return json_string_value(json_object_get(obj, key));
}

TEST(a_request_fills_its_members_and_defaults)
{
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
    AUTO(plan_release) struct plan p = {0};
    struct job_request without = request;
    assert_string_equal(text_of(job, "purpose"), "sweep");
    without.source_sha256 = NULL;
    without.purpose = PURPOSE_CONFIRM;
    load(&p, PLAN(VARIANTS));
    json_decref(job);
    job = job_encode(&p, &without);
    assert_true(json_is_null(json_object_get(job, "source")));
    assert_string_equal(text_of(job, "purpose"), "confirm");
    json_decref(job);
}

/* A value that the row accepts and that is not its default. */
static json_t *other_value(const struct key *k)
{
    switch (k->kind) {
    case KEY_FLAG:
        return json_boolean(k->usual == 0);
    case KEY_COUNT:
        return json_integer((json_int_t)(k->usual < k->most ? k->usual + 1 : k->least));
    case KEY_NUMBER:
        return json_real((k->least + k->most) / 2 + 0.25);
    case KEY_CHOICE:
        return json_string(k->words[k->usual == 0 ? 1 : 0]);
    case KEY_WORD:
        return json_string(k->words[strcmp(k->words[0], k->text) == 0 ? 1 : 0]);
    case KEY_NAME:
    case KEY_TEXT:
        return json_string(k->accepts && !k->accepts("other") ? "64M" : "other");
    case KEY_CONST:
    case KEY_PART:
        break;
    }
    return NULL;
}

/* Sets the key where a plan has it. Takes value. */
static void set_in_plan(json_t *plan, const struct key *k, json_t *value)
{
    if (k->object) {
        if (!json_object_get(plan, k->object))
            json_object_set_new(plan, k->object, json_object());
        plan = json_object_get(plan, k->object);
    }
    json_object_set_new(plan, k->name, value);
}

static void assert_member(const struct key *k, const struct settings *settings, const json_t *value)
{
    const void *member = (const char *)settings + k->offset;
    bool same = false;
    if (k->kind == KEY_FLAG)
        same = *(const bool *)member == json_is_true(value);
    else if (k->kind == KEY_COUNT)
        same = *(const int64_t *)member == json_integer_value(value);
    else if (k->kind == KEY_NUMBER)
        same = *(const double *)member == json_number_value(value);
    else if (k->kind == KEY_CHOICE)
        same = strcmp(k->words[*(const int *)member], json_string_value(value)) == 0;
    else
        same = strcmp(*(const char *const *)member, json_string_value(value)) == 0;
    if (!same)
        fail_msg("%s: the executor reads something else than the plan says", k->name);
}

/* Uses the table itself, so new rows are tested automatically. */
TEST(every_simple_key_reaches_the_executor)
{
    AUTO(plan_release) struct plan p = {0};
    AUTO(job_release) struct job job = {0};
    struct err err = {0};
    json_t *plan = json_loads(PLAN(VARIANTS), 0, NULL), *values = json_object();
    int keys = 0;
    for (const struct key *k = settings_keys; k->name; k++) {
        json_t *value = other_value(k);
        if (!value)
            continue;
        assert_int_equal(k->in, IN_BOTH);
        json_object_set(values, key_name(k, IN_JOB), value);
        set_in_plan(plan, k, value);
        keys++;
    }
    json_object_set_new(plan, "gpus", json_string("all")); /* several for a test need several */
    char *text = json_dumps(plan, 0);
    assert_ok(plan_load(&p, put("plan.json", text), &err), &err);
    assert_ok(job_init(&job, job_encode(&p, &request), "job.json", &err), &err);
    for (const struct key *k = settings_keys; k->name; k++)
        if (json_object_get(values, key_name(k, IN_JOB)))
            assert_member(k, &job.settings, json_object_get(values, key_name(k, IN_JOB)));
    assert_true(keys > 10);
    free(text);
    json_decref(values);
    json_decref(plan);
}

/* A job without optional keys means the same as a plan without them. */
TEST(defaults_are_those_of_the_plan)
{
    AUTO(plan_release) struct plan p = {0};
    AUTO(job_release) struct job job = {0};
    struct err err = {0};
    load(&p, PLAN(VARIANTS));
    json_t *root = job_encode(&p, &request);
    for (const struct key *k = settings_keys; k->name; k++)
        if (!k->required)
            json_object_del(root, key_name(k, IN_JOB));
    assert_ok(job_init(&job, root, "job.json", &err), &err);
    p.settings.tag = "";
    p.settings.mode = "perf";
    for (const struct key *k = settings_keys; k->name; k++) {
        json_auto_t *usual = key_usual(k);
        if (usual)
            assert_member(k, &job.settings, usual);
        if (usual)
            assert_member(k, &p.settings, usual);
    }
}

#define RULE "\"timings\":{\"kind\":\"json\",\"map\":{\"prefill_s\":\"$.p\"},\"unit\":\"ms\"}"

/* The keys that are objects or arrays. */
TEST(every_part_reaches_the_executor)
{
    AUTO(job_release) struct job job = {0};
    struct err err = {0};
    json_t *root = encode(
        PLAN("\"env\":{\"K\":\"{context}\",\"S\":\"{xyz}\"},"
             "\"secrets\":[\"S\"],\"source\":{\"dir\":\".\"},"
             "\"scheduler\":{\"kind\":\"slurm\",\"partition\":\"gpus\",\"cpus\":3},"
             "\"patches\":[{\"file\":\"a\",\"pattern\":\"b\",\"replacement\":\"c\",\"count\":3}]," RULE
             ",\"variants\":[{\"name\":\"v\",\"attn_impl\":\"impl\",\"run\":[\"{build}/x\"],"
             "\"patches\":[{\"file\":\"d\",\"pattern\":\"e\",\"replacement\":\"\"}],"
             "\"env\":{\"E\":\"1\"},\"build\":[[\"make\",\"B={build}\"]],"
             "\"gates\":[{\"kind\":\"command\",\"name\":\"right\",\"run\":[\"true\"],\"timeout_s\":11}]}]"));
    assert_ok(job_init(&job, root, "job.json", &err), &err);
    assert_string_equal(job.run_id, request.run_id);
    assert_string_equal(job.settings.mode, "debug");
    assert_string_equal(job.source_sha256, request.source_sha256);
    assert_true(job_is_secret(&job, "S") && !job_is_secret(&job, "K"));
    assert_int_equal(job.env.count, 2);
    assert_int_equal(job.timings.kind, TIMING_JSON);
    assert_true(job.timings.unit == 1e-3);
    assert_string_equal(job.scheduler.partition, "gpus");
    assert_int_equal(job.scheduler.cpus, 3);
    assert_true(job.scheduler.patience_s == 60); /* the plan's */
    assert_string_equal(job.node, "gpus");
    assert_string_equal(job.variant[0].attn_impl, "impl");
    assert_string_equal(job.variant[0].run.argv[0], "{build}/x");
    assert_string_equal(job.variant[0].env.name[0], "E");
    assert_string_equal(job.variant[0].gate[0].name, "right");
    assert_true(job.variant[0].gate[0].timeout_s == 11);
    assert_string_equal(job.variant[0].build[0].argv[1], "B={build}");
    assert_int_equal(job.variant[0].patch_count, 2); /* the plan's, then its own */
    assert_string_equal(job.variant[0].patch[0].file, "a");
    assert_int_equal(job.variant[0].patch[0].count, 3);
    assert_string_equal(job.variant[0].patch[1].file, "d");
    assert_int_equal(job.variant[0].patch[1].count, 1);
    assert_int_equal(job.test_count, 2);
}

#define TWO_CELLS                                                                                            \
    "\"repetitions\":2,\"variants\":[{\"name\":\"a\",\"run\":[\"x\"],\"alone\":true},{\"name\":\"b\","       \
    "\"run\":[\"x\"]}]"

/* As "variant:repetition@gpu" of all tests. */
static void assert_placed(const struct job *job, const char *expected)
{
    AUTO(buf_release) struct buf text = {.max = 4096};
    for (size_t i = 0; i < job->test_count; i++)
        buf_printf(&text, "%s%s:%d@%s", i ? " " : "", job->variant[job->test[i].variant].name,
                   (int)job->test[i].repetition, job->test[i].gpu ? job->test[i].gpu : "");
    assert_string_equal(buf_str(&text), expected);
}

TEST(every_gpu_gets_each_test_and_repetitions_are_numbered_on)
{
    struct plan p;
    struct job job;
    struct err err = {0};
    struct job_request on_each = request;
    json_auto_t *gpus = json_loads("[{\"index\":0,\"unique_id\":\"g0\"},{\"index\":1,\"unique_id\":\"g1\"},"
                                   "{\"index\":2,\"pci\":\"0000:c1:00.0\"}]",
                                   0, NULL);
    load(&p, PLAN("\"gpus\":[\"2\",\"g0\"],\"placement\":\"every\",\"order\":\"grouped\"," TWO_CELLS));
    json_t *groups = gpu_tests_groups(&p.gpus, gpus, &err);
    assert_non_null(groups);
    on_each.gpu_groups = groups;
    assert_ok(job_init(&job, job_encode(&p, &on_each), "job.json", &err), &err);
#define ON_BOTH                                                                                              \
    "a:1@g0 a:3@0000:c1:00.0 a:2@g0 a:4@0000:c1:00.0 b:1@g0 b:3@0000:c1:00.0 b:2@g0 b:4@0000:c1:00.0"
    assert_placed(&job, ON_BOTH " " ON_BOTH); /* two contexts */
    assert_true(job.variant[0].alone && !job.variant[1].alone);
    assert_int_equal(job.gpus.amount, GPUS_LISTED);
    job_release(&job);
    json_decref(groups);
    plan_release(&p);
    load(&p, PLAN("\"gpus\":[\"2\",\"g9\"],\"placement\":\"every\"," TWO_CELLS));
    assert_null(gpu_tests_groups(&p.gpus, gpus, &err));
    assert_non_null(strstr(err.msg, "no GPU \"g9\"; it has 0 (g0), 1 (g1), 2 (0000:c1:00.0)"));
    plan_release(&p);
}

TEST(hints_reach_the_tests_of_their_cells)
{
    AUTO(plan_release) struct plan p = {0};
    AUTO(job_release) struct job job = {0};
    struct err err = {0};
    struct job_request hinted = request;
    struct gpu_hint hint[] = {{.variant = "b", .context = 16, .gpu = "g1", .expected_s = 2.5},
                              {.variant = "a", .context = 1, .gpu = "g2", .expected_s = 9}};
    hinted.hints = (struct gpu_hints){hint, 2};
    load(&p, PLAN("\"gpus\":\"all\"," TWO_CELLS));
    assert_ok(job_init(&job, job_encode(&p, &hinted), "job.json", &err), &err);
    for (size_t i = 0; i < job.test_count; i++) {
        bool hinted_one =
            job.test[i].context == 16 && strcmp(job.variant[job.test[i].variant].name, "b") == 0;
        assert_true(hinted_one ? strcmp(job.test[i].home, "g1") == 0 : !job.test[i].home);
        assert_true(job.test[i].expected_s == (hinted_one ? 2.5 : 0));
    }
}

TEST(run_ids_are_names_with_the_time_first)
{
    char id[JOB_RUN_ID_MAX], other[JOB_RUN_ID_MAX], ticket[33];
    memset(ticket, 'x', 32);
    ticket[32] = '\0';
    job_run_id(ticket, id);
    assert_int_equal(strlen(id), 16 + 1 + 32 + 1 + 8);
    assert_true(text_is_name(id));
    assert_int_equal(strspn(id, "0123456789"), 8);
    assert_true(id[8] == 'T' && id[15] == 'Z' && id[16] == '-');
    assert_memory_equal(id + 17, ticket, 32);
    for (int i = 0; i < 20; i++) { /* five random hex digits */
        job_run_id("t", id);
        job_run_id("t", other);
        if (strcmp(id, other) != 0)
            return;
    }
    fail_msg("run ids repeat: %s", id);
}

TEST(run_ids_are_ordered_by_their_age)
{
    static const struct {
        const char *older, *newer;
    } table[] = {
        {"20261123T125101Z-z-fff00000", "20261123T125102Z-a-00000000"},
        {"20261123T125102Z-z-00300000", "20261123T125102Z-a-00400000"}, /* one second, two tickets */
        {"20261123T125102Z-a-b-003fffff", "20261123T125102Z-a-b-00400000"},
        {"sweep-20261123T125102Z-z-00300000", "sweep-20261123T125102Z-a-00400000"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_true(job_run_id_compare(table[i].older, table[i].newer) < 0);
        assert_true(job_run_id_compare(table[i].newer, table[i].older) > 0);
        assert_int_equal(job_run_id_compare(table[i].older, table[i].older), 0);
    }
    assert_true(job_run_id_compare("run", "") > 0); /* ids that come from elsewhere */
    assert_true(job_run_id_compare("-", "2026-") != 0);
}

TEST(a_run_id_made_later_is_newer)
{
    char older[JOB_RUN_ID_MAX], newer[JOB_RUN_ID_MAX];
    job_run_id("z", older);
    poll(NULL, 0, 2);
    job_run_id("a", newer);
    assert_true(job_run_id_compare(older, newer) < 0);
}

GROUP(scratch_make, scratch_remove);
