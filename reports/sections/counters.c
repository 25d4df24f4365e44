/* Hardware counters: what a profiler counted in both builds, where that differs. */
#include "reports/sections/section.h"
#include "reports/tables/tables.h"

void section_counters(const struct report_model *m, struct md *w)
{
    struct table t;
    table_init(&t);
    table_counters(&t, &m->base.counted.changes, w->lang);
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_COUNTERS);
        md_para(w, MSG_COUNTERS_NOTE);
        md_table(w, &t);
    }
    table_release(&t);
}
