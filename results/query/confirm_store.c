#include "results/query/confirm_store.h"

#include "common/base/alloc.h"
#include "results/store/sql.h"

#include <math.h>
#include <stdlib.h>

int confirm_save(struct store *s, int64_t now_key, int64_t base_key, const struct comparison *c,
                 struct err *err)
{
    SQL_STMT stmt =
        sql_prepare(s,
                    "INSERT OR REPLACE INTO confirmation (run_id, base_id, variant, context_len, outcome,"
                    " reason, ratio) VALUES (:run, :base, :variant, :context, :outcome, :reason, :ratio)",
                    err);
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        if (d->metric != c->primary || d->confirmation == CONFIRM_NOT_ASKED)
            continue;
        sql_bind_int(stmt, ":run", now_key);
        sql_bind_int(stmt, ":base", base_key);
        sql_bind_text(stmt, ":variant", d->variant);
        sql_bind_int(stmt, ":context", d->context);
        sql_bind_text(stmt, ":outcome", confirmation_name(d->confirmation));
        sql_bind_text(stmt, ":reason",
                      d->confirmation == CONFIRM_UNDECIDED ? undecided_name(d->doubts.undecided) : "");
        sql_bind_num(stmt, ":ratio", d->again > 0 ? d->again : NAN);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return 0;
}

static void read_record(struct sql_stmt *stmt, struct confirm_records *out)
{
    char name[32];
    ALLOC_GROW(out->items, out->count + 1, out->cap);
    struct confirm_record *r = &out->items[out->count];
    *r = (struct confirm_record){.context = (int)sql_col_int(stmt, "context_len", 0)};
    sql_col_text(stmt, "variant", r->variant, sizeof r->variant);
    sql_col_text(stmt, "outcome", name, sizeof name);
    out->count += confirmation_from_name(name, &r->confirmation);
    sql_col_text(stmt, "reason", name, sizeof name);
    undecided_from_name(name, &r->undecided);
    r->ratio = sql_col_num(stmt, "ratio");
}

int confirm_load(struct store *s, int64_t now_key, int64_t base_key, struct confirm_records *out,
                 struct err *err)
{
    *out = (struct confirm_records){0};
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT variant, context_len, outcome, reason, ratio FROM confirmation"
                                " WHERE run_id = :run AND base_id = :base",
                                err);
    sql_bind_int(stmt, ":run", now_key);
    sql_bind_int(stmt, ":base", base_key);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0)
        read_record(stmt, out);
    if (rc != 0)
        confirm_records_release(out);
    return rc;
}
