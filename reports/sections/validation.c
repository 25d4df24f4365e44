/* Validation: which tests and builds are valid, and why the others are not. */
#include "common/base/alloc.h"
#include "reports/sections/phrase.h"
#include "reports/sections/section.h"
#include "reports/words/number.h"

#include <string.h>

enum { ALIKE_MAX = 64 };

static enum cell_mark mark_of(enum status s)
{
    if (s == STATUS_OK)
        return MARK_GOOD;
    return s == STATUS_SKIPPED || s == STATUS_CANCELLED ? MARK_WARN : MARK_BAD;
}

static void counts(const struct report_model *m, struct md *w)
{
    int n[STATUS_COUNT] = {0};
    int warmups = 0;
    AUTO(table_release) struct table t = {0};
    table_texts(&t, w->lang, MSG_COL_STATUS);
    table_numbers(&t, w->lang, MSG_COL_TESTS);
    for (size_t i = 0; i < m->now.n_tests; i++) {
        n[m->now.tests[i].status]++;
        warmups += m->now.tests[i].warmup;
    }
    for (enum status s = 0; s < STATUS_COUNT; s++) {
        if (!n[s])
            continue;
        table_marked(&t, status_name(s), mark_of(s));
        table_text(&t, num_int(n[s]).s);
    }
    if (table_rows(&t))
        md_table(w, &t);
    if (warmups)
        md_para(w, MSG_VALIDATION_WARMUPS, num_int(warmups).s);
}

static void gates(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    table_texts(&t, w->lang, MSG_COL_VARIANT, MSG_COL_GATE, MSG_COL_STATUS, MSG_COL_REASON);
    for (size_t i = 0; i < m->details.n_gates; i++) {
        const struct run_gate *g = &m->details.gates[i];
        if (g->variant >= m->now.n_variants)
            continue;
        table_code(&t, m->now.variants[g->variant].name);
        table_code(&t, g->name);
        table_marked(&t, status_name(g->passed ? STATUS_OK : STATUS_GATE_FAILED),
                     g->passed ? MARK_GOOD : MARK_BAD);
        table_code(&t, g->reason);
    }
    table_drop_empty(&t, 3);
    if (table_rows(&t))
        md_table(w, &t);
}

/* Lists the variants that a build or a gate stopped. */
static void variants(const struct report_model *m, struct md *w)
{
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (m->now.variants[v].status != STATUS_OK)
            phrase_stopped_variant(&m->now.variants[v], w);
    md_end(w);
}

/* Tests of one variant with the same status and reason. */
struct alike {
    const struct run_test *first;
    struct buf contexts;
    int last; /* the context named last */
    size_t named, left, tests;
};

static struct alike *find_alike(struct alike *list, size_t n, const struct run_test *t)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].first->status == t->status && strcmp(list[i].first->reason, t->reason) == 0)
            return &list[i];
    return NULL;
}

static void name_context(struct alike *a, int context)
{
    if (a->tests++ && a->last == context)
        return;
    a->last = context;
    if (a->named < CONTEXTS_LISTED_MAX)
        buf_printf(&a->contexts, "%s%d", a->named++ ? ", " : "", context);
    else
        a->left++;
}

static void write_alike(const struct report_model *m, struct alike *list, size_t n, struct table *t,
                        enum report_lang lang)
{
    for (size_t i = 0; i < n; i++) {
        struct alike *a = &list[i];
        if (a->left)
            message_plain(&a->contexts, lang, MSG_AND_MORE, num_int((int64_t)a->left).s);
        table_code(t, m->now.variants[a->first->variant].name);
        table_text(t, a->last || a->named > 1 ? buf_str(&a->contexts) : NUM_NONE);
        table_text(t, num_int((int64_t)a->tests).s);
        table_marked(t, status_name(a->first->status), mark_of(a->first->status));
        table_code(t, a->first->reason);
        buf_release(&a->contexts);
    }
}

static bool has_exit_codes(const struct report_model *m)
{
    for (size_t i = 0; i < m->now.n_tests; i++)
        if (m->now.tests[i].exit_code == RUN_UNKNOWN)
            return false;
    return true;
}

static enum msg all_well(const struct report_model *m)
{
    if (m->now.n_tests == 0)
        return MSG_VALIDATION_NO_TEST;
    return has_exit_codes(m) ? MSG_VALIDATION_ALL_OK : MSG_VALIDATION_ALL_OK_IMPORT;
}

static void failures(const struct report_model *m, struct md *w)
{
    struct alike list[ALIKE_MAX];
    AUTO(table_release) struct table t = {0};
    size_t n = 0;
    table_texts(&t, w->lang, MSG_COL_VARIANT, MSG_COL_CONTEXTS);
    table_numbers(&t, w->lang, MSG_COL_TESTS);
    table_texts(&t, w->lang, MSG_COL_STATUS, MSG_COL_REASON);
    for (size_t i = 0; i < m->now.n_tests; i++) {
        const struct run_test *test = &m->now.tests[i];
        if (test->status == STATUS_OK)
            continue;
        if (n == ALIKE_MAX || (n && list[0].first->variant != test->variant)) {
            write_alike(m, list, n, &t, w->lang);
            n = 0;
        }
        struct alike *a = find_alike(list, n, test);
        if (!a) {
            a = &list[n++];
            *a = (struct alike){.first = test};
            buf_init(&a->contexts, PHRASE_MAX);
        }
        name_context(a, test->context);
    }
    write_alike(m, list, n, &t, w->lang);
    if (table_rows(&t)) {
        md_para(w, MSG_VALIDATION_FAILURES);
        md_table(w, &t);
    } else
        md_para(w, all_well(m));
}

void section_validation(const struct report_model *m, struct md *w)
{
    md_heading(w, 2, MSG_H_VALIDATION);
    counts(m, w);
    gates(m, w);
    variants(m, w);
    failures(m, w);
}
