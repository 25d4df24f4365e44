#include "results/ingest/ingest.h"

#include "results/ingest/moved.h"
#include "results/ingest/source.h"

static int read_and_store(struct store *s, struct source *f, struct ingest_result *out, struct err *err)
{
    struct draft d;
    draft_init(&d);
    int rc = source_read(f, &d, err);
    if (rc == 0)
        rc = ingest_draft(s, &d, out, err);
    draft_release(&d);
    return rc;
}

int ingest_bundle(struct store *s, const char *dir, const struct ingest_options *options,
                  struct ingest_result *out, struct err *err)
{
    struct source f;
    struct run_info info = {0};
    *out = (struct ingest_result){0};
    int rc = source_open(&f, dir, options, &info, err);
    if (rc == 0)
        rc = ingest_known(s, &info, options && options->replace, out, err);
    if (rc > 0)
        rc = ingest_moved(s, dir, out, err);
    else if (rc == 0)
        rc = read_and_store(s, &f, out, err);
    source_release(&f);
    return rc < 0 ? -1 : 0;
}
