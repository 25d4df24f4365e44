/* Results that another program wrote: a folder of a B3.89 executor of which one file is the input, and files
 * of other tools through a mapping. Refused as input, or stored; an ERR_STORAGE is a finding.
 *
 * The first byte chooses the file.
 */
#include "results/ingest/import/import.h"
#include "results/ingest/ingest.h"
#include "results/store/sql.h"
#include "tests/fuzz/fuzz.h"

static const struct {
    const char *name, *text;
} files[] = {
    {"v3/ctx_4096_run0/perf.json",
     "{\"ticket\":\"t\",\"variant\":\"v3\",\"context_len\":4096,\"repetition\":0,\"wall_time_sec\":.51,"
     "\"exit_status\":\"FAIL\",\"mode\":\"perf\",\"timings\":{\"prefill_s\":NaN}}"},
    {"remote.log",
     "{\"event\":\"SUITE_START\",\"ts\":\"2026-02-14T03:15:00Z\",\"total_tests\":3,\"variants\":\"v3,v4\","
     "\"contexts\":4096,\"repeat_map\":\"4096:2\"}\n"
     "{\"event\":\"TEST_START\",\"variant\":\"v3\",\"ctx\":4096,\"run_idx\":0,\"timeout_s\":60}\n"
     "{\"event\":\"TEST_END\",\"variant\":\"v3\",\"ctx\":4096,\"run_idx\":0,\"exit_code\":139,"
     "\"exit_status\":\"FAIL\",\"wall_s\":\".51\",\"prefill_s\":\"NA\"}\n"
     "GATE FAILED for v4. Skipping execution.\n"},
    {"v4_gate.log", "GATE FAILED: Scratch spilling detected (528 bytes).\n"},
    {"v3_resources.txt", "Kernel: k\n  VGPRs:   19\n  Scratch: 0 bytes\n"},
    {"v3/ctx_4096_run0/vram_samples.jsonl", "{\"card0\":{\"VRAM Total Used Memory (B)\":\"1000\"}}\n"},
};
enum { FILES = sizeof files / sizeof *files };

static const char json_map[] =
    "{\"schema\":\"kernsweep.map/1\",\"input\":\"json\",\"rows\":\"/"
    "*\",\"run\":{\"ticket\":{\"const\":\"m\"},"
    "\"date\":{\"const\":\"2026-02-14\"}},\"test\":{\"variant\":{\"join\":[{\"key\":true,\"default\":null},"
    "{\"at\":\"/k\",\"default\":\"v\"}]},\"context\":{\"at\":\"/"
    "n\",\"default\":0},\"point\":{\"b\":{\"at\":\"/b\","
    "\"default\":null}},\"kernel_ms\":{\"at\":\"/"
    "t\",\"unit\":\"us\",\"default\":null}},\"extras\":{\"g\":{\"at\":\"/g\","
    "\"default\":null}}}",
                  csv_map[] = "{\"schema\":\"kernsweep.map/1\",\"input\":\"csv\",\"rows\":\"/"
                              "*\",\"run\":{\"ticket\":{\"const\":\"m\"},"
                              "\"date\":{\"const\":\"2026-02-14\"}},\"test\":[{\"variant\":{\"const\":\"a\"},"
                              "\"kernel_ms\":{\"at\":\"/"
                              "a\",\"default\":null}},{\"variant\":{\"const\":\"b\"},\"kernel_ms\":{\"at\":"
                              "\"/b\",\"default\":null}}]}";

static struct store store;
static struct import_map maps[2];
static char folder[FS_PATH_MAX], source[FS_PATH_MAX];

static void put(const char *name, const void *data, size_t size)
{
    char path[FS_PATH_MAX];
    fuzz_check(fs_join(path, NULL, "2026-02-14", name) == 0);
    fuzz_put(path, data, size);
}

static void load_map(struct import_map *m, const char *text)
{
    struct err err = {0};
    char path[FS_PATH_MAX];
    fuzz_put("map.json", text, strlen(text));
    fuzz_check(fs_join(path, NULL, fuzz_folder(), "map.json") == 0 && import_map_load(m, path, &err) == 0);
}

static void prepare(void)
{
    char path[FS_PATH_MAX];
    struct err err = {0};
    fuzz_check(fs_join(folder, NULL, fuzz_folder(), "2026-02-14") == 0 &&
               fs_join(path, NULL, folder, "v3/ctx_4096_run0") == 0 && fs_mkdir_p(path, 0700, NULL) == 0 &&
               fs_join(source, NULL, fuzz_folder(), "input") == 0);
    load_map(&maps[0], json_map);
    load_map(&maps[1], csv_map);
    for (size_t i = 0; i < FILES; i++)
        put(files[i].name, files[i].text, strlen(files[i].text));
    fuzz_check(store_open(&store, ":memory:", STORE_WRITE, &err) == 0);
}

static void ingest_folder(size_t which, const uint8_t *data, size_t size)
{
    const struct ingest_options options = {.ticket = which == 0 ? NULL : "t", .warmup = 1};
    struct ingest_result result;
    struct err err = {0};
    put(files[which].name, data, size);
    fuzz_check_err(ingest_bundle(&store, folder, &options, &result, &err), &err, ERR_INPUT);
    put(files[which].name, files[which].text, strlen(files[which].text));
}

static void import_input(const struct import_map *m, const uint8_t *data, size_t size)
{
    struct ingest_result result;
    struct err err = {0};
    const char *file = source;
    struct draft d;
    draft_init(&d);
    fuzz_put("input", data, size);
    int rc = import_read(m, &file, 1, NULL, &d, &err);
    fuzz_check_err(rc == 0 ? ingest_draft(&store, &d, &result, &err) : rc, &err, ERR_INPUT);
    draft_release(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    if (size < 1)
        return 0;
    if (!*folder)
        prepare();
    size_t which = data[0] % (FILES + 2);
    if (which < FILES)
        ingest_folder(which, data + 1, size - 1);
    else
        import_input(&maps[which - FILES], data + 1, size - 1);
    fuzz_check(sql_exec(&store, "DELETE FROM run", &err) == 0);
    return 0;
}
