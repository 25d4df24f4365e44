#include "results/store/placing.h"

#include "results/store/sql.h"

#include <math.h>
#include <string.h>

enum { TESTS_MAX = 1000 };

/* The tests of one cell so far, by increasing time. */
struct cell_tests {
    struct last_place place;
    double wall_s[TESTS_MAX];
    size_t count;
};

static void finish(struct cell_tests *c, last_place_fn *fn, void *arg)
{
    if (!c->place.variant[0])
        return;
    c->place.wall_s = c->count > 0 ? c->wall_s[c->count / 2] : 0;
    fn(arg, &c->place);
}

static void add_row(struct cell_tests *c, struct sql_stmt *stmt)
{
    double wall_s = sql_col_num(stmt, "wall_s");
    if (!isnan(wall_s) && c->count < TESTS_MAX)
        c->wall_s[c->count++] = wall_s;
    if (!c->place.gpu[0])
        sql_col_text(stmt, "gpu", c->place.gpu, sizeof c->place.gpu);
}

static bool begins_cell(const struct cell_tests *c, struct sql_stmt *stmt, struct last_place *row)
{
    *row = (struct last_place){.context = sql_col_int(stmt, "context_len", 0),
                               .since = sql_col_int(stmt, "since", 0)};
    sql_col_text(stmt, "variant", row->variant, sizeof row->variant);
    sql_col_text(stmt, "date", row->date, sizeof row->date);
    return row->context != c->place.context || strcmp(row->variant, c->place.variant) != 0;
}

int last_places(struct store *s, const char *node, const char *ticket, const char *mode, last_place_fn *fn,
                void *arg, struct err *err)
{
    const struct cell_tests empty = {.count = 0};
    struct cell_tests c = empty;
    struct last_place row;
    int rc;
    SQL_STMT stmt = sql_prepare(
        s,
        "WITH last AS MATERIALIZED (SELECT s.id AS series_id, s.variant AS variant, s.context_len AS "
        "context_len,"
        " (SELECT r.id FROM run r WHERE r.node = s.node AND r.ticket = s.ticket AND r.mode = s.mode"
        " AND r.purpose = 'sweep' AND EXISTS (SELECT 1 FROM test o WHERE o.run_id = r.id"
        " AND o.series_id = s.id AND o.status = 'OK' AND o.warmup = 0)"
        " ORDER BY r.ordered_at DESC, r.id DESC LIMIT 1) AS run_id"
        " FROM series s WHERE s.node = :node AND s.ticket = :ticket AND s.mode = :mode),"
        " night AS MATERIALIZED (SELECT r.id AS id, r.date AS date, (SELECT count(*) FROM run x"
        " WHERE x.node = r.node AND x.ticket = r.ticket AND x.mode = r.mode AND x.purpose = 'sweep'"
        " AND (x.ordered_at, x.id) > (r.ordered_at, r.id)) AS since"
        " FROM run r WHERE r.id IN (SELECT run_id FROM last))"
        " SELECT l.variant AS variant, l.context_len AS context_len, t.gpu AS gpu, t.wall_s AS wall_s,"
        " n.date AS date, n.since AS since FROM last l CROSS JOIN night n ON n.id = l.run_id"
        " CROSS JOIN test t ON t.run_id = l.run_id AND t.series_id = l.series_id"
        " WHERE t.status = 'OK' AND t.warmup = 0 ORDER BY l.variant, l.context_len, t.wall_s",
        err);
    sql_bind_text(stmt, ":node", node);
    sql_bind_text(stmt, ":ticket", ticket);
    sql_bind_text(stmt, ":mode", mode);
    while ((rc = sql_step(stmt, err)) == 1) {
        if (begins_cell(&c, stmt, &row)) {
            finish(&c, fn, arg);
            c = empty;
            c.place = row;
        }
        add_row(&c, stmt);
    }
    if (rc == 0)
        finish(&c, fn, arg);
    return rc;
}

static bool is_listed(const struct suffering *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->name[i], name) == 0)
            return true;
    return false;
}

/* Whether the interval of the row lies beyond what matters; one that includes smaller effects says
 * nothing. */
static bool is_worse(struct sql_stmt *stmt, enum metric m, double practical)
{
    double low = sql_col_num(stmt, "low"), high = sql_col_num(stmt, "high");
    return metric_info(m)->better == METRIC_LESS ? low > 1 + practical : high < 1 - practical;
}

static void take_row(struct sql_stmt *stmt, enum metric primary, double practical, struct suffering *out)
{
    char variant[RUN_NAME_MAX], metric[RUN_NAME_MAX];
    enum metric m;
    sql_col_text(stmt, "variant", variant, sizeof variant);
    sql_col_text(stmt, "metric", metric, sizeof metric);
    if (out->count == NEIGHBOURS_MAX || !metric_from_name(metric, &m) || m != primary ||
        !is_worse(stmt, m, practical) || is_listed(out, variant))
        return;
    memcpy(out->name[out->count++], variant, sizeof variant);
}

static struct sql_stmt *prepare(struct store *s, const char *node, const char *ticket, const char *mode,
                                struct err *err)
{
    struct sql_stmt *stmt =
        sql_prepare(s,
                    "SELECT c.variant, t.metric, t.low, t.high FROM series c JOIN together t ON"
                    " t.series_id = c.id WHERE c.node = :node AND c.ticket = :ticket AND c.mode = :mode"
                    " ORDER BY c.variant, c.context_len",
                    err);
    if (stmt) {
        sql_bind_text(stmt, ":node", node);
        sql_bind_text(stmt, ":ticket", ticket);
        sql_bind_text(stmt, ":mode", mode);
    }
    return stmt;
}

int suffering_load(struct store *s, const char *node, const char *ticket, const char *mode, double practical,
                   struct suffering *out, struct err *err)
{
    struct metric_set measured = {0};
    int rc;
    out->count = 0;
    SQL_STMT stmt = prepare(s, node, ticket, mode, err);
    while ((rc = sql_step(stmt, err)) > 0) {
        char metric[RUN_NAME_MAX];
        enum metric m;
        sql_col_text(stmt, "metric", metric, sizeof metric);
        if (metric_from_name(metric, &m))
            measured.has[m] = true;
    }
    enum metric primary = metric_primary(metric_default(), &measured);
    sql_reset(stmt);
    while (rc == 0 && (rc = sql_step(stmt, err)) > 0) {
        take_row(stmt, primary, practical, out);
        rc = 0;
    }
    return rc < 0 ? -1 : 0;
}
