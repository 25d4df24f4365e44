/* manifest: a bundle is exactly what its manifest names, or it is refused with the file's name. */
#include "tests/unit/support.h"

#include "common/base/json.h"
#include "common/base/sha256.h"
#include "results/ingest/bundle/manifest.h"

#define RUN "20260214T031500Z-b3_90-1a2b3c"

static const char *bundle;

static json_t *entry(const char *path, const char *text)
{
    char hex[SHA256_HEX_LEN + 1];
    sha256_of(text, strlen(text), hex);
    return json_pack("{s:s, s:I, s:s}", "path", path, "size", (json_int_t)strlen(text), "sha256", hex);
}

static void save_manifest(json_t *files)
{
    struct err err = {0};
    json_t *m = json_pack("{s:s, s:s, s:o}", "schema", "kernsweep.manifest/1", "run_id", RUN, "files", files);
    assert_ok(json_save(in_scratch("b/manifest.json"), m, &err), &err);
    json_decref(m);
}

static json_t *two_files(void)
{
    return json_pack("[o, o]", entry("plan.json", "{}"), entry("v3/ctx_4096_run1/perf.json", "{\"x\":1}"));
}

/* A good bundle of two files, for each test to spoil. */
static int set_up(void **state)
{
    static char path[FS_PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s/b", scratch);
    bundle = path;
    fs_remove_tree(path, NULL);
    put("b/plan.json", "{}");
    put("b/v3/ctx_4096_run1/perf.json", "{\"x\":1}");
    save_manifest(two_files());
    return 0;
}

#define assert_refused(kind, ...)                                                                            \
    do {                                                                                                     \
        struct err e_ = {0};                                                                                 \
        int rc_ = manifest_verify(bundle, RUN, &e_);                                                         \
        assert_err(rc_, &e_, kind, __VA_ARGS__);                                                             \
    } while (0)

static void assert_accepted(const char *run_id)
{
    struct err err = {0};
    assert_ok(manifest_verify(bundle, run_id, &err), &err);
}

TEST_BETWEEN(good_bundle_is_accepted, set_up, NULL)
{
    assert_accepted(RUN);
    assert_accepted(NULL);
}

TEST_BETWEEN(files_of_the_node_alone_are_ignored, set_up, NULL)
{
    put("b/executor.log", "whatever");
    put("b/.lock", "");
    put("b/v3/.hidden", "");
    assert_accepted(RUN);
}

TEST_BETWEEN(an_empty_folder_matches_an_empty_list, set_up, NULL)
{
    struct err err = {0};
    assert_ok(fs_remove_tree(in_scratch("b/v3"), &err), &err);
    assert_ok(fs_mkdir_p(in_scratch("b/v3/empty"), 0700, &err), &err);
    unlink(in_scratch("b/plan.json"));
    save_manifest(json_array());
    assert_accepted(RUN);
}

TEST_BETWEEN(an_altered_byte_is_found, set_up, NULL)
{
    put("b/v3/ctx_4096_run1/perf.json", "{\"x\":2}");
    assert_refused(ERR_INPUT, "manifest.json: $.files[1]", "v3/ctx_4096_run1/perf.json",
                   "does not match its hash");
}

TEST_BETWEEN(appended_or_truncated_files_are_found, set_up, NULL)
{
    put("b/plan.json", "{} ");
    assert_refused(ERR_INPUT, "$.files[0]", "plan.json has 3 bytes here but 2 in the manifest");
    put("b/plan.json", "");
    assert_refused(ERR_INPUT, "$.files[0]", "plan.json has 0 bytes");
}

/* A correct hash with a wrong size: the manifest was edited by hand. */
TEST_BETWEEN(a_wrong_size_in_the_manifest_is_found, set_up, NULL)
{
    json_t *files = two_files();
    json_object_set_new(json_array_get(files, 0), "size", json_integer(3));
    save_manifest(files);
    assert_refused(ERR_INPUT, "$.files[0]", "plan.json has 2 bytes", "3");
}

TEST_BETWEEN(a_missing_file_is_found, set_up, NULL)
{
    unlink(in_scratch("b/plan.json"));
    assert_refused(ERR_STORAGE, "manifest.json", "plan.json", "No such file");
}

TEST_BETWEEN(an_unlisted_file_is_found, set_up, NULL)
{
    put("b/v3/extra.json", "");
    assert_refused(ERR_INPUT, "v3/extra.json", "not listed in manifest.json");
    unlink(in_scratch("b/v3/extra.json"));
    put("b/v3/manifest.json", ""); /* only the bundle's own is exempt */
    assert_refused(ERR_INPUT, "v3/manifest.json", "not listed");
    unlink(in_scratch("b/v3/manifest.json"));
    put("b/v3/executor.log", "");
    assert_refused(ERR_INPUT, "v3/executor.log", "not listed");
}

TEST_BETWEEN(paths_that_leave_the_bundle_are_refused, set_up, NULL)
{
    static const char *const paths[] = {"../x", "/etc/passwd", "v3/../../x", "./plan.json", "v3//x", "..",
                                        "",     "v3/",         "a\\b",       "x\n\033[2J"};
    put("x", "outside");
    for (size_t i = 0; i < COUNT(paths); i++) {
        json_t *files = two_files();
        json_array_append_new(files, entry(paths[i], "outside"));
        save_manifest(files);
        assert_refused(ERR_INPUT, "manifest.json: $.files[2]", "leaves the bundle");
    }
}

TEST_BETWEEN(a_path_listed_twice_is_refused, set_up, NULL)
{
    json_t *files = two_files();
    json_array_append_new(files, entry("plan.json", "{}"));
    save_manifest(files);
    assert_refused(ERR_INPUT, "$.files[2]", "plan.json is listed more than once");
}

/* Links lead out of the bundle, in the last part of a path or before it. */
TEST_BETWEEN(links_are_not_followed, set_up, NULL)
{
    struct err err = {0};
    put("outside/perf.json", "{\"x\":1}");
    put("outside.json", "{}");
    unlink(in_scratch("b/plan.json"));
    assert_int_equal(symlink("../outside.json", in_scratch("b/plan.json")), 0);
    assert_refused(ERR_STORAGE, "plan.json");
    set_up(state);
    assert_ok(fs_remove_tree(in_scratch("b/v3/ctx_4096_run1"), &err), &err);
    assert_int_equal(symlink("../../outside", in_scratch("b/v3/ctx_4096_run1")), 0);
    assert_refused(ERR_INPUT, "v3/ctx_4096_run1", "neither a regular file nor a folder");
}

TEST_BETWEEN(special_files_are_refused, set_up, NULL)
{
    assert_int_equal(mkfifo(in_scratch("b/pipe"), 0600), 0);
    assert_refused(ERR_INPUT, "pipe", "neither a regular file nor a folder");
    json_t *files = two_files();
    json_array_append_new(files, entry("pipe", ""));
    save_manifest(files);
    assert_refused(ERR_INPUT, "pipe");
    unlink(in_scratch("b/pipe"));
    files = two_files();
    json_array_append_new(files, entry("v3", ""));
    save_manifest(files);
    assert_refused(ERR_INPUT, "v3", "not a regular file");
}

TEST_BETWEEN(the_manifest_of_another_run_is_refused, set_up, NULL)
{
    struct err err = {0};
    assert_err(manifest_verify(bundle, "20260214T031500Z-b3_90-ffffff", &err), &err, ERR_INPUT, RUN,
               "ffffff");
}

#define HASH64 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define HEAD "{\"schema\":\"kernsweep.manifest/1\",\"run_id\":\"" RUN "\","

TEST_BETWEEN(malformed_manifests_are_refused, set_up, NULL)
{
    static const struct {
        const char *what, *text, *place;
    } table[] = {
        {"empty", "", ":1:1:"},
        {"array", "[]", "$: expected an object"},
        {"no schema", "{\"run_id\":\"" RUN "\",\"files\":[]}", "$.schema"},
        {"another schema", "{\"schema\":\"kernsweep.manifest/2\",\"run_id\":\"" RUN "\",\"files\":[]}",
         "kernsweep.manifest/1"},
        {"no run", "{\"schema\":\"kernsweep.manifest/1\",\"files\":[]}", "$.run_id"},
        {"no files", HEAD "\"x\":1}", "unknown key \"x\""},
        {"files absent", HEAD "\"files\":null}", "$.files"},
        {"files as an object", HEAD "\"files\":{}}", "$.files"},
        {"entry as a string", HEAD "\"files\":[\"plan.json\"]}", "$.files[0]"},
        {"entry without hash", HEAD "\"files\":[{\"path\":\"plan.json\",\"size\":2}]}", "$.files[0].sha256"},
        {"entry without size", HEAD "\"files\":[{\"path\":\"plan.json\",\"sha256\":\"" HASH64 "\"}]}",
         "$.files[0].size"},
        {"negative size", HEAD "\"files\":[{\"path\":\"plan.json\",\"size\":-1,\"sha256\":\"" HASH64 "\"}]}",
         "$.files[0].size"},
        {"size of a float",
         HEAD "\"files\":[{\"path\":\"plan.json\",\"size\":2.0,\"sha256\":\"" HASH64 "\"}]}",
         "$.files[0].size"},
        {"key too many",
         HEAD "\"files\":[{\"path\":\"plan.json\",\"size\":2,\"sha256\":\"" HASH64 "\",\"mode\":7}]}",
         "unknown key \"mode\""},
        {"duplicate key", HEAD "\"files\":[],\"files\":[]}", "duplicate"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct err err = {0};
        put("b/manifest.json", table[i].text);
        if (manifest_verify(bundle, RUN, &err) == 0)
            fail_msg("%s: accepted", table[i].what);
        assert_err(-1, &err, ERR_INPUT, "manifest.json", table[i].place);
    }
    unlink(in_scratch("b/manifest.json"));
    assert_refused(ERR_INPUT, "manifest.json", "No such file");
}

/* Hashes are compared as they are written: no upper case, nothing shorter, nothing after it. */
TEST_BETWEEN(hashes_match_exactly, set_up, NULL)
{
    char hex[SHA256_HEX_LEN + 8];
    for (int kind = 0; kind < 3; kind++) {
        json_t *files = two_files();
        json_t *first = json_array_get(files, 0);
        snprintf(hex, sizeof hex, "%s", json_string_value(json_object_get(first, "sha256")));
        if (kind == 0)
            memcpy(hex + SHA256_HEX_LEN, "0", 2);
        else if (kind == 1)
            hex[SHA256_HEX_LEN - 1] = '\0';
        else
            for (char *p = hex; *p; p++)
                *p = (char)(*p >= 'a' ? *p - 32 : *p);
        json_object_set_new(first, "sha256", json_string(hex));
        save_manifest(files);
        assert_refused(ERR_INPUT, "plan.json", "does not match its hash");
    }
}

TEST_BETWEEN(a_missing_bundle_is_refused, set_up, NULL)
{
    struct err err = {0};
    assert_err(manifest_verify(in_scratch("none"), RUN, &err), &err, ERR_INPUT, "none/manifest.json");
}

GROUP(scratch_make, scratch_remove);
