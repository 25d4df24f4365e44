/* Validation: which tests and builds can be believed, and why the others cannot. */
#include "reports/number.h"
#include "reports/section.h"

static void counts(const struct report_model *m, struct md *w)
{
    int n[STATUS_COUNT] = {0};
    int warmups = 0;
    struct table t;
    table_init(&t);
    table_column(&t, message(w->lang, MSG_COL_STATUS), false);
    table_column(&t, message(w->lang, MSG_COL_TESTS), true);
    for (size_t i = 0; i < m->now.n_tests; i++) {
        n[m->now.tests[i].status]++;
        warmups += m->now.tests[i].warmup;
    }
    for (enum status s = 0; s < STATUS_COUNT; s++) {
        if (!n[s])
            continue;
        table_marked(&t, status_name(s), s == STATUS_OK ? MARK_GOOD : MARK_BAD);
        table_text(&t, num_int(n[s]).s);
    }
    md_table(w, &t);
    table_release(&t);
    if (warmups)
        md_para(w, MSG_VALIDATION_WARMUPS, num_int(warmups).s);
}

static void gates(const struct report_model *m, struct md *w)
{
    struct table t;
    table_init(&t);
    table_column(&t, message(w->lang, MSG_COL_VARIANT), false);
    table_column(&t, message(w->lang, MSG_COL_GATE), false);
    table_column(&t, message(w->lang, MSG_COL_STATUS), false);
    table_column(&t, message(w->lang, MSG_COL_REASON), false);
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
    if (table_rows(&t))
        md_table(w, &t);
    table_release(&t);
}

/* A build or a gate that stopped a variant. */
static void variants(const struct report_model *m, struct md *w)
{
    for (size_t v = 0; v < m->now.n_variants; v++) {
        const struct run_variant *variant = &m->now.variants[v];
        if (variant->status == STATUS_OK)
            continue;
        md_bullet(w);
        md_say(w, MSG_VALIDATION_VARIANT, variant->name, status_name(variant->status));
        if (*variant->reason)
            md_say(w, MSG_BECAUSE, variant->reason);
        md_line(w);
    }
    md_end(w);
}

static void failures(const struct report_model *m, struct md *w)
{
    struct table t;
    table_init(&t);
    table_column(&t, message(w->lang, MSG_COL_VARIANT), false);
    table_column(&t, message(w->lang, MSG_COL_CONTEXT), true);
    table_column(&t, message(w->lang, MSG_COL_REPETITION), true);
    table_column(&t, message(w->lang, MSG_COL_STATUS), false);
    table_column(&t, message(w->lang, MSG_COL_REASON), false);
    for (size_t i = 0; i < m->now.n_tests; i++) {
        const struct run_test *test = &m->now.tests[i];
        if (test->status == STATUS_OK)
            continue;
        table_code(&t, m->now.variants[test->variant].name);
        table_text(&t, num_int(test->context).s);
        table_text(&t, num_int(test->repetition).s);
        table_marked(&t, status_name(test->status), MARK_BAD);
        table_code(&t, test->reason);
    }
    if (table_rows(&t)) {
        md_para(w, MSG_VALIDATION_FAILURES);
        md_table(w, &t);
    } else
        md_para(w, MSG_VALIDATION_ALL_OK);
    table_release(&t);
}

void section_validation(const struct report_model *m, struct md *w)
{
    md_heading(w, 2, MSG_H_VALIDATION);
    counts(m, w);
    gates(m, w);
    variants(m, w);
    failures(m, w);
}
