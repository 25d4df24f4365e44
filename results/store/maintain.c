#include "results/store/maintain.h"

#include "results/store/samples.h"
#include "results/store/sql.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

/* Only this many problems of one kind are named: a damaged file may have one in each of its rows. */
enum { NAMED_MAX = 100 };

struct check {
    struct store *s;
    maintain_found *found;
    void *arg;
    struct check_result *out;
};

static void report_problem(struct check *c, const char *what)
{
    c->out->problems++;
    c->found(c->arg, what);
}

/* Each row is a problem, described by its column "problem". */
static int rows_are_problems(struct check *c, const char *query, const char *what, struct err *err)
{
    SQL_STMT stmt = sql_prepare(c->s, query, err);
    int rc, found = 0;
    char value[512], line[640];
    while ((rc = sql_step(stmt, err)) > 0) {
        if (found++ >= NAMED_MAX)
            continue;
        sql_col_text(stmt, "problem", value, sizeof value);
        snprintf(line, sizeof line, "%s%s", what, value);
        report_problem(c, line);
    }
    if (rc == 0 && found > NAMED_MAX) {
        snprintf(line, sizeof line, "%s%d more", what, found - NAMED_MAX);
        report_problem(c, line);
    }
    return rc;
}

/* A sound file yields the single row "ok". */
static int check_structure(struct check *c, struct err *err)
{
    SQL_STMT stmt = sql_prepare(c->s, "PRAGMA integrity_check(100)", err);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        char line[512];
        sql_col_text(stmt, "integrity_check", line, sizeof line);
        if (strcmp(line, "ok") != 0)
            report_problem(c, line);
    }
    return rc;
}

static int check_samples(struct check *c, struct err *err)
{
    SQL_STMT stmt = sql_prepare(c->s, "SELECT test_id, samples, packed FROM telemetry", err);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        struct samples t;
        char line[160];
        size_t len;
        const void *packed = sql_col_blob(stmt, "packed", &len);
        int64_t test = sql_col_int(stmt, "test_id", 0), n = sql_col_int(stmt, "samples", 0);
        bool whole = samples_unpack(packed, len, &t, NULL) == 0;
        if (!whole || (int64_t)t.count != n) {
            snprintf(line, sizeof line,
                     "telemetry of test %lld: damaged, or not the %lld samples recorded for it",
                     (long long)test, (long long)n);
            report_problem(c, line);
        }
        samples_release(&t);
        c->out->samples += n;
    }
    return rc;
}

static int count_rows(struct check *c, struct err *err)
{
    SQL_STMT stmt = sql_prepare(
        c->s,
        "SELECT (SELECT count(*) FROM run) AS runs, (SELECT count(*) FROM test) AS tests,"
        " (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size) AS bytes",
        err);
    if (sql_step(stmt, err) != 1)
        return -1;
    c->out->runs = sql_col_int(stmt, "runs", 0);
    c->out->tests = sql_col_int(stmt, "tests", 0);
    c->out->bytes = sql_col_int(stmt, "bytes", 0);
    return 0;
}

int store_check(struct store *s, maintain_found *found, void *arg, struct check_result *out, struct err *err)
{
    struct check c = {s, found, arg, out};
    *out = (struct check_result){0};
    if (check_structure(&c, err) != 0 ||
        rows_are_problems(&c,
                          "SELECT \"table\" || coalesce(' row ' || rowid, '') || ' refers to a missing ' || "
                          "parent AS problem"
                          " FROM pragma_foreign_key_check",
                          "reference: ", err) != 0 ||
        rows_are_problems(
            &c,
            "SELECT r.run_id AS problem FROM run r JOIN test t ON t.run_id = r.id JOIN series c"
            " ON c.id = t.series_id WHERE (c.node, c.ticket, c.mode) <> (r.node, r.ticket, r.mode)"
            " GROUP BY r.id",
            "tests in a series of another node, plan or mode: run ", err) != 0 ||
        rows_are_problems(
            &c,
            "SELECT r.run_id AS problem FROM run r JOIN test t ON t.run_id = r.id JOIN series c"
            " ON c.id = t.series_id LEFT JOIN variant v ON v.run_id = r.id AND v.name = c.variant"
            " WHERE v.name IS NULL GROUP BY r.id",
            "tests of a variant that the run does not have: run ", err) != 0)
        return -1;
    return check_samples(&c, err) == 0 ? count_rows(&c, err) : -1;
}

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

/* Checkpoints keep the log from growing; if one has to wait for a reader, the next makes up for it. */
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
