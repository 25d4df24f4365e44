/* import_support: a file read through a mapping, and mappings to read with. Everything is inline, as in
 * support.h. */
#ifndef KERNSWEEP_TESTS_UNIT_IMPORT_SUPPORT_H
#define KERNSWEEP_TESTS_UNIT_IMPORT_SUPPORT_H

#include "tests/unit/results_support.h"

#include "results/ingest/import/import.h"

static inline struct run_data import_stored(struct store *s, const char *map, const char *file,
                                            const struct import_options *options, int warnings)
{
    struct err err = {0};
    struct import_map m;
    struct ingest_result result;
    assert_ok(import_map_load(&m, map, &err), &err);
    assert_ok(import_file(s, &m, file, options, &result, &err), &err);
    if (result.warnings != warnings)
        fail_msg("%d warnings: %s", result.warnings, result.warning);
    import_map_release(&m);
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

#endif
