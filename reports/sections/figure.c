#include "reports/sections/section.h"

#include <stdio.h>

void section_figure(const struct report_model *m, struct md *w, enum plot_kind kind)
{
    const char *folder = m->req->asset_href ? m->req->asset_href : m->req->asset_dir;
    for (size_t i = 0; i < m->plots.count; i++) {
        const struct plot *p = &m->plots.items[i];
        char target[FS_PATH_MAX];
        if (p->kind != kind)
            continue;
        snprintf(target, sizeof target, "%s%s%s", folder ? folder : "", folder ? "/" : "", p->name);
        md_image(w, p->alt, target);
    }
}
