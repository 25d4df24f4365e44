#include "results/ingest/ingest.h"

#include "results/ingest/source.h"

#include "common/base/alloc.h"

static int read_and_store(struct store *s, struct source *f, struct ingest_result *out, struct err *err)
{
    AUTO(draft_release) struct draft d;
    draft_init(&d);
    return source_read(f, &d, err) != 0 ? -1 : ingest_draft(s, &d, out, err);
}

int ingest_bundle(struct store *s, const char *dir, const struct ingest_options *options,
                  struct ingest_result *out, struct err *err)
{
    AUTO(source_release) struct source f = {.bundle.files.fd = -1};
    struct run_info info = {0};
    *out = (struct ingest_result){0};
    if (source_open(&f, dir, options, &info, err) != 0)
        return -1;
    int known = ingest_known(s, &info, options && options->replace, out, err);
    if (known < 0)
        return -1;
    return known ? ingest_moved(s, dir, out, err) : read_and_store(s, &f, out, err);
}
