/* The tables that a terminal shows: the same tables as in a document, aligned with spaces. */
#include "reports/report.h"
#include "reports/tables/tables.h"
#include "reports/words/number.h"

#include "common/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int finish(struct table *t, bool colour, struct buf *out, struct err *err)
{
    table_write_text(t, colour, out);
    table_release(t);
    return buf_ok(out) ? 0 : err_set(err, ERR_INTERNAL, "table: memory is short");
}

int report_run_text(const struct run_data *run, size_t reference, bool colour, struct buf *out,
                    struct err *err)
{
    struct variant_view view = {.run = run, .reference = reference, .metric = run_data_metric(run)};
    struct variant_delta *vs = NULL;
    struct table t;
    if (compare_variants(run, reference, view.metric, &vs, &view.count, err))
        return -1;
    view.vs = vs;
    table_init(&t);
    table_consolidated(&t, &view, REPORT_EN);
    free(vs);
    return finish(&t, colour, out, err);
}

int report_scaling_text(const struct run_data *run, bool colour, struct buf *out, struct err *err)
{
    struct scaling_set set;
    struct table t;
    if (scaling_of_run(run, &set, err))
        return -1;
    if (!scaling_has_steps(&set)) {
        scaling_set_release(&set);
        return 0;
    }
    table_init(&t);
    table_scaling(&t, run, &set, false, REPORT_EN);
    if (finish(&t, colour, out, err)) {
        scaling_set_release(&set);
        return -1;
    }
    for (size_t i = 0; i < set.count; i++) {
        if (isnan(set.items[i].exponent))
            continue;
        const char *name = run->variants[set.items[i].variant].name;
        text_printable(out, name, strlen(name), RUN_NAME_MAX);
        buf_printf(out, ": t ~ n^%s\n", num_fixed(set.items[i].exponent, 2).s);
    }
    scaling_set_release(&set);
    return buf_ok(out) ? 0 : err_set(err, ERR_INTERNAL, "table: memory is short");
}

static void facts(const struct comparison *c, bool colour, struct buf *out)
{
    struct table t;
    if (c->n_facts == 0)
        return;
    table_init(&t);
    table_column(&t, message(REPORT_EN, MSG_COL_FACT), false);
    table_column(&t, message(REPORT_EN, MSG_COL_BASE_SIDE), false);
    table_column(&t, message(REPORT_EN, MSG_COL_NOW_SIDE), false);
    for (size_t i = 0; i < c->n_facts; i++) {
        table_code(&t, c->facts[i].key);
        table_code(&t, c->facts[i].base);
        table_code(&t, c->facts[i].now);
    }
    buf_putc(out, '\n');
    table_write_text(&t, colour, out);
    table_release(&t);
}

int report_compare_text(const struct comparison *c, bool colour, struct buf *out, struct err *err)
{
    struct table t;
    table_init(&t);
    table_comparison(&t, c, false, REPORT_EN);
    if (finish(&t, colour, out, err))
        return -1;
    facts(c, colour, out);
    const char *separator = "\n";
    for (enum verdict v = 0; v < VERDICT_COUNT; v++) {
        if (!c->verdicts[v])
            continue;
        buf_printf(out, "%s%d %s", separator, c->verdicts[v], verdict_word(v, REPORT_EN));
        separator = ", ";
    }
    buf_putc(out, '\n');
    return buf_ok(out) ? 0 : err_set(err, ERR_INTERNAL, "table: memory is short");
}

static enum cell_mark mark_of(enum host_verdict v)
{
    switch (v) {
    case HOST_SLOW:
        return MARK_BAD;
    case HOST_FAST:
        return MARK_WARN;
    case HOST_ALIKE:
    case HOST_UNKNOWN:
    case HOST_VERDICT_COUNT:
        break;
    }
    return MARK_NONE;
}

int report_hosts_text(const struct host_standing *hosts, size_t count, bool colour, struct buf *out,
                      struct err *err)
{
    static const char *const titles[] = {"Node",      "Tests", "Shared cells", "Worse in",
                                         "vs middle", "p",     "Verdict"};
    struct table t;
    table_init(&t);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(&t, titles[i], i > 0 && i < 6);
    for (size_t i = 0; i < count; i++) {
        const struct host_standing *h = &hosts[i];
        table_code(&t, h->host);
        table_text(&t, num_int(h->tests).s);
        table_text(&t, num_int(h->cells).s);
        table_text(&t, num_int(h->worse).s);
        table_text(&t, isnan(h->ratio) ? "-" : num_change(h->ratio - 1).s);
        table_text(&t, isnan(h->p) ? "-" : num_p(h->p).s);
        table_marked(&t, host_verdict_name(h->verdict), mark_of(h->verdict));
    }
    return finish(&t, colour, out, err);
}
