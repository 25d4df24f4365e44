/* What the GPU did: clocks, power, throttling and energy while each cell was measured. */
#include "common/base/alloc.h"
#include "reports/sections/section.h"
#include "reports/tables/activity_table.h"

void section_activity(const struct report_model *m, struct md *w)
{
    bool some = false;
    for (int part = 0; part < ACTIVITY_PARTS; part++) {
        AUTO(table_release) struct table t = {0};
        table_activity(&t, &m->now, (enum activity_part)part, w->lang);
        if (table_rows(&t) == 0)
            continue;
        if (!some)
            md_heading(w, 2, MSG_H_ACTIVITY);
        some = true;
        md_para(w, activity_part_msg((enum activity_part)part));
        md_table(w, &t);
    }
    if (some)
        md_para(w, MSG_ACTIVITY_NOTE);
}
