#include "results/ingest/b3_89_events.h"
#include "results/ingest/readers.h"
#include "results/store/when.h"

#include "common/base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The B3.89 executor wrote <date>/<ticket>[_<tag>]/<variant>/ctx_<N>_run<i>/perf.json, its first version
 * .../runs/ctx_<N>/; both with few keys, no list of files, and JSON put together from text. */
struct place {
    char variant[RUN_NAME_MAX]; /* "" when the path has none */
    int context;                /* RUN_UNKNOWN, as repetition */
    int repetition;
};

struct walk {
    const char *dir;
    const struct ingest_options *options;
    struct draft *d;
    char ticket[RUN_NAME_MAX]; /* of the first perf.json; all must agree */
    bool mode_seen;
    struct b3_events events;
};

/* "ctx_8192_run1", "ctx_8192_1", "ctx_8192" */
static bool parse_ctx(const char *name, struct place *p)
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

static int parse_place(const char *rel, const char *full, struct place *p, struct err *err)
{
    char parts[FS_PATH_MAX];
    snprintf(parts, sizeof parts, "%s", rel);
    *p = (struct place){"", RUN_UNKNOWN, RUN_UNKNOWN};
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
            return err_set(err, ERR_INPUT, "%s: the folder \"%.80s\" cannot name a variant", full, part);
        snprintf(p->variant, sizeof p->variant, "%s", part);
    }
    return 0;
}

/* A test that printed no timings left `"timings": ` with nothing behind it. */
static bool mend_empty_timings(struct buf *text)
{
    static const char key[] = "\"timings\":";
    char *at = text->data ? strstr(text->data, key) : NULL;
    if (!at)
        return false;
    char *rest = at + sizeof key - 1;
    size_t blank = strspn(rest, " \t\r\n");
    if (rest[blank] != '}' || blank < 2)
        return false;
    rest[0] = '{';
    rest[1] = '}';
    return true;
}

static json_t *load_perf(const char *full, struct draft *d, struct err *err)
{
    struct buf text;
    buf_init(&text, LIMIT_JSON_BYTES);
    json_t *perf = NULL;
    if (fs_read_file(full, LIMIT_JSON_BYTES, &text, err) == 0) {
        perf = json_parse(buf_str(&text), text.len, full, err);
        if (!perf && mend_empty_timings(&text)) {
            perf = json_parse(buf_str(&text), text.len, full, err);
            if (perf)
                draft_warn(d, "%s: timings without a value, read as none", full);
        }
    }
    buf_release(&text);
    return perf;
}

static int agree_on_mode(struct walk *w, const struct json_at *perf, struct err *err)
{
    char mode[16];
    struct run_info *r = &w->d->info;
    if (artifact_text(perf, "mode", mode, sizeof mode, err) != 0)
        return -1;
    if (!*mode)
        return 0;
    if (strcmp(mode, "perf") != 0 && strcmp(mode, "debug") != 0)
        return json_fail(perf, err, "mode is \"%s\", expected \"perf\" or \"debug\"", mode);
    if (w->mode_seen && strcmp(mode, r->mode) != 0)
        return json_fail(perf, err, "mode is \"%s\", but \"%s\" in the files before it: one folder, one mode",
                         mode, r->mode);
    snprintf(r->mode, sizeof r->mode, "%s", mode);
    w->mode_seen = true;
    return 0;
}

static int agree_on_ticket(struct walk *w, const struct json_at *perf, struct err *err)
{
    char ticket[RUN_NAME_MAX];
    if (artifact_name(perf, "ticket", ticket, sizeof ticket, err) != 0)
        return -1;
    if (*w->ticket && strcmp(ticket, w->ticket) != 0)
        return json_fail(perf, err, "ticket is \"%s\", but \"%s\" in the files before it", ticket, w->ticket);
    snprintf(w->ticket, sizeof w->ticket, "%s", ticket);
    return 0;
}

/* Keys of the file where it has them, else what the path says. */
static int settle_place(const struct json_at *perf, struct place *p, struct err *err)
{
    char variant[RUN_NAME_MAX];
    int64_t context, repetition;
    if (artifact_text(perf, "variant", variant, sizeof variant, err) != 0 ||
        artifact_int(perf, "context_len", 0, INT32_MAX, &context, err) != 0 ||
        artifact_int(perf, "repetition", 0, INT32_MAX, &repetition, err) != 0)
        return -1;
    if (*variant && *p->variant && strcmp(variant, p->variant) != 0)
        return json_fail(perf, err, "variant is \"%s\", but the folder is of \"%s\"", variant, p->variant);
    if (context != RUN_UNKNOWN && p->context != RUN_UNKNOWN && context != p->context)
        return json_fail(perf, err, "context_len is %lld, but the folder is of %d", (long long)context,
                         p->context);
    if (*variant)
        snprintf(p->variant, sizeof p->variant, "%s", variant);
    if (context != RUN_UNKNOWN)
        p->context = (int)context;
    if (repetition != RUN_UNKNOWN)
        p->repetition = (int)repetition;
    if (p->context == RUN_UNKNOWN)
        return json_fail(perf, err, "neither context_len nor a folder ctx_<N> says which context this is");
    if (p->repetition == RUN_UNKNOWN)
        p->repetition = 0;
    return 0;
}

/* The first executor built one binary, the baseline, and had no word for it. */
static int settle_variant(struct draft *d, const struct place *p, const struct json_at *perf,
                          struct run_test *t, struct err *err)
{
    const char *name = *p->variant ? p->variant : "baseline";
    if (!text_is_name(name))
        return json_fail(perf, err, "\"%.80s\" cannot name a variant", name);
    t->variant = draft_variant(d, name);
    if (t->variant == d->n_variants && !draft_add_variant(d, name, err))
        return -1;
    return 0;
}

/* rocm-smi --showmeminfo vram --json: {"card0": {"VRAM Total Used Memory (B)": "123", ...}}; the cards' sum.
 */
static double rocm_smi_used(const json_t *report)
{
    double used = NAN;
    const char *card;
    json_t *values;
    json_object_foreach((json_t *)(uintptr_t)report, card, values)
    {
        const char *text = json_string_value(json_object_get(values, "VRAM Total Used Memory (B)"));
        char *end = NULL;
        double v = text ? strtod(text, &end) : NAN;
        if (text && *text && !*end && v >= 0 && v < 0x1p60)
            used = isnan(used) ? v : used + v;
    }
    return used;
}

/* Its absence, and whatever rocm-smi printed in its place, is "not measured". */
static double vram_of_file(const char *folder, const char *name)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, NULL, folder, name) != 0 || !fs_exists(path))
        return NAN;
    json_t *report = json_load(path, LIMIT_JSON_BYTES, NULL);
    double used = rocm_smi_used(report);
    json_decref(report);
    return used;
}

static int sample_lines(char *text, struct samples *samples, struct err *err)
{
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        json_t *report = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        double used = rocm_smi_used(report);
        json_decref(report);
        if (isnan(used))
            continue;
        if (samples_add(samples, err) != 0)
            return -1;
        samples_set(samples, "vram_used", used);
    }
    return 0;
}

static int pack_samples(const struct samples *samples, struct draft_test *t, struct err *err)
{
    struct buf packed;
    buf_init(&packed, SIZE_MAX / 2);
    int rc = samples_pack(samples, &packed, err);
    if (rc == 0) {
        t->packed_samples = t->t.samples = (int)samples->count;
        t->packed_len = packed.len;
        t->packed = buf_steal(&packed);
    }
    buf_release(&packed);
    return rc;
}

static int read_rocm_samples(const char *folder, struct draft_test *t, struct err *err)
{
    char path[FS_PATH_MAX];
    struct buf text;
    struct samples samples;
    if (fs_join(path, err, folder, "vram_samples.jsonl") != 0)
        return -1;
    if (!fs_exists(path))
        return 0;
    buf_init(&text, (size_t)256 << 20);
    samples_init(&samples);
    int rc = fs_read_file(path, text.max, &text, err);
    if (rc == 0 && text.data)
        rc = sample_lines(text.data, &samples, err);
    const double *used = samples_column(&samples, "vram_used");
    for (size_t i = 0; rc == 0 && i < samples.count; i++)
        if (!(t->t.value[METRIC_VRAM_PEAK] >= used[i]))
            t->t.value[METRIC_VRAM_PEAK] = used[i];
    if (rc == 0 && samples.count)
        rc = pack_samples(&samples, t, err);
    samples_release(&samples);
    buf_release(&text);
    return rc;
}

static int read_memory(const struct walk *w, const char *full, struct draft_test *t, struct err *err)
{
    char folder[FS_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", full);
    *strrchr(folder, '/') = '\0';
    t->t.vram_before = vram_of_file(folder, "vram_before.json");
    t->t.vram_after = vram_of_file(folder, "vram_after.json");
    if (w->options && w->options->skip_samples)
        return 0;
    return read_rocm_samples(folder, t, err);
}

static int read_one(struct walk *w, const char *rel, const char *full, json_t *perf, struct err *err)
{
    struct json_at root = json_root(perf, full);
    struct place p;
    if (!json_is_object(perf))
        return json_fail(&root, err, "expected an object");
    if (parse_place(rel, full, &p, err) != 0 || settle_place(&root, &p, err) != 0 ||
        agree_on_ticket(w, &root, err) != 0 || agree_on_mode(w, &root, err) != 0)
        return -1;
    struct draft_test *t = draft_add_test(w->d, err);
    if (!t || artifact_perf(&root, w->d, t, err) != 0 || settle_variant(w->d, &p, &root, &t->t, err) != 0)
        return -1;
    t->t.context = p.context;
    t->t.repetition = p.repetition;
    return read_memory(w, full, t, err);
}

static bool is_perf(const char *rel)
{
    const char *base = strrchr(rel, '/');
    return strcmp(base ? base + 1 : rel, "perf.json") == 0;
}

static int visit(const char *rel, const char *full, void *arg, struct err *err)
{
    struct walk *w = arg;
    if (b3_events_may_be_in(rel))
        return b3_events_read(&w->events, full, err);
    if (!is_perf(rel))
        return 0;
    json_t *perf = load_perf(full, w->d, err);
    if (!perf)
        return -1;
    int rc = read_one(w, rel, full, perf, err);
    json_decref(perf);
    return rc;
}

/* The last day that the path names, "" when it names none. */
static void date_of_path(const char *path, char *out)
{
    out[0] = '\0';
    for (const char *p = path; strlen(p) >= 10; p++) {
        char day[11];
        memcpy(day, p, 10);
        day[10] = '\0';
        bool alone = (p == path || !isdigit((unsigned char)p[-1])) && !isdigit((unsigned char)p[10]);
        if (alone && when_is_date(day))
            memcpy(out, day, sizeof day);
    }
}

/* <ticket>_<tag>, where a date is no tag. */
static void tag_of_path(const char *path, const char *ticket, char *out, size_t size)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    size_t n = strlen(ticket);
    out[0] = '\0';
    if (strncmp(base, ticket, n) == 0 && base[n] == '_' && text_is_name(base + n + 1) &&
        !when_is_date(base + n + 1))
        snprintf(out, size, "%s", base + n + 1);
}

static int first_ticket(const char *rel, const char *full, void *arg, struct err *err)
{
    char *ticket = arg;
    struct draft none;
    if (!is_perf(rel) || *ticket)
        return 0;
    draft_init(&none);
    json_t *perf = load_perf(full, &none, err);
    if (!perf)
        return -1;
    struct json_at root = json_root(perf, full);
    int rc = artifact_name(&root, "ticket", ticket, RUN_NAME_MAX, err);
    json_decref(perf);
    return rc;
}

static int hash_file(const char *rel, const char *full, void *arg, struct err *err)
{
    char hex[SHA256_HEX_LEN + 1];
    if (!is_perf(rel))
        return 0;
    if (sha256_of_file(full, LIMIT_JSON_BYTES, hex, NULL, err) != 0)
        return -1;
    sha256_add(arg, rel, strlen(rel) + 1);
    sha256_add(arg, hex, sizeof hex);
    return 0;
}

static int settle_date(const char *real, const struct ingest_options *options, struct run_info *out,
                       struct err *err)
{
    date_of_path(real, out->date);
    if (options && options->date)
        snprintf(out->date, sizeof out->date, "%s", options->date);
    if (!*out->date)
        return err_set(err, ERR_INPUT, "%s: no date in the path, as in 2026-02-12/b3_89: say it with --date",
                       real);
    if (!when_is_date(out->date))
        return err_set(err, ERR_INPUT, "date is \"%.20s\", expected a day as 2026-02-14", out->date);
    return 0;
}

int b3_89_identity(const char *dir, const struct ingest_options *options, struct run_info *out,
                   struct err *err)
{
    char *real = realpath(dir, NULL);
    struct sha256 h;
    if (!real)
        return err_set(err, ERR_INPUT, "%s: no such folder", dir);
    out->ticket[0] = '\0';
    sha256_begin(&h);
    int rc = settle_date(real, options, out, err);
    if (rc == 0)
        rc = fs_walk(dir, false, first_ticket, out->ticket, err);
    if (rc == 0)
        rc = fs_walk(dir, false, hash_file, &h, err);
    if (rc == 0 && !*out->ticket)
        rc = err_set(err, ERR_INPUT, "%s: no perf.json in it", dir);
    if (rc == 0) {
        sha256_end(&h, out->content_sha256);
        tag_of_path(real, out->ticket, out->tag, sizeof out->tag);
        snprintf(out->run_id, sizeof out->run_id, "%.4s%.2s%.2s-%s%s%s-%.6s", out->date, out->date + 5,
                 out->date + 8, out->ticket, *out->tag ? "_" : "", out->tag, out->content_sha256);
        snprintf(out->node, sizeof out->node, "%s", options && options->node ? options->node : "unknown");
    }
    free(real);
    return rc;
}

int b3_89_read(const char *dir, const struct ingest_options *options, struct draft *d, struct err *err)
{
    struct walk w = {.dir = dir, .options = options, .d = d};
    if (b3_89_identity(dir, options, &d->info, err) != 0)
        return -1;
    snprintf(d->info.mode, sizeof d->info.mode, "perf");
    snprintf(d->info.origin, sizeof d->info.origin, "b3_89");
    b3_events_init(&w.events);
    int rc = fs_walk(dir, false, visit, &w, err);
    if (rc == 0)
        rc = b3_events_apply(&w.events, d, err);
    b3_events_release(&w.events);
    return rc == 0 ? draft_finish(d, err) : -1;
}
