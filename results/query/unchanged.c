#include "results/query/unchanged.h"

#include "common/base/alloc.h"
#include "results/query/against.h"
#include "results/query/plan_cells.h"
#include "results/store/run_load.h"
#include "results/store/sql.h"

#include <stdlib.h>
#include <string.h>

void unchanged_release(struct unchanged *u)
{
    free(u->item);
    *u = (struct unchanged){.count = 0};
}

static void read_row(struct sql_stmt *stmt, struct unchanged_cell *c)
{
    *c = (struct unchanged_cell){.context = (int)sql_col_int(stmt, "context_len", 0),
                                 .run = sql_col_int(stmt, "run", 0)};
    sql_col_text(stmt, "variant", c->variant, sizeof c->variant);
    sql_col_text(stmt, "sha256", c->fingerprint, sizeof c->fingerprint);
}

/* Later runs count whatever became of them: a cell that one of them was to measure, and that is not as the
 * row says, is measured again. So do rejected ones, whose values nobody believes. */
static struct sql_stmt *prepare(struct store *s, struct err *err)
{
    return sql_prepare(
        s,
        "WITH night AS (SELECT r.id, r.ordered_at FROM run r WHERE r.node = :node"
        " AND r.ticket = :ticket AND r.mode = :mode AND r.purpose = 'sweep'),"
        " measured AS (SELECT f.variant, f.context_len, f.sha256, n.id AS run, n.ordered_at, c.id AS cell"
        " FROM fingerprint f JOIN night n ON n.id = f.run_id"
        " JOIN run r ON r.id = n.id AND r.rejected_at IS NULL"
        " JOIN series c ON c.node = :node AND c.ticket = :ticket AND c.mode = :mode AND c.variant = f.variant"
        " AND c.context_len = f.context_len"
        " WHERE f.left_out IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM run_revision v WHERE v.run_id = n.id AND v.dirty = 1)"
        " AND EXISTS (SELECT 1 FROM test t WHERE t.run_id = n.id AND t.series_id = c.id AND t.warmup = 0)"
        " AND NOT EXISTS (SELECT 1 FROM test t WHERE t.run_id = n.id AND t.series_id = c.id"
        " AND t.status <> 'OK'))"
        " SELECT m.variant, m.context_len, m.sha256, m.run FROM measured m"
        " WHERE EXISTS (SELECT 1 FROM measured o WHERE o.cell = m.cell AND o.sha256 = m.sha256"
        " AND (o.ordered_at, o.run) < (m.ordered_at, m.run))"
        " AND NOT EXISTS (SELECT 1 FROM night n WHERE (n.ordered_at, n.id) > (m.ordered_at, m.run)"
        " AND (EXISTS (SELECT 1 FROM test t WHERE t.run_id = n.id AND t.series_id = m.cell)"
        " OR EXISTS (SELECT 1 FROM unmeasured u WHERE u.run_id = n.id AND u.variant = m.variant"
        " AND u.context_len = m.context_len)))"
        " ORDER BY m.run",
        err);
}

static int load_rows(struct store *s, const struct unchanged_request *r, struct unchanged *out,
                     struct err *err)
{
    SQL_STMT stmt = prepare(s, err);
    struct unchanged_cell c;
    size_t cap = 0;
    int rc;
    plan_bind(stmt, r->node, r->ticket, r->mode);
    while ((rc = sql_step(stmt, err)) > 0) {
        read_row(stmt, &c);
        ALLOC_GROW(out->item, out->count + 1, cap);
        out->item[out->count++] = c;
    }
    return rc;
}

static bool is_settled(const struct comparison *c, const struct unchanged_cell *cell)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        if (d->metric != c->primary || d->context != cell->context || strcmp(d->variant, cell->variant) != 0)
            continue;
        switch (d->verdict) {
        case VERDICT_IMPROVED:
        case VERDICT_ACCEPTED:
        case VERDICT_UNCHANGED:
        case VERDICT_FIXED:
            return true;
        case VERDICT_REGRESSED:
        case VERDICT_SUSPECTED:
        case VERDICT_NOISY:
        case VERDICT_NEW:
        case VERDICT_MISSING:
        case VERDICT_BROKEN:
        case VERDICT_FAILING:
        case VERDICT_COUNT:
            return false;
        }
    }
    return false;
}

/* Judges the run as it was judged when it was made. Returns 1 judged, 0 it cannot be, or -1. */
static int judge(struct store *s, const struct unchanged_request *r, const struct run_data *now,
                 struct against *a, struct comparison *out, struct err *err)
{
    int rc = *r->baseline ? against_baseline(s, now, r->baseline, r->options, a, err)
                          : against_nights(s, now, r->options, a, err);
    if (rc != 0 && err->kind != ERR_INPUT)
        return -1;
    if (rc != 0 ||
        (*r->baseline ? a->base.info.key == now->info.key : a->history.nights < r->options->history_min))
        return 0; /* the baseline is not there, or is this run; or there are too few nights */
    return against_compare(a, now, out, err) == 0 ? 1 : -1;
}

/* Whether all cells of the run, or those of one GPU, are slower together: then each of them is open. */
static bool together_open(const struct comparison *c)
{
    bool worse = comparison_shift_regressed(c);
    for (size_t i = 0; i < c->cards.count; i++)
        worse = worse || c->cards.items[i].worse;
    return worse;
}

/* Marks the cells that this run was the last to measure, and that are open. */
static int mark_open(struct store *s, const struct unchanged_request *r, int64_t run, struct unchanged *u,
                     struct err *err)
{
    struct run_data now;
    struct against a = {.store = NULL};
    struct comparison c = {.count = 0};
    if (run_data_load(s, run, &now, err) != 0)
        return -1;
    int judged = judge(s, r, &now, &a, &c, err);
    bool any = judged == 1 && !together_open(&c);
    for (size_t i = 0; i < u->count; i++)
        if (u->item[i].run == run)
            u->item[i].open = !any || !is_settled(&c, &u->item[i]);
    comparison_release(&c);
    against_release(&a);
    run_data_release(&now);
    return judged < 0 ? -1 : 0;
}

int unchanged_load(struct store *s, const struct unchanged_request *r, struct unchanged *out, struct err *err)
{
    *out = (struct unchanged){.count = 0};
    if (load_rows(s, r, out, err) != 0) {
        unchanged_release(out);
        return -1;
    }
    AUTO_FREE int64_t *run = xcalloc(out->count + 1, sizeof *run);
    size_t runs = 0;
    for (size_t i = 0; i < out->count; i++)
        if (runs == 0 || run[runs - 1] != out->item[i].run)
            run[runs++] = out->item[i].run;
    for (size_t i = 0; i < runs; i++)
        if (mark_open(s, r, run[i], out, err) != 0) {
            unchanged_release(out);
            return -1;
        }
    return 0;
}
