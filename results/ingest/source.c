#include "results/ingest/source.h"

#include "common/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int layout_of(const char *dir, enum layout *out, struct err *err)
{
    char path[FS_PATH_MAX];
    if (!fs_is_dir(dir) && fs_exists(dir))
        return err_set(err, ERR_INPUT,
                       "%s: a file, not a run's folder: `kernsweep import --map MAP` reads files", dir);
    if (!fs_is_dir(dir))
        return err_set(err, ERR_INPUT, "%s: no such folder", dir);
    if (fs_join(path, err, dir, "job.json") != 0)
        return -1;
    if (fs_exists(path)) {
        *out = LAYOUT_BUNDLE;
        return 0;
    }
    if (fs_join(path, err, dir, "manifest.json") != 0)
        return -1;
    if (fs_exists(path))
        return err_set(
            err, ERR_INPUT,
            "%s: manifest.json without job.json: not a bundle, or an incomplete one: pull it again", dir);
    *out = LAYOUT_B3_89;
    return 0;
}

int source_open(struct source *f, const char *dir, const struct ingest_options *options, struct run_info *out,
                struct err *err)
{
    *f = (struct source){.dir = dir, .options = options, .bundle.files.fd = -1};
    if (layout_of(f->dir, &f->layout, err) != 0)
        return -1;
    switch (f->layout) {
    case LAYOUT_BUNDLE:
        return bundle_open(&f->bundle, f->dir, out, err);
    case LAYOUT_B3_89:
        return b3_89_identity(f->dir, f->options, out, err);
    }
    return -1;
}

static void note_place(struct draft *d, const char *dir)
{
    AUTO_FREE char *real = realpath(dir, NULL);
    if (real && strlen(real) < sizeof d->info.bundle)
        snprintf(d->info.bundle, sizeof d->info.bundle, "%s", real);
}

int source_read(struct source *f, struct draft *d, struct err *err)
{
    d->replace = f->options && f->options->replace;
    note_place(d, f->dir);
    switch (f->layout) {
    case LAYOUT_BUNDLE:
        return bundle_read(&f->bundle, f->options, d, err);
    case LAYOUT_B3_89:
        return b3_89_read(f->dir, f->options, d, err);
    }
    return -1;
}

void source_release(struct source *f)
{
    if (f->layout == LAYOUT_BUNDLE)
        bundle_release(&f->bundle);
}
