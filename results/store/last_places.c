#include "results/store/last_places.h"

#include "results/store/sql.h"

#include <math.h>
#include <string.h>

enum { TESTS_MAX = 1000 };

/* The tests of one cell so far, by increasing time. */
struct cell {
    struct last_place place;
    double wall_s[TESTS_MAX];
    size_t count;
};

static void finish(struct cell *c, last_place_fn *fn, void *arg)
{
    if (!c->place.variant[0])
        return;
    c->place.wall_s = c->count > 0 ? c->wall_s[c->count / 2] : 0;
    fn(arg, &c->place);
}

static void add_row(struct cell *c, struct sql_stmt *stmt)
{
    double wall_s = sql_col_num(stmt, "wall_s");
    if (!isnan(wall_s) && c->count < TESTS_MAX)
        c->wall_s[c->count++] = wall_s;
    if (!c->place.gpu[0])
        sql_col_text(stmt, "gpu", c->place.gpu, sizeof c->place.gpu);
}

static bool begins_cell(const struct cell *c, struct sql_stmt *stmt, struct last_place *row)
{
    *row = (struct last_place){.context = sql_col_int(stmt, "context_len", 0)};
    sql_col_text(stmt, "variant", row->variant, sizeof row->variant);
    return row->context != c->place.context || strcmp(row->variant, c->place.variant) != 0;
}

int last_places(struct store *s, const char *node, const char *ticket, const char *mode, last_place_fn *fn,
                void *arg, struct err *err)
{
    const struct cell empty = {.count = 0};
    struct cell c = empty;
    struct last_place row;
    int rc;
    SQL_STMT stmt = sql_prepare(
        s,
        "SELECT s.variant AS variant, s.context_len AS context_len, t.gpu AS gpu, t.wall_s AS wall_s"
        " FROM series s JOIN test t ON t.series_id = s.id"
        " WHERE s.node = :node AND s.ticket = :ticket AND s.mode = :mode AND t.status = 'OK' AND t.warmup = 0"
        " AND t.run_id = (SELECT r.id FROM run r WHERE r.node = s.node AND r.ticket = s.ticket"
        " AND r.mode = s.mode AND r.purpose = 'sweep' AND EXISTS (SELECT 1 FROM test o WHERE o.run_id = r.id"
        " AND o.series_id = s.id AND o.status = 'OK' AND o.warmup = 0)"
        " ORDER BY r.ordered_at DESC, r.id DESC LIMIT 1)"
        " ORDER BY s.variant, s.context_len, t.wall_s",
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
