#include "harness/nightly/retention.h"

#include "common/base/alloc.h"
#include "harness/session/measure.h"
#include "results/query/find_run.h"
#include "results/query/history_load.h"
#include "results/store/baseline.h"
#include "results/store/run_folder.h"
#include "results/store/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs whose data is removed in one step. */
enum { AT_ONCE = 16 };

/* Runs whose data is removed together. */
struct batch {
    const char *run_id[AT_ONCE];
    int64_t key[AT_ONCE];
    size_t count;
};

/* One kind of data that the runs of a plan leave behind. */
struct pruning {
    const char *db;
    const char *node;                    /* only runs there; NULL: anywhere */
    int64_t keep;                        /* how many of the newest runs keep it */
    enum store_mode mode;                /* required by remove() */
    bool (*has)(const struct runrec *r); /* NULL: every run */
    /* The same of a run in the store; NULL: every run. */
    int (*stores)(struct store *s, int64_t key, bool *out, struct err *err);
    int (*remove)(const struct pruning *p, struct store *s, const struct batch *b, struct err *err);
    const struct retention_watch *watch;
    retention_forget *forget;
    void *arg;
};

struct candidates {
    const struct pruning *pruning;
    const char *plan;
    char (*run_id)[JOB_RUN_ID_MAX]; /* oldest first; only ids, as there may be years of records */
    size_t count, room;
};

/* Where a bundle goes while it is removed: beside its place, under a name that only its run has. */
static int leaving_path(const struct runrec *r, char out[FS_PATH_MAX], struct err *err)
{
    char name[JOB_RUN_ID_MAX + 16];
    snprintf(name, sizeof name, "%s.removing", r->run_id);
    return fs_beside(r->bundle, name, out, err);
}

/* A bundle may be whole, or what a removal that was killed has left of it. */
static bool has_bundle(const struct runrec *r)
{
    char leaving[FS_PATH_MAX];
    return run_folder_is_of(r->bundle, r->run_id) ||
           (*r->bundle && leaving_path(r, leaving, NULL) == 0 && fs_is_dir(leaving));
}

static int collect_candidate(const struct runrec *r, void *arg, struct err *err)
{
    struct candidates *c = arg;
    if (r->state != RUNREC_INGESTED || strcmp(r->plan, c->plan) != 0 ||
        (c->pruning->node && strcmp(r->node, c->pruning->node) != 0) ||
        (c->pruning->has && !c->pruning->has(r)))
        return 0;
    (void)err;
    ALLOC_GROW(c->run_id, c->count + 1, c->room);
    memcpy(c->run_id[c->count++], r->run_id, sizeof r->run_id);
    return 0;
}

/* The runs that baselines name. */
struct held {
    int64_t *keys;
    size_t count, room;
};

static void held_release(struct held *h)
{
    free(h->keys);
}

static int load_held(struct store *s, struct held *out, struct err *err)
{
    AUTO(baseline_list_release) struct baseline_list l = {0};
    if (baseline_list(s, &l, err) != 0)
        return -1;
    for (size_t i = 0; i < l.count; i++) {
        AUTO_FREE int64_t *keys = NULL;
        size_t n = 0;
        if (baseline_runs(s, &l.items[i], &keys, &n, err) != 0)
            return -1;
        ALLOC_GROW(out->keys, out->count + n, out->room);
        for (size_t k = 0; k < n; k++)
            out->keys[out->count++] = keys[k];
    }
    return 0;
}

static bool is_held(const struct held *h, int64_t key)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->keys[i] == key)
            return true;
    return false;
}

static int remove_batch(const struct pruning *p, struct store *s, struct batch *b, struct err *err)
{
    const struct retention_watch *w = p->watch;
    if (w && w->interrupted && *w->interrupted)
        return err_set(
            err, ERR_INTERRUPTED,
            "retention was interrupted; what was removed stays removed, and the next night removes the rest");
    int rc = b->count ? p->remove(p, s, b, err) : 0;
    b->count = 0;
    return rc;
}

/* Whether there is something to remove of a run: 1, 0 or -1. */
static int is_due(const struct pruning *p, struct store *s, const struct held *h, const char *run_id,
                  int64_t *key, struct err *err)
{
    struct err unknown = {0};
    bool has = true;
    if (store_find_run(s, run_id, key, &unknown) != 0)
        return 0; /* a run of another store */
    if (is_held(h, *key))
        return 0;
    return p->stores && p->stores(s, *key, &has, err) != 0 ? -1 : has;
}

static int prune_unheld(const struct pruning *p, struct store *s, const struct candidates *c,
                        const struct held *h, struct err *err)
{
    size_t total = c->count - (size_t)p->keep;
    struct batch b = {.count = 0};
    for (size_t i = 0; i < total; i++) {
        int due = is_due(p, s, h, c->run_id[i], &b.key[b.count], err);
        if (due < 0)
            return -1;
        if (due > 0)
            b.run_id[b.count++] = c->run_id[i];
        if (b.count == AT_ONCE && remove_batch(p, s, &b, err) != 0)
            return -1;
        if (p->watch && p->watch->progress)
            p->watch->progress(p->watch->arg, i + 1, total);
    }
    return remove_batch(p, s, &b, err);
}

static int prune(const struct pruning *p, struct store *s, const struct candidates *c, struct err *err)
{
    AUTO(held_release) struct held h = {.keys = NULL};
    return load_held(s, &h, err) != 0 ? -1 : prune_unheld(p, s, c, &h, err);
}

static int prune_plan(const struct pruning *p, const char *plan, struct err *err)
{
    struct candidates c = {.pruning = p, .plan = plan};
    AUTO(store_close) struct store s = {0};
    int rc = runrec_each(p->db, collect_candidate, &c, err);
    if (rc == 0 && c.count > (size_t)p->keep)
        rc = store_open(&s, p->db, p->mode, err) != 0 ? -1 : prune(p, &s, &c, err);
    free(c.run_id);
    return rc;
}

/* Prunes the plan's runs, and separately those of each purpose for which kernsweep measures it by itself,
 * keeping as many of each. Noise is measured rarely and kept. */
static int prune_all(const struct pruning *p, const char *plan, struct err *err)
{
    if (prune_plan(p, plan, err) != 0)
        return -1;
    for (size_t i = 0; i < MEASURE_PURPOSES; i++) {
        AUTO_FREE char *name = measure_plan_name(plan, measure_purposes[i]);
        if (prune_plan(p, name, err) != 0)
            return -1;
    }
    return 0;
}

/* Whenever this is killed, the bundle in its place is either whole or gone. */
static int remove_folder(const struct runrec *r, struct err *err)
{
    char leaving[FS_PATH_MAX];
    if (leaving_path(r, leaving, err) != 0 || fs_remove_tree(leaving, err) != 0)
        return -1;
    if (!run_folder_is_of(r->bundle, r->run_id))
        return 0;
    return fs_rename(r->bundle, leaving, err) != 0 ? -1 : fs_remove_tree(leaving, err);
}

static int remove_bundle(const struct pruning *p, const char *run_id, struct err *err)
{
    struct runrec rec;
    if (runrec_find(&rec, p->db, run_id, err) != 0)
        return -1;
    return p->forget && !p->forget(p->arg, &rec) ? 0 : remove_folder(&rec, err);
}

static int remove_bundles(const struct pruning *p, struct store *s, const struct batch *b, struct err *err)
{
    (void)s;
    for (size_t i = 0; i < b->count; i++)
        if (remove_bundle(p, b->run_id[i], err) != 0)
            return -1;
    return 0;
}

int retention_prune(const char *db, const char *plan, const char *node, int64_t keep_bundles,
                    const struct retention_watch *watch, retention_forget *forget, void *arg, struct err *err)
{
    const struct pruning p = {.db = db,
                              .node = node,
                              .keep = keep_bundles,
                              .mode = STORE_READ,
                              .has = has_bundle,
                              .remove = remove_bundles,
                              .watch = watch,
                              .forget = forget,
                              .arg = arg};
    return prune_all(&p, plan, err);
}

static int remove_samples(const struct pruning *p, struct store *s, const struct batch *b, struct err *err)
{
    int64_t ignored;
    (void)p;
    return runs_drop_samples(s, b->key, b->count, &ignored, err);
}

int retention_prune_samples(const char *db, const char *plan, const char *node, int64_t keep_samples,
                            const struct retention_watch *watch, struct err *err)
{
    const struct pruning p = {.db = db,
                              .node = node,
                              .keep = keep_samples,
                              .mode = STORE_WRITE,
                              .stores = runs_have_samples,
                              .remove = remove_samples,
                              .watch = watch};
    return prune_all(&p, plan, err);
}
