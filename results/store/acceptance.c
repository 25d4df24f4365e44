#include "results/store/acceptance.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "results/store/handle.h"
#include "results/store/sql.h"

#include <math.h>
#include <stdlib.h>

static int save_all(struct store *s, const struct acceptances *a, struct err *err)
{
    const int64_t now = llround(clock_real_s() * 1e3);
    SQL_STMT stmt =
        sql_prepare(s,
                    "INSERT OR REPLACE INTO acceptance (run_id, variant, context_len, metric, who,"
                    " reason, accepted_at) VALUES (:run, :variant, :context, :metric, :who,"
                    " :reason, :now)",
                    err);
    for (size_t i = 0; i < a->count; i++) {
        const struct acceptance *x = &a->items[i];
        sql_bind_text(stmt, ":run", x->run_id);
        sql_bind_text(stmt, ":variant", x->variant);
        sql_bind_int(stmt, ":context", x->context);
        sql_bind_text(stmt, ":metric", metric_info(x->metric)->name);
        sql_bind_text(stmt, ":who", x->who);
        sql_bind_text(stmt, ":reason", x->reason);
        sql_bind_int(stmt, ":now", now);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return 0;
}

int acceptances_save(struct store *s, const struct acceptances *a, struct err *err)
{
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    return sql_end(s, save_all(s, a, err), err);
}

/* False for a metric that no loaded run has defined: then none of them is judged by it. */
static bool read_row(struct sql_stmt *stmt, struct acceptance *out)
{
    char metric[RUN_NAME_MAX];
    *out = (struct acceptance){.context = (int)sql_col_int(stmt, "context_len", 0),
                               .measured_at = sql_col_int(stmt, "ordered_at", 0),
                               .accepted_at = sql_col_int(stmt, "accepted_at", 0)};
    sql_col_text(stmt, "run_id", out->run_id, sizeof out->run_id);
    sql_col_text(stmt, "date", out->date, sizeof out->date);
    sql_col_text(stmt, "variant", out->variant, sizeof out->variant);
    sql_col_text(stmt, "metric", metric, sizeof metric);
    sql_col_text(stmt, "who", out->who, sizeof out->who);
    sql_col_text(stmt, "reason", out->reason, sizeof out->reason);
    return metric_from_name(metric, &out->metric);
}

int acceptances_load(struct store *s, const struct run_info *run, struct acceptances *out, struct err *err)
{
    *out = (struct acceptances){0};
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT a.*, r.date, r.ordered_at FROM acceptance a"
                                " JOIN run r ON r.run_id = a.run_id WHERE r.rejected_at IS NULL"
                                " AND (:ticket IS NULL OR (r.node = :node AND r.ticket = :ticket"
                                " AND r.mode = :mode AND r.tag = :tag))"
                                " ORDER BY r.ordered_at, r.id, a.variant, a.context_len, a.metric",
                                err);
    sql_bind_text(stmt, ":node", run ? run->node : NULL);
    sql_bind_text(stmt, ":ticket", run ? run->ticket : NULL);
    sql_bind_text(stmt, ":mode", run ? run->mode : NULL);
    sql_bind_text(stmt, ":tag", run ? run->tag : NULL);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(out->items, out->count + 1, cap);
        out->count += read_row(stmt, &out->items[out->count]);
    }
    if (rc != 0)
        acceptances_release(out);
    return rc;
}

int acceptances_drop(struct store *s, const char *run_id, const char *variant, int context, int *dropped,
                     struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "DELETE FROM acceptance WHERE run_id = :run"
                                " AND (:variant IS NULL OR variant = :variant)"
                                " AND (:context IS NULL OR context_len = :context)",
                                err);
    sql_bind_text(stmt, ":run", run_id);
    sql_bind_text(stmt, ":variant", variant);
    sql_bind_int_or_null(stmt, ":context", context < 0 ? -1 : context, -1);
    if (sql_run(stmt, err) != 0)
        return -1;
    *dropped = sqlite3_changes(s->db);
    return 0;
}

void acceptances_release(struct acceptances *a)
{
    free(a->items);
    *a = (struct acceptances){0};
}
