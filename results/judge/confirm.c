#include "results/judge/confirm.h"

#include "results/judge/judge.h"
#include "results/store/sql.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_suspect(const struct comparison *c, const struct delta *d)
{
    return d->metric == c->primary && d->verdict == VERDICT_REGRESSED;
}

int confirm_suspects(const struct comparison *c, struct suspect_list *out, struct err *err)
{
    *out = (struct suspect_list){.items = calloc(c->count + 1, sizeof *out->items)};
    if (!out->items)
        return err_set(err, ERR_INTERNAL, "no memory for the suspects");
    for (size_t i = 0; i < c->count; i++)
        if (is_suspect(c, &c->deltas[i])) {
            struct suspect *s = &out->items[out->count++];
            snprintf(s->variant, sizeof s->variant, "%s", c->deltas[i].variant);
            s->context = c->deltas[i].context;
        }
    return 0;
}

void suspect_list_release(struct suspect_list *l)
{
    free(l->items);
    *l = (struct suspect_list){0};
}

/* All values of the cell over the runs of one side; *out is to be free()d. */
static int pool(const struct run_data *const *runs, size_t n, const struct delta *d, double **out,
                size_t *count, struct err *err)
{
    size_t most = 1;
    *count = 0;
    for (size_t i = 0; i < n; i++)
        most += runs[i]->n_tests;
    *out = malloc(most * sizeof **out);
    if (!*out)
        return err_set(err, ERR_INTERNAL, "no memory for the confirmation");
    for (size_t i = 0; i < n; i++) {
        const struct cell *cell = run_data_cell(runs[i], d->variant, d->context);
        if (cell)
            *count += run_data_values(runs[i], cell, d->metric, *out + *count);
    }
    return 0;
}

/* The verdict that an outcome leaves. */
static void set_outcome(struct comparison *c, struct delta *d, enum confirmation outcome, const char *reason)
{
    d->confirmation = outcome;
    snprintf(d->reason, sizeof d->reason, "%s", reason);
    if (outcome != CONFIRM_REFUTED)
        return;
    d->verdict = VERDICT_NOISY;
    c->verdicts[VERDICT_REGRESSED]--;
    c->verdicts[VERDICT_NOISY]++;
}

/* How much worse the base's own build is now than the level it is held against. */
static double base_shift(const struct delta *d, const struct delta *again)
{
    double change = again->base_median / d->reference - 1;
    return metric_info(d->metric)->better == METRIC_LESS ? change : -change;
}

static void settle(struct comparison *c, struct delta *d, const struct delta *again,
                   const struct compare_options *o)
{
    char reason[COMPARE_REASON_MAX];
    enum confirmation outcome = CONFIRM_UNDECIDED;
    double shift = base_shift(d, again);
    if (again->base_n == 0 || again->now_n == 0)
        snprintf(reason, sizeof reason, "not measured again (%d and %d repetitions in turns): %.200s",
                 again->base_n, again->now_n, d->reason);
    else if (again->verdict == VERDICT_REGRESSED) {
        outcome = CONFIRM_STANDS;
        snprintf(reason, sizeof reason, "confirmed in turns with the base's build, n %d and %d: %.200s",
                 again->base_n, again->now_n, again->reason);
    } else if (shift > o->node_shift) {
        outcome = CONFIRM_NODE;
        snprintf(reason, sizeof reason,
                 "the node, not the sources: in turns the base's own build is %+.0f %% against before (%.6g "
                 "-> %.6g)",
                 100 * (again->base_median / d->reference - 1), d->reference, again->base_median);
    } else {
        outcome = CONFIRM_REFUTED;
        snprintf(reason, sizeof reason, "not confirmed in turns with the base's build, n %d and %d: %.200s",
                 again->base_n, again->now_n, again->reason);
    }
    set_outcome(c, d, outcome, reason);
}

static int judge_again(struct comparison *c, struct delta *d, const struct evidence *e,
                       const struct compare_options *options, struct err *err)
{
    struct compare_options o = *options;
    struct delta again = *d;
    o.same_session = true;
    o.history_is_base = false;
    again.p = again.p_adjusted = again.z = again.ratio_low = again.ratio_high = again.history_median = NAN;
    again.reason[0] = '\0';
    if (e->base_n == 0 || e->now_n == 0) {
        again.base_n = (int)e->base_n;
        again.now_n = (int)e->now_n;
    } else {
        if (judge_measure(e, &o, &again, err) != 0)
            return -1;
        again.p_adjusted = again.p;
        judge_decide(&o, 1, &again);
    }
    settle(c, d, &again, options);
    return 0;
}

int confirm_judge(struct comparison *c, const struct run_data *const *base, size_t n_base,
                  const struct run_data *const *now, size_t n_now, const struct compare_options *options,
                  struct err *err)
{
    for (size_t i = 0; i < c->count; i++) {
        struct delta *d = &c->deltas[i];
        double *a = NULL, *b = NULL;
        struct evidence e = {.noise = NAN};
        if (!is_suspect(c, d))
            continue;
        int rc = pool(base, n_base, d, &a, &e.base_n, err);
        if (rc == 0)
            rc = pool(now, n_now, d, &b, &e.now_n, err);
        e.base = a;
        e.now = b;
        if (rc == 0)
            rc = judge_again(c, d, &e, options, err);
        free(a);
        free(b);
        if (rc != 0)
            return -1;
    }
    return 0;
}

int confirm_save(struct store *s, int64_t now_key, int64_t base_key, const struct comparison *c,
                 struct err *err)
{
    SQL_STMT stmt =
        sql_prepare(s,
                    "INSERT OR REPLACE INTO confirmation (run_id, base_id, variant, context_len, outcome,"
                    " reason) VALUES (:run, :base, :variant, :context, :outcome, :reason)",
                    err);
    for (size_t i = 0; stmt && i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        if (d->metric != c->primary || d->confirmation == CONFIRM_NOT_ASKED)
            continue;
        sql_bind_int(stmt, ":run", now_key);
        sql_bind_int(stmt, ":base", base_key);
        sql_bind_text(stmt, ":variant", d->variant);
        sql_bind_int(stmt, ":context", d->context);
        sql_bind_text(stmt, ":outcome", confirmation_name(d->confirmation));
        sql_bind_text(stmt, ":reason", d->reason);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return stmt ? 0 : -1;
}

static int read_outcome(struct sql_stmt *stmt, struct outcome_list *out, struct err *err)
{
    char name[32];
    struct outcome *items = realloc(out->items, (out->count + 1) * sizeof *items);
    if (!items)
        return err_set(err, ERR_INTERNAL, "no memory for the confirmations");
    out->items = items;
    struct outcome *o = &items[out->count];
    *o = (struct outcome){.context = (int)sql_col_int(stmt, "context_len", 0)};
    sql_col_text(stmt, "variant", o->variant, sizeof o->variant);
    sql_col_text(stmt, "outcome", name, sizeof name);
    sql_col_text(stmt, "reason", o->reason, sizeof o->reason);
    out->count += confirmation_from_name(name, &o->confirmation);
    return 0;
}

int confirm_load(struct store *s, int64_t now_key, int64_t base_key, struct outcome_list *out,
                 struct err *err)
{
    *out = (struct outcome_list){0};
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT variant, context_len, outcome, reason FROM confirmation"
                                " WHERE run_id = :run AND base_id = :base",
                                err);
    if (!stmt)
        return -1;
    sql_bind_int(stmt, ":run", now_key);
    sql_bind_int(stmt, ":base", base_key);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0)
        if (read_outcome(stmt, out, err) != 0) {
            rc = -1;
            break;
        }
    if (rc != 0)
        outcome_list_release(out);
    return rc;
}

void outcome_list_release(struct outcome_list *l)
{
    free(l->items);
    *l = (struct outcome_list){0};
}

void confirm_apply(const struct outcome_list *l, struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        for (size_t j = 0; j < l->count; j++) {
            struct delta *d = &c->deltas[i];
            if (is_suspect(c, d) && l->items[j].context == d->context &&
                strcmp(l->items[j].variant, d->variant) == 0)
                set_outcome(c, d, l->items[j].confirmation, l->items[j].reason);
        }
}
