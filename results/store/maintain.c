#include "results/store/maintain.h"

#include "results/store/samples.h"
#include "results/store/sql.h"

#include <stdio.h>
#include <string.h>

/* Of one kind that are named: a damaged file may have a problem in each of its rows. */
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
