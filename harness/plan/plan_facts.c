/* plan_facts: functions of plan.h that derive facts and needs from a loaded plan. */
#include "common/contract/proto.h"
#include "harness/plan/narrow.h"
#include "harness/plan/plan.h"

size_t plan_test_count(const struct plan *p)
{
    size_t tests = 0;
    for (size_t c = 0; c < p->matrix.count; c++)
        for (size_t v = 0; v < p->variants.count; v++)
            if (plan_variant_runs(&p->variants, &p->variants.item[v], p->matrix.contexts[c].tokens))
                tests += (size_t)(p->matrix.contexts[c].repetitions + p->matrix.warmup);
    return tests;
}

int plan_check_size(const struct plan *p, const char *where, struct err *err)
{
    size_t n = plan_test_count(p);
    if (n == 0)
        return err_set(err, ERR_INPUT, "%s: \"skip\" and \"only\" leave nothing to measure", where);
    if (n <= LIMIT_TESTS)
        return 0;
    return err_set(err, ERR_INPUT,
                   "%s: expands to %zu tests, the limit is %d: use fewer contexts or repetitions", where, n,
                   LIMIT_TESTS);
}

bool plan_has_nodes(const struct plan *p)
{
    return json_object_get(p->root, "nodes") != NULL;
}

int plan_one_node(const struct plan *p, struct err *err)
{
    if (p->nodes.count < 2)
        return 0;
    return err_set(err, ERR_INPUT, "%s: names %zu nodes: choose one with --node", p->file, p->nodes.count);
}

int64_t plan_largest_context(const struct plan *p)
{
    int64_t largest = 0;
    for (size_t i = 0; i < p->matrix.count; i++)
        if (p->matrix.contexts[i].tokens > largest)
            largest = p->matrix.contexts[i].tokens;
    return largest;
}

unsigned plan_engines(const struct plan *p)
{
    unsigned engines = 0;
    struct err ignored; /* plan_load() has checked it already */
    struct json_at root = json_root(p->root, p->file), at = json_member(&root, "container");
    struct container of_plan;
    (void)container_read(&of_plan, &at, IN_PLAN, &ignored);
    for (size_t i = 0; i < p->variants.count; i++) {
        const struct variant *v = p->variants.item[i].variant;
        const struct container *c = json_object_get(v->json, "container") ? &v->container : &of_plan;
        engines |= c->on ? 1u << c->engine : 0;
    }
    return engines;
}

int plan_keep_cells(struct plan *p, const struct plan_cell *cells, size_t n, struct err *err)
{
    const struct json_at root = json_root(p->root, p->file);
    return narrow_to_cells(&p->variants, &p->matrix, &root, cells, n, err) != 0
               ? -1
               : plan_check_size(p, p->file, err);
}
