/* Changed machine code: per variant, the kernels whose code is not that of the run before, and which of their
 * numbers differ; folded, since it is evidence. */
#include "common/base/alloc.h"
#include "common/base/symbol.h"
#include "reports/sections/section.h"
#include "reports/words/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_MAX = 400 };

static void add_number(struct table *t, int64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, n);
    table_text(t, n == KERNEL_FACT_UNKNOWN ? "-" : text);
}

static void add_name(struct table *t, const struct kernel_pair *p)
{
    table_code(t, symbol_title(kernel_pair_name(p)).s);
}

/* Adds one row for each number that differs, or one that says that the numbers are the same. */
static void add_changed(struct table *t, const struct kernel_pair *p, enum report_lang lang)
{
    size_t rows = 0;
    for (size_t i = 0; i < KERNEL_FACTS; i++) {
        const struct kernel_fact f = kernel_pair_fact(p, i);
        char what[64];
        if (f.before == f.now || (f.before <= 0 && f.now <= 0))
            continue;
        snprintf(what, sizeof what, "%s.%s", f.group, f.name);
        add_name(t, p);
        table_code(t, what);
        add_number(t, f.before);
        add_number(t, f.now);
        rows++;
    }
    if (rows)
        return;
    add_name(t, p);
    table_text(t, message(lang, MSG_CODE_SAME_NUMBERS));
    table_text(t, "");
    table_text(t, "");
}

static void add_only(struct table *t, const struct kernel_pair *p, enum report_lang lang)
{
    static const enum msg words[] = {[KERNEL_RENAMED] = MSG_CODE_RENAMED,
                                     [KERNEL_MOVED] = MSG_CODE_MOVED,
                                     [KERNEL_NEW] = MSG_CODE_ADDED,
                                     [KERNEL_GONE] = MSG_CODE_REMOVED};
    add_name(t, p);
    table_text(t, message(lang, words[p->state]));
    table_text(t, "");
    table_text(t, "");
}

static void fill(struct table *t, const struct kernel_pairs *pairs, enum report_lang lang)
{
    table_texts(t, lang, MSG_COL_KERNEL_SYMBOL, MSG_COL_CODE_NUMBER);
    table_numbers(t, lang, MSG_COL_BEFORE, MSG_COL_AFTER);
    for (size_t i = 0; i < pairs->count && table_rows(t) < ROWS_MAX; i++) {
        const struct kernel_pair *p = &pairs->items[i];
        if (p->state == KERNEL_IDENTICAL)
            continue;
        if (p->state == KERNEL_CHANGED)
            add_changed(t, p, lang);
        else
            add_only(t, p, lang);
    }
}

static void write_variant(const struct report_model *m, const struct changed_variant *c, struct md *w)
{
    const char *name = m->now.variants[c->variant].name;
    AUTO(table_release) struct table t = {0};
    fill(&t, &c->pairs, w->lang);
    md_fold(w, MSG_CODE_FOLD, name, num_int((int64_t)c->pairs.changed).s, num_int((int64_t)c->pairs.count).s);
    md_table(w, &t);
    md_fold_end(w);
}

void section_code(const struct report_model *m, struct md *w)
{
    const struct changed_code *c = &m->base.changed_code;
    if (c->count == 0)
        return;
    md_heading(w, 2, MSG_H_CODE);
    md_para(w, MSG_CODE_INTRO, c->run.info.run_id, m->now.info.run_id);
    for (size_t i = 0; i < c->count; i++)
        write_variant(m, &c->items[i], w);
}
