#include "results/query/base_plan.h"

#include "results/query/report_queries.h"

#include <jansson.h>
#include <string.h>

/* Keys of the whole plan that decide what a test runs, and in what surroundings. */
static const char *const shared[] = {"axes",          "clock",     "clocks",  "container", "env",    "gpus",
                                     "gpus_per_test", "in_tree",   "isolate", "kind",      "limits", "model",
                                     "patches",       "placement", "shapes",  "timings"};

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
        const char *is = json_string_value(json_object_get(item, "name"));
        if (is && strcmp(is, name) == 0)
            return item;
    }
    return NULL;
}

/* Variants that axes or shapes make are not named in the plan: then all of them count. */
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

static void mark(const json_t *before, const json_t *now, struct comparison *c)
{
    bool all = surroundings_differ(before, now);
    for (size_t i = 0; i < c->count; i++)
        c->deltas[i].other_plan = all || variants_differ(before, now, c->deltas[i].variant);
}

static void name_codes(const struct run_data *base, struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct run_variant *v = run_data_variant(base, c->deltas[i].variant);
        if (v)
            memcpy(c->deltas[i].base_code, v->code_sha256, sizeof v->code_sha256);
    }
}

int base_plan_mark(struct store *s, const struct run_data *base, const struct run_data *now,
                   struct comparison *c, struct err *err)
{
    json_t *before = NULL, *plan = NULL;
    const char *a = base->info.plan_sha256, *b = now->info.plan_sha256;
    name_codes(base, c);
    if (!*a || !*b || strcmp(a, b) == 0)
        return 0;
    int rc = report_plan_load(s, base->info.key, &before, err);
    if (rc == 0)
        rc = report_plan_load(s, now->info.key, &plan, err);
    if (rc == 0 && before && plan)
        mark(before, plan, c);
    json_decref(before);
    json_decref(plan);
    return rc;
}
