#include "results/store/vacuum.h"

#include "results/store/sql.h"

#include <sys/statvfs.h>

/* A step takes some tens of milliseconds, and its log some 20 MB. */
enum { PAGES_A_STEP = 4096 };
#define RELEASE_A_STEP "PRAGMA incremental_vacuum(4096)"

struct file_pages {
    int64_t count, unused, size;
};

static int read_pages(struct store *s, struct file_pages *out, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare(s,
                    "SELECT (SELECT page_count FROM pragma_page_count) AS pages, (SELECT freelist_count FROM"
                    " pragma_freelist_count) AS unused, (SELECT page_size FROM pragma_page_size) AS size",
                    err);
    if (sql_step(stmt, err) != 1)
        return -1;
    *out = (struct file_pages){.count = sql_col_int(stmt, "pages", 0),
                               .unused = sql_col_int(stmt, "unused", 0),
                               .size = sql_col_int(stmt, "size", 0)};
    return 0;
}

static int64_t bytes_available(const struct store *s)
{
    struct statvfs fs;
    return statvfs(s->path, &fs) == 0 ? (int64_t)(fs.f_bavail * fs.f_frsize) : INT64_MAX;
}

static int delete_orphans(struct store *s, struct err *err)
{
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    int rc = sql_exec(s,
                      "DELETE FROM environment WHERE id NOT IN (SELECT environment_id FROM run"
                      " WHERE environment_id IS NOT NULL);"
                      "DELETE FROM document WHERE id NOT IN (SELECT plan_document_id FROM run"
                      " WHERE plan_document_id IS NOT NULL UNION SELECT document_id FROM file"
                      " WHERE document_id IS NOT NULL);"
                      "DELETE FROM noise WHERE series_id NOT IN (SELECT series_id FROM test);"
                      "DELETE FROM together WHERE series_id NOT IN (SELECT series_id FROM test);"
                      "DELETE FROM series WHERE id NOT IN (SELECT series_id FROM test);"
                      "DELETE FROM quantity WHERE id NOT IN (SELECT quantity_id FROM extra)",
                      err);
    return sql_end(s, rc, err);
}

int store_vacuum_begin(struct store *s, struct vacuum_need *out, struct err *err)
{
    struct file_pages p;
    *out = (struct vacuum_need){0};
    if (delete_orphans(s, err) != 0 || read_pages(s, &p, err) != 0)
        return -1;
    int64_t step = p.unused < PAGES_A_STEP ? p.unused : PAGES_A_STEP;
    out->bytes = p.count * p.size;
    out->unused = p.unused * p.size;
    /* A step moves a page for each that it releases, and changes the pages that refer to it. */
    out->temporary = 3 * step * p.size;
    out->available = bytes_available(s);
    return 0;
}

static int interrupted(struct store *s, struct err *err)
{
    return err_set(err, ERR_INTERRUPTED,
                   "%s: interrupted; the store is complete, and what was released stays released", s->path);
}

/* Checkpoints keep the log from growing; one that must wait for a reader is made up for by the next. */
static int release_unused(struct store *s, vacuum_progress *progress, void *arg, struct err *err)
{
    struct file_pages p;
    if (read_pages(s, &p, err) != 0)
        return -1;
    int64_t first = p.unused, last = first + 1;
    while (p.unused > 0 && p.unused < last) {
        if (progress)
            progress(arg, (double)(first - p.unused) / (double)first);
        if (store_is_interrupted(s))
            return interrupted(s, err);
        last = p.unused;
        if (sql_exec(s, RELEASE_A_STEP "; PRAGMA wal_checkpoint(PASSIVE)", err) != 0 ||
            read_pages(s, &p, err) != 0)
            return store_is_interrupted(s) ? interrupted(s, err) : -1;
    }
    return 0;
}

int store_vacuum(struct store *s, const struct vacuum_need *need, vacuum_progress *progress, void *arg,
                 struct err *err)
{
    if (need->temporary > need->available)
        return err_set(err, ERR_STORAGE,
                       "%s: needs %lld MB of temporary space next to the store, and only %lld MB are free: "
                       "make room there",
                       s->path, (long long)(need->temporary / 1000000),
                       (long long)(need->available / 1000000));
    if (release_unused(s, progress, arg, err) != 0)
        return -1;
    if (progress)
        progress(arg, 1);
    return sql_exec(s, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA optimize", err);
}
