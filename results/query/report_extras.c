#include "results/query/report_queries.h"

#include "common/base/alloc.h"
#include "results/store/sql.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    int rc = -1;
    while (stmt && (rc = sql_step(stmt, err)) > 0) {
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
    struct extra_list extras;
    int rc = report_extras_load(s, run->info.key, &extras, err);
    *out = rc == 0 && report_extras_kernels_alone(&extras, run);
    report_extras_release(&extras);
    return rc;
}
