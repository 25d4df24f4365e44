#include "results/ingest/b3_89/perf.h"

#include "results/ingest/text/lenient.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool b3_is_perf(const char *rel)
{
    const char *base = strrchr(rel, '/');
    return strcmp(base ? base + 1 : rel, "perf.json") == 0;
}

static char *timings_of(const struct buf *text)
{
    static const char key[] = "\"timings\":";
    char *at = text->data ? strstr(text->data, key) : NULL;
    return at ? at + sizeof key - 1 : NULL;
}

/* If a test printed no timings, its file has `"timings": ` without a value. */
static bool mend_empty_timings(const struct buf *text)
{
    char *rest = timings_of(text);
    size_t blank = rest ? strspn(rest, " \t\r\n") : 0;
    if (!rest || rest[blank] != '}' || blank < 2)
        return false;
    rest[0] = '{';
    rest[1] = '}';
    return true;
}

/* If a test printed timings several times, its file has all of the lines: blanks all but the last. */
static bool mend_repeated_timings(const struct buf *text)
{
    char *first = timings_of(text), *last = NULL, *p = first;
    for (;;) {
        p = p ? p + strspn(p, " \t\r\n") : NULL;
        size_t n = p && *p == '{' ? strcspn(p, "\n") : 0;
        if (n == 0 || !memchr(p, '}', n))
            break;
        last = p;
        p += n;
    }
    if (!last || last == first + strspn(first, " \t\r\n"))
        return false;
    memset(first, ' ', (size_t)(last - first));
    return true;
}

static json_t *load_mended(struct buf *text, const char *full, struct draft *d)
{
    struct err ignored;
    bool empty = mend_empty_timings(text), repeated = !empty && mend_repeated_timings(text);
    json_t *perf = empty || repeated ? lenient_parse(buf_str(text), text->len, full, &ignored) : NULL;
    if (perf)
        draft_warn(d,
                   empty ? "%s: timings without a value, treated as missing"
                         : "%s: several lines of timings: the last one is used",
                   full);
    return perf;
}

json_t *b3_perf_load(const char *full, struct draft *d, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = LIMIT_JSON_BYTES};
    if (fs_read_file(full, LIMIT_JSON_BYTES, &text, err) != 0)
        return NULL;
    json_t *perf = lenient_parse(buf_str(&text), text.len, full, err);
    return perf ? perf : load_mended(&text, full, d);
}

/* Accepts "ctx_8192_run1", "ctx_8192_1" and "ctx_8192". */
static bool parse_ctx(const char *name, struct b3_place *p)
{
    int context, end = 0;
    if (sscanf(name, "ctx_%9d%n", &context, &end) != 1 || end == 0 || context < 0)
        return false;
    p->context = context;
    p->repetition = 0;
    const char *rest = name + end;
    if (*rest == '\0')
        return true;
    int repetition, used = 0;
    rest += strncmp(rest, "_run", 4) == 0 ? 4 : 1;
    if (name[end] != '_' || sscanf(rest, "%6d%n", &repetition, &used) != 1 || rest[used] != '\0' ||
        repetition < 0)
        return false;
    p->repetition = repetition;
    return true;
}

int b3_place_parse(const char *rel, const char *full, struct b3_place *p, struct err *err)
{
    char parts[FS_PATH_MAX];
    snprintf(parts, sizeof parts, "%s", rel);
    *p = (struct b3_place){"", RUN_UNKNOWN, RUN_UNKNOWN};
    char *last = strrchr(parts, '/');
    if (last)
        *last = '\0';
    else
        parts[0] = '\0';
    char *save = NULL;
    for (char *part = strtok_r(parts, "/", &save); part; part = strtok_r(NULL, "/", &save)) {
        if (parse_ctx(part, p) || strcmp(part, "runs") == 0)
            continue;
        if (!text_is_name(part))
            return err_set(err, ERR_INPUT, "%s: the folder \"%.80s\" is not a valid variant name", full,
                           part);
        snprintf(p->variant, sizeof p->variant, "%s", part);
    }
    return 0;
}

int b3_place_settle(const struct json_at *perf, struct b3_place *p, struct err *err)
{
    char variant[RUN_NAME_MAX];
    int64_t context, repetition;
    if (artifact_text(perf, "variant", variant, sizeof variant, err) != 0 ||
        artifact_int(perf, "context_len", 0, INT32_MAX, &context, err) != 0 ||
        artifact_int(perf, "repetition", 0, INT32_MAX, &repetition, err) != 0)
        return -1;
    if (*variant && *p->variant && strcmp(variant, p->variant) != 0)
        return json_fail(perf, err, "variant is \"%s\", but the folder belongs to \"%s\"", variant,
                         p->variant);
    if (context != RUN_UNKNOWN && p->context != RUN_UNKNOWN && context != p->context)
        return json_fail(perf, err, "context_len is %lld, but the folder belongs to %d", (long long)context,
                         p->context);
    if (*variant)
        snprintf(p->variant, sizeof p->variant, "%s", variant);
    if (context != RUN_UNKNOWN)
        p->context = (int)context;
    if (repetition != RUN_UNKNOWN)
        p->repetition = (int)repetition;
    if (p->context == RUN_UNKNOWN)
        return json_fail(perf, err, "unknown context: neither context_len nor a folder ctx_<N>");
    if (p->repetition == RUN_UNKNOWN)
        p->repetition = 0;
    return 0;
}

/* The sum of all cards in the output of rocm-smi --showmeminfo vram --json: {"card0": {"VRAM Total Used
 * Memory (B)": "123", ...}}. */
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
