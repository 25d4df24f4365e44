/* Scaling: how the time grows with the context. */
#include "common/base/alloc.h"
#include "reports/sections/section.h"
#include "reports/tables/tables.h"
#include "reports/words/number.h"

#include <math.h>

static void exponents(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->scaling.count; i++) {
        const struct scaling *s = &m->scaling.items[i];
        const char *name = m->now.variants[s->variant].name;
        if (isfinite(s->residual))
            md_item(w, MSG_SCALING_EXPONENT, name, num_fixed(s->exponent, 2).s,
                    num_percent(expm1(s->residual)).s);
        else if (isfinite(s->exponent))
            md_item(w, MSG_SCALING_EXPONENT_TWO, name, num_fixed(s->exponent, 2).s);
    }
    md_end(w);
}

void section_scaling(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    if (!scaling_has_steps(&m->scaling))
        return;
    table_scaling(&t, &m->now, &m->scaling, &m->scaled, w->lang);
    md_heading(w, 2, MSG_H_SCALING);
    md_table(w, &t);
    exponents(m, w);
    if (m->scaling.metric == METRIC_PREFILL_S)
        md_para(w, MSG_SCALING_NOTE, num_percent(SCALING_TOLERANCE).s);
    else
        md_para(w, MSG_SCALING_NOTE_KERNELS);
}
