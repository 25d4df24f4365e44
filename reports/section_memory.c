/* Memory: what the tests of a cell took at most. */
#include "reports/number.h"
#include "reports/section.h"

#include <math.h>

void section_memory(const struct report_model *m, struct md *w)
{
    struct table t;
    table_init(&t);
    table_column(&t, message(w->lang, MSG_COL_CONTEXT), true);
    table_column(&t, message(w->lang, MSG_COL_VARIANT), false);
    table_column(&t, message(w->lang, MSG_COL_VRAM_PEAK), true);
    table_column(&t, message(w->lang, MSG_COL_RSS_PEAK), true);
    table_column(&t, message(w->lang, MSG_COL_LOAD), true);
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[i];
        if (isnan(c->median[METRIC_VRAM_PEAK]) && isnan(c->median[METRIC_RSS_PEAK]))
            continue;
        table_text(&t, num_int(c->context).s);
        table_code(&t, m->now.variants[c->variant].name);
        table_text(&t, num_bytes(c->median[METRIC_VRAM_PEAK]).s);
        table_text(&t, num_bytes(c->median[METRIC_RSS_PEAK]).s);
        table_text(&t, num_seconds(c->median[METRIC_MODEL_LOAD_S]).s);
    }
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_MEMORY);
        md_table(w, &t);
        md_para(w, MSG_MEMORY_NOTE);
        section_figure(m, w, PLOT_MEMORY);
    }
    table_release(&t);
}
