/* Notes: what people wrote about the run, by section, with author and date. */
#include "reports/sections/notes.h"

#include "reports/render/prose.h"
#include "reports/sections/section.h"

#include <string.h>

bool notes_any(const struct notes *n, const char *run_id)
{
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->items[i].run_id, run_id) == 0)
            return true;
    return false;
}

static const struct note *find(const struct notes *n, const char *run_id, enum note_section section,
                               const char *lang)
{
    for (size_t i = 0; i < n->count; i++) {
        const struct note *x = &n->items[i];
        if (x->section == section && strcmp(x->run_id, run_id) == 0 && strcmp(x->lang, lang) == 0)
            return x;
    }
    return NULL;
}

static void write_note(const struct note *x, bool other_language, struct md *w)
{
    struct md as_written = *w;
    as_written.lang = w->lang == REPORT_EN ? REPORT_ES : REPORT_EN;
    if (other_language)
        md_language(&as_written);
    md_prose(w, x->text);
    if (other_language)
        md_language(w);
    md_para(w, other_language ? MSG_NOTE_BY_OTHER_LANGUAGE : MSG_NOTE_BY, x->who, num_date(x->noted_at).s);
}

void notes_write(const struct notes *n, const char *run_id, int level, struct md *w)
{
    static const enum msg titles[NOTE_SECTION_COUNT] = {
        [NOTE_FINDINGS] = MSG_NOTE_FINDINGS, [NOTE_HYPOTHESES] = MSG_NOTE_HYPOTHESES,
        [NOTE_REJECTED] = MSG_NOTE_REJECTED, [NOTE_DECISION] = MSG_NOTE_DECISION,
        [NOTE_NEXT] = MSG_NOTE_NEXT,         [NOTE_REMARKS] = MSG_NOTE_REMARKS,
    };
    const char *own = report_lang_name(w->lang),
               *other = report_lang_name(w->lang == REPORT_EN ? REPORT_ES : REPORT_EN);
    for (enum note_section s = 0; s < NOTE_SECTION_COUNT; s++) {
        const struct note *here = find(n, run_id, s, own), *x = here ? here : find(n, run_id, s, other);
        if (!x)
            continue;
        md_heading(w, level, titles[s]);
        write_note(x, !here, w);
    }
}

void section_notes(const struct report_model *m, struct md *w)
{
    if (!notes_any(&m->notes, m->now.info.run_id))
        return;
    md_heading(w, 2, MSG_H_NOTES);
    md_para(w, MSG_NOTES_ABOUT);
    notes_write(&m->notes, m->now.info.run_id, 3, w);
}
