/* Summary: how the variants of the run compare, and how their time grows. */
#include "common/base/alloc.h"
#include "reports/model/insight.h"
#include "reports/sections/phrase.h"
#include "reports/sections/summary.h"
#include "reports/tables/best_table.h"

#include <string.h>

static void count_at(struct buf *out, enum report_lang lang, enum msg id, int n)
{
    if (n && out->len)
        buf_puts(out, ", ");
    if (n)
        message_plain(out, lang, id, num_int(n).s);
}

static void write_mixed(const struct report_model *m, size_t variant, size_t other,
                        const struct standing_range *s, const char *factors, struct md *w)
{
    bool speed = metric_is_speed(m->primary.metric);
    AUTO(buf_release) struct buf counts = {.max = PHRASE_MAX};
    AUTO(buf_release) struct buf what = {.max = PHRASE_MAX};
    message_plain(&what, w->lang, speed ? MSG_ITS_SPEED : MSG_AS_GOOD, metric_info(m->primary.metric)->name);
    count_at(&counts, w->lang, speed ? MSG_FASTER_AT : MSG_BETTER_AT, s->fast);
    count_at(&counts, w->lang, MSG_SAME_AT, s->contexts - s->fast - s->slow - s->unsure);
    count_at(&counts, w->lang, speed ? MSG_SLOWER_AT : MSG_WORSE_AT, s->slow);
    count_at(&counts, w->lang, MSG_UNSURE_AT, s->unsure);
    md_item(w, *m->now.variants[variant].shape ? MSG_VARIANT_MIXED_SHAPES : MSG_VARIANT_MIXED,
            report_model_variant(m, variant), report_model_variant(m, other), factors, buf_str(&counts),
            num_int(s->contexts).s, buf_str(&what));
}

/* Words the standing by a metric that is not a speed. */
static void write_goodness(const struct report_model *m, enum msg sentence, const char *const words[3],
                           const char *times, struct md *w)
{
    md_item(w, sentence, words[0], words[1], words[2], times, metric_info(m->primary.metric)->name);
}

static void write_where(struct buf *out, enum report_lang lang, const struct standing_range *s, bool shapes)
{
    if (s->not_ok && s->contexts > 1)
        message_plain(out, lang, shapes ? MSG_AT_SHAPES_OK : MSG_AT_CONTEXTS_OK);
    else
        phrase_where(out, lang, s->contexts, s->context, shapes);
}

static void write_standing(const struct report_model *m, size_t variant, size_t other, struct md *w)
{
    struct standing_range s = insight_standing(m, variant, other);
    const char *name = report_model_variant(m, variant), *reference = report_model_variant(m, other);
    if (s.unlike)
        md_item(w, MSG_VARIANT_UNLIKE, name, reference);
    if (s.contexts == 0)
        return;
    AUTO(buf_release) struct buf factors = {.max = PHRASE_MAX};
    AUTO(buf_release) struct buf times = {.max = PHRASE_MAX};
    AUTO(buf_release) struct buf where = {.max = PHRASE_MAX};
    phrase_factors(&factors, s.low, s.high);
    phrase_factors(&times, 1 / s.high, 1 / s.low);
    write_where(&where, w->lang, &s, *m->now.variants[variant].shape);
    const char *const words[] = {name, reference, buf_str(&where)};
    bool speed = metric_is_speed(m->primary.metric);
    if (s.slow == s.contexts && !speed)
        write_goodness(m, MSG_VARIANT_WORSE, words, buf_str(&times), w);
    else if (s.fast == s.contexts && !speed)
        write_goodness(m, MSG_VARIANT_BETTER, words, buf_str(&factors), w);
    else if (s.fast + s.slow + s.unsure == 0 && !speed)
        write_goodness(m, MSG_VARIANT_ALIKE, words, buf_str(&factors), w);
    else if (s.slow == s.contexts)
        md_item(w, MSG_VARIANT_SLOWER, name, reference, buf_str(&where), buf_str(&times), buf_str(&factors));
    else if (s.fast == s.contexts)
        md_item(w, MSG_VARIANT_FASTER, name, reference, buf_str(&where), buf_str(&factors));
    else if (s.fast + s.slow + s.unsure == 0)
        md_item(w, MSG_VARIANT_SAME, name, reference, buf_str(&where), buf_str(&factors));
    else
        write_mixed(m, variant, other, &s, buf_str(&factors), w);
}

/* Each variant often improves on the one before, so a few variants are compared pairwise. */
static void write_pairs(const struct report_model *m, struct md *w)
{
    size_t first[INSIGHT_PAIRS_OF_MAX], n = insight_others(m, first, INSIGHT_PAIRS_OF_MAX);
    for (size_t i = 1; n <= INSIGHT_PAIRS_OF_MAX && i < n; i++)
        write_standing(m, first[i], first[i - 1], w);
}

/* Writes one line per kernel and length, for its largest launch. */
static void write_serialised(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->kernel.count; i++) {
        struct launch_growth g = launch_growth(m->kernel.launches, m->kernel.count, i);
        if (g.largest && g.serialised)
            md_item(w, MSG_SUMMARY_SERIALISED, m->kernel.launches[i].kernel, num_growth(g.work).s,
                    num_growth(g.actual).s, num_fixed(m->kernel.launches[i].units, 0).s);
    }
}

static void write_outgrown(const struct report_model *m, struct md *w)
{
    const struct launch *all = m->kernel.launches;
    for (size_t i = 0; i < m->kernel.count; i++) {
        size_t other = launch_outgrown_by(all, m->kernel.count, i);
        const struct launch_growth g = launch_growth(all, m->kernel.count, i);
        if (other == m->kernel.count || g.serialised)
            continue;
        md_item(w, MSG_SUMMARY_OUTGROWN, all[i].kernel, num_growth(g.actual).s, num_growth(g.work).s,
                num_fixed(all[i].seq, 0).s, all[other].kernel,
                num_growth(launch_growth(all, m->kernel.count, other).actual).s);
    }
}

static void write_growth(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->scaling.count; i++) {
        const struct scaling *s = &m->scaling.items[i];
        const struct scaling_row *row = insight_worst_step(s);
        if (!row)
            continue;
        md_item(w, MSG_SUMMARY_SCALING, m->now.variants[s->variant].name, num_int(row[-1].context).s,
                num_int(row->context).s, num_growth(row->step).s, num_growth(row->step_expected).s,
                num_fixed(s->exponent, 2).s);
    }
}

void summary_variants(const struct report_model *m, struct md *w)
{
    best_items(&m->now, m->primary.metric, w);
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (report_model_first(m, v))
            write_standing(m, v, m->reference, w);
    write_pairs(m, w);
    write_serialised(m, w);
    write_outgrown(m, w);
    write_growth(m, w);
}
