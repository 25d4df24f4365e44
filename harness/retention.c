#include "harness/retention.h"

#include "harness/measure.h"
#include "harness/runrec.h"
#include "results/baseline.h"
#include "results/history.h"
#include "results/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct candidates {
    const char *plan;
    struct runrec *items; /* oldest first */
    size_t count, room;
};

static int collect(const struct runrec *r, void *arg, struct err *err)
{
    struct candidates *c = arg;
    if (r->state != RUNREC_INGESTED || strcmp(r->plan, c->plan) != 0 || !fs_is_dir(r->bundle))
        return 0;
    if (c->count == c->room) {
        size_t room = c->room ? 2 * c->room : 16;
        struct runrec *items = realloc(c->items, room * sizeof *items);
        if (!items)
            return err_set(err, ERR_INTERNAL, "retention: no memory");
        c->items = items;
        c->room = room;
    }
    c->items[c->count++] = *r;
    return 0;
}

static int held_by_baseline(struct store *s, const struct runrec *r, bool *held, struct err *err)
{
    struct baseline_list l = {0};
    int64_t key;
    *held = true;
    if (store_find_run(s, r->run_id, &key, err) != 0 || baseline_list(s, &l, err) != 0)
        return -1;
    *held = false;
    int rc = 0;
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

static int prune(struct store *s, const struct candidates *c, int64_t keep, struct err *err)
{
    for (size_t i = 0; i + (size_t)keep < c->count; i++) {
        bool held;
        if (held_by_baseline(s, &c->items[i], &held, err) != 0)
            return -1;
        if (!held && fs_remove_tree(c->items[i].bundle, err) != 0)
            return -1;
    }
    return 0;
}

static int prune_plan(const char *db, const char *plan, int64_t keep, struct err *err)
{
    struct candidates c = {.plan = plan};
    struct store s = {0};
    int rc = runrec_each(db, collect, &c, err);
    if (rc == 0 && c.count > (size_t)keep) {
        rc = store_open(&s, db, STORE_READ, err);
        if (rc == 0)
            rc = prune(&s, &c, keep, err);
        store_close(&s);
    }
    free(c.items);
    return rc;
}

int retention_prune(const char *db, const char *plan, int64_t keep_bundles, struct err *err)
{
    char *confirming = measure_plan_name(plan, RUN_TAG_CONFIRM);
    if (!confirming)
        return err_set(err, ERR_INTERNAL, "retention: no memory");
    int rc =
        prune_plan(db, plan, keep_bundles, err) || prune_plan(db, confirming, keep_bundles, err) ? -1 : 0;
    free(confirming);
    return rc;
}
