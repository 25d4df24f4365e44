#include "harness/commands/nightly/nightly_nodes.h"

#include "common/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nightly_load_plan(struct plan *p, const char *file, struct err *err)
{
    AUTO_FREE char *path = realpath(file, NULL);
    return plan_load(p, path ? path : file, err);
}

int nightly_nodes_named(const char *file, bool *several, struct err *err)
{
    AUTO(plan_release) struct plan p = {0};
    if (nightly_load_plan(&p, file, err) != 0)
        return -1;
    *several = p.nodes.count > 1;
    return 0;
}

static bool same_nodes(const struct sweep_record *w, const struct plan *p)
{
    bool same = w->count == p->nodes.count;
    for (size_t i = 0; same && i < w->count; i++)
        same = strcmp(w->member[i].node, p->nodes.name[i]) == 0;
    return same;
}

/* Chooses the sweep that an interrupted command left unfinished, or a new one. */
static int choose_sweep(struct sweep_record *w, const struct cmd_env *env, const struct plan *p,
                        struct err *err)
{
    bool found;
    if (sweep_unfinished(w, env->db, p->file, &found, err) != 0)
        return -1;
    if (!found || !same_nodes(w, p))
        sweep_begin(w, p);
    return 0;
}

int nightly_nodes(struct cmd_env *env, const char *file, node_part_fn *fn, void *arg, struct err *err)
{
    struct sweep_record sweep;
    AUTO(plan_release) struct plan p = {0};
    struct several_nodes n = {
        .env = env, .sweep = &sweep, .fn = fn, .arg = arg, .reports = true, .quiet = true};
    if (nightly_load_plan(&p, file, err) != 0 || choose_sweep(&sweep, env, &p, err) != 0)
        return -1;
    return several_nodes(&n, err);
}
