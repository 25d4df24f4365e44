/* Memory: per cell, in use before, peak, in use after, growth. */
#include "common/base/alloc.h"
#include "reports/sections/section.h"
#include "reports/words/number.h"

#include <math.h>
#include <stdio.h>

static bool measured(const struct memory_row *r)
{
    return isfinite(r->vram_peak) || isfinite(r->rss_peak) || r->kept;
}

static struct num rate(double bytes_per_s)
{
    struct num n = num_bytes(bytes_per_s);
    if (isfinite(bytes_per_s)) {
        struct num unit;
        snprintf(unit.s, sizeof unit.s, "%.36s/s", n.s);
        return unit;
    }
    return n;
}

static void flag(struct table *t, const struct memory_row *r, enum report_lang lang)
{
    if (r->kept)
        table_marked(t, message(lang, MSG_MEMORY_KEPT), MARK_BAD);
    else if (r->growing)
        table_marked(t, message(lang, MSG_MEMORY_GROWING), MARK_WARN);
    else
        table_text(t, "");
}

static void add_row(const struct report_model *m, const struct memory_row *r, enum report_lang lang,
                    struct table *t)
{
    table_text(t, num_int(r->cell->context).s);
    table_code(t, m->now.variants[r->cell->variant].name);
    table_text(t, num_bytes(r->vram_before).s);
    table_text(t, num_bytes(r->vram_peak).s);
    table_text(t, num_bytes(r->vram_after).s);
    table_text(t, num_bytes(r->rss_peak).s);
    table_text(t, rate(r->slope).s);
    flag(t, r, lang);
}

/* Explains the columns that are there. */
static void note(const struct report_model *m, struct md *w)
{
    bool vram = false, slope = false;
    for (size_t i = 0; i < m->memory.count; i++) {
        vram |= isfinite(m->memory.cells[i].vram_before);
        slope |= isfinite(m->memory.cells[i].slope);
    }
    md_say(w, MSG_MEMORY_NOTE);
    if (vram)
        md_say(w, MSG_MEMORY_VRAM);
    if (slope)
        md_say(w, MSG_MEMORY_SLOPE);
    if (vram || slope)
        md_say(w, MSG_MEMORY_FLAGGED);
    md_end(w);
}

void section_memory(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    table_numbers(&t, w->lang, MSG_COL_CONTEXT);
    table_texts(&t, w->lang, MSG_COL_VARIANT);
    table_numbers(&t, w->lang, MSG_COL_VRAM_BEFORE, MSG_COL_VRAM_PEAK, MSG_COL_VRAM_AFTER, MSG_COL_RSS_PEAK,
                  MSG_COL_SLOPE);
    table_texts(&t, w->lang, MSG_COL_FLAG);
    for (size_t i = 0; i < m->memory.count; i++)
        if (measured(&m->memory.cells[i]))
            add_row(m, &m->memory.cells[i], w->lang, &t);
    table_drop_empty(&t, 2);
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_MEMORY);
        md_table(w, &t);
        note(m, w);
    }
}
