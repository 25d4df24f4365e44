/* Hardware counters: what a profiler counted in both builds, where that differs. */
#include "common/base/alloc.h"
#include "reports/sections/section.h"
#include "reports/tables/tables.h"

void section_counters(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    table_counters(&t, &m->base.counted.changes, w->lang);
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_COUNTERS);
        md_para(w, MSG_COUNTERS_NOTE);
        md_table(w, &t);
    }
}
