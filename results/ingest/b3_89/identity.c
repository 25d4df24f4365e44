#include "results/ingest/b3_89/b3_89.h"
#include "results/ingest/b3_89/build.h"
#include "results/ingest/b3_89/events.h"
#include "results/ingest/b3_89/perf.h"
#include "results/ingest/draft/reading.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last date in the path, or "". */
static void date_of_path(const char *path, char *out)
{
    out[0] = '\0';
    for (const char *p = path; strlen(p) >= 10; p++) {
        char day[11];
        memcpy(day, p, 10);
        day[10] = '\0';
        bool alone = (p == path || !isdigit((unsigned char)p[-1])) && !isdigit((unsigned char)p[10]);
        if (alone && clock_is_day(day))
            memcpy(out, day, sizeof day);
    }
}

/* The folder is called <ticket>_<tag>; a date in that place is not a tag. */
static void tag_of_path(const char *path, const char *ticket, char *out, size_t size)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    size_t n = strlen(ticket);
    out[0] = '\0';
    if (strncmp(base, ticket, n) == 0 && base[n] == '_' && text_is_name(base + n + 1) &&
        !clock_is_day(base + n + 1))
        snprintf(out, size, "%s", base + n + 1);
}

/* Logs may be larger than artifacts. */
enum { LOG_BYTES_MAX = 256 << 20 };

/* What a folder consists of, and its hashes. */
struct inventory {
    char ticket[RUN_NAME_MAX]; /* of the first perf.json that has one */
    int perfs;
    int bundles; /* of kernsweep, in folders of it */
    int logs;    /* of the executor */
    int json;    /* other files that an import might read */
    struct sha256 contents;
    struct sha256 others; /* logs, gates, resources: read, but not part of the identity */
};

static void take_ticket(const char *full, struct inventory *v)
{
    struct draft none;
    struct err ignored = {0};
    draft_init(&none);
    json_auto_t *perf = b3_perf_load(full, &none, &ignored);
    const char *ticket = json_string_value(json_object_get(perf, "ticket"));
    if (ticket && strlen(ticket) < sizeof v->ticket)
        memcpy(v->ticket, ticket, strlen(ticket) + 1);
}

static int take_inventory(const char *rel, const char *full, void *arg, struct err *err)
{
    struct inventory *v = arg;
    bool log = b3_events_may_be_in(rel);
    if (b3_is_perf(rel)) {
        v->perfs++;
        if (!*v->ticket)
            take_ticket(full, v);
        return artifact_hash(rel, full, LIMIT_JSON_BYTES, &v->contents, err);
    }
    v->logs += log;
    v->bundles += text_ends_with(rel, "/job.json");
    v->json += text_ends_with(rel, ".json") || text_ends_with(rel, ".jsonl") || text_ends_with(rel, ".csv");
    return log || b3_builds_may_be_in(rel) ? artifact_hash(rel, full, LOG_BYTES_MAX, &v->others, err) : 0;
}

static int settle_date(const char *real, const struct ingest_options *options, struct run_info *out,
                       struct err *err)
{
    date_of_path(real, out->date);
    if (options && options->date)
        snprintf(out->date, sizeof out->date, "%s", options->date);
    if (!*out->date)
        return err_set(err, ERR_INPUT,
                       "%s: no date in the path (as in 2026-02-12/b3_89): give one with --date", real);
    if (!clock_is_day(out->date))
        return err_set(err, ERR_INPUT, "date is \"%.20s\", expected a date like 2026-02-14", out->date);
    return 0;
}

/* Points to `import` if a folder without perf.json has files that it may read. */
static int refuse_folder(const char *real, const struct inventory *v, struct err *err)
{
    if (v->json)
        return err_set(
            err, ERR_INPUT,
            "%s: no perf.json and no log of an executor in it, but %d other JSON or CSV file%s: `kernsweep "
            "import --map MAP --one-run FILE...` reads them",
            real, v->json, v->json == 1 ? "" : "s");
    return err_set(err, ERR_INPUT, "%s: no perf.json in it, and no log of an executor: not a run's folder",
                   real);
}

static int settle_ticket(const char *real, const struct inventory *v, const struct ingest_options *options,
                         struct run_info *out, struct err *err)
{
    const char *ticket = options && options->ticket ? options->ticket : v->ticket;
    if (!*ticket)
        return err_set(
            err, ERR_INPUT,
            "%s: no ticket in its files: give one with --ticket; files of another form are read by "
            "`kernsweep import`",
            real);
    if (!text_is_name(ticket))
        return err_set(
            err, ERR_INPUT,
            "%s: $.ticket: expected a name of letters, digits, '.', '_' and '-', at most %d: give one "
            "with --ticket",
            real, LIMIT_NAME);
    snprintf(out->ticket, sizeof out->ticket, "%s", ticket);
    return 0;
}

/* Logs are hashed apart, as a folder may get its log later; without any perf.json they are the contents. */
static void name_run(const char *real, struct inventory *v, const struct ingest_options *options,
                     struct run_info *out)
{
    static const struct ingest_options none;
    const struct ingest_options *o = options ? options : &none;
    char others[SHA256_HEX_LEN + 1], warmup[16];
    sha256_end(&v->contents, out->content_sha256);
    sha256_end(&v->others, others);
    if (!v->perfs)
        memcpy(out->content_sha256, others, sizeof others);
    tag_of_path(real, out->ticket, out->tag, sizeof out->tag);
    snprintf(out->run_id, sizeof out->run_id, "%.4s%.2s%.2s-%s%s%s-%.6s", out->date, out->date + 5,
             out->date + 8, out->ticket, *out->tag ? "_" : "", out->tag, out->content_sha256);
    snprintf(out->node, sizeof out->node, "%s", o->node ? o->node : "unknown");
    out->reading[0] = '\0';
    reading_add(out->reading, "node", o->node);
    others[12] = '\0';
    reading_add(out->reading, "log", v->logs ? others : NULL);
    snprintf(warmup, sizeof warmup, "%d", o->warmup);
    reading_add(out->reading, "warmup", warmup);
    reading_add(out->reading, "samples", o->skip_samples ? "no" : "yes");
}

int b3_89_identity(const char *dir, const struct ingest_options *options, struct run_info *out,
                   struct err *err)
{
    AUTO_FREE char *real = realpath(dir, NULL);
    struct inventory v = {0};
    if (!real)
        return err_set(err, ERR_INPUT, "%s: no such folder", dir);
    sha256_begin(&v.contents);
    sha256_begin(&v.others);
    if (fs_walk(dir, false, take_inventory, &v, err) != 0)
        return -1;
    if (v.bundles)
        return err_set(err, ERR_INPUT, "%s: contains the bundle%s of %d run%s: name %s folder", real,
                       text_plural(v.bundles), v.bundles, text_plural(v.bundles),
                       v.bundles == 1 ? "the run's" : "each run's");
    if (!v.perfs && !v.logs)
        return refuse_folder(real, &v, err);
    if (settle_date(real, options, out, err) != 0 || settle_ticket(real, &v, options, out, err) != 0)
        return -1;
    name_run(real, &v, options, out);
    return 0;
}
