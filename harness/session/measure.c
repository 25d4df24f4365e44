#include "harness/session/measure.h"

#include "common/base/alloc.h"
#include "harness/session/internal.h"
#include "results/ingest/ingest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const enum run_purpose measure_purposes[MEASURE_PURPOSES] = {PURPOSE_CONFIRM, PURPOSE_BISECT, PURPOSE_AB,
                                                             PURPOSE_SEARCH};

char *measure_plan_name(const char *plan, enum run_purpose purpose)
{
    return xasprintf("%s#%s", plan, run_purpose_name(purpose));
}

static void rename_plan(struct plan *p, enum run_purpose purpose)
{
    if (strchr(p->file, '#'))
        return;
    char *name = measure_plan_name(p->file, purpose);
    free(p->file);
    p->file = name;
}

static int store_bundle(struct session *s, struct store *store, int64_t *key, struct err *err)
{
    const struct ingest_options options = {.node = s->rec.node};
    struct ingest_result result;
    if (ingest_bundle(store, s->rec.bundle, &options, &result, err) != 0)
        return -1;
    *key = result.key;
    s->rec.state = RUNREC_INGESTED;
    return runrec_save(&s->rec, s->opt.db, err);
}

int measure_run(struct plan *p, const struct session_options *opt, struct store *store, int64_t *key,
                struct err *err)
{
    AUTO(session_close) struct session s = {0};
    struct session_options own = *opt;
    own.overrides.tag = run_purpose_name(opt->purpose);
    if (overrides_apply(&own.overrides, p, err) != 0 || plan_one_node(p, err) != 0)
        return -1;
    rename_plan(p, opt->purpose);
    if (session_start(&s, p, &own, err) == 0 && session_follow(&s, err) == 0 &&
        session_collect(&s, err) == 0 && store_bundle(&s, store, key, err) == 0) {
        if (own.compile_only)
            session_forget(&s);
        return 0;
    }
    char left[SESSION_LEFT_MAX];
    session_describe_left(&s, left);
    if (session_is_left(&s, err))
        session_say(&s, left);
    return -1;
}

int measure_check_ran(const struct run_info *r, struct err *err)
{
    if (r->status != RUN_BLOCKED && r->status != RUN_CANCELLED)
        return 0;
    return err_set(err, ERR_NODE, "run %s was %s: `kernsweep show %s` says more", r->run_id,
                   r->status == RUN_BLOCKED ? "blocked by the node" : "cancelled", r->run_id);
}

/* *there: whether the node has the run at all. */
static int fetch_bundle(struct session *s, const struct runrec *rec, const struct session_options *opt,
                        bool *there, struct err *err)
{
    if (session_attach(s, rec, opt, err) != 0 || remote_has_run(&s->remote, rec->run_id, there, err) != 0)
        return -1;
    return *there && (session_follow(s, err) != 0 || session_collect(s, err) != 0) ? -1 : 0;
}

static int complete_run(const struct runrec *rec, const struct session_options *opt, struct err *err)
{
    AUTO(session_close) struct session s = {.rec = *rec, .opt = *opt};
    AUTO(store_close) struct store store = {0};
    int64_t key;
    bool there = true;
    if (store_open(&store, opt->db, STORE_WRITE, err) != 0)
        return -1;
    if (rec->state < RUNREC_PULLED && fetch_bundle(&s, rec, opt, &there, err) != 0) {
        bool perhaps_nothing = rec->state == RUNREC_STARTING && err->kind == ERR_NODE;
        return perhaps_nothing ? 0 : -1; /* a node that is gone must not be in the way of others */
    }
    if (there)
        return store_bundle(&s, &store, &key, err);
    if (rec->state != RUNREC_STARTING)
        return 0;
    rmdir(rec->bundle);
    return runrec_remove(rec, opt->db, err);
}

int measure_settle(const char *plan, const char *node, enum run_purpose purpose,
                   const struct session_options *opt, struct err *err)
{
    AUTO_FREE char *name = measure_plan_name(plan, purpose);
    struct runrec last;
    bool found;
    if (runrec_newest(&last, opt->db, name, node, &found, err) != 0)
        return -1;
    return found && last.state != RUNREC_INGESTED ? complete_run(&last, opt, err) : 0;
}

int measure_settle_all(const char *plan, const char *node, const struct session_options *opt, struct err *err)
{
    for (size_t i = 0; i < MEASURE_PURPOSES; i++)
        if (measure_settle(plan, node, measure_purposes[i], opt, err) != 0)
            return -1;
    return 0;
}
