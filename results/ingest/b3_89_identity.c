#include "results/ingest/b3_89_perf.h"
#include "results/ingest/readers.h"
#include "results/store/when.h"

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
        if (alone && when_is_date(day))
            memcpy(out, day, sizeof day);
    }
}

/* <ticket>_<tag>; a date is not a tag. */
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
    if (!b3_is_perf(rel) || *ticket)
        return 0;
    draft_init(&none);
    json_t *perf = b3_perf_load(full, &none, err);
    if (!perf)
        return -1;
    struct json_at root = json_root(perf, full);
    int rc = artifact_name(&root, "ticket", ticket, RUN_NAME_MAX, err);
    json_decref(perf);
    return rc;
}

static int hash_file(const char *rel, const char *full, void *arg, struct err *err)
{
    return b3_is_perf(rel) ? artifact_hash(rel, full, arg, err) : 0;
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
    if (!when_is_date(out->date))
        return err_set(err, ERR_INPUT, "date is \"%.20s\", expected a date like 2026-02-14", out->date);
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
