/* The resources that each variant's build recorded about its kernels. */
#include "common/base/alloc.h"
#include "reports/model/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The shapes of a kernel share one build; its resources are shown only for the first. */
static bool shown_before(const struct run_data *run, size_t variant)
{
    const char *kernel = run->variants[variant].kernel;
    for (size_t v = 0; *kernel && v < variant; v++)
        if (strcmp(run->variants[v].kernel, kernel) == 0)
            return true;
    return false;
}

int model_resources(struct report_model *m, struct err *err)
{
    m->resources = xcalloc(m->now.n_variants, sizeof *m->resources);
    if (details_load(m->subject->store, m->now.info.key, &m->details, err))
        return -1;
    for (size_t v = 0; v < m->now.n_variants; v++) {
        char path[DETAILS_PATH_MAX];
        snprintf(path, sizeof path, "%s/resources.json", m->now.variants[v].name);
        const struct run_file *f = shown_before(&m->now, v) ? NULL : details_file(&m->details, path);
        if (f && f->body && resources_decode(f->body, path, &m->resources[v], err))
            return -1;
    }
    return 0;
}
