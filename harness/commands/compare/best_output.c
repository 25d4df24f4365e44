#include "harness/commands/compare/best_output.h"

#include "common/base/alloc.h"
#include "reports/tables/best_table.h"

#include <math.h>

enum { OUTPUT_MAX = 16 << 20 };

static json_t *encode_point(const struct best_group *g, size_t i, size_t runs)
{
    const struct best_member *m = &g->member[i];
    const struct best_point *p = &g->point[i];
    return json_pack("{s:s, s:o*, s:I, s:i, s:I, s:o, s:o, s:s}", "variant", m->variant->name, "axes",
                     *m->variant->axes ? json_loads(m->variant->axes, 0, NULL) : NULL, "repetitions",
                     (json_int_t)p->count, "failed", m->failed, "last_run", (json_int_t)m->last_run + 1,
                     "median", cmd_json_number(p->median), "behind",
                     cmd_json_number(i == g->answer.best ? (double)NAN : p->behind), "finding",
                     best_finding_name(best_group_finding(g, i, runs)));
}

static json_t *name_of(const struct best_group *g, size_t point)
{
    return point < g->count ? json_string(g->member[point].variant->name) : json_null();
}

static json_t *names_found(const struct best_group *g, enum best_finding what, size_t runs)
{
    json_t *out = json_array();
    for (size_t i = 0; i < g->count; i++)
        if (best_group_finding(g, i, runs) == what)
            json_array_append_new(out, name_of(g, i));
    return out;
}

static json_t *encode_group(const struct best_group *g, size_t runs)
{
    json_t *points = json_array();
    bool sole = !isnan(g->answer.sure);
    for (size_t i = 0; i < g->count; i++)
        json_array_append_new(points, encode_point(g, i, runs));
    const struct best_answer *a = &g->answer;
    return json_pack(
        "{s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "variant", g->variant,
        "shape", g->shape, "context", g->context, "best", sole ? name_of(g, a->best) : json_null(), "sure",
        cmd_json_number(a->sure), "first", name_of(g, a->best), "second", name_of(g, a->second), "margin",
        cmd_json_number(a->margin), "margin_low", cmd_json_number(a->low), "margin_high",
        cmd_json_number(a->high), "not_distinguishable",
        sole ? json_array() : names_found(g, BEST_CANDIDATE, runs), "dropped",
        names_found(g, BEST_DROPPED, runs), "several_gpus", (int)g->several_gpus, "points", points);
}

json_t *best_encode(const struct best_groups *g, const struct run_data *runs, size_t n)
{
    json_t *ids = json_array(), *groups = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(ids, json_string(runs[i].info.run_id));
    for (size_t i = 0; i < g->count; i++)
        json_array_append_new(groups, encode_group(&g->item[i], n));
    return json_pack("{s:o, s:s, s:s, s:o}", "runs", ids, "metric", metric_info(g->metric)->name, "unit",
                     metric_info(g->metric)->unit, "groups", groups);
}

int best_print(const struct best_groups *g, size_t runs, bool markdown, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = OUTPUT_MAX};
    const struct screen screen = cmd_screen(stdout);
    if (best_table(g, runs, markdown ? NULL : &screen, &text, err) != 0)
        return -1;
    if (markdown)
        cmd_print(&text);
    else
        cmd_print_fitted(&text, stdout);
    return 0;
}
