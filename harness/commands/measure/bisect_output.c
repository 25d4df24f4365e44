#include "harness/commands/measure/bisect_output.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "harness/commands/measure/bisect_code.h"
#include "reports/render/markdown.h"
#include "reports/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int bisect_report_path(const struct bisect_state *b, char *out, struct err *err)
{
    char name[BISECT_NAME_MAX + 16];
    snprintf(name, sizeof name, "bisect-%s.md", b->name);
    return fs_join(out, err, b->request.artifacts, name);
}

void bisect_write_change(const struct bisect_cell *c, struct buf *out)
{
    buf_printf(out, "%s %d: %s %s", c->variant, c->context, c->metric, num_change(c->ratio - 1).s);
}

/* The ratio of a commit to the good end; NaN if unknown. */
static double ratio_of(const struct bisect_state *b, size_t commit)
{
    const struct bisect_commit *c = &b->commits[commit];
    if (commit == 0)
        return 1;
    if (isfinite(b->entries[commit].ratio))
        return b->entries[commit].ratio;
    for (size_t i = 0; c->basis == BISECT_BY_CODE && i < b->count; i++)
        if (i != commit && *c->code && strcmp(c->code, b->commits[i].code) == 0 &&
            (i == 0 || isfinite(b->entries[i].ratio)))
            return i == 0 ? 1 : b->entries[i].ratio;
    return commit == b->count - 1 ? b->cells[0].ratio : (double)NAN;
}

/* Writes the change between the ends and, if the commit found accounts for only part of it or more than all
 * of it, also the commit's own change. */
static void write_answer(const struct bisect_state *b, struct buf *out)
{
    const struct bisect_cell *c = &b->cells[0];
    size_t before = bisect_good_before(&b->search, b->step.last);
    double own = ratio_of(b, b->step.last) / ratio_of(b, before), share = log(own) / log(c->ratio);
    if (!isfinite(share) || (share > 0.75 && share < 1.33)) {
        bisect_write_change(c, out);
        return;
    }
    buf_printf(out, "%s %d: %s %s there, %s between the ends", c->variant, c->context, c->metric,
               num_change(own - 1).s, num_change(c->ratio - 1).s);
}

/* Writes how many commits may also be the cause but were not searched. */
static void write_unlisted(const struct bisect_state *b, struct buf *out)
{
    const char *path = b->request.path;
    if (b->unlisted == 0)
        return;
    if (b->unlisted == 1)
        buf_puts(out, ", or the one commit up to it that does not change ");
    else
        buf_printf(out, ", or one of the %zu commits up to it that do not change ", b->unlisted);
    text_printable(out, path, strlen(path), sizeof b->request.path);
}

/* Writes why there is no answer. */
static void write_why(const struct bisect_state *b, struct buf *out)
{
    const struct bisect_commit *good = &b->commits[0], *bad = &b->commits[b->count - 1];
    const struct bisect_commit *end = &b->commits[b->step.first];
    if (b->step.outcome == BISECT_STOPPED)
        buf_printf(out, "the %s end %.12s cannot be measured: %s", end == good ? "good" : "bad", end->id,
                   end->reason);
    else if (bad->mark == BISECT_OPEN)
        buf_puts(out, "both ends have the same machine code (--force measures all the same)");
    else if (b->step.outcome == BISECT_UNDECIDED)
        buf_printf(out, "measuring alternately could not tell whether the ends differ: %s", bad->reason);
    else
        buf_printf(out, "measured alternately, the bad end is not slower: %s", bad->reason);
}

void bisect_write_headline(const struct bisect_state *b, struct buf *out)
{
    const struct bisect_step *a = &b->step;
    if (!*b->ended_at) {
        buf_printf(out, "not finished: `kernsweep bisect --continue %s` resumes it", b->name);
        return;
    }
    switch (a->outcome) {
    case BISECT_FOUND:
        buf_printf(out, "found %.12s", b->commits[a->first].id);
        write_unlisted(b, out);
        buf_puts(out, ": ");
        write_answer(b, out);
        return;
    case BISECT_RANGE:
        buf_printf(out, "found the range %.12s to %.12s, %zu commit%s", b->commits[a->first].id,
                   b->commits[a->last].id, a->suspects, text_plural((long long)a->suspects));
        write_unlisted(b, out);
        buf_puts(out, ": ");
        write_answer(b, out);
        return;
    case BISECT_NOT_REPRODUCIBLE:
        buf_puts(out, "not reproducible: ");
        break;
    case BISECT_UNDECIDED:
        buf_puts(out, "undecided: ");
        break;
    case BISECT_STOPPED:
        buf_puts(out, "stopped: ");
        break;
    case BISECT_OUTCOME_COUNT:
        break;
    }
    write_why(b, out);
}

static enum cell_mark colour_of(enum bisect_mark m)
{
    switch (m) {
    case BISECT_GOOD:
        return MARK_GOOD;
    case BISECT_BAD:
        return MARK_BAD;
    case BISECT_SKIPPED:
        return MARK_WARN;
    case BISECT_OPEN:
    case BISECT_MARK_COUNT:
        break;
    }
    return MARK_NONE;
}

static void fill_table(const struct bisect_state *b, struct table *t)
{
    static const struct {
        const char *title;
        bool right;
    } columns[] = {{"Commit", false}, {"Verdict", false}, {"By", false},     {"Rounds", true},
                   {"Change", true},  {"Code", false},    {"Subject", false}};
    table_init(t);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(t, columns[i].title, columns[i].right);
    table_note(t, "Evidence");
    for (size_t i = 0; i < b->count; i++) {
        const struct bisect_commit *c = &b->commits[i];
        const struct bisect_entry *e = &b->entries[i];
        char id[16], code[16];
        if (!c->built)
            continue;
        snprintf(id, sizeof id, "%.12s", c->id);
        snprintf(code, sizeof code, "%.8s", *c->code ? c->code : NUM_NONE);
        table_code(t, id);
        table_marked(t, bisect_mark_name(c->mark), colour_of(c->mark));
        table_text(t, bisect_basis_name(c->basis));
        table_text(t, c->rounds ? num_int(c->rounds).s : NUM_NONE);
        table_text(t, isfinite(e->ratio) ? num_change(e->ratio - 1).s : NUM_NONE);
        table_code(t, code);
        table_code(t, e->git.subject);
        /* Only reasons for skipping quote output of the node. */
        if (c->mark == BISECT_SKIPPED)
            table_code(t, c->reason);
        else
            table_text(t, *c->reason ? c->reason : NUM_NONE);
    }
}

static void write_code(const struct bisect_state *b, struct store *s, struct screen screen, struct buf *out)
{
    AUTO(bisect_code_release) struct bisect_code code = {.rows = NULL};
    struct table t;
    bisect_code_load(b, s, &code);
    if (code.count == 0)
        return;
    bisect_code_table(&code, &t);
    buf_putc(out, '\n');
    table_write_text(&t, screen, out);
    table_release(&t);
}

/* Only the first of the slower cells was followed; in a range of several commits, others may have another
 * cause. */
static bool may_have_other_causes(const struct bisect_state *b)
{
    return b->n_cells > 1 && b->count > 2;
}

static void write_others(const struct bisect_state *b, struct buf *out)
{
    for (size_t i = 1; i < b->n_cells; i++) {
        buf_puts(out, "slower at the bad end, too: ");
        bisect_write_change(&b->cells[i], out);
        buf_putc(out, '\n');
    }
    if (may_have_other_causes(b))
        buf_printf(out, "  perhaps because of another commit: %s\n",
                   b->request.n_wanted > 0 ? "the next search of the night is for them"
                                           : "--variant and --point search for one of them");
}

void bisect_write_text(const struct bisect_state *b, struct store *s, struct screen screen, struct buf *out)
{
    bool suspects[BISECT_COMMITS_MAX];
    struct table t;
    bisect_write_headline(b, out);
    buf_putc(out, '\n');
    bisect_suspects(&b->search, suspects);
    for (size_t i = b->step.first; bisect_state_answered(b) && i <= b->step.last; i++) {
        const struct git_commit *c = &b->entries[i].git;
        if (!suspects[i])
            continue;
        buf_printf(out, "  %.12s  %.10s  ", c->id, c->authored_at);
        text_printable(out, c->subject, strlen(c->subject), sizeof c->subject);
        buf_putc(out, '\n');
    }
    write_others(b, out);
    write_code(b, s, screen, out);
    buf_putc(out, '\n');
    fill_table(b, &t);
    table_write_text(&t, screen, out);
    table_release(&t);
    buf_printf(
        out,
        "\n%zu commit%s after the good end; %d of at most %d pairs of builds measured alternately on %s\n",
        b->count - 1, text_plural((long long)b->count - 1), b->search.pairs, b->search.pairs_max, b->node);
}

static void md_commit(struct md *w, const struct git_commit *c)
{
    md_bullet(w);
    md_code(w, c->id);
    buf_printf(w->out, " of %.10s: ", c->authored_at);
    md_code(w, c->subject);
    md_line(w);
}

static void md_cells(struct md *w, const struct bisect_state *b)
{
    struct table t;
    table_init(&t);
    table_column(&t, "Context", true);
    table_column(&t, "Variant", false);
    table_column(&t, "Metric", false);
    table_column(&t, "Good end", true);
    table_column(&t, "Bad end", true);
    table_column(&t, "Change", true);
    for (size_t i = 0; i < b->n_cells; i++) {
        const struct bisect_cell *c = &b->cells[i];
        table_text(&t, num_int(c->context).s);
        table_code(&t, c->variant);
        table_code(&t, c->metric);
        table_text(&t, num_six_digits(c->base_median).s);
        table_text(&t, num_six_digits(c->median).s);
        table_text(&t, num_change(c->ratio - 1).s);
    }
    md_table(w, &t);
    table_release(&t);
}

static void md_skipped(struct md *w, const struct bisect_state *b)
{
    bool any = false;
    for (size_t i = 0; i < b->count; i++)
        any = any || b->commits[i].mark == BISECT_SKIPPED;
    if (!any)
        return;
    buf_puts(w->out, "## Skipped\n\n");
    for (size_t i = 0; i < b->count; i++) {
        if (b->commits[i].mark != BISECT_SKIPPED)
            continue;
        md_bullet(w);
        md_code(w, b->commits[i].id);
        buf_puts(w->out, ": ");
        md_code(w, b->commits[i].reason);
        md_line(w);
    }
    md_end(w);
}

static void md_facts(struct md *w, const struct bisect_state *b)
{
    md_bullet(w);
    buf_puts(w->out, "plan: ");
    md_code(w, b->request.plan);
    md_line(w);
    md_bullet(w);
    buf_puts(w->out, "node: ");
    md_code(w, b->node);
    if (*b->gpu) {
        buf_puts(w->out, ", ");
        md_code(w, b->gpu);
    }
    md_line(w);
    md_bullet(w);
    buf_printf(w->out, "%zu commit%s after the good end; %d of at most %d pairs of builds measured\n",
               b->count - 1, text_plural((long long)b->count - 1), b->search.pairs, b->search.pairs_max);
    md_bullet(w);
    buf_printf(w->out, "from %s to %s\n", b->started_at, *b->ended_at ? b->ended_at : "now");
    md_end(w);
}

static void md_changed_code(struct md *w, const struct bisect_state *b, struct store *s)
{
    AUTO(bisect_code_release) struct bisect_code code = {.rows = NULL};
    struct table t;
    bisect_code_load(b, s, &code);
    if (code.count == 0)
        return;
    buf_puts(w->out, "## Changed machine code\n\nSince the good commit ");
    md_code(w, b->commits[code.before].id);
    buf_puts(w->out, ":");
    md_end(w);
    bisect_code_table(&code, &t);
    md_table(w, &t);
    table_release(&t);
}

void bisect_write_markdown(const struct bisect_state *b, struct store *s, struct buf *out)
{
    struct md w = {.out = out, .lang = REPORT_EN};
    bool suspects[BISECT_COMMITS_MAX];
    struct buf line;
    struct table t;
    buf_init(&line, 4096);
    bisect_write_headline(b, &line);
    buf_puts(out, "# Search for a slow commit\n\n");
    md_text(&w, buf_str(&line));
    md_end(&w);
    buf_release(&line);
    bisect_suspects(&b->search, suspects);
    for (size_t i = b->step.first; bisect_state_answered(b) && i <= b->step.last; i++)
        if (suspects[i])
            md_commit(&w, &b->entries[i].git);
    md_end(&w);
    md_facts(&w, b);
    if (b->n_cells > 0) {
        buf_puts(out, "## What is slower\n\n");
        md_cells(&w, b);
        if (may_have_other_causes(b))
            buf_printf(out,
                       "The search followed the first of them. The others may be slower because of another "
                       "commit: %s.\n\n",
                       b->request.n_wanted > 0 ? "the next search of the night is for them"
                                               : "`--variant` and `--point` search for one of them");
    }
    md_changed_code(&w, b, s);
    buf_puts(out, "## Commits\n\n");
    fill_table(b, &t);
    md_table(&w, &t);
    table_release(&t);
    md_skipped(&w, b);
}
