#include "harness/session/measure.h"

#include "harness/session/node_runs.h"
#include "results/ingest/ingest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *measure_plan_name(const char *plan, enum run_purpose purpose)
{
    char *name = NULL;
    return asprintf(&name, "%s#%s", plan, run_purpose_name(purpose)) < 0 ? NULL : name;
}

static int rename_plan(struct plan *p, enum run_purpose purpose, struct err *err)
{
    if (strchr(p->file, '#'))
        return 0;
    char *name = measure_plan_name(p->file, purpose);
    if (!name)
        return err_set(err, ERR_INTERNAL, "no memory for a plan's name");
    free(p->file);
    p->file = name;
    return 0;
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
    struct session s = {0};
    struct session_options own = *opt;
    own.overrides.tag = opt->purpose_tag ? opt->purpose_tag : run_purpose_name(opt->purpose);
    if (overrides_apply(&own.overrides, p, err) != 0 || plan_one_node(p, err) != 0 ||
        rename_plan(p, opt->purpose, err) != 0)
        return -1;
    int rc = session_start(&s, p, &own, err);
    if (rc == 0)
        rc = session_follow(&s, err);
    if (rc == 0)
        rc = session_collect(&s, err);
    if (rc == 0)
        rc = store_bundle(&s, store, key, err);
    session_close(&s);
    return rc;
}

static int complete_run(const struct runrec *rec, const struct session_options *opt, struct err *err)
{
    struct session s = {0};
    struct store store = {0};
    int64_t key;
    bool there = true;
    int rc = store_open(&store, opt->db, STORE_WRITE, err);
    if (rc == 0 && rec->state == RUNREC_RUNNING) {
        rc = session_attach(&s, rec, opt, err);
        if (rc == 0)
            rc = node_runs_has(&s, rec->run_id, &there, err);
        if (rc == 0 && there)
            rc = session_follow(&s, err);
        if (rc == 0)
            rc = there ? session_collect(&s, err) : 0;
    } else {
        s.rec = *rec;
        s.opt = *opt;
    }
    if (rc == 0 && there)
        rc = store_bundle(&s, &store, &key, err);
    if (s.t)
        session_close(&s);
    store_close(&store);
    return rc;
}

int measure_settle(const char *db, const char *plan, const char *node, enum run_purpose purpose,
                   const struct session_options *opt, struct err *err)
{
    char *name = measure_plan_name(plan, purpose);
    struct runrec last;
    bool found;
    if (!name)
        return err_set(err, ERR_INTERNAL, "no memory for a plan's name");
    int rc = runrec_newest(&last, db, name, node, &found, err);
    if (rc == 0 && found && (last.state == RUNREC_RUNNING || last.state == RUNREC_PULLED))
        rc = complete_run(&last, opt, err);
    free(name);
    return rc;
}
