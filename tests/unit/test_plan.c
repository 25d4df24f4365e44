/* plan: what is rejected, with the location in the message, and what a valid plan expands to. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "harness/plan/job.h"
#include "harness/plan/overrides.h"
#include "harness/plan/plan.h"

static int load_text(struct plan *p, const char *text, struct err *err)
{
    return plan_load(p, put("plan.json", text), err);
}

#define HEAD "{\"schema\":\"kernsweep.plan/1\",\"ticket\":\"t\","
#define VARIANTS                                                                                             \
    "\"variants\":[{\"name\":\"a\",\"run\":[\"x\"]},{\"name\":\"b\",\"run\":[\"y\",\"{context}\"]}],"
#define MATRIX "\"contexts\":[4096,8192],\"timeouts\":{\"4096\":10,\"8192\":20}"

static const struct {
    const char *what, *text, *place, *hint;
} refused[] = {
    {"not JSON", "{", "line 1", "JSON"},
    {"duplicate key", HEAD HEAD, "plan.json", "JSON"},
    {"unknown key", HEAD VARIANTS MATRIX ",\"timeout\":{}}", "$", "did you mean \"timeouts\""},
    {"no schema", "{\"ticket\":\"t\"," VARIANTS MATRIX "}", "$.schema", "expected a string"},
    {"another schema", "{\"schema\":\"kernsweep.plan/9\",\"ticket\":\"t\"," VARIANTS MATRIX "}", "$.schema",
     "plan/1"},
    {"no ticket", "{\"schema\":\"kernsweep.plan/1\"," VARIANTS MATRIX "}", "$.ticket", "expected"},
    {"no variants", HEAD "\"variants\":[]," MATRIX "}", "$.variants", "empty"},
    {"no contexts", HEAD VARIANTS "\"contexts\":[],\"timeouts\":{}}", "$.contexts", "non-empty"},
    {"wrong type", HEAD VARIANTS "\"contexts\":[\"4096\"],\"timeouts\":{\"default\":1}}", "$.contexts[0]",
     "integer"},
    {"same context twice", HEAD VARIANTS "\"contexts\":[1,1],\"timeouts\":{\"default\":1}}", "$.contexts[1]",
     "twice"},
    {"context 0", HEAD VARIANTS "\"contexts\":[0],\"timeouts\":{\"default\":1}}", "$.contexts[0]", "found 0"},
    {"negative time-out", HEAD VARIANTS "\"contexts\":[4096],\"timeouts\":{\"4096\":-5}}", "$.timeouts.4096",
     "-5"},
    {"no time-out", HEAD VARIANTS "\"contexts\":[4096],\"timeouts\":{\"8192\":5}}", "$.timeouts.4096",
     "no time-out"},
    {"time-outs absent", HEAD VARIANTS "\"contexts\":[4096]}", "$.timeouts", "expected an object"},
    {"time-out of a word", HEAD VARIANTS "\"contexts\":[1],\"timeouts\":{\"4k\":5}}", "$.timeouts.4k",
     "tokens"},
    {"variant ../x", HEAD "\"variants\":[{\"name\":\"../x\",\"run\":[\"x\"]}]," MATRIX "}",
     "$.variants[0].name", "../x"},
    {"variant with a space", HEAD "\"variants\":[{\"name\":\"a b\",\"run\":[\"x\"]}]," MATRIX "}",
     "$.variants[0].name", "a b"},
    {"variant twice",
     HEAD "\"variants\":[{\"name\":\"a\",\"run\":[\"x\"]},{\"name\":\"a\",\"run\":[\"x\"]}]," MATRIX "}",
     "$.variants[1].name", "twice"},
    {"variant without run", HEAD "\"variants\":[{\"name\":\"a\"}]," MATRIX "}", "$.variants[0].run",
     "array of strings"},
    {"run as a string", HEAD "\"variants\":[{\"name\":\"a\",\"run\":\"x y\"}]," MATRIX "}",
     "$.variants[0].run", "array"},
    {"placeholder", HEAD "\"variants\":[{\"name\":\"a\",\"run\":[\"{contexts}\"]}]," MATRIX "}",
     "$.variants[0].run[0]", "{contexts}"},
    {"env name", HEAD VARIANTS MATRIX ",\"env\":{\"A-B\":\"1\"}}", "$.env.A-B", "environment"},
    {"env value", HEAD VARIANTS MATRIX ",\"env\":{\"A\":1}}", "$.env.A", "string"},
    {"repetitions 0", HEAD VARIANTS MATRIX ",\"repetitions\":0}", "$.repetitions", "found 0"},
    {"mode", HEAD VARIANTS MATRIX ",\"mode\":\"fast\"}", "$.mode", "perf"},
    {"cost without price", HEAD VARIANTS MATRIX ",\"cost\":{\"currency\":\"EUR\"}}", "$.cost.per_hour",
     "number"},
    {"currency", HEAD VARIANTS MATRIX ",\"cost\":{\"per_hour\":2,\"currency\":\"$\"}}", "$.cost.currency",
     "three-letter"},
    {"workdir climbs", HEAD VARIANTS MATRIX ",\"workdir\":\"../x\"}", "$.workdir", ".."},
    {"source is absent", HEAD VARIANTS MATRIX ",\"source\":{\"dir\":\"nowhere\"}}", "$.source.dir",
     "nowhere"},
    {"include climbs", HEAD VARIANTS MATRIX ",\"source\":{\"dir\":\".\",\"include\":[\"../x\"]}}",
     "$.source.include[0]", ".."},
    {"time-out of another context",
     HEAD VARIANTS "\"contexts\":[1],\"timeouts\":{\"default\":1,\"7\":\"x\"}}", "$.timeouts.7", "number"},
    {"time-out of 04096", HEAD VARIANTS "\"contexts\":[1],\"timeouts\":{\"default\":1,\"04096\":1}}",
     "$.timeouts.04096", "tokens"},
    {"repetitions of another context", HEAD VARIANTS MATRIX ",\"repetitions\":{\"default\":1,\"7\":0}}",
     "$.repetitions.7", "found 0"},
    {"repetitions with warm-ups", HEAD VARIANTS MATRIX ",\"warmup\":2,\"repetitions\":999}", "$.repetitions",
     "999"},
    {"too many tests",
     HEAD VARIANTS
     "\"contexts\":[1,2,3,4,5,6,7,8,9,10,11],\"timeouts\":{\"default\":1},\"repetitions\":1000}",
     "$", "22000 tests"},
    {"placeholder without a value in a build",
     HEAD "\"variants\":[{\"name\":\"a\",\"run\":[\"x\"],\"build\":[[\"make\",\"{context}\"]]}]," MATRIX "}",
     "$.variants[0].build[0][1]", "no value here"},
    {"placeholder without a value in a gate",
     HEAD "\"variants\":[{\"name\":\"a\",\"run\":[\"x\"],\"gates\":[{\"kind\":\"command\",\"run\":[\"{"
          "context}\"]}]}]," MATRIX "}",
     "$.variants[0].gates[0].run[0]", "no value here"},
    {"gate that is not known",
     HEAD "\"variants\":[{\"name\":\"a\",\"run\":[\"x\"],\"gates\":[{\"kind\":\"command\",\"run\":[\"x\"],"
          "\"limit\":1}]}]," MATRIX "}",
     "$.variants[0].gates[0]", "limit"},
    {"reference to no variant", HEAD VARIANTS MATRIX ",\"reference\":\"c\"}", "$.reference", "\"c\""},
    {"workdir of somebody", HEAD VARIANTS MATRIX ",\"workdir\":\"~other/x\"}", "$.workdir", "plain path"},
    {"workdir that turns absolute", HEAD VARIANTS MATRIX ",\"workdir\":\"~//x\"}", "$.workdir", "plain path"},
    {"timings without a map", HEAD VARIANTS MATRIX ",\"timings\":{\"kind\":\"json\"}}", "$.timings.map",
     "1 to 16"},
    {"timings of a regex and a map",
     HEAD VARIANTS MATRIX ",\"timings\":{\"kind\":\"regex\",\"pattern\":\"x\",\"map\":{}}}", "$.timings",
     "map"},
    {"gate kind",
     HEAD "\"variants\":[{\"name\":\"a\",\"run\":[\"x\"],\"gates\":[{\"kind\":\"luck\"}]}]," MATRIX "}",
     "$.variants[0].gates[0].kind", "luck"},
};

TEST(refuses_with_file_and_place)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct plan p;
        struct err err = {0};
        if (load_text(&p, refused[i].text, &err) == 0)
            fail_msg("%s: was accepted", refused[i].what);
        if (err.kind != ERR_INPUT || !strstr(err.msg, in_scratch("plan.json")) ||
            !strstr(err.msg, refused[i].place) || !strstr(err.msg, refused[i].hint) || strchr(err.msg, '\n'))
            fail_msg("%s: %s", refused[i].what, err.msg);
    }
}

TEST(good_plan_expands_in_order)
{
    AUTO(plan_release) struct plan p = {0};
    struct err err = {0};
    if (load_text(&p, HEAD VARIANTS MATRIX ",\"repetitions\":{\"default\":1,\"4096\":2},\"warmup\":1}",
                  &err) != 0)
        fail_msg("%s", err.msg);
    assert_int_equal(plan_test_count(&p), 10);
    const struct job_request req = {.run_id = "r", .date = "2026-01-01"};
    json_auto_t *job = job_encode(&p, &req);
    json_t *tests = json_object_get(job, "tests");
    assert_int_equal(json_array_size(tests), 10);
    static const struct {
        const char *variant;
        int context, repetition;
        bool warmup;
    } order[10] = {{"a", 4096, 1, true},  {"b", 4096, 1, true},  {"a", 8192, 1, true},  {"b", 8192, 1, true},
                   {"a", 4096, 2, false}, {"b", 4096, 2, false}, {"a", 8192, 2, false}, {"b", 8192, 2, false},
                   {"a", 4096, 3, false}, {"b", 4096, 3, false}};
    for (size_t i = 0; i < 10; i++) {
        const json_t *t = json_array_get(tests, i);
        assert_int_equal(json_integer_value(json_object_get(t, "index")), i + 1);
        assert_string_equal(json_string_value(json_object_get(t, "variant")), order[i].variant);
        assert_int_equal(json_integer_value(json_object_get(t, "context")), order[i].context);
        assert_int_equal(json_integer_value(json_object_get(t, "repetition")), order[i].repetition);
        assert_int_equal(json_is_true(json_object_get(t, "warmup")), order[i].warmup);
        assert_true(json_number_value(json_object_get(t, "timeout_s")) ==
                    (order[i].context == 4096 ? 10 : 20));
    }
}

TEST(grouped_order_finishes_a_cell_first)
{
    AUTO(plan_release) struct plan p = {0};
    struct err err = {0};
    assert_int_equal(load_text(&p, HEAD VARIANTS MATRIX ",\"repetitions\":2,\"order\":\"grouped\"}", &err),
                     0);
    const struct job_request req = {.run_id = "r", .date = "2026-01-01"};
    json_auto_t *job = job_encode(&p, &req);
    const json_t *second = json_array_get(json_object_get(job, "tests"), 1);
    assert_string_equal(json_string_value(json_object_get(second, "variant")), "a");
    assert_int_equal(json_integer_value(json_object_get(second, "repetition")), 2);
}

TEST(command_line_narrows)
{
    AUTO(plan_release) struct plan p = {0};
    struct err err = {0};
    assert_int_equal(load_text(&p, HEAD VARIANTS MATRIX "}", &err), 0);
    assert_int_equal(overrides_apply(&(struct overrides){.variants = "b"}, &p, &err), 0);
    assert_int_equal(overrides_apply(&(struct overrides){.contexts = "8192"}, &p, &err), 0);
    assert_int_equal(overrides_apply(&(struct overrides){.repeat = "8192:3"}, &p, &err), 0);
    assert_int_equal(plan_test_count(&p), 3);
    assert_string_equal(p.variants.item[0].name, "b");
    assert_int_equal(overrides_apply(&(struct overrides){.variants = "a,zz"}, &p, &err), -1);
    assert_non_null(strstr(err.msg, "--variants"));
    assert_int_equal(overrides_apply(&(struct overrides){.contexts = "16384"}, &p, &err), -1);
    assert_non_null(strstr(err.msg, "no time-out"));
    assert_int_equal(overrides_apply(&(struct overrides){.repeat = "8192"}, &p, &err), -1);
    assert_non_null(strstr(err.msg, "--repeat"));
}

TEST(lists_are_taken_whole)
{
    static const char long_name[] = "0123456789012345678901234567890123456789012345678901234567890123";
    AUTO(plan_release) struct plan p = {0};
    struct err err = {0};
    char text[512], list[80];
    snprintf(text, sizeof text,
             "%s\"variants\":[{\"name\":\"a\",\"run\":[\"x\"]},{\"name\":\"%s\",\"run\":[\"x\"]}],%s}", HEAD,
             long_name, MATRIX);
    assert_int_equal(load_text(&p, text, &err), 0);
    snprintf(list, sizeof list, "%sx", long_name);
    assert_int_equal(overrides_apply(&(struct overrides){.variants = list}, &p, &err), -1);
    assert_int_equal(overrides_apply(&(struct overrides){.variants = long_name}, &p, &err), 0);
    assert_int_equal(p.variants.count, 1);
    assert_string_equal(p.variants.item[0].name, long_name);
    static const char *const bad[] = {"",   ",",     "4096,", "4096,,8192", "4096,4096",           "0",
                                      "-1", "4096x", "1e3",   "4096;8192",  "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (strcmp(bad[i], "4096,") != 0 &&
            overrides_apply(&(struct overrides){.contexts = bad[i]}, &p, &err) == 0)
            fail_msg("--contexts \"%s\" was accepted", bad[i]);
    static const char *const bad_repeat[] = {"",        ",",         "4096:",    ":2",
                                             "4096:0",  "4096:1001", "4096:2:3", "7:1",
                                             "4096:2x", "3,3",       "4096:1,3", "4096:1,8192:1,4096:2"};
    for (size_t i = 0; i < sizeof bad_repeat / sizeof *bad_repeat; i++)
        if (overrides_apply(&(struct overrides){.repeat = bad_repeat[i]}, &p, &err) == 0)
            fail_msg("--repeat \"%s\" was accepted", bad_repeat[i]);
    assert_int_equal(overrides_apply(&(struct overrides){.variants = ""}, &p, &err), -1);
    assert_int_equal(plan_test_count(&p), 2);
}

TEST(command_line_obeys_the_limit_of_tests)
{
    AUTO(plan_release) struct plan p = {0};
    struct err err = {0};
    assert_int_equal(
        load_text(&p, HEAD VARIANTS "\"contexts\":[1,2,3,4,5,6,7,8,9,10,11],\"timeouts\":{\"default\":1}}",
                  &err),
        0);
    assert_int_equal(
        overrides_apply(
            &(struct overrides){.repeat =
                                    "1:1000,2:1000,3:1000,4:1000,5:1000,6:1000,7:1000,8:1000,9:1000,10:989"},
            &p, &err),
        0);
    assert_int_equal(plan_test_count(&p), 19980);
    assert_int_equal(overrides_apply(&(struct overrides){.repeat = "10:1000,11:2"}, &p, &err), -1);
    assert_non_null(strstr(err.msg, "--repeat"));
    assert_non_null(strstr(err.msg, "20004 tests"));
}

TEST(one_count_repeats_every_context)
{
    AUTO(plan_release) struct plan p = {0};
    struct err err = {0};
    if (load_text(&p, HEAD VARIANTS MATRIX "}", &err) != 0)
        fail_msg("%s", err.msg);
    assert_int_equal(overrides_apply(&(struct overrides){.repeat = "3"}, &p, &err), 0);
    for (size_t i = 0; i < p.matrix.count; i++)
        assert_int_equal(p.matrix.contexts[i].repetitions, 3);
    assert_int_equal(overrides_apply(&(struct overrides){.repeat = "0"}, &p, &err), -1);
    assert_non_null(strstr(err.msg, "such as 3"));
}

TEST(braces_that_are_no_placeholders_pass)
{
    AUTO(plan_release) struct plan p = {0};
    struct err err = {0};
    if (load_text(&p,
                  HEAD
                  "\"variants\":[{\"name\":\"a\",\"run\":[\"x\",\"{{print "
                  "$1}\",\"{}\",\"${HOME}\",\"{\\\"k\\\": 1}\","
                  "\"{context\",\"{{context+}\",\"{context+8}\",\"{{Context}\"],\"env\":{\"TOKEN\":\"{any_"
                  "thing}\"}}]," MATRIX ",\"secrets\":[\"TOKEN\"]}",
                  &err) != 0)
        fail_msg("%s", err.msg);
}

TEST(run_ids_are_names_and_differ)
{
    char a[JOB_RUN_ID_MAX], b[JOB_RUN_ID_MAX];
    job_run_id("a_ticket_of_thirty-two_characters", a);
    job_run_id("t", b);
    assert_true(strlen(a) < sizeof a - 1);
    assert_string_not_equal(a + strlen(a) - 6, b + strlen(b) - 6);
}

GROUP(scratch_make, scratch_remove);
