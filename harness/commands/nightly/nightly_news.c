#include "harness/commands/nightly/nightly_news.h"

#include "common/base/text.h"
#include "harness/nightly/open_cells.h"

#include <stdio.h>
#include <string.h>

static bool any_accepted(const struct comparison *c)
{
    bool any = c->shift.accepted;
    for (size_t i = 0; i < c->count; i++)
        any = any || c->deltas[i].accepted;
    return any;
}

void night_findings_compare(struct night_findings *f, const struct nightly_state *before,
                            const struct comparison *c, const char *date)
{
    snprintf(f->base, sizeof f->base, "%s", *c->base_id ? c->base_id : "nights");
    f->other_base = *before->base && strcmp(before->base, f->base) != 0;
    f->open = open_cells_after(before->open, c, date);
    if (f->other_base)
        open_cells_drop_unmeasured(f->open, c);
    f->unmeasured = open_cells_unmeasured(f->open, c);
    f->carried = json_array();
    open_cells_undecided(f->open, c, f->carried);
    f->accepted = any_accepted(c);
    f->suspected = c->verdicts[VERDICT_SUSPECTED] > 0;
    f->mostly_noisy = open_cells_mostly_noisy(c);
}

void night_findings_release(struct night_findings *f)
{
    json_decref(f->result.summary);
    json_decref(f->open);
    json_decref(f->carried);
    json_decref(f->commits);
    *f = (struct night_findings){.open = NULL};
}

json_t *night_open_cells(const struct night_findings *f, const struct nightly_state *before)
{
    return f->open ? f->open : before->open;
}

void night_headline(const struct night_findings *f, int code, const struct err *err, char *out, size_t cap)
{
    const struct run_counts *c = &f->result.counts;
    size_t carried = json_array_size(f->carried);
    const char *verdicts = f->result.compared          ? f->result.verdicts
                           : f->result.became_baseline ? "this run is now the baseline"
                                                       : "nothing to compare with";
    AUTO(buf_release) struct buf line = {.max = 4 * ERR_MSG_MAX};
    if (code < 0) {
        snprintf(out, cap, "%s", err->msg);
        return;
    }
    buf_printf(&line, "%d of %d tests ok; %s", c->ok, c->total, verdicts);
    if (f->result.compared && carried > 0)
        buf_printf(&line, "; %zu of them open from an earlier night", carried);
    if (f->result.compared && f->unsearched > 0)
        buf_printf(&line, "; %zu regression%s not yet bisected", f->unsearched,
                   text_plural((long long)f->unsearched));
    snprintf(out, cap, "%s", buf_str(&line));
}

unsigned night_ended(const struct night_findings *f, int code, const struct err *err)
{
    const struct run_counts *c = &f->result.counts;
    if (code < 0)
        return err->kind == ERR_NODE ? NEWS_BLOCKED : NEWS_FAILURE;
    if (code == EXIT_BLOCKED)
        return NEWS_BLOCKED;
    bool failed = code == EXIT_USAGE || c->failed > 0 || c->ok < c->total || f->result.status != RUN_COMPLETE;
    return (code == EXIT_REGRESSION ? NEWS_REGRESSION : 0u) | (failed ? NEWS_FAILURE : 0u);
}

/* Whether earlier nights found something that only a comparison can clear. */
static bool had_findings(const struct nightly_state *before)
{
    return before->news & NEWS_REGRESSION || json_array_size(before->open) > 0;
}

static bool is_settled(const struct night_findings *f, const struct nightly_state *before)
{
    return json_array_size(night_open_cells(f, before)) == 0 && (f->result.compared || !had_findings(before));
}

/* That nothing is open after somebody accepted findings, by a new baseline or by themselves, does not mean
 * that they recovered: the cells may be just as slow. */
static bool is_replaced(const struct night_findings *f, const struct nightly_state *before)
{
    return (f->other_base || f->accepted) && had_findings(before);
}

unsigned night_news(const struct night_findings *f, const struct nightly_state *before, unsigned ended)
{
    unsigned suspected = f->suspected ? NEWS_SUSPECTED : 0;
    if (ended != 0)
        return ended | suspected;
    if (f->mostly_noisy || json_array_size(f->carried) > 0)
        return NEWS_INCONCLUSIVE | suspected;
    bool recovered = before->news != 0 && is_settled(f, before) && !is_replaced(f, before);
    return (recovered ? NEWS_RECOVERED : 0u) | suspected;
}

/* Explains why a night cleared less than its verdicts suggest. */
static void add_line_of_open(const struct night_findings *f, const struct nightly_state *before,
                             unsigned news, json_t *lines)
{
    size_t count = f->result.compared ? f->unmeasured : json_array_size(night_open_cells(f, before));
    if (count > 0)
        json_array_append_new(lines, json_sprintf("not %s tonight: %zu cell%s open from earlier nights",
                                                  f->result.compared ? "measured" : "compared", count,
                                                  text_plural((long long)count)));
    else if ((news & ~(unsigned)NEWS_SUSPECTED) == 0 && f->other_base && is_settled(f, before) &&
             is_replaced(f, before))
        json_array_append_new(
            lines,
            json_string(
                "the baseline changed: nothing is open against the new one, which does not show a recovery"));
}

void night_add_lines(const struct night_findings *f, const struct nightly_state *before, int code,
                     unsigned news, json_t *lines)
{
    if (f->carried)
        json_array_extend(lines, f->carried);
    if (f->commits)
        json_array_extend(lines, f->commits);
    if (code >= 0)
        add_line_of_open(f, before, news, lines);
}

/* A run that found nothing new and cleared nothing does not change what people were told, and without a
 * comparison no regression is cleared. */
static unsigned unsettled_after(const struct night_findings *f, const struct nightly_state *before,
                                unsigned ended, unsigned news)
{
    unsigned regressed = f->result.compared ? 0 : before->news & NEWS_REGRESSION;
    if (news & NEWS_INCONCLUSIVE || (ended == 0 && !is_settled(f, before)))
        return before->news;
    return ended | regressed;
}

struct nightly_state night_state_after(const struct night_findings *f, const struct nightly_state *before,
                                       unsigned ended, unsigned news)
{
    struct nightly_state after = {.news = unsettled_after(f, before, ended, news),
                                  .open = json_incref(night_open_cells(f, before))};
    if (ended & NEWS_REGRESSION)
        memcpy(after.base, f->base, sizeof after.base);
    else if (after.news != 0 || json_array_size(after.open) > 0)
        memcpy(after.base, before->base, sizeof after.base);
    return after;
}
