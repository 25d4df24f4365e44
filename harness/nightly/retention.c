#include "harness/nightly/retention.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "harness/session/measure.h"
#include "harness/session/runrec.h"
#include "results/judge/nights/history.h"
#include "results/query/find_run.h"
#include "results/query/history_load.h"
#include "results/store/baseline.h"
#include "results/store/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t manifest_max = 64u << 20;

/* One kind of data that the runs of a plan leave behind. */
struct pruning {
    const char *db;
    const char *node;                    /* only runs there; NULL: anywhere */
    int64_t keep;                        /* how many of the newest runs keep it */
    enum store_mode mode;                /* required by remove() */
    bool (*has)(const struct runrec *r); /* NULL: every run */
    int (*remove)(const struct pruning *p, struct store *s, const char *run_id, int64_t key, struct err *err);
    retention_forget *forget;
    void *arg;
};

struct candidates {
    const struct pruning *pruning;
    const char *plan;
    char (*run_id)[JOB_RUN_ID_MAX]; /* oldest first; only ids, as there may be years of records */
    size_t count, room;
};

/* Names of folders are reused once they are free, so the folder may hold another run by now. */
static bool has_bundle(const struct runrec *r)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, NULL, r->bundle, "manifest.json") != 0)
        return false;
    json_t *manifest = json_load(path, manifest_max, NULL);
    const char *run_id = json_string_value(json_object_get(manifest, "run_id"));
    bool same = run_id && strcmp(run_id, r->run_id) == 0;
    json_decref(manifest);
    return same;
}

static int collect_candidate(const struct runrec *r, void *arg, struct err *err)
{
    struct candidates *c = arg;
    if (r->state != RUNREC_INGESTED || strcmp(r->plan, c->plan) != 0 ||
        (c->pruning->node && strcmp(r->node, c->pruning->node) != 0) ||
        (c->pruning->has && !c->pruning->has(r)))
        return 0;
    if (!ALLOC_GROW(c->run_id, c->count + 1, c->room))
        return err_set(err, ERR_INTERNAL, "retention: no memory");
    memcpy(c->run_id[c->count++], r->run_id, sizeof r->run_id);
    return 0;
}

static int held_by_baseline(struct store *s, int64_t key, bool *held, struct err *err)
{
    struct baseline_list l = {0};
    *held = false;
    int rc = baseline_list(s, &l, err);
    for (size_t i = 0; rc == 0 && i < l.count && !*held; i++) {
        int64_t *keys = NULL;
        size_t n = 0;
        rc = baseline_runs(s, &l.items[i], &keys, &n, err);
        for (size_t k = 0; k < n; k++)
            *held = *held || keys[k] == key;
        free(keys);
    }
    baseline_list_release(&l);
    return rc;
}

static int prune(const struct pruning *p, struct store *s, const struct candidates *c, struct err *err)
{
    for (size_t i = 0; i + (size_t)p->keep < c->count; i++) {
        bool held;
        int64_t key;
        struct err unknown = {0};
        if (store_find_run(s, c->run_id[i], &key, &unknown) != 0)
            continue; /* a run of another store */
        if (held_by_baseline(s, key, &held, err) != 0 ||
            (!held && p->remove(p, s, c->run_id[i], key, err) != 0))
            return -1;
    }
    return 0;
}

static int prune_plan(const struct pruning *p, const char *plan, struct err *err)
{
    struct candidates c = {.pruning = p, .plan = plan};
    struct store s = {0};
    int rc = runrec_each(p->db, collect_candidate, &c, err);
    if (rc == 0 && c.count > (size_t)p->keep) {
        rc = store_open(&s, p->db, p->mode, err);
        if (rc == 0)
            rc = prune(p, &s, &c, err);
        store_close(&s);
    }
    free(c.run_id);
    return rc;
}

static int prune_purpose(const struct pruning *p, const char *plan, enum run_purpose purpose, struct err *err)
{
    char *name = measure_plan_name(plan, purpose);
    if (!name)
        return err_set(err, ERR_INTERNAL, "retention: no memory");
    int rc = prune_plan(p, name, err);
    free(name);
    return rc;
}

/* Prunes the plan's runs, and separately those that confirmed its suspects and those that searched for
 * commits, keeping as many of each. */
static int prune_all(const struct pruning *p, const char *plan, struct err *err)
{
    return prune_plan(p, plan, err) != 0 || prune_purpose(p, plan, PURPOSE_CONFIRM, err) != 0 ||
                   prune_purpose(p, plan, PURPOSE_BISECT, err) != 0
               ? -1
               : 0;
}

static int remove_bundle(const struct pruning *p, struct store *s, const char *run_id, int64_t key,
                         struct err *err)
{
    struct runrec rec;
    (void)s;
    (void)key;
    if (runrec_find(&rec, p->db, run_id, err) != 0)
        return -1;
    if (p->forget)
        p->forget(p->arg, &rec);
    return fs_remove_tree(rec.bundle, err);
}

int retention_prune(const char *db, const char *plan, const char *node, int64_t keep_bundles,
                    retention_forget *forget, void *arg, struct err *err)
{
    const struct pruning p = {.db = db,
                              .node = node,
                              .keep = keep_bundles,
                              .mode = STORE_READ,
                              .has = has_bundle,
                              .remove = remove_bundle,
                              .forget = forget,
                              .arg = arg};
    return prune_all(&p, plan, err);
}

static int remove_samples(const struct pruning *p, struct store *s, const char *run_id, int64_t key,
                          struct err *err)
{
    int64_t ignored;
    (void)p;
    (void)run_id;
    return runs_drop_samples(s, key, &ignored, err);
}

int retention_prune_samples(const char *db, const char *plan, const char *node, int64_t keep_samples,
                            struct err *err)
{
    const struct pruning p = {
        .db = db, .node = node, .keep = keep_samples, .mode = STORE_WRITE, .remove = remove_samples};
    return prune_all(&p, plan, err);
}
