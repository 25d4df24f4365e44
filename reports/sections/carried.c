/* Not measured: the cells that the run left out. */
#include "reports/words/carried.h"
#include "common/base/alloc.h"
#include "reports/sections/section.h"

enum { LIST_BYTES_MAX = 1 << 20 };

void section_carried(const struct report_model *m, struct md *w)
{
    const struct run_data *now = &m->now;
    if (now->n_carried == 0)
        return;
    md_heading(w, 2, MSG_H_CARRIED);
    md_para(w, MSG_CARRIED_NOTE);
    for (size_t i = 0; i < now->n_carried; i++) {
        AUTO(buf_release) struct buf list = {.max = LIST_BYTES_MAX};
        if (carried_list(now->carried, now->n_carried, i, &list))
            md_para(w, carried_msg(&now->carried[i]), now->carried[i].measured, buf_str(&list));
    }
}
