/* What the GPU did: clocks, power, throttling and energy while each cell was measured. */
#include "common/base/alloc.h"
#include "reports/sections/section.h"
#include "reports/tables/activity_table.h"

void section_activity(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    table_activity(&t, &m->now, w->lang);
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_ACTIVITY);
        md_table(w, &t);
        md_para(w, MSG_ACTIVITY_NOTE);
    }
}
