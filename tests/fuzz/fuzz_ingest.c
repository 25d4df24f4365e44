/* A bundle of which a node wrote one file, whatever it liked: refused as input, or stored. What is read must
 * also fit the store's own checks: an ERR_STORAGE here is a finding.
 *
 * The first byte chooses the file, and whether the bundle is closed by a manifest that names it truly.
 */
#include "common/base/json.h"
#include "common/base/sha256.h"
#include "results/ingest/ingest.h"
#include "results/store/sql.h"
#include "tests/fuzz/fuzz.h"

#define TEST "v/ctx_16_run1/"

static const struct {
    const char *name, *text;
} files[] = {
    {TEST "perf.json",
     "{\"schema\":\"kernsweep.perf/"
     "1\",\"ticket\":\"t\",\"run_id\":\"r\",\"variant\":\"v\",\"context_len\":16,"
     "\"repetition\":1,\"test_index\":1,\"warmup\":false,\"mode\":\"perf\",\"exit_status\":\"OK\","
     "\"wall_time_sec\":1.5,\"timings\":{\"prefill_s\":0.5,\"attn_impl\":\"x\"}}"},
    {TEST "vram_samples.jsonl", "{\"t\":0.1,\"rss\":1000,\"cpu\":10}\n"},
    {"node.json", "{\"schema\":\"kernsweep.node/1\",\"hostname\":\"h\"}"},
    {"summary.json",
     "{\"schema\":\"kernsweep.summary/1\",\"run_id\":\"r\",\"ticket\":\"t\",\"status\":\"COMPLETE\","
     "\"started_at\":\"2026-02-14T03:15:00.000Z\",\"ended_at\":\"2026-02-14T03:16:00.000Z\","
     "\"wall_s\":60,\"variants\":[{\"name\":\"v\",\"status\":\"OK\",\"gates\":[]}],\"tests\":[]}"},
    {"job.json",
     "{\"schema\":\"kernsweep.job/1\",\"run_id\":\"r\",\"ticket\":\"t\",\"tag\":\"\",\"date\":\"2026-02-14\","
     "\"mode\":\"perf\",\"node\":\"n\",\"env\":{},\"variants\":[{\"name\":\"v\",\"attn_impl\":\"x\",\"run\":["
     "\"x\"]}],"
     "\"tests\":[{\"index\":1,\"variant\":\"v\",\"context\":16,\"repetition\":1,\"timeout_s\":1,"
     "\"warmup\":false}]}"},
    {"v/resources.json", "{}"},
    {"plan.json", "{}"},
    {"events.jsonl", "{\"seq\":1,\"event\":\"SUITE_START\"}\n"},
};
enum { FILES = sizeof files / sizeof *files };

static struct store store;
static char bundle[FS_PATH_MAX];

static void put(const char *name, const void *data, size_t size)
{
    char path[FS_PATH_MAX];
    fuzz_check(fs_join(path, NULL, "b", name) == 0);
    fuzz_put(path, data, size);
}

static void prepare(void)
{
    char path[FS_PATH_MAX];
    struct err err = {0};
    fuzz_check(fs_join(bundle, NULL, fuzz_folder(), "b") == 0 && fs_join(path, NULL, bundle, TEST) == 0 &&
               fs_mkdir_p(path, 0700, NULL) == 0);
    for (size_t i = 0; i < FILES; i++)
        put(files[i].name, files[i].text, strlen(files[i].text));
    fuzz_check(store_open(&store, ":memory:", STORE_WRITE, &err) == 0);
}

static int add_file(const char *rel, const char *full, void *arg, struct err *err)
{
    char hex[SHA256_HEX_LEN + 1];
    size_t size;
    fuzz_check(sha256_of_file(full, SIZE_MAX, hex, &size, err) == 0);
    return json_array_append_new(
        arg, json_pack("{s:s, s:I, s:s}", "path", rel, "size", (json_int_t)size, "sha256", hex));
}

static void put_manifest(void)
{
    json_t *list = json_array();
    fuzz_check(fs_walk(bundle, false, add_file, list, NULL) == 0);
    json_t *m = json_pack("{s:s, s:s, s:o}", "schema", "kernsweep.manifest/1", "run_id", "r", "files", list);
    char *text = json_dumps(m, JSON_COMPACT);
    put("manifest.json", text, strlen(text));
    free(text);
    json_decref(m);
}

static void remove_manifest(void)
{
    char path[FS_PATH_MAX];
    fuzz_check(fs_join(path, NULL, bundle, "manifest.json") == 0);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    if (!*bundle)
        prepare();
    size_t which = data[0] % FILES;
    put(files[which].name, data + 1, size - 1);
    if (data[0] & 0x80)
        put_manifest();
    struct ingest_result result;
    struct err err = {0};
    fuzz_check_err(ingest_bundle(&store, bundle, NULL, &result, &err), &err, ERR_INPUT);
    fuzz_check(sql_exec(&store, "DELETE FROM run", &err) == 0);
    remove_manifest();
    put(files[which].name, files[which].text, strlen(files[which].text));
    return 0;
}
