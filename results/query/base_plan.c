#include "results/query/base_plan.h"

#include "common/base/json.h"
#include "common/base/word.h"
#include "results/query/report_queries.h"
#include "results/store/sql.h"

#include <string.h>

/* Keys of the whole plan that decide what a test runs, and in what surroundings. */
static const char *const shared[] = {"axes",  "clock",         "clocks",    "container", "env",
                                     "gpus",  "gpus_per_test", "isolate",   "kind",      "limits",
                                     "model", "patches",       "placement", "shapes",    "timings"};

static bool values_differ(const json_t *a, const json_t *b)
{
    return (a || b) && (!a || !b || !json_equal(a, b));
}

static const json_t *variant_of(const json_t *plan, const char *name)
{
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(plan, "variants"), i, item)
    {
        if (strcmp(json_text(item, "name"), name) == 0)
            return item;
    }
    return NULL;
}

/* Variants that axes or shapes make are not named in the plan; for them, a change of any variant counts. */
static bool variants_differ(const json_t *before, const json_t *now, const char *name)
{
    const json_t *was = variant_of(before, name), *is = variant_of(now, name);
    if (was && is)
        return values_differ(was, is);
    return values_differ(json_object_get(before, "variants"), json_object_get(now, "variants"));
}

static bool surroundings_differ(const json_t *before, const json_t *now)
{
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (values_differ(json_object_get(before, shared[i]), json_object_get(now, shared[i])))
            return true;
    return false;
}

static void mark_variants(const json_t *before, const json_t *plan, const struct run_data *now,
                          bool *otherwise)
{
    bool all = surroundings_differ(before, plan);
    for (size_t i = 0; i < now->n_variants; i++)
        otherwise[i] = otherwise[i] || all || variants_differ(before, plan, now->variants[i].name);
}

static int mark_since(struct store *s, int64_t run, const json_t *plan, const struct run_data *now,
                      bool *otherwise, struct err *err)
{
    json_auto_t *before = NULL;
    if (report_plan_load(s, run, &before, err) != 0)
        return -1;
    if (before)
        mark_variants(before, plan, now, otherwise);
    return 0;
}

/* Looks at one run for each plan of the newest nights. */
static int plans_of_nights(struct store *s, const struct run_data *now, const json_t *plan, size_t nights,
                           bool *otherwise, struct err *err)
{
    SQL_STMT stmt = sql_prepare(
        s,
        "SELECT min(id) AS id FROM (SELECT r.id, r.plan_sha256 FROM run r JOIN run n ON n.id = :now"
        " WHERE r.node = n.node AND r.ticket = n.ticket AND r.mode = n.mode AND r.tag = n.tag"
        " AND r.status = 'COMPLETE' AND r.purpose = 'sweep' AND r.rejected_at IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM run_revision g WHERE g.run_id = r.id AND g.dirty)"
        " AND (r.ordered_at, r.id) < (n.ordered_at, n.id) ORDER BY r.ordered_at DESC, r.id DESC LIMIT "
        ":nights)"
        " GROUP BY plan_sha256",
        err);
    sql_bind_int(stmt, ":now", now->info.key);
    sql_bind_int(stmt, ":nights", (int64_t)nights);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0)
        if (mark_since(s, sql_col_int(stmt, "id", 0), plan, now, otherwise, err) != 0)
            return -1;
    return rc;
}

int base_plan_otherwise(struct store *s, const struct run_data *now, const int64_t *base_runs, size_t n,
                        size_t nights, bool *otherwise, struct err *err)
{
    json_auto_t *plan = NULL;
    if (report_plan_load(s, now->info.key, &plan, err) != 0)
        return -1;
    for (size_t i = 0; plan && i < n; i++)
        if (mark_since(s, base_runs[i], plan, now, otherwise, err) != 0)
            return -1;
    return plan && nights ? plans_of_nights(s, now, plan, nights, otherwise, err) : 0;
}

static void mark(const json_t *before, const json_t *now, struct comparison *c)
{
    bool all = surroundings_differ(before, now);
    for (size_t i = 0; i < c->count; i++)
        c->deltas[i].doubts.other_plan = all || variants_differ(before, now, c->deltas[i].variant);
}

static void name_codes(const struct run_data *base, struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct run_variant *v = run_data_variant(base, c->deltas[i].variant);
        if (v)
            c->deltas[i].base.code = word(v->code_sha256);
    }
}

int base_plan_mark(struct store *s, const struct run_data *base, const struct run_data *now,
                   struct comparison *c, struct err *err)
{
    json_auto_t *before = NULL, *plan = NULL;
    const char *a = base->info.plan_sha256, *b = now->info.plan_sha256;
    name_codes(base, c);
    if (!*a || !*b || strcmp(a, b) == 0)
        return 0;
    if (report_plan_load(s, base->info.key, &before, err) != 0 ||
        report_plan_load(s, now->info.key, &plan, err) != 0)
        return -1;
    if (before && plan)
        mark(before, plan, c);
    return 0;
}
