/* import_support: a file read through a mapping, and mappings to read with. Everything is inline, as in
 * support.h. */
#pragma once

#include "tests/unit/results_support.h"

#include "common/base/alloc.h"
#include "results/ingest/draft/commit.h"
#include "results/ingest/import/import.h"

/* map: a built-in mapping, or a file. */
static inline int import_files(struct store *s, const char *map, const char *const *files, size_t n,
                               const struct import_options *options, struct ingest_result *result,
                               struct err *err)
{
    AUTO(import_map_release) struct import_map m = {.root = NULL};
    AUTO(draft_release) struct draft d;
    draft_init(&d);
    *result = (struct ingest_result){0};
    if (import_map_load(&m, map, err) != 0 || import_read(&m, files, n, options, &d, err) != 0)
        return -1;
    return ingest_draft(s, &d, result, err);
}

static inline int import_file(struct store *s, const char *map, const char *file,
                              const struct import_options *options, struct ingest_result *result,
                              struct err *err)
{
    return import_files(s, map, &file, 1, options, result, err);
}

static inline struct run_data import_stored(struct store *s, const char *map, const char *file,
                                            const struct import_options *options, int warnings)
{
    struct err err = {0};
    struct ingest_result result;
    assert_ok(import_file(s, map, file, options, &result, &err), &err);
    if (result.warnings != warnings)
        fail_msg("%d warnings: %s", result.warnings, result.warning);
    return must_load(s, result.key);
}

#define OWN_MAP                                                                                              \
    "{\"schema\":\"kernsweep.map/1\",\"input\":\"csv\",\"rows\":\"/*\","                                     \
    "\"run\":{\"ticket\":{\"const\":\"mine\"},\"date\":{\"const\":\"2026-02-14\"}},"                         \
    "\"test\":{\"variant\":\"/kernel\",\"context\":\"/n\",\"prefill_s\":{\"at\":\"/"                         \
    "time\",\"unit\":{\"at\":\"/unit\"}},"                                                                   \
    "\"vram_peak_bytes\":{\"at\":\"/mem\",\"unit\":\"MiB\",\"default\":null}}}"

#define MAP_HEAD(input, rows)                                                                                \
    "{\"schema\":\"kernsweep.map/1\",\"input\":\"" input "\",\"rows\":\"" rows                               \
    "\",\"run\":{\"ticket\":{\"const\":\"mine\"},\"date\":{\"const\":\"2026-02-14\"}},"
