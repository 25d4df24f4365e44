/* What held tests together, and the images of their containers: from bundles to the store and back. */
#include "tests/unit/results_support.h"

#include "reports/tables/held.h"
#include "results/query/export.h"

/* Changes perf.json of baseline at 256, in which the repetitions have these images. */
static const char *bundle_with_image(const char *name, const char *contained, const char *const digests[2])
{
    make_bundle(name, name);
    for (int i = 1; i <= 2; i++) {
        char dir[256];
        snprintf(dir, sizeof dir, "%s/baseline/ctx_256_run%d", name, i);
        json_t *perf = get_json(dir, "perf.json");
        json_object_set_new(perf, "contained", json_string(contained));
        json_object_set_new(perf, "container",
                            json_pack("{s:s, s:s, s:s}", "engine", "podman", "image", "registry/ks:1",
                                      "digest", digests[i - 1]));
        put_json(dir, "perf.json", perf);
    }
    write_manifest(name, name);
    return in_scratch(name);
}

static int collect(void *arg, const char *text, size_t len, struct err *err)
{
    (void)err;
    buf_add(arg, text, len);
    return 0;
}

TEST(a_bundle_says_what_held_its_tests)
{
    static const char *const same[] = {"sha256:aa", "sha256:aa"};
    AUTO(buf_release) struct buf text = {.max = 1 << 20};
    struct err err = {0};
    AUTO(store_close) struct store s = open_store("held.db");
    int64_t key = must_ingest(&s, bundle_with_image("held", "container", same), NULL);
    AUTO(run_data_release) struct run_data r = must_load(&s, key);
    assert_string_equal(r.variants[0].image, "registry/ks:1");
    assert_string_equal(r.variants[0].image_digest, "sha256:aa");
    assert_string_equal(r.variants[1].image_digest, "");
    assert_string_equal(r.tests[0].contained, "container");
    assert_string_equal(r.tests[7].contained, "");
    terminal_held(&r, &text);
    assert_string_equal(buf_str(&text), "tests held by container (2)\n"
                                        "image of baseline: registry/ks:1 sha256:aa\n");
    buf_clear(&text);
    assert_ok(export_tests(&s, key, EXPORT_CSV, collect, &text, &err), &err);
    assert_non_null(strstr(buf_str(&text), "beside,compiled,contained,image,image_digest"));
    assert_non_null(strstr(buf_str(&text), "container,registry/ks:1,sha256:aa"));
}

TEST(images_of_one_name_may_differ)
{
    static const char *const other[] = {"sha256:aa", "sha256:bb"};
    AUTO(store_close) struct store s = open_store("several.db");
    AUTO(run_data_release)
    struct run_data r =
        must_load(&s, must_ingest(&s, bundle_with_image("several", "container", other), NULL));
    assert_string_equal(r.variants[0].image_digest, IMAGES_SEVERAL);
}

/* Such a test is kept, and not believed. */
TEST(what_is_no_containment_is_refused)
{
    static const char *const same[] = {"sha256:aa", "sha256:aa"}, *const bad[] = {"sha256:aa", "a b"};
    AUTO(store_close) struct store s = open_store("refused.db");
    AUTO(run_data_release)
    struct run_data r = must_load(&s, must_ingest(&s, bundle_with_image("word", "jail", same), NULL));
    assert_int_equal(r.tests[0].status, STATUS_INVALID);
    assert_non_null(strstr(r.tests[0].reason, "contained"));
    assert_int_equal(r.tests[2].status, STATUS_OK);
    run_data_release(&r);
    r = must_load(&s, must_ingest(&s, bundle_with_image("digest", "container", bad), NULL));
    assert_int_equal(r.tests[0].status, STATUS_OK);
    assert_int_equal(r.tests[1].status, STATUS_INVALID);
}

GROUP(scratch_make, scratch_remove);
