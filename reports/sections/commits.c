/* Commits: what was committed between the runs that are compared, and since the last night. */
#include "common/base/alloc.h"
#include "reports/sections/phrase.h"
#include "reports/sections/section.h"
#include "reports/tables/commits_list.h"

static void write_range(const struct commit_range *r, enum msg sentence, struct md *w)
{
    AUTO(buf_release) struct buf text = {.max = PHRASE_MAX};
    range_phrase(r, w->lang, &text);
    if (text.len) {
        md_para(w, sentence, buf_str(&text));
        commits_list(w, r);
    }
}

void section_commits(const struct report_model *m, struct md *w)
{
    char files[RUN_FACT_MAX + 64];
    const struct md_part part = md_part_begin(w, 2, MSG_H_COMMITS);
    write_range(&m->base.commits, m->against->has_base ? MSG_COMMITS_BASE : MSG_COMMITS_NIGHT, w);
    write_range(&m->base.commits_of_night, MSG_COMMITS_NIGHT, w);
    if (!md_part_end(w, &part))
        return;
    dirty_phrase(&m->now.info.revision, files, sizeof files);
    if (*files)
        md_para(w, MSG_COMMITS_DIRTY, files);
}
