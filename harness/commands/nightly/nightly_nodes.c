#include "harness/commands/nightly/nightly_nodes.h"

#include "common/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records have the resolved path. */
static int load_plan(struct plan *p, const char *file, struct err *err)
{
    AUTO_FREE char *path = realpath(file, NULL);
    return plan_load(p, path ? path : file, err);
}

int nightly_nodes_named(const char *file, bool *several, struct err *err)
{
    struct plan p;
    if (load_plan(&p, file, err) != 0)
        return -1;
    *several = p.nodes.count > 1;
    plan_release(&p);
    return 0;
}

static bool same_nodes(const struct sweep_record *w, const struct plan *p)
{
    bool same = w->count == p->nodes.count;
    for (size_t i = 0; same && i < w->count; i++)
        same = strcmp(w->member[i].node, p->nodes.name[i]) == 0;
    return same;
}

/* The sweep of runs that an interrupted command left behind, and that this one resumes; or a new one. */
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

int nightly_nodes(struct cmd_env *env, const struct nightly_args *a, const char *file, node_part_fn *fn,
                  void *arg, struct err *err)
{
    struct sweep_record sweep;
    struct plan p;
    struct several_nodes n = {.env = env,
                              .sweep = &sweep,
                              .fn = fn,
                              .arg = arg,
                              .artifacts = a->artifacts,
                              .reports = true,
                              .quiet = true};
    if (load_plan(&p, file, err) != 0)
        return -1;
    int rc = choose_sweep(&sweep, env, &p, err);
    plan_release(&p);
    return rc != 0 ? -1 : several_nodes(&n, err);
}
