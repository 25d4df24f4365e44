#include "harness/session/turns.h"

#include "common/base/alloc.h"
#include "common/contract/env.h"
#include "harness/git/revision.h"
#include "harness/session/cells.h"
#include "harness/session/measure.h"
#include "results/store/run_load.h"

#include <stdlib.h>
#include <string.h>

static int narrow(struct plan *p, const struct suspect_list *cells, struct err *err)
{
    if (cells_keep(p, cells, err) != 0)
        return -1;
    matrix_repeat_at_least(&p->matrix, TURNS_REPETITIONS_MIN);
    return plan_check_size(p, p->file, err);
}

int turns_check_setting(const char *option, const char *setting, struct err *err)
{
    char name[LIMIT_NAME + 1];
    size_t len = strcspn(setting, "=");
    if (setting[len] == '=' && len < sizeof name) {
        memcpy(name, setting, len);
        name[len] = '\0';
        if (env_is_name(name))
            return 0;
    }
    return err_set(err, ERR_INPUT, "%s: expected NAME=VALUE, found \"%.80s\"", option, setting);
}

/* Overrides variables of the plan's environment; those of a variant still take precedence. */
static int apply_settings(struct plan *p, const char *const *settings, struct err *err)
{
    json_t *env = json_object_get(p->root, "env");
    if (!settings || !*settings)
        return 0;
    if (!env)
        json_object_set_new(p->root, "env", env = json_object());
    for (; *settings; settings++) {
        if (turns_check_setting("settings of a side", *settings, err) != 0)
            return -1;
        size_t len = strcspn(*settings, "=");
        AUTO_FREE char *name = xstrndup(*settings, len);
        json_object_set_new(env, name, json_string(*settings + len + 1));
    }
    return 0;
}

static int use_folder(struct plan *p, const char *dir, struct err *err)
{
    if (!plan_source_given(&p->source))
        return err_set(err, ERR_INPUT, "%s: has no \"source\", so there are no two builds to compare",
                       p->file);
    free(p->source.dir);
    p->source.dir = xstrdup(dir);
    p->source.sha256 = NULL;
    return 0;
}

/* The run records which commit its folder was exported from, but works without it. */
static json_t *describe(const struct plan *p, const struct turns_side *side)
{
    json_t *git = NULL;
    struct err ignored = {0};
    if (side->commit && p->source.dir)
        revision_describe_commit(p->source.dir, side->commit, REVISION_DEADLINE_S, &git, &ignored);
    return git;
}

/* The distinct ids of the cells' GPUs; NULL if any is unknown: then the plan decides where the sides run. */
static json_t *gpus_of(const struct suspect_list *cells)
{
    json_auto_t *ids = json_object();
    json_t *list, *ignored;
    const char *id;
    for (size_t i = 0; i < cells->count; i++) {
        const char *gpu = cells->items[i].gpu;
        if (!*gpu || strchr(gpu, '+'))
            return NULL;
        json_object_set_new(ids, gpu, json_null());
    }
    list = json_array();
    json_object_foreach(ids, id, ignored)
    {
        json_array_append_new(list, json_string(id));
    }
    return list;
}

/* Puts both sides on the GPUs on which the cells were found to differ, unless the plan's environment or a
 * scheduler chooses the GPU. */
static int use_gpus(struct plan *p, const struct suspect_list *cells, struct err *err)
{
    struct json_at root = json_root(p->root, p->file);
    struct err ignored = {0};
    json_auto_t *list = p->scheduler.on || p->gpus.per_test > 1 ? NULL : gpus_of(cells);
    json_auto_t *was = json_incref(json_object_get(p->root, "gpus"));
    if (json_array_size(list) == 0 || json_array_size(list) > GPU_WISH_MAX)
        return 0;
    p->settings.placement = PLACEMENT_POINT;
    json_object_set(p->root, "gpus", list);
    if (gpu_wish_read(&p->gpus, &root, &p->settings, false, &ignored) == 0)
        return 0;
    if (was)
        json_object_set(p->root, "gpus", was);
    else
        json_object_del(p->root, "gpus");
    return gpu_wish_read(&p->gpus, &root, &p->settings, false, err);
}

int turns_check_plan(const struct plan *p, const char *sha256, struct err *err)
{
    return !sha256 || strcmp(p->sha256, sha256) == 0
               ? 0
               : err_set(err, ERR_INPUT,
                         "%s: changed since the search began, and measurements of two plans cannot be "
                         "compared: restore it, or begin a new search",
                         p->file);
}

/* Loads the plan with this side's changes. *git: what git knows of its sources. */
static int load_side(struct plan *p, const struct turns_request *r, const struct turns_side *side,
                     const struct suspect_list *cells, json_t **git, struct err *err)
{
    if (plan_load(p, r->plan, err) != 0 || turns_check_plan(p, r->plan_sha256, err) != 0 ||
        narrow(p, cells, err) != 0 || use_gpus(p, cells, err) != 0 || apply_settings(p, side->env, err) != 0)
        return -1;
    *git = describe(p, side);
    return side->dir ? use_folder(p, side->dir, err) : 0;
}

static int run_side(const struct turns_request *r, const struct turns_side *side,
                    const struct suspect_list *cells, bool build_only, struct store *s, int64_t *key,
                    struct err *err)
{
    AUTO(plan_release) struct plan p = {0};
    AUTO(run_data_release) struct run_data run = {0};
    json_auto_t *git = NULL;
    struct session_options opt = r->opt;
    opt.repeatable = false;
    opt.overrides.variants = opt.overrides.contexts = opt.overrides.axis = opt.overrides.repeat = NULL;
    opt.source_sha256 = side->sha256;
    if (load_side(&p, r, side, cells, &git, err) != 0)
        return -1;
    opt.git = git;
    opt.exported = side->dir && side->commit;
    if (opt.compile_only)
        plan_only_builds(&p);
    opt.build_only = build_only && !p.scheduler.on;
    if (build_only && p.scheduler.on)
        matrix_repeat_exactly(&p.matrix, 1);
    return measure_run(&p, &opt, s, key, err) != 0 || run_facts_load(s, *key, &run, err) != 0
               ? -1
               : measure_check_ran(&run.info, err);
}

int turns_use_trees(struct turns_request *r, const char *base, const char *now, struct err *err)
{
    if (!*base != !*now)
        return err_set(err, ERR_NODE,
                       "one of the two runs had no source tree: there are no two builds to compare");
    r->base.sha256 = *base ? base : NULL;
    r->now.sha256 = *now ? now : NULL;
    return 0;
}

int turns_build(const struct turns_request *r, const struct turns_side *side,
                const struct suspect_list *cells, struct store *s, int64_t *key, struct err *err)
{
    return run_side(r, side, cells, true, s, key, err);
}

int turns_measure(const struct turns_request *r, const struct suspect_list *cells, struct store *s,
                  struct turns_made *out, struct err *err)
{
    int64_t base[TURNS_EACH], now[TURNS_EACH];
    if (out->count + TURNS_EACH > TURNS_RUNS_MAX)
        return err_set(err, ERR_INTERNAL, "more than %d rounds of measuring alternately", CONFIRM_ROUNDS_MAX);
    if (run_side(r, &r->base, cells, false, s, &base[0], err) != 0 ||
        run_side(r, &r->now, cells, false, s, &now[0], err) != 0 ||
        run_side(r, &r->now, cells, false, s, &now[1], err) != 0 ||
        run_side(r, &r->base, cells, false, s, &base[1], err) != 0)
        return -1;
    for (int i = 0; i < TURNS_EACH; i++, out->count++) {
        out->base[out->count] = base[i];
        out->now[out->count] = now[i];
    }
    return 0;
}

int turns_sides_load(struct turns_sides *out, struct store *s, const struct turns_made *made, struct err *err)
{
    for (size_t i = 0; i < made->count; i++) {
        out->bases[i] = &out->base[i];
        out->nows[i] = &out->now[i];
        out->count++;
        if (run_data_load(s, made->base[i], &out->base[i], err) != 0 ||
            run_data_load(s, made->now[i], &out->now[i], err) != 0)
            return -1;
    }
    return 0;
}

void turns_sides_release(struct turns_sides *s)
{
    for (size_t i = 0; i < s->count; i++) {
        run_data_release(&s->base[i]);
        run_data_release(&s->now[i]);
    }
    s->count = 0;
}

enum metric turns_sides_metric(const struct turns_sides *s, const struct delta *d)
{
    const struct turns_runs base = {s->bases, s->count}, now = {s->nows, s->count};
    return turns_metric(&base, &now, d);
}

void turns_sides_judge(const struct turns_sides *s, const struct compare_options *o, struct delta *d)
{
    const struct turns_runs base = {s->bases, s->count}, now = {s->nows, s->count};
    turns_judge_rounds(&base, &now, TURNS_EACH, o, d);
}
