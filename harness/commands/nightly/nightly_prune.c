#include "harness/commands/nightly/nightly_prune.h"

#include "harness/commands/base/progress.h"
#include "harness/nightly/retention.h"

#include <stdio.h>
#include <string.h>

static const double forget_deadline_s = 30, prune_deadline_s = 300;

struct pruned_night {
    const struct plan *plan;
    struct session *session;
};

/* Removes the run from this plan's node only. Returns false if the node did not answer, so that it is asked
 * again; a refusal is final. */
static bool forget_on_node(void *arg, const struct runrec *r)
{
    const struct pruned_night *n = arg;
    const char *args[] = {"--run", r->run_id, NULL};
    struct err why = {0};
    if (strcmp(r->node, n->plan->node) != 0 || strcmp(r->workdir, n->plan->workdir) != 0)
        return true;
    if (!n->session->t)
        return false;
    json_auto_t *answer = remote_call(&n->session->remote, "forget", args, NULL, 0, forget_deadline_s, &why);
    return answer || (!n->session->remote.link_lost && why.kind != ERR_INTERRUPTED);
}

/* The node decides what is still in use. */
static void prune_caches(struct session *s, int64_t days_kept)
{
    char days[32];
    const char *args[] = {"--days", days, NULL};
    struct err err = {0};
    if (!s->t)
        return;
    snprintf(days, sizeof days, "%lld", (long long)days_kept);
    json_auto_t *answer = remote_call(&s->remote, "prune", args, NULL, 0, prune_deadline_s, &err);
    if (!answer)
        cmd_fail(&err);
}

static void show_pruning(void *arg, size_t done, size_t total)
{
    progress_show(arg, (double)done / (double)total);
}

static void end_pruning(struct progress *line, int rc, const struct err *err)
{
    progress_end(line);
    if (rc != 0)
        cmd_fail(err);
}

void nightly_prune(const struct cmd_env *env, const struct plan *p, const char *node, struct session *s)
{
    const struct plan_nightly *keep = &p->nightly;
    struct pruned_night n = {p, s};
    struct err err = {0};
    struct progress line;
    const struct retention_watch watch = {env->interrupted, show_pruning, &line};
    if (keep->keep_bundles > 0) {
        progress_begin(&line, stderr, env->quiet, "removing old bundles");
        int rc =
            retention_prune(env->db, p->file, node, keep->keep_bundles, &watch, forget_on_node, &n, &err);
        end_pruning(&line, rc, &err);
    }
    if (keep->keep_samples > 0) {
        progress_begin(&line, stderr, env->quiet, "removing old samples");
        int rc = retention_prune_samples(env->db, p->file, node, keep->keep_samples, &watch, &err);
        end_pruning(&line, rc, &err);
    }
    if (keep->cache_days > 0)
        prune_caches(s, keep->cache_days);
}
