/* axes: what a plan varies beside its contexts: the points, their names and commands, what they leave out,
 * and the job that the executor accepts.
 */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "executor/bundle/job.h"
#include "harness/plan/job.h"
#include "harness/plan/overrides.h"

#define HEAD                                                                                                 \
    "{\"schema\":\"kernsweep.plan/1\",\"ticket\":\"t\",\"contexts\":[16,32],\"timeouts\":{\"default\":9},"
#define V(rest) "\"variants\":[{\"name\":\"v\"," rest "}]"
#define RUN "\"run\":[\"x\",\"--block={block}\"]"

static void load(struct plan *p, const char *text)
{
    struct err err = {0};
    assert_ok(plan_load(p, put("plan.json", text), &err), &err);
}

static const char *names(const struct plan *p)
{
    static struct buf out;
    buf_release(&out);
    buf_init(&out, 1 << 16);
    for (size_t i = 0; i < p->variants.count; i++)
        buf_printf(&out, "%s%s", i ? " " : "", p->variants.item[i].name);
    return buf_str(&out);
}

static void assert_names(const char *text, const char *expected)
{
    AUTO(plan_release) struct plan p = {0};
    load(&p, text);
    assert_string_equal(names(&p), expected);
}

TEST(crossed_and_listed_axes_name_their_points)
{
    assert_names(HEAD "\"axes\":{\"block\":[64,128],\"dtype\":[\"bf16\",\"fp16\"]}," V(RUN) "}",
                 "v_block64_bf16 v_block64_fp16 v_block128_bf16 v_block128_fp16");
    assert_names(
        HEAD
        "\"axes\":[{\"block\":64,\"dtype\":\"bf16\"},{\"block\":[128,256],\"dtype\":\"fp16\"}]," V(RUN) "}",
        "v_block64_bf16 v_block128_fp16 v_block256_fp16");
    assert_names(HEAD
                 "\"axes\":{\"block\":[64],\"fast\":[true,false],\"os\":\"linux\",\"f\":[0.5]}," V(RUN) "}",
                 "v_block64_fast_f0.5 v_block64_no-fast_f0.5");
    assert_names(HEAD "\"axes\":{\"block\":{\"values\":[1,2]},\"o\":[{\"name\":\"O3\",\"value\":\"-O3 -g\"},"
                      "\"-O2 -g\"]}," V(RUN) "}",
                 "v_block1_O3 v_block1_-O2--g v_block2_O3 v_block2_-O2--g");
}

TEST(a_variant_may_have_axes_of_its_own)
{
    assert_names(HEAD "\"axes\":{\"block\":[64,128]},\"variants\":[{\"name\":\"a\"," RUN
                      "},{\"name\":\"b\",\"axes\":{\"block\":256,\"n\":[1,2]}," RUN "}]}",
                 "a_block64 b_n1 a_block128 b_n2");
    assert_names(
        HEAD "\"variants\":[{\"name\":\"a\",\"run\":[\"x\"]},{\"name\":\"b\",\"axes\":{\"block\":[1,2]}," RUN
             "}]}",
        "a b_block1 b_block2");
}

TEST(conditions_leave_points_out)
{
#define TWO "\"axes\":{\"block\":[64,128],\"dtype\":[\"bf16\",\"fp16\"]}," V(RUN)
    assert_names(HEAD TWO ",\"skip\":[{\"block\":128,\"dtype\":\"fp16\"}]}",
                 "v_block64_bf16 v_block64_fp16 v_block128_bf16");
    assert_names(HEAD TWO ",\"only\":[{\"block\":64},{\"dtype\":[\"fp16\",\"bf16\"],\"block\":128}],"
                          "\"skip\":[{\"dtype\":\"bf16\"}]}",
                 "v_block64_fp16 v_block128_fp16");
    assert_names(HEAD TWO ",\"skip\":[{\"variant\":\"v_block64_bf16\"}]}",
                 "v_block64_fp16 v_block128_bf16 v_block128_fp16");
    struct plan p;
    load(&p, HEAD TWO ",\"skip\":[{\"context\":32,\"block\":128}],\"repetitions\":3}");
    assert_int_equal(p.variants.count, 4);
    assert_int_equal(plan_test_count(&p), 3 * (4 + 2));
    plan_release(&p);
    load(&p, HEAD TWO ",\"only\":[{\"context\":32}]}");
    assert_int_equal(plan_test_count(&p), 4);
    plan_release(&p);
    load(&p, HEAD "\"variants\":[{\"name\":\"a\",\"run\":[\"x\"]},{\"name\":\"b\",\"run\":[\"x\"]}],"
                  "\"skip\":[{\"variant\":\"b\",\"context\":[32]}]}");
    assert_int_equal(plan_test_count(&p), 3);
    plan_release(&p);
}

static json_t *encode(const char *text)
{
    static const struct job_request request = {
        .run_id = "20260214T031500Z-t-1a2b3c",
        .date = "2026-02-14",
        .source_sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"};
    struct plan p;
    struct err err = {0};
    AUTO(job_release) struct job job = {0};
    load(&p, text);
    json_t *borrowed = job_encode(&p, &request);
    assert_non_null(borrowed);
    json_t *encoded = json_deep_copy(borrowed);
    json_decref(borrowed);
    plan_release(&p);
    assert_ok(job_init(&job, json_deep_copy(encoded), "job.json", &err), &err);
    return encoded;
}

/* A member of the job's variant, as compact JSON. */
static const char *of_variant(const json_t *job, size_t i, const char *key)
{
    static char text[4096];
    const json_t *value = json_object_get(json_array_get(json_object_get(job, "variants"), i), key);
    char *dumped = value ? json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
    snprintf(text, sizeof text, "%s", dumped ? dumped : "absent");
    free(dumped);
    return text;
}

TEST(values_are_in_commands_builds_gates_patches_and_environments)
{
    json_auto_t *job = encode(
        HEAD "\"source\":{\"dir\":\".\"},\"env\":{\"ALL\":\"1\",\"B\":\"{block}\"},\"secrets\":[\"KEY\"],"
             "\"axes\":{\"block\":[64],\"o\":[{\"name\":\"O3\",\"value\":\"-O3 "
             "{x}\",\"env\":{\"CC\":\"c{block}\"}}]},"
             "\"variants\":[{\"name\":\"v\",\"build\":[[\"cc\",\"{o}\",\"{variant}.c\",\"{{block}\"]],"
             "\"run\":[\"{build}/"
             "x\",\"{block}{context}\",\"{variant}\"],\"env\":{\"CC\":\"gcc\",\"KEY\":\"{block}\"},"
             "\"gates\":[{\"kind\":\"command\",\"run\":[\"g\",\"{block}\"]}],"
             "\"patches\":[{\"file\":\"a.h\",\"pattern\":\"B\",\"replacement\":\"{block} {blok} {\"}]}]}");
    assert_string_equal(of_variant(job, 0, "name"), "\"v_block64_O3\"");
    assert_string_equal(of_variant(job, 0, "build_as"), "\"v\"");
    assert_string_equal(of_variant(job, 0, "axes"), "{\"block\":64,\"o\":\"O3\"}");
    assert_string_equal(of_variant(job, 0, "build"), "[[\"cc\",\"-O3 {{x}\",\"v.c\",\"{{block}\"]]");
    assert_string_equal(of_variant(job, 0, "run"), "[\"{build}/x\",\"64{context}\",\"v\"]");
    assert_string_equal(of_variant(job, 0, "env"), "{\"B\":\"64\",\"CC\":\"c64\",\"KEY\":\"{block}\"}");
    assert_string_equal(of_variant(job, 0, "test_env"), "{}");
    assert_string_equal(of_variant(job, 0, "gates"), "[{\"kind\":\"command\",\"run\":[\"g\",\"64\"]}]");
    assert_non_null(strstr(of_variant(job, 0, "patches"), "\"64 {blok} {\""));
    char *env = json_dumps(json_object_get(job, "env"), JSON_COMPACT);
    assert_string_equal(env, "{\"ALL\":\"1\"}");
    free(env);
}

TEST(what_no_build_depends_on_is_kept_from_builds)
{
    json_auto_t *job = encode(
        HEAD "\"env\":{\"A\":\"{n}\"},\"axes\":{\"n\":{\"values\":[{\"name\":\"one\","
             "\"value\":1,\"env\":{\"N\":\"{n}\"}}],\"build\":false},\"block\":[64]}," V(
                 RUN ",\"build\":[[\"cc\",\"{block}\"]],\"env\":{\"B\":\"{block}\",\"C\":\"{n}\"}") "}");
    assert_string_equal(of_variant(job, 0, "env"), "{\"B\":\"64\"}");
    assert_string_equal(of_variant(job, 0, "test_env"), "{\"A\":\"1\",\"C\":\"1\",\"N\":\"1\"}");
}

TEST(shapes_are_axes_underneath)
{
    json_t *job =
        encode(HEAD "\"kind\":\"kernel\",\"shapes\":[{\"heads\":[1,4]}],\"axes\":{\"block\":[64,128]},"
                    "\"skip\":[{\"heads\":4,\"block\":128}]," V(RUN) "}");
    assert_string_equal(of_variant(job, 0, "name"), "\"v_b1h1_block64\"");
    assert_string_equal(of_variant(job, 2, "name"), "\"v_b1h4_block64\"");
    assert_string_equal(of_variant(job, 3, "name"), "absent");
    assert_string_equal(of_variant(job, 2, "axes"),
                        "{\"batch\":1,\"block\":64,\"causal\":true,\"dtype\":\"f32\","
                        "\"head_dim\":128,\"heads\":4,\"kv_heads\":4}");
    json_decref(job);
}

TEST(plans_without_axes_make_the_job_they_always_made)
{
    json_auto_t *job = encode(HEAD "\"env\":{\"A\":\"1\"}," V("\"run\":[\"x\",\"{variant}\"]") "}");
    assert_string_equal(of_variant(job, 0, "run"), "[\"x\",\"{variant}\"]");
    assert_string_equal(of_variant(job, 0, "axes"), "absent");
    assert_string_equal(of_variant(job, 0, "test_env"), "absent");
    assert_string_equal(of_variant(job, 0, "build_as"), "absent");
}

TEST(the_command_line_narrows_axes)
{
    static const struct {
        const char *list, *expected;
    } cases[] = {
        {"block=128", "v_block128_bf16 v_block128_fp16"},
        {"block=64,128,dtype=fp16", "v_block64_fp16 v_block128_fp16"},
        {"dtype=bf16,block=64", "v_block64_bf16"},
        {"blok=64", "--axis: "},
        {"block=65", "it has: 64, 128"},
        {"block", "AXIS=VALUE"},
        {"", "AXIS=VALUE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(plan_release) struct plan p = {0};
        struct err err = {0};
        struct overrides o = {.axis = cases[i].list};
        load(&p, HEAD "\"axes\":{\"block\":[64,128],\"dtype\":[\"bf16\",\"fp16\"]}," V(RUN) "}");
        if (overrides_apply(&o, &p, &err) == 0)
            assert_string_equal(names(&p), cases[i].expected);
        else if (err.kind != ERR_INPUT || !strstr(err.msg, cases[i].expected))
            fail_msg("%s: %s", cases[i].list, err.msg);
    }
}

static const struct {
    const char *text, *place, *hint;
} refused[] = {
    {HEAD "\"axes\":{\"blocks\":[64]}," V("\"run\":[\"x\",\"{block}\"]") "}", "$.variants[0].run[1]",
     "did you mean {blocks}"},
    {HEAD "\"axes\":{\"block\":[64]}," V("\"run\":[\"x\",\"{nothing}\"]") "}", "$.variants[0].run[1]",
     "{nothing}"},
    {HEAD "\"axes\":{\"block\":[64]}," V("\"run\":[\"sh\",\"-c\",\"echo ${block}\"]") "}",
     "$.variants[0].run[2]", "variable of the shell"},
    {HEAD "\"axes\":{\"context\":[64]}," V(RUN) "}", "$.axes.context", "meaning of its own"},
    {HEAD "\"axes\":{\"Block\":[64]}," V(RUN) "}", "$.axes.Block", "cannot name an axis"},
    {HEAD "\"kind\":\"kernel\",\"shapes\":[{\"heads\":1}],\"axes\":{\"dtype\":[\"a\"]}," V(RUN) "}",
     "$.axes.dtype", "meaning of its own"},
    {HEAD "\"axes\":{}," V(RUN) "}", "$.axes", "object of axes"},
    {HEAD "\"axes\":[]," V(RUN) "}", "$.axes", "empty array"},
    {HEAD "\"axes\":{\"block\":[]}," V(RUN) "}", "$.axes.block", "1 to 64"},
    {HEAD "\"axes\":{\"block\":[1,1]}," V(RUN) "}", "$.axes.block[1]", "twice"},
    {HEAD "\"axes\":{\"block\":[null]}," V(RUN) "}", "$.axes.block[0]", "a string, a number"},
    {HEAD "\"axes\":{\"block\":[{\"value\":1}]}," V(RUN) "}", "$.axes.block[0].name", "expected a name"},
    {HEAD "\"axes\":{\"block\":[{\"name\":\"a\",\"envs\":{}}]}," V(RUN) "}", "$.axes.block[0]",
     "did you mean"},
    {HEAD "\"axes\":[{\"block\":1},{\"size\":1}]," V(RUN) "}", "$.axes[1]", "the same"},
    {HEAD "\"axes\":[{\"block\":1},{\"block\":[1,2]}]," V(RUN) "}", "$.axes", "listed twice"},
    {HEAD "\"axes\":{\"block\":[\"a b\",\"a-b\"]}," V(RUN) "}", "$.axes", "listed twice"},
    {HEAD "\"axes\":{\"block\":[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]}," V(
         RUN) "}",
     "$.axes", "longer than 64"},
    {HEAD "\"axes\":{\"block\":[1]},\"skip\":[{\"blok\":1}]," V(RUN) "}", "$.skip[0]",
     "did you mean \"block\""},
    {HEAD "\"axes\":{\"block\":[1]},\"skip\":[{\"block\":1}]," V(RUN) "}", "$.skip", "nothing to measure"},
    {HEAD "\"axes\":{\"block\":[1]},\"only\":[{\"context\":64}]," V(RUN) "}", "only", "nothing to measure"},
    {HEAD "\"axes\":{\"block\":[1]},\"only\":[]," V(RUN) "}", "$.only", "1 to 256"},
    {HEAD "\"axes\":{\"b\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17],\"block\":[1,2,3,4,5,6,7,8,9,10,11,12,"
          "13,14,15,"
          "16]}," V(RUN) "}",
     "$.axes", "are 272, the limit is 256"},
    {HEAD "\"axes\":{\"b\":[1,2,3,4,5,6,7,8],\"c\":[1,2,3,4,5,6,7,8],\"d\":[1,2,3,4,5,6,7,8],\"block\":[1,2,"
          "3,4,5,6,7,8,"
          "9]}," V(RUN) "}",
     "$.axes", "8 x 8 x 8 x 9 = 4608 points, the limit is 4096"},
    {HEAD "\"axes\":{\"block\":{\"values\":[1,2],\"build\":false}}," V(
         RUN ",\"build\":[[\"cc\",\"{block}\"]]") "}",
     "$.variants[0].build", "\"build\": false"},
    {HEAD "\"axes\":[{\"block\":1}],\"variants\":[{\"name\":\"a\",\"axes\":{\"block\":2}," RUN "}]}",
     "$.variants[0].axes", "crossed"},
    {HEAD "\"axes\":{\"block\":[{\"name\":\"a\",\"env\":{\"E\":\"1\"}}],\"n\":[{\"name\":\"b\",\"env\":{"
          "\"E\":\"2\"}}]}," V(RUN) "}",
     "env.E", "another axis"},
    {HEAD "\"env\":{\"E\":\"{blok}\"},\"axes\":{\"block\":[1]}," V(RUN) "}", "$.env.E", "{blok}"},
};

TEST(what_cannot_be_meant_is_refused_with_its_place)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct plan p;
        struct err err = {0};
        if (plan_load(&p, put("plan.json", refused[i].text), &err) == 0)
            fail_msg("accepted: %s", refused[i].text);
        if (err.kind != ERR_INPUT || !strstr(err.msg, refused[i].place) || !strstr(err.msg, refused[i].hint))
            fail_msg("%s\n%s", refused[i].text, err.msg);
    }
}

GROUP(scratch_make, scratch_remove);
