#include "results/ingest/b3_89/memory.h"

#include "common/base/alloc.h"
#include "common/base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* rocm-smi --showmeminfo vram --json: {"card0": {"VRAM Total Used Memory (B)": "123", ...}}; the sum of
 * all cards. */
static double rocm_smi_used(json_t *report)
{
    double used = NAN;
    const char *card;
    json_t *values;
    json_object_foreach(report, card, values)
    {
        const char *text = json_string_value(json_object_get(values, "VRAM Total Used Memory (B)"));
        char *end = NULL;
        double v = text ? strtod(text, &end) : NAN;
        if (text && *text && !*end && v >= 0 && v < 0x1p60)
            used = isnan(used) ? v : used + v;
    }
    return used;
}

/* A missing file, or an error message of rocm-smi in it, counts as not measured. */
static double vram_of_file(const char *folder, const char *name)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, NULL, folder, name) != 0 || !fs_exists(path))
        return NAN;
    json_auto_t *report = json_load(path, LIMIT_JSON_BYTES, NULL);
    return rocm_smi_used(report);
}

static int sample_lines(char *text, struct samples *samples, struct err *err)
{
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        json_auto_t *report = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        double used = rocm_smi_used(report);
        if (isnan(used))
            continue;
        if (samples_add(samples, err) != 0)
            return -1;
        samples_set(samples, "vram_used", used);
    }
    return 0;
}

static int read_rocm_samples(const char *folder, struct draft_test *t, struct err *err)
{
    char path[FS_PATH_MAX];
    AUTO(buf_release) struct buf text = {.max = (size_t)256 << 20};
    AUTO(samples_release) struct samples samples = {0};
    if (fs_join(path, err, folder, "vram_samples.jsonl") != 0)
        return -1;
    if (!fs_exists(path))
        return 0;
    if (fs_read_file(path, text.max, &text, err) != 0 ||
        (text.data && sample_lines(text.data, &samples, err) != 0))
        return -1;
    const double *used = samples_column(&samples, "vram_used");
    for (size_t i = 0; i < samples.count; i++)
        if (!(t->t.value[METRIC_VRAM_PEAK] >= used[i]))
            t->t.value[METRIC_VRAM_PEAK] = used[i];
    if (samples.count)
        draft_set_samples(t, &samples);
    return 0;
}

int b3_memory_read(const char *full, bool skip_samples, struct draft_test *t, struct err *err)
{
    char folder[FS_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", full);
    *strrchr(folder, '/') = '\0';
    t->t.used.vram_before = vram_of_file(folder, "vram_before.json");
    t->t.used.vram_after = vram_of_file(folder, "vram_after.json");
    return skip_samples ? 0 : read_rocm_samples(folder, t, err);
}
