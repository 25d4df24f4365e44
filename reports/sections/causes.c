/* Causes: why cells changed, with the evidence of each cause. */
#include "reports/tables/causes.h"
#include "common/base/alloc.h"
#include "reports/sections/section.h"
#include "reports/words/number.h"

static void write_line(const struct why_line *l, struct md *w)
{
    AUTO(buf_release) struct buf where = {.max = WHY_TEXT_MAX};
    why_where(l, w->lang, &where);
    md_bullet(w);
    md_say(w, MSG_CAUSES_OF, buf_str(&where), buf_str(&l->text));
    md_line(w);
}

void section_causes(const struct report_model *m, struct md *w)
{
    AUTO(why_release) struct why why = {0};
    if (!m->has_comparison || m->comparison->causes.count == 0)
        return;
    why_of(m->comparison, w->lang, &why);
    md_heading(w, 2, MSG_H_CAUSES);
    if (why.before)
        md_para(w, MSG_CAUSES_SINCE, why.before);
    md_para(w, MSG_CAUSES_NOTE);
    for (size_t i = 0; i < why.count; i++)
        write_line(&why.lines[i], w);
    if (why.left_out)
        md_item(w, MSG_WHY_MORE, num_int((int64_t)why.left_out).s);
    md_end(w);
}
