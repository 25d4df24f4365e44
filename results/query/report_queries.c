#include "results/query/report_queries.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "results/store/run_load.h"
#include "results/store/sql.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int report_plan_load(struct store *s, int64_t run_key, json_t **plan, struct err *err)
{
    *plan = NULL;
    SQL_STMT stmt = sql_prepare_int(
        s, "SELECT d.body FROM run r JOIN document d ON d.id = r.plan_document_id WHERE r.id = :run", ":run",
        run_key, err);
    int rc = sql_step(stmt, err);
    if (rc <= 0)
        return rc;
    size_t len;
    const char *body = sql_col_str(stmt, "body", &len);
    *plan = json_parse(body ? body : "", len, s->path, err);
    return *plan ? 0 : -1;
}

int report_reference(struct store *s, const struct run_data *r, const char *wanted, size_t *out,
                     struct err *err)
{
    json_auto_t *plan = NULL;
    struct err absent; /* from a run of other variants */
    if (!wanted && report_plan_load(s, r->info.key, &plan, err) != 0)
        return -1;
    const char *planned = json_text(plan, "reference");
    if (*planned && run_data_reference(r, planned, out, &absent) == 0)
        return 0;
    return run_data_reference(r, wanted, out, err);
}

int report_run_label(struct store *s, int64_t run_key, char *run_id, char *date, struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(s, "SELECT run_id, date FROM run WHERE id = :run", ":run", run_key, err);
    int rc = sql_step(stmt, err);
    if (rc == 0)
        return err_set(err, ERR_STORAGE, "%s: a run of the history no longer exists", s->path);
    if (rc < 0)
        return -1;
    sql_col_text(stmt, "run_id", run_id, RUN_ID_MAX);
    sql_col_text(stmt, "date", date, 11);
    return 0;
}

#define UP_TO_RUN " WHERE r.ticket = :ticket AND r.ordered_at <= (SELECT ordered_at FROM run WHERE id = :run)"
#define PRICE                                                                                                \
    " json_extract(d.body, '$.cost.per_hour') AS price, json_extract(d.body, '$.cost.currency') AS currency"

static int read_cost(struct store *s, struct sql_stmt *stmt, struct cost_row *row, struct err *err)
{
    sql_col_text(stmt, "run_id", row->run_id, sizeof row->run_id);
    sql_col_text(stmt, "tag", row->tag, sizeof row->tag);
    sql_col_text(stmt, "date", row->date, sizeof row->date);
    row->wall_s = sql_col_num(stmt, "wall_s");
    row->per_hour = sql_col_num(stmt, "price");
    sql_col_text(stmt, "currency", row->currency, sizeof row->currency);
    row->tests = (int)sql_col_int(stmt, "tests", 0);
    row->ok = row->tests - (int)sql_col_int(stmt, "not_ok", 0);
    return run_status_read(s, stmt, row->run_id, &row->status, err);
}

static int load_rows(struct store *s, const struct run_info *run, size_t most, struct cost_list *out,
                     struct err *err)
{
    SQL_STMT stmt =
        sql_prepare(s,
                    "SELECT r.run_id, r.tag, r.date, r.status, r.wall_s," PRICE ","
                    " (SELECT count(*) FROM test t WHERE t.run_id = r.id) AS tests,"
                    " (SELECT count(*) FROM test t WHERE t.run_id = r.id AND t.status <> 'OK') AS not_ok"
                    " FROM run r LEFT JOIN document d ON d.id = r.plan_document_id" UP_TO_RUN
                    " ORDER BY r.ordered_at DESC, r.id DESC LIMIT :limit",
                    err);
    sql_bind_text(stmt, ":ticket", run->ticket);
    sql_bind_int(stmt, ":run", run->key);
    sql_bind_int(stmt, ":limit", (int64_t)most);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0)
        if (out->count == most || read_cost(s, stmt, &out->rows[out->count++], err) != 0)
            return -1;
    for (size_t i = 0; i < out->count / 2; i++) {
        struct cost_row swap = out->rows[i];
        out->rows[i] = out->rows[out->count - 1 - i];
        out->rows[out->count - 1 - i] = swap;
    }
    return rc;
}

/* Each plan is read once, however many runs had it. */
static int load_totals(struct store *s, const struct run_info *run, struct cost_list *out, struct err *err)
{
    SQL_STMT stmt = sql_prepare(
        s,
        "WITH by_plan AS (SELECT r.plan_document_id AS plan, count(*) AS runs, sum(r.wall_s) AS wall_s"
        " FROM run r" UP_TO_RUN " GROUP BY r.plan_document_id),"
        " priced AS (SELECT p.*," PRICE " FROM by_plan p LEFT JOIN document d ON d.id = p.plan)"
        " SELECT sum(runs) AS runs, sum(wall_s) AS wall_s, sum(CASE WHEN currency IS (SELECT currency"
        " FROM priced WHERE plan IS (SELECT plan_document_id FROM run WHERE id = :run))"
        " THEN wall_s * price / 3600 END) AS cost FROM priced",
        err);
    sql_bind_text(stmt, ":ticket", run->ticket);
    sql_bind_int(stmt, ":run", run->key);
    int rc = sql_step(stmt, err);
    if (rc <= 0)
        return rc;
    out->runs = (size_t)sql_col_int(stmt, "runs", 0);
    out->wall_s = sql_col_num(stmt, "wall_s");
    out->cost = sql_col_num(stmt, "cost");
    return 0;
}

int report_costs_load(struct store *s, const struct run_info *run, size_t most, struct cost_list *out,
                      struct err *err)
{
    *out = (struct cost_list){.wall_s = (double)NAN, .cost = (double)NAN};
    out->rows = xcalloc(most, sizeof *out->rows);
    return load_rows(s, run, most, out, err) || load_totals(s, run, out, err) ? -1 : 0;
}

void report_costs_release(struct cost_list *l)
{
    free(l->rows);
    *l = (struct cost_list){0};
}

int report_extras_load(struct store *s, int64_t run_key, struct extra_list *out, struct err *err)
{
    *out = (struct extra_list){0};
    SQL_STMT stmt =
        sql_prepare_int(s,
                        "SELECT t.id, q.name, e.value FROM test t JOIN extra e ON e.test_id = t.id"
                        " JOIN quantity q ON q.id = e.quantity_id WHERE t.run_id = :run"
                        " ORDER BY t.id, q.name",
                        ":run", run_key, err);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(out->rows, out->count + 1, cap);
        struct extra_row *row = &out->rows[out->count++];
        row->test_key = sql_col_int(stmt, "id", 0);
        sql_col_text(stmt, "name", row->name, sizeof row->name);
        row->value = sql_col_num(stmt, "value");
    }
    return rc;
}

void report_extras_release(struct extra_list *l)
{
    free(l->rows);
    *l = (struct extra_list){0};
}

struct wanted {
    int64_t test_key;
    const char *name;
};

static int by_test_and_name(const void *key, const void *item)
{
    const struct wanted *w = key;
    const struct extra_row *row = item;
    if (w->test_key != row->test_key)
        return w->test_key < row->test_key ? -1 : 1;
    return strcmp(w->name, row->name);
}

double report_extra(const struct extra_list *l, int64_t test_key, const char *name)
{
    const struct wanted w = {test_key, name};
    const struct extra_row *row =
        l->count ? bsearch(&w, l->rows, l->count, sizeof *l->rows, by_test_and_name) : NULL;
    return row ? row->value : (double)NAN;
}

bool report_extras_kernels_alone(const struct extra_list *l, const struct run_data *run)
{
    bool any = false;
    for (size_t i = 0; i < run->n_tests; i++) {
        const struct run_test *t = &run->tests[i];
        if (t->status != STATUS_OK || t->warmup)
            continue;
        /* A test that prints its number of layers runs a model. */
        if (isnan(report_extra(l, t->key, "heads")) || isfinite(report_extra(l, t->key, "layers")))
            return false;
        any = true;
    }
    return any;
}

int report_kernels_alone(struct store *s, const struct run_data *run, bool *out, struct err *err)
{
    AUTO(report_extras_release) struct extra_list extras = {0};
    int rc = report_extras_load(s, run->info.key, &extras, err);
    *out = rc == 0 && report_extras_kernels_alone(&extras, run);
    return rc;
}
