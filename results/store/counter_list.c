#include "results/store/counter_list.h"

#include "common/base/alloc.h"
#include "results/store/sql.h"

#include <stdlib.h>

void counter_list_release(struct counter_list *l)
{
    free(l->items);
    *l = (struct counter_list){0};
}

struct counter *counter_list_add(struct counter_list *l)
{
    ALLOC_GROW(l->items, l->count + 1, l->cap);
    struct counter *c = &l->items[l->count++];
    *c = (struct counter){0};
    return c;
}

int counters_store(struct store *s, int64_t run_key, const struct counter_list *l, struct err *err)
{
    SQL_KEPT stmt =
        sql_keep(s,
                 "INSERT OR IGNORE INTO counter (run_id, variant, context_len, kernel, name, unit, value)"
                 " SELECT :run, position, :context, :kernel, :name, :unit, :value FROM variant"
                 " WHERE run_id = :run AND name = :variant",
                 err);
    for (size_t i = 0; i < l->count; i++) {
        const struct counter *c = &l->items[i];
        sql_bind_int(stmt, ":run", run_key);
        sql_bind_text(stmt, ":variant", c->variant);
        sql_bind_int(stmt, ":context", c->context);
        sql_bind_text(stmt, ":kernel", c->kernel);
        sql_bind_text(stmt, ":name", c->name);
        sql_bind_text(stmt, ":unit", c->unit);
        sql_bind_num(stmt, ":value", c->value);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return 0;
}

static int load(struct store *s, int64_t run_key, struct counter_list *out, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare_int(s,
                        "SELECT v.name AS variant, c.context_len, c.kernel, c.name, c.unit, c.value"
                        " FROM counter c JOIN variant v ON v.run_id = c.run_id"
                        " AND v.position = c.variant WHERE c.run_id = :run"
                        " ORDER BY c.variant, c.context_len, c.kernel, c.name",
                        ":run", run_key, err);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        struct counter *c = counter_list_add(out);
        sql_col_text(stmt, "variant", c->variant, sizeof c->variant);
        c->context = (int)sql_col_int(stmt, "context_len", 0);
        sql_col_text(stmt, "kernel", c->kernel, sizeof c->kernel);
        sql_col_text(stmt, "name", c->name, sizeof c->name);
        sql_col_text(stmt, "unit", c->unit, sizeof c->unit);
        c->value = sql_col_num(stmt, "value");
    }
    return rc;
}

int counters_of_build(struct store *s, int64_t run_key, struct counter_list *out, struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(s,
                                    "SELECT r.id FROM run r JOIN run o ON o.id = :run"
                                    " WHERE EXISTS (SELECT 1 FROM counter c WHERE c.run_id = r.id)"
                                    " AND (r.id = o.id OR (r.purpose = 'confirm' AND r.node = o.node"
                                    " AND r.ticket = o.ticket AND r.source_sha256 = o.source_sha256))"
                                    " ORDER BY r.id = o.id DESC, r.ordered_at DESC, r.id DESC LIMIT 1",
                                    ":run", run_key, err);
    *out = (struct counter_list){0};
    int rc = sql_step(stmt, err);
    if (rc > 0)
        rc = load(s, sql_col_int(stmt, "id", 0), out, err);
    if (rc != 0)
        counter_list_release(out);
    return rc;
}
