#include "harness/nightly/digest.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "reports/words/range.h"
#include "reports/words/reason.h"
#include "results/judge/confirm.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 240 };

struct lines {
    json_t *array;
    size_t left_out;
};

static void append_line(struct lines *l, const char *text)
{
    char clean[LINE_MAX_BYTES];
    if (json_array_size(l->array) == DIGEST_LINES_MAX) {
        l->left_out++;
        return;
    }
    text_printable_fixed(clean, sizeof clean, text, strlen(text));
    json_array_append_new(l->array, json_string(clean));
}

static void list_variants(struct lines *l, const struct run_data *run)
{
    char line[LINE_MAX_BYTES + RUN_REASON_MAX];
    for (size_t i = 0; i < run->n_variants; i++) {
        const struct run_variant *v = &run->variants[i];
        if (v->status == STATUS_OK)
            continue;
        snprintf(line, sizeof line, "%s: %s: %s", v->name, status_name(v->status), v->reason);
        append_line(l, line);
    }
}

/* The outcome of confirming, in a few words. */
static const char *confirmation_note(enum confirmation c)
{
    switch (c) {
    case CONFIRM_STANDS:
        return ", confirmed";
    case CONFIRM_NODE:
        return ", the node, not the sources";
    case CONFIRM_UNDECIDED:
        return ", undecided when measured again";
    case CONFIRM_REFUTED:
    case CONFIRM_NOT_ASKED:
    case CONFIRM_COUNT:
        break;
    }
    return "";
}

/* The strongest cause in a word; one that only coincides has a question mark. */
static const char *cause_note(const struct comparison *c, const char *variant, int context, char out[32])
{
    const struct cell_causes *found = causes_of(&c->causes, variant, context);
    *out = '\0';
    if (found && found->count)
        snprintf(out, 32, ": %s%s", cause_kind_name(found->items[0].kind),
                 found->items[0].certainty == CAUSE_COINCIDES && found->items[0].kind != CAUSE_UNEXPLAINED
                     ? "?"
                     : "");
    return out;
}

/* Tonight's ratio beside the confirmed one, unless they hardly differ. */
static void tonight_note(double confirmed, double tonight, char out[32])
{
    *out = '\0';
    if (fabs(confirmed - tonight) >= 0.0005)
        snprintf(out, 32, " (tonight %+.1f %%)", (tonight - 1) * 100);
}

void digest_note(const struct comparison *c, const struct delta *d, char out[DIGEST_NOTE_MAX])
{
    char cause[32], tonight[32];
    tonight_note(delta_size(d), d->estimate.ratio, tonight);
    snprintf(out, DIGEST_NOTE_MAX, "%s%s%s", confirmation_note(confirm_outcome(d)), tonight,
             cause_note(c, d->variant, d->context, cause));
}

static const char *shift_subject(const struct common_shift *s)
{
    if (s->from_controls)
        return s->device_changed ? "another GPU:" : "the node:";
    return s->agree == s->cells ? "all cells:" : "most cells:";
}

/* Appends to a text of DIGEST_VERDICTS_MAX bytes, of which n are used; what does not fit is cut. */
static size_t append(char *out, size_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static size_t append(char *out, size_t n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int added = vsnprintf(out + n, DIGEST_VERDICTS_MAX - n, fmt, ap);
    va_end(ap);
    size_t all = n + (added > 0 ? (size_t)added : 0);
    return all < DIGEST_VERDICTS_MAX ? all : DIGEST_VERDICTS_MAX - 1;
}

static size_t append_count(char *out, size_t n, const struct comparison *c, enum verdict v, const char *word)
{
    return c->verdicts[v] ? append(out, n, ", %d %s", c->verdicts[v], word) : n;
}

static size_t append_carried(char *out, size_t n, const struct comparison *c)
{
    size_t over = 0;
    for (size_t i = 0; i < c->n_carried; i++)
        over += c->carried[i].budget;
    if (c->n_carried > over)
        n = append(out, n, ", %zu carried", c->n_carried - over);
    if (over > 0)
        n = append(out, n, ", %zu left out by the budget", over);
    return n;
}

void digest_verdicts(const struct comparison *c, char out[DIGEST_VERDICTS_MAX])
{
    const int *v = c->verdicts;
    size_t n = 0, gpus = c->cards.count;
    *out = '\0';
    if (c->shift.found)
        n = append(out, n, "%s %+.1f %% together; ", shift_subject(&c->shift),
                   (shift_size(&c->shift) - 1) * 100);
    if (gpus)
        n = append(out, n, "%zu %s; ", gpus, gpus == 1 ? "GPU by itself" : "GPUs by themselves");
    if (c->node_cells)
        n = append(out, n, "%d slow because of the node; ", c->node_cells);
    n = append(out, n, "%d regressed, %d broken, %d missing, %d improved", v[VERDICT_REGRESSED],
               v[VERDICT_BROKEN], v[VERDICT_MISSING], v[VERDICT_IMPROVED]);
    n = append_count(out, n, c, VERDICT_FAILING, "still failing");
    n = append_count(out, n, c, VERDICT_SUSPECTED, "suspected");
    n = append_count(out, n, c, VERDICT_ACCEPTED, "accepted");
    n = append_count(out, n, c, VERDICT_FIXED, "fixed");
    n = append_count(out, n, c, VERDICT_NEW, "new");
    n = append(out, n, ", %d unchanged", v[VERDICT_UNCHANGED]);
    n = append_carried(out, n, c);
    append(out, n, ", %d inconclusive", v[VERDICT_NOISY]);
}

/* ", since 2026-11-27, with a1b2c3d (unroll the loop)" */
static void append_since(const struct comparison *c, const struct delta *d, struct buf *line)
{
    const struct opening *o = openings_of(&c->openings, d->variant, d->context);
    if (!o && !d->stand.since)
        return;
    buf_puts(line, ", ");
    if (o)
        opening_phrase(o, REPORT_EN, line);
    else
        buf_printf(line, "since %s", num_date(d->stand.since).s);
}

static void append_cell(struct lines *l, const struct comparison *c, const struct delta *d)
{
    AUTO(buf_release) struct buf line = {.max = LINE_MAX_BYTES + 2 * RUN_NAME_MAX};
    char note[DIGEST_NOTE_MAX];
    buf_printf(&line, "%s %d: ", d->variant, d->context);
    if (d->verdict == VERDICT_FAILING)
        buf_printf(&line, "still %s", status_name(d->now.status));
    else
        buf_puts(&line, d->verdict == VERDICT_NOISY ? "inconclusive" : verdict_name(d->verdict));
    if (d->verdict == VERDICT_BROKEN)
        buf_printf(&line, " (%s)", status_name(d->now.status));
    if (isfinite(d->estimate.ratio))
        buf_printf(&line, " %+.1f %%", (delta_size(d) - 1) * 100);
    digest_note(c, d, note);
    buf_puts(&line, note);
    if (d->verdict == VERDICT_SUSPECTED) {
        buf_puts(&line, "; ");
        verdict_settles(d, REPORT_EN, &line);
    }
    append_since(c, d, &line);
    append_line(l, buf_str(&line));
}

/* Once, on the night after. */
static void list_gone(struct lines *l, const struct comparison *c)
{
    char line[LINE_MAX_BYTES + RUN_NAME_MAX];
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        if (d->metric != c->primary || !d->stand.gone || verdict_is_slower(d->verdict))
            continue;
        snprintf(line, sizeof line, "%s %d: gone, suspected on %s", d->variant, d->context,
                 num_date(d->stand.gone).s);
        append_line(l, line);
    }
}

static void append_accepted(struct lines *l, const char *what, const struct acceptance *a)
{
    AUTO(buf_release) struct buf line = {.max = 2 * RUN_REASON_MAX};
    buf_printf(&line, "%s: accepted by %s on %s: %s", what, a->who, num_date(a->accepted_at).s, a->reason);
    append_line(l, buf_str(&line));
}

/* Once, too. */
static void list_accepted(struct lines *l, const struct comparison *c)
{
    char cell[RUN_NAME_MAX + 16];
    if (c->shift.accepted)
        append_accepted(l, "all cells", c->shift.accepted);
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        snprintf(cell, sizeof cell, "%s %d", d->variant, d->context);
        if (d->metric == c->primary && d->accepted)
            append_accepted(l, cell, d->accepted);
    }
}

/* Of the inconclusive cells, only those are listed that confirming put down to the node. */
static void list_cells(struct lines *l, const struct comparison *c)
{
    static const enum verdict order[] = {VERDICT_REGRESSED, VERDICT_BROKEN,   VERDICT_MISSING,
                                         VERDICT_FAILING,   VERDICT_NOISY,    VERDICT_SUSPECTED,
                                         VERDICT_FIXED,     VERDICT_IMPROVED, VERDICT_NEW};
    for (size_t v = 0; v < sizeof order / sizeof *order; v++)
        for (size_t i = 0; i < c->count; i++) {
            const struct delta *d = &c->deltas[i];
            if (d->metric == c->primary && d->verdict == order[v] &&
                (d->verdict != VERDICT_NOISY || d->confirmation == CONFIRM_NODE))
                append_cell(l, c, d);
        }
    list_gone(l, c);
    list_accepted(l, c);
}

static void list_tests(struct lines *l, const struct run_data *run)
{
    char line[LINE_MAX_BYTES + RUN_NAME_MAX + RUN_REASON_MAX];
    for (size_t i = 0; i < run->n_tests; i++) {
        const struct run_test *t = &run->tests[i];
        if (t->status == STATUS_OK || t->status == STATUS_SKIPPED)
            continue;
        snprintf(line, sizeof line, "%s %d: %s: %s", run->variants[t->variant].name, t->context,
                 status_name(t->status), t->reason);
        append_line(l, line);
    }
}

static void list_shift(struct lines *l, const struct comparison *c)
{
    const struct common_shift *s = &c->shift;
    char line[LINE_MAX_BYTES], cause[32], tonight[32];
    tonight_note(shift_size(s), s->ratio, tonight);
    if (s->found)
        snprintf(line, sizeof line, "%s %+.1f %% together%s, %s%s", shift_subject(s),
                 (shift_size(s) - 1) * 100, tonight, s->confirmed == SHIFT_CODE ? "confirmed" : "one finding",
                 cause_note(c, "", 0, cause));
    if (s->found)
        append_line(l, line);
    if (s->device_changed)
        append_line(l, "the GPU is not the one used before");
}

static void list_cards(struct lines *l, const struct comparison *c)
{
    char line[LINE_MAX_BYTES];
    for (size_t i = 0; i < c->cards.count; i++) {
        const struct card_shift *s = &c->cards.items[i];
        snprintf(line, sizeof line, "the GPU %.60s by itself: %+.1f %%, one finding", s->gpu,
                 (s->ratio - 1) * 100);
        append_line(l, line);
    }
}

static void list_commits(struct lines *l, const char *commits)
{
    char line[LINE_MAX_BYTES + 16];
    snprintf(line, sizeof line, "commits: %.*s", LINE_MAX_BYTES, commits);
    append_line(l, line);
}

json_t *digest_lines(const struct run_data *run, const struct comparison *c, const char *commits)
{
    struct lines l = {.array = json_array()};
    char rest[64];
    list_variants(&l, run);
    if (c)
        list_shift(&l, c);
    if (c)
        list_cards(&l, c);
    if (c && *commits && (c->shift.found || c->cards.count > 0))
        list_commits(&l, commits);
    if (c)
        list_cells(&l, c);
    else
        list_tests(&l, run);
    if (l.left_out > 0) {
        snprintf(rest, sizeof rest, "and %zu more", l.left_out + 1);
        json_array_set_new(l.array, DIGEST_LINES_MAX - 1, json_string(rest));
    }
    return l.array;
}
