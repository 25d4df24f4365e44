#include "harness/commands/measure/ab_output.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "reports/render/markdown.h"
#include "reports/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static size_t count_verdict(const struct ab_result *r, enum verdict v)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++)
        n += r->cells[i].delta.verdict == v;
    return n;
}

static const char *outcome(const struct ab_result *r)
{
    switch (r->exit_code) {
    case EXIT_REGRESSION:
        return "REGRESSED";
    case EXIT_TEST_FAILED:
        return "FAILED";
    case EXIT_INCONCLUSIVE:
        return "INCONCLUSIVE";
    default:
        return "PASS";
    }
}

static size_t count_same(const struct ab_result *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++)
        n += r->cells[i].same_code;
    return n;
}

/* Writes the number of cells per verdict, such as "1 regressed, 3 unchanged". */
static void write_counts(const struct ab_result *r, struct buf *out)
{
    static const enum verdict order[] = {VERDICT_REGRESSED, VERDICT_BROKEN,    VERDICT_IMPROVED,
                                         VERDICT_FIXED,     VERDICT_UNCHANGED, VERDICT_NOISY};
    const char *comma = "";
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        size_t n = count_verdict(r, order[i]);
        if (n == 0)
            continue;
        buf_printf(out, "%s%zu %s", comma, n, verdict_word(order[i], REPORT_EN));
        comma = ", ";
    }
    size_t left_out = 0;
    for (size_t i = 0; i < r->count; i++)
        left_out += r->cells[i].left_out;
    if (left_out > 0)
        buf_printf(out, " (%zu left out by the budget)", left_out);
}

static enum cell_mark mark_of(const struct ab_cell *c)
{
    switch (c->delta.verdict) {
    case VERDICT_REGRESSED:
    case VERDICT_BROKEN:
    case VERDICT_FAILING:
        return MARK_BAD;
    case VERDICT_IMPROVED:
    case VERDICT_FIXED:
        return MARK_GOOD;
    case VERDICT_SUSPECTED:
    case VERDICT_NOISY:
    case VERDICT_MISSING:
        return MARK_WARN;
    case VERDICT_ACCEPTED:
    case VERDICT_UNCHANGED:
    case VERDICT_NEW:
    case VERDICT_COUNT:
        break;
    }
    return MARK_NONE;
}

static const char *same_code(const struct ab_cell *c)
{
    return c->of_device ? "same device code" : "same machine code";
}

static void add_row(const struct ab_cell *c, struct table *t)
{
    const struct delta *d = &c->delta;
    bool measured = d->base.n > 0 && d->now.n > 0;
    table_text(t, num_int(d->context).s);
    table_code(t, d->variant);
    table_text(t, measured ? metric_with_unit(d->metric, d->base.median).s : NUM_NONE);
    table_text(t, measured ? metric_with_unit(d->metric, d->now.median).s : NUM_NONE);
    table_text(t, measured ? num_change(d->estimate.ratio - 1).s : NUM_NONE);
    table_text(t, measured && !isnan(c->control) ? num_change(c->control - 1).s : NUM_NONE);
    table_marked(t, c->same_code ? same_code(c) : verdict_word(d->verdict, REPORT_EN), mark_of(c));
    AUTO(buf_release) struct buf evidence = {.max = TABLE_CELL_MAX};
    if (c->left_out)
        buf_puts(&evidence, "left out by the budget");
    else
        verdict_evidence(d, REPORT_EN, &evidence);
    if (measured || c->left_out)
        table_text(t, buf_str(&evidence));
    else
        table_code(t, buf_str(&evidence)); /* may quote output of the node */
}

static void fill_table(const struct ab_result *r, struct table *t)
{
    static const struct {
        const char *title;
        bool right;
    } columns[] = {{"Context", true}, {"Variant", false},   {"Base", true},    {"Head", true},
                   {"Change", true},  {"Base again", true}, {"Verdict", false}};
    table_init(t);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(t, columns[i].title, columns[i].right);
    table_note(t, "Evidence");
    for (size_t i = 0; i < r->count; i++)
        add_row(&r->cells[i], t);
}

static void write_side(const char *name, const struct ab_side *a, struct buf *out)
{
    buf_printf(out, "%s  %s", name, a->title);
    if (*a->commit.id) {
        buf_puts(out, "  ");
        text_printable(out, a->commit.subject, strlen(a->commit.subject), sizeof a->commit.subject);
    }
    if (a->setting[0]) {
        buf_puts(out, "  with ");
        text_printable(out, a->setting[0], strlen(a->setting[0]), AB_TITLE_MAX);
    }
    buf_putc(out, '\n');
}

static bool all_same(const struct ab_result *r)
{
    return r->count > 0 && count_same(r) == r->count;
}

static bool any_of_device(const struct ab_result *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->cells[i].of_device)
            return true;
    return false;
}

static const char *all_same_what(const struct ab_result *r)
{
    return any_of_device(r) ? "same device code" : "same machine code";
}

void ab_write_text(const struct ab_result *r, struct screen screen, struct buf *out)
{
    struct table t;
    write_side("base", r->base, out);
    write_side("head", r->head, out);
    if (all_same(r)) {
        buf_printf(out, "\nPASS: %s, nothing to measure%s (--force measures all the same)\n",
                   all_same_what(r), any_of_device(r) ? ", unless the host's code changed" : "");
        return;
    }
    buf_putc(out, '\n');
    fill_table(r, &t);
    table_write_text(&t, screen, out);
    table_release(&t);
    buf_printf(out, "\n%s: ", outcome(r));
    write_counts(r, out);
    buf_printf(out, "; measured alternately, %d %s\n", r->rounds, r->rounds == 1 ? "round" : "rounds");
}

static void md_side(struct md *w, const char *name, const struct ab_side *a)
{
    md_bullet(w);
    buf_printf(w->out, "%s: ", name);
    md_code(w, a->title);
    if (*a->commit.id) {
        buf_putc(w->out, ' ');
        md_code(w, a->commit.subject);
    }
    if (a->setting[0]) {
        buf_puts(w->out, " with ");
        md_code(w, a->setting[0]);
    }
    md_line(w);
}

static void md_node(struct md *w, const struct ab_result *r)
{
    md_bullet(w);
    buf_puts(w->out, "node: ");
    md_code(w, r->node);
    if (*r->gpu) {
        buf_puts(w->out, ", ");
        md_code(w, r->gpu);
    }
    if (!all_same(r))
        buf_printf(w->out, ", measured alternately, %d %s", r->rounds, r->rounds == 1 ? "round" : "rounds");
    md_line(w);
}

void ab_write_markdown(const struct ab_result *r, struct buf *out)
{
    struct md w = {.out = out, .lang = REPORT_EN};
    struct table t;
    buf_puts(out, "**kernsweep** ");
    md_code(&w, r->ticket);
    buf_printf(out, ": **%s**, ", outcome(r));
    if (all_same(r))
        buf_printf(out, "%s, nothing to measure%s", all_same_what(r),
                   any_of_device(r) ? " unless the host's code changed" : "");
    else
        write_counts(r, out);
    buf_puts(out, "\n\n");
    md_side(&w, "base", r->base);
    md_side(&w, "head", r->head);
    md_node(&w, r);
    md_end(&w);
    if (all_same(r))
        return;
    fill_table(r, &t);
    md_table(&w, &t);
    table_release(&t);
}

static json_t *encode_side(const struct ab_side *a)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s*}", "title", a->title, "commit", a->commit.id, "subject",
                     a->commit.subject, "authored_at", a->commit.authored_at, "setting", a->setting[0]);
}

json_t *ab_encode(const struct ab_result *r)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < r->count; i++) {
        const struct delta *d = &r->cells[i].delta;
        json_array_append_new(
            cells,
            json_pack("{s:s, s:i, s:s, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:i, s:i, s:s}", "variant",
                      d->variant, "context", d->context, "metric", metric_info(d->metric)->name, "verdict",
                      verdict_name(d->verdict), "same_code", r->cells[i].same_code, "left_out",
                      r->cells[i].left_out, "base_median", cmd_json_number(d->base.median), "head_median",
                      cmd_json_number(d->now.median), "ratio", cmd_json_number(d->estimate.ratio), "control",
                      cmd_json_number(r->cells[i].control), "base_n", d->base.n, "head_n", d->now.n, "reason",
                      verdict_reason(d, REPORT_EN).s));
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:i, s:s, s:i}", "ticket", r->ticket, "node", r->node,
                     "gpu", r->gpu, "base", encode_side(r->base), "head", encode_side(r->head), "cells",
                     cells, "rounds", r->rounds, "outcome", outcome(r), "exit_code", r->exit_code);
}
