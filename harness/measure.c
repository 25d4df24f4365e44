#include "harness/measure.h"

#include "results/ingest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rename_plan(struct plan *p, const char *purpose, struct err *err)
{
    char *name = NULL;
    if (strchr(p->file, '#'))
        return 0;
    if (asprintf(&name, "%s#%s", p->file, purpose) < 0)
        return err_set(err, ERR_INTERNAL, "no memory for a plan's name");
    free(p->file);
    p->file = name;
    return 0;
}

static int store_it(struct session *s, struct store *store, int64_t *key, struct err *err)
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
    if (rename_plan(p, opt->tag, err) != 0)
        return -1;
    int rc = session_start(&s, p, opt, err);
    if (rc == 0)
        rc = session_follow(&s, err);
    if (rc == 0)
        rc = session_collect(&s, err);
    if (rc == 0)
        rc = store_it(&s, store, key, err);
    session_close(&s);
    return rc;
}
