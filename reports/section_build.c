/* Build verification: that each variant was built, from what, and what the compiler made of it. */
#include "reports/number.h"
#include "reports/section.h"

#include <math.h>

static bool known(const struct run_variant *v)
{
    return isfinite(v->build_wall_s) || v->build_cached || isfinite(v->scratch_bytes) || isfinite(v->vgprs) ||
           v->status != STATUS_OK;
}

void section_build(const struct report_model *m, struct md *w)
{
    struct table t;
    bool any = false;
    for (size_t v = 0; v < m->now.n_variants; v++)
        any |= known(&m->now.variants[v]);
    if (!any)
        return;
    table_init(&t);
    table_column(&t, message(w->lang, MSG_COL_VARIANT), false);
    table_column(&t, message(w->lang, MSG_COL_KERNEL), false);
    table_column(&t, message(w->lang, MSG_COL_STATUS), false);
    table_column(&t, message(w->lang, MSG_COL_BUILD_TIME), true);
    table_column(&t, message(w->lang, MSG_COL_SCRATCH), true);
    table_column(&t, "VGPR", true);
    for (size_t v = 0; v < m->now.n_variants; v++) {
        const struct run_variant *variant = &m->now.variants[v];
        table_code(&t, variant->name);
        table_code(&t, variant->attn_impl);
        table_marked(&t, status_name(variant->status), variant->status == STATUS_OK ? MARK_NONE : MARK_BAD);
        table_text(&t, variant->build_cached ? message(w->lang, MSG_BUILD_CACHED)
                                             : num_duration(variant->build_wall_s).s);
        table_text(&t, num_bytes(variant->scratch_bytes).s);
        table_text(&t, num_fixed(variant->vgprs, 0).s);
    }
    md_heading(w, 2, MSG_H_BUILD);
    md_table(w, &t);
    table_release(&t);
}
