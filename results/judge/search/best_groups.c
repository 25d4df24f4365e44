#include "results/judge/search/best_groups.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/contract/shape.h"
#include "results/judge/verdict.h"
#include "results/judge/work.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct making {
    struct best_groups *out;
    const struct run_data *runs;
    size_t n;
    bool overall;
    struct run_work unlike; /* NaN: the dimension is the same everywhere, as far as it is known */
};

/* Only kernel plans have all dimensions. Points at different shapes do different work and are kept apart. */
static bool has_shape(const json_t *axes)
{
    for (int d = 0; d < SHAPE_DIMENSIONS; d++)
        if (!json_object_get(axes, shape_keys[d].name))
            return false;
    return true;
}

static void put_shape(const struct run_variant *v, char out[BEST_TEXT_MAX])
{
    json_auto_t *axes = *v->axes ? json_loads(v->axes, 0, NULL) : NULL, *shape = json_object();
    snprintf(out, BEST_TEXT_MAX, "%s", axes ? "" : v->shape);
    if (!has_shape(axes))
        return;
    for (int d = 0; d < SHAPE_DIMENSIONS; d++)
        json_object_set(shape, shape_keys[d].name, json_object_get(axes, shape_keys[d].name));
    AUTO_FREE char *text = json_dumps(shape, JSON_COMPACT);
    snprintf(out, BEST_TEXT_MAX, "%s", text ? text : "");
}

/* Without a shape of the plan, the dimensions that programs printed keep different work apart; not along a
 * plan's axes, whose points it asks to compare. */
static void put_work(const struct making *m, const struct run_work *w, char out[BEST_TEXT_MAX])
{
    const struct {
        const char *name;
        double value, unlike;
    } all[] = {{"batch", w->batch, m->unlike.batch},
               {"heads", w->heads, m->unlike.heads},
               {"kv_heads", w->kv_heads, m->unlike.kv_heads},
               {"head_dim", w->head_dim, m->unlike.head_dim}};
    AUTO(buf_release) struct buf text = {.max = BEST_TEXT_MAX - 1};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (isfinite(all[i].unlike) && isfinite(all[i].value))
            buf_printf(&text, "%s%s %g", text.len ? ", " : "", all[i].name, all[i].value);
    snprintf(out, BEST_TEXT_MAX, "%s", buf_str(&text));
}

/* A cell that failed has printed no shape; another of its variant may have. */
static struct run_work work_of_variant(const struct run_data *r, const struct cell *c)
{
    for (size_t i = 0; c->ok == 0 && i < r->n_cells; i++)
        if (r->cells[i].variant == c->variant && r->cells[i].ok > 0)
            return work_of(r, &r->cells[i]);
    return work_of(r, c);
}

static struct best_group *find_group(const struct making *m, const struct run_data *r, const struct cell *c)
{
    char shape[BEST_TEXT_MAX];
    const struct run_variant *v = &r->variants[c->variant];
    const struct run_work work = work_of_variant(r, c);
    const int context = c->context;
    const char *variant = m->overall ? "" : *v->kernel ? v->kernel : v->name;
    struct best_groups *all = m->out;
    put_shape(v, shape);
    if (!*shape && !*v->axes)
        put_work(m, &work, shape);
    for (size_t i = 0; i < all->count; i++)
        if (all->item[i].context == context && strcmp(all->item[i].variant, variant) == 0 &&
            strcmp(all->item[i].shape, shape) == 0)
            return &all->item[i];
    all->item = xrealloc(all->item, (all->count + 1) * sizeof *all->item);
    struct best_group *g = &all->item[all->count++];
    *g = (struct best_group){.context = context};
    snprintf(g->variant, sizeof g->variant, "%s", variant);
    snprintf(g->shape, sizeof g->shape, "%s", shape);
    return g;
}

static struct best_member *find_member(struct best_group *g, const struct run_variant *v)
{
    for (size_t i = 0; i < g->count; i++)
        if (strcmp(g->member[i].variant->name, v->name) == 0)
            return &g->member[i];
    g->member = xrealloc(g->member, (g->count + 1) * sizeof *g->member);
    g->point = xrealloc(g->point, (g->count + 1) * sizeof *g->point);
    g->point[g->count] = (struct best_point){.count = 0};
    g->member[g->count] = (struct best_member){.variant = v};
    return &g->member[g->count++];
}

static void add_values(const struct making *m, struct best_group *g, struct best_member *member, size_t run,
                       const struct cell *c)
{
    struct best_point *p = &g->point[member - g->member];
    AUTO_FREE double *x = xcalloc(c->count, sizeof *x);
    member->value = xrealloc(member->value, (p->count + c->count) * sizeof *member->value);
    size_t n = run_data_values(&m->runs[run], c, m->out->metric, x);
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]) && x[i] > 0)
            member->value[p->count++] = (struct best_value){.value = x[i], .run = run};
    member->variant = &m->runs[run].variants[c->variant];
    member->last_run = run;
    member->failed += c->counted - c->ok;
    member->of += c->counted;
}

static void add_run(const struct making *m, size_t run)
{
    const struct run_data *r = &m->runs[run];
    for (size_t i = 0; i < r->n_cells; i++) {
        const struct cell *c = &r->cells[i];
        struct best_group *g = find_group(m, r, c);
        add_values(m, g, find_member(g, &r->variants[c->variant]), run, c);
    }
}

static void note_unlike(double value, double *seen, double *unlike)
{
    if (isnan(*seen))
        *seen = value;
    else if (isfinite(value) && value != *seen)
        *unlike = value;
}

static struct run_work find_unlike(const struct run_data *runs, size_t n)
{
    struct run_work seen = RUN_WORK_UNKNOWN, unlike = seen;
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < runs[r].n_cells; i++) {
            const struct run_work w = work_of(&runs[r], &runs[r].cells[i]);
            note_unlike(w.batch, &seen.batch, &unlike.batch);
            note_unlike(w.heads, &seen.heads, &unlike.heads);
            note_unlike(w.kv_heads, &seen.kv_heads, &unlike.kv_heads);
            note_unlike(w.head_dim, &seen.head_dim, &unlike.head_dim);
        }
    return unlike;
}

/* Whether a test of the cell ran on another GPU than *first, which is set by the first test that names
 * one. */
static bool on_other_gpu(const struct run_data *r, const struct cell *c, const char **first)
{
    for (size_t i = 0; i < c->count; i++) {
        const char *gpu = r->tests[c->first + i].gpu;
        if (!*gpu)
            continue;
        if (*first && strcmp(*first, gpu) != 0)
            return true;
        *first = gpu;
    }
    return false;
}

static bool on_several_gpus(const struct making *m, const struct best_group *g)
{
    const char *first = NULL;
    for (size_t i = 0; i < g->count; i++)
        for (size_t r = 0; r < m->n; r++) {
            const struct cell *c = run_data_cell(&m->runs[r], g->member[i].variant->name, g->context);
            if (c && on_other_gpu(&m->runs[r], c, &first))
                return true;
        }
    return false;
}

static void judge_group(const struct making *m, struct best_group *g)
{
    bool repeated = false;
    for (size_t i = 0; i < g->count; i++) {
        g->point[i].value = g->member[i].value;
        repeated = repeated || g->point[i].count > 1;
    }
    best_find(g->point, g->count, metric_info(m->out->metric)->better,
              least_difference(m->out->metric, repeated), m->n, &g->answer);
    g->more_is_better = metric_info(m->out->metric)->better == METRIC_MORE;
    g->several_gpus = on_several_gpus(m, g);
    if (!g->several_gpus)
        return;
    g->answer.sure = NAN;
    g->answer.candidates = 0;
    for (size_t i = 0; i < g->count; i++) {
        g->point[i].candidate = g->point[i].count > 0;
        g->answer.candidates += g->point[i].candidate;
    }
}

static bool any_axes(const struct run_data *runs, size_t n)
{
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < runs[r].n_variants; i++) {
            json_t *axes = *runs[r].variants[i].axes ? json_loads(runs[r].variants[i].axes, 0, NULL) : NULL;
            size_t shape = has_shape(axes) ? SHAPE_DIMENSIONS : 0, size = json_object_size(axes);
            json_decref(axes);
            if (size > shape)
                return true;
        }
    return false;
}

int best_groups_make(struct best_groups *out, const struct run_data *runs, size_t n, enum metric metric,
                     bool overall, struct err *err)
{
    const struct making m = {.out = out,
                             .runs = runs,
                             .n = n,
                             .overall = overall || !any_axes(runs, n),
                             .unlike = find_unlike(runs, n)};
    *out = (struct best_groups){.metric = metric == METRIC_COUNT ? run_data_metric(&runs[0]) : metric};
    if (metric_info(out->metric)->better == METRIC_UNDEFINED)
        return err_set(err, ERR_INPUT,
                       "best: it is not known whether less or more of %s is better: define it under "
                       "\"metrics\" of the plan",
                       metric_info(out->metric)->name);
    for (size_t i = 0; i < n; i++)
        add_run(&m, i);
    for (size_t i = 0; i < out->count; i++)
        judge_group(&m, &out->item[i]);
    return 0;
}

void best_groups_release(struct best_groups *g)
{
    for (size_t i = 0; i < g->count; i++) {
        for (size_t k = 0; k < g->item[i].count; k++)
            free(g->item[i].member[k].value);
        free(g->item[i].member);
        free(g->item[i].point);
    }
    free(g->item);
    *g = (struct best_groups){.count = 0};
}

enum best_finding best_group_finding(const struct best_group *g, size_t point, size_t runs)
{
    const struct best_point *p = &g->point[point];
    if (p->count == 0)
        return BEST_FAILED;
    if (!p->candidate)
        return BEST_RULED_OUT;
    if (g->member[point].last_run + 1 < runs)
        return BEST_DROPPED;
    if (p->untested)
        return p->beyond ? BEST_BEHIND : BEST_UNTESTED;
    if (point != g->answer.best)
        return BEST_CANDIDATE;
    if (!isnan(g->answer.sure))
        return BEST_WINNER;
    bool alone = g->answer.untested > 0 && g->answer.untested + 1 == g->answer.candidates;
    return alone ? BEST_AHEAD : BEST_CANDIDATE;
}

const char *best_finding_name(enum best_finding f)
{
    static const char *const names[] = {[BEST_WINNER] = "best",
                                        [BEST_CANDIDATE] = "may be best",
                                        [BEST_AHEAD] = "ahead, too few repetitions",
                                        [BEST_BEHIND] = "behind, too few repetitions",
                                        [BEST_UNTESTED] = "may be best, too few repetitions",
                                        [BEST_DROPPED] = "dropped",
                                        [BEST_RULED_OUT] = "ruled out",
                                        [BEST_FAILED] = "failed"};
    return names[f];
}
