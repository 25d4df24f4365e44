#include "results/store/details.h"
#include "tests/unit/results_support.h"

static const char resources[] =
    "{\"schema\":\"kernsweep.resources/1\",\"arch\":\"gfx942\",\"kernels\":[{\"name\":"
    "\"k\",\"vgprs\":64,\"scratch_bytes\":528}]}";

/* make_bundle() with what is tested here added, and closed again. */
static const char *bundle_with(const char *name, const char *run_id, const char *gates, const char *body)
{
    struct err err = {0};
    char path[512];
    make_bundle(name, run_id);
    snprintf(path, sizeof path, "%s/v3/resources.json", name);
    put(path, body);
    json_t *summary = get_json(name, "summary.json");
    json_t *variant = json_array_get(json_object_get(summary, "variants"), 1);
    json_t *list = json_parse(gates, strlen(gates), "gates", &err);
    assert_non_null(list);
    json_object_set_new(variant, "gates", list);
    put_json(name, "summary.json", summary);
    write_manifest(name, run_id);
    return in_scratch(name);
}

#define HASH "1111111111111111111111111111111111111111111111111111111111111111"
#define KERNEL_HASH "2222222222222222222222222222222222222222222222222222222222222222"

/* make_bundle() with a code identity of v3. */
static const char *bundle_with_code(const char *name, const char *run_id, const char *code)
{
    char path[512];
    make_bundle(name, run_id);
    snprintf(path, sizeof path, "%s/v3/code.json", name);
    put(path, code);
    write_manifest(name, run_id);
    return in_scratch(name);
}

TEST(the_code_identity_comes_back)
{
    AUTO(store_close) struct store s = open_store("code.db");
    struct err err = {0};
    AUTO(details_release) struct run_details d = {0};
    AUTO(run_data_release) struct run_data r = {0};
    const char *dir = bundle_with_code("code", "code-1",
                                       "{\"schema\":\"kernsweep.code/1\",\"kind\":\"device\",\"sha256\":"
                                       "\"" HASH "\",\"kernels\":[{\"name\":\"_Z3onePf\",\"sha256\":"
                                       "\"" KERNEL_HASH "\"}]}");
    int64_t key = must_ingest(&s, dir, NULL);
    assert_ok(run_data_load(&s, key, &r, &err), &err);
    assert_string_equal(r.variants[1].code_sha256, HASH);
    assert_true(r.variants[1].code_of_device);
    assert_string_equal(r.variants[0].code_sha256, ""); /* a bundle without it */
    assert_ok(details_load(&s, key, &d, &err), &err);
    assert_int_equal(d.n_kernels, 1);
    assert_int_equal(d.kernels[0].variant, 1);
    assert_string_equal(d.kernels[0].name, "_Z3onePf");
    assert_string_equal(d.kernels[0].sha256, KERNEL_HASH);
}

/* A kernel with these members besides its name and hash. */
static const char *bundle_with_kernel(const char *name, const char *members)
{
    char code[1024];
    snprintf(code, sizeof code,
             "{\"schema\":\"kernsweep.code/1\",\"kind\":\"device\",\"sha256\":\"" HASH
             "\",\"kernels\":[{\"name\":\"k\",\"sha256\":\"" KERNEL_HASH "\"%s}]}",
             members);
    return bundle_with_code(name, name, code);
}

TEST(resources_and_instructions_of_a_kernel_come_back)
{
    AUTO(store_close) struct store s = open_store("facts.db");
    struct err err = {0};
    struct run_details d;
    int64_t key = must_ingest(
        &s,
        bundle_with_kernel(
            "facts", ",\"resources\":{\"vgprs\":96,\"scratch_bytes\":0},\"instructions\":{\"matrix\":64}"),
        NULL);
    assert_ok(details_load_kernels(&s, key, &d, &err), &err);
    assert_int_equal(d.n_kernels, 1);
    assert_int_equal(d.kernels[0].facts.resource[KERNEL_VGPRS], 96);
    assert_int_equal(d.kernels[0].facts.resource[KERNEL_SCRATCH_BYTES], 0);
    assert_int_equal(d.kernels[0].facts.resource[KERNEL_LDS_BYTES], KERNEL_FACT_UNKNOWN);
    assert_int_equal(d.kernels[0].facts.instructions[INSTRUCTION_MATRIX], 64);
    assert_int_equal(d.kernels[0].facts.instructions[INSTRUCTION_WAIT], KERNEL_FACT_UNKNOWN);
    details_release(&d);
    key = must_ingest(&s, bundle_with_kernel("bare", ""), NULL);
    assert_ok(details_load(&s, key, &d, &err), &err);
    assert_false(kernel_facts_known(&d.kernels[0].facts));
    assert_int_equal(query_int(&s, "SELECT count(*) FROM kernel_code WHERE facts IS NULL"), 1);
    details_release(&d);
}

TEST(an_unknown_code_identity_is_none)
{
    AUTO(store_close) struct store s = open_store("unknown.db");
    must_ingest(&s,
                bundle_with_code("unknown", "code-2",
                                 "{\"schema\":\"kernsweep.code/1\",\"kind\":\"unknown\",\"reason\":"
                                 "\"too many files\",\"kernels\":[]}"),
                NULL);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM variant WHERE code_sha256 IS NOT NULL"), 0);
}

TEST(what_is_no_code_identity_is_left_out_with_its_place)
{
    static const char *const bad[][2] = {
        {"{\"schema\":\"kernsweep.code/9\",\"kind\":\"device\"}", "kernsweep.code/9"},
        {"{\"schema\":\"kernsweep.code/1\",\"kind\":\"odd\"}", "odd"},
        {"{\"schema\":\"kernsweep.code/1\",\"kind\":\"files\",\"kernels\":[]}", "sha256"},
        {"{\"schema\":\"kernsweep.code/1\",\"kind\":\"files\",\"sha256\":\"" HASH "\"}", "$.kernels"},
        {"{\"schema\":\"kernsweep.code/1\",\"kind\":\"device\",\"sha256\":\"" HASH
         "\",\"kernels\":[{\"name\":\"k\",\"sha256\":\"" HASH "\",\"resources\":{\"vgprs\":-1}}]}",
         "$.kernels[0].resources.vgprs"},
        {"{\"schema\":\"kernsweep.code/1\",\"kind\":\"device\",\"sha256\":\"" HASH
         "\",\"kernels\":[{\"name\":\"\",\"sha256\":\"" HASH "\"}]}",
         "$.kernels[0]"},
    };
    AUTO(store_close) struct store s = open_store("bad-code.db");
    for (size_t i = 0; i < COUNT(bad); i++) {
        char name[32];
        snprintf(name, sizeof name, "bad-code-%zu", i);
        struct ingest_result result = ingested(&s, bundle_with_code(name, name, bad[i][0]), NULL);
        assert_int_equal(result.warnings, 1);
        assert_non_null(strstr(result.warning, "v3/code.json"));
        assert_non_null(strstr(result.warning, bad[i][1]));
    }
    assert_int_equal(query_int(&s, "SELECT count(*) FROM variant WHERE code_sha256 IS NOT NULL"), 0);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM kernel_code"), 0);
}

static const char gates[] =
    "[{\"gate\":\"correct\",\"status\":\"OK\",\"reason\":\"\",\"wall_s\":0.5},"
    "{\"gate\":\"no spill\",\"status\":\"GATE_FAILED\",\"reason\":\"528 > 0\",\"wall_s\":null}]";

TEST(gates_files_and_resources_come_back)
{
    AUTO(store_close) struct store s = open_store("details.db");
    struct err err = {0};
    AUTO(details_release) struct run_details d = {0};
    int64_t key = must_ingest(&s, bundle_with("one", "details-1", gates, resources), NULL);
    assert_ok(details_load(&s, key, &d, &err), &err);
    assert_int_equal(d.n_gates, 2);
    assert_int_equal(d.gates[0].variant, 1);
    assert_string_equal(d.gates[0].name, "correct");
    assert_true(d.gates[0].passed);
    assert_near(d.gates[0].wall_s, 0.5, 0);
    assert_string_equal(d.gates[1].name, "no spill");
    assert_false(d.gates[1].passed);
    assert_string_equal(d.gates[1].reason, "528 > 0");
    assert_true(isnan(d.gates[1].wall_s));

    const struct run_file *f = details_file(&d, "v3/resources.json");
    assert_non_null(f);
    assert_int_equal(f->size, sizeof resources - 1);
    assert_string_equal(f->body, resources);
    assert_non_null(details_file(&d, "plan.json"));
    assert_null(details_file(&d, "plan.json")->body);
    assert_null(details_file(&d, "v3/ctx_256_run1/perf.json"));
}

/* Its summary alone has the reason. */
TEST(the_summary_of_a_blocked_run_is_kept)
{
    AUTO(store_close) struct store s = open_store("blocked.db");
    struct err err = {0};
    struct run_details d;
    make_bundle("blocked", "details-blocked");
    json_t *summary = get_json("blocked", "summary.json");
    json_object_set_new(summary, "status", json_string("BLOCKED"));
    json_object_set_new(summary, "reason", json_string("this node is used by another run"));
    put_json("blocked", "summary.json", summary);
    write_manifest("blocked", "details-blocked");
    int64_t key = must_ingest(&s, in_scratch("blocked"), NULL);
    assert_ok(details_load(&s, key, &d, &err), &err);
    const struct run_file *f = details_file(&d, "summary.json");
    assert_non_null(f);
    assert_non_null(f->body);
    assert_non_null(strstr(f->body, "this node is used by another run"));
    details_release(&d);
    key = must_ingest(&s, bundle_with("complete", "details-complete", gates, resources), NULL);
    assert_ok(details_load(&s, key, &d, &err), &err);
    assert_null(details_file(&d, "summary.json")->body);
    details_release(&d);
}

TEST(an_unchanged_build_is_kept_once)
{
    AUTO(store_close) struct store s = open_store("shared.db");
    must_ingest(&s, bundle_with("first", "details-2", gates, resources), NULL);
    must_ingest(&s, bundle_with("second", "details-3", gates, resources), NULL);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM file WHERE document_id IS NOT NULL"), 2);
    assert_int_equal(query_int(&s, "SELECT count(DISTINCT document_id) FROM file"), 1);
}

TEST(what_is_no_gate_is_left_out_with_its_place)
{
    static const char *const bad[][2] = {
        {"[{\"gate\":\"x\",\"status\":\"MAYBE\"}]", "MAYBE"},
        {"[{\"gate\":7,\"status\":\"OK\"}]", "gate"},
    };
    AUTO(store_close) struct store s = open_store("bad.db");
    for (size_t i = 0; i < COUNT(bad); i++) {
        char name[32];
        snprintf(name, sizeof name, "bad-%zu", i);
        struct ingest_result result = ingested(&s, bundle_with(name, name, bad[i][0], resources), NULL);
        assert_int_equal(result.warnings, 1);
        assert_non_null(strstr(result.warning, "summary.json: $.variants[1].gates[0]"));
        assert_non_null(strstr(result.warning, bad[i][1]));
    }
    assert_int_equal(query_int(&s, "SELECT count(*) FROM run"), COUNT(bad));
    assert_int_equal(query_int(&s, "SELECT count(*) FROM gate"), 0);
}

TEST(a_run_that_goes_takes_its_details_along)
{
    AUTO(store_close) struct store s = open_store("gone.db");
    must_ingest(&s, bundle_with("gone", "details-4", gates, resources), NULL);
    assert_int_equal(sqlite3_exec(s.db, "DELETE FROM run", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(query_int(&s, "SELECT (SELECT count(*) FROM gate) + (SELECT count(*) FROM file)"), 0);
}

GROUP(scratch_make, scratch_remove);
