/* Next steps: where to look for the cause of what regressed. One line per lead, for all cells that have it.
 */
#include "common/base/alloc.h"
#include "reports/model/lead.h"
#include "reports/sections/next_steps.h"
#include "reports/sections/phrase.h"
#include "reports/tables/shift.h"
#include "reports/words/range.h"
#include "results/judge/confirm.h"

#include <string.h>

enum { FACTS_NAMED_MAX = 4 };

/* Appends names like "driver, rocm and 3 more". */
static void name_facts(const struct report_model *m, enum report_lang lang, struct buf *out)
{
    size_t index[FACTS_NAMED_MAX], n = lead_facts(m, index, FACTS_NAMED_MAX);
    for (size_t i = 0; i < n && i < FACTS_NAMED_MAX; i++)
        buf_printf(out, "%s%s", i ? ", " : "", m->comparison->facts[index[i]].key);
    if (n > FACTS_NAMED_MAX)
        message_plain(out, lang, MSG_AND_MORE, num_int((int64_t)(n - FACTS_NAMED_MAX)).s);
}

static enum msg code_word(enum code_evidence by)
{
    static const enum msg words[] = {[BY_NOTHING] = MSG_CODE_SOURCES,
                                     [BY_DEVICE_CODE] = MSG_CODE_DEVICE,
                                     [BY_BUILD] = MSG_CODE_BUILD,
                                     [BY_SOURCES] = MSG_CODE_SOURCES};
    return words[by];
}

static enum msg step_for(enum lead lead)
{
    static const enum msg steps[LEAD_COUNT] = {
        [LEAD_CODE_CONFIRMED] = MSG_STEP_CODE_CONFIRMED,
        [LEAD_SAME_CONFIRMED] = MSG_STEP_SAME_CONFIRMED,
        [LEAD_NODE_CONFIRMED] = MSG_STEP_NODE_CONFIRMED,
        [LEAD_UNDECIDED] = MSG_STEP_UNDECIDED,
        [LEAD_PLAN] = MSG_STEP_PLAN,
        [LEAD_CODE] = MSG_STEP_CODE,
        [LEAD_NODE] = MSG_STEP_SAME_NODE,
        [LEAD_FACTS] = MSG_STEP_FACTS,
        [LEAD_EITHER] = MSG_STEP_EITHER,
        [LEAD_NEITHER] = MSG_STEP_NEITHER,
        [LEAD_UNKNOWN_CODE] = MSG_STEP_UNKNOWN_CODE,
        [LEAD_SOURCELESS] = MSG_STEP_SOURCELESS,
        [LEAD_UNRECORDED] = MSG_STEP_UNRECORDED,
        [LEAD_NIGHTS] = MSG_STEP_NIGHTS,
    };
    return steps[lead];
}

static void write_lead(const struct report_model *m, enum lead lead, int cells, enum code_evidence by,
                       struct md *w)
{
    AUTO(buf_release) struct buf facts = {.max = PHRASE_MAX};
    name_facts(m, w->lang, &facts);
    md_bullet(w);
    md_say(w, step_for(lead), phrase_count(w->lang, cells, MSG_CELLS_ONE, MSG_CELLS_MANY).s,
           message(w->lang, code_word(by)), buf_str(&facts));
    if (lead == LEAD_CODE && lead_has_sources(m))
        md_say(w, MSG_STEP_CODE_OPEN);
    if ((lead == LEAD_NODE_CONFIRMED || lead == LEAD_SOURCELESS) && facts.len)
        md_say(w, MSG_STEP_NODE_FACTS, buf_str(&facts));
    md_line(w);
}

static enum msg step_for_shift(const struct comparison *c)
{
    const struct common_shift *s = &c->shift;
    if (s->from_controls)
        return s->device_changed ? MSG_STEP_SHIFT_GPU : MSG_STEP_SHIFT_NODE;
    switch (s->confirmed) {
    case SHIFT_NODE:
        return s->device_changed ? MSG_STEP_SHIFT_GPU_CONFIRMED : MSG_STEP_SHIFT_NODE_CONFIRMED;
    case SHIFT_CODE:
        return MSG_STEP_SHIFT_CODE;
    case SHIFT_UNSETTLED:
        break;
    }
    return lead_may_be_confirmed(c) ? MSG_STEP_SHIFT_EITHER : MSG_STEP_SHIFT_OPEN;
}

/* What all cells lost together comes first, as the largest finding of the night. */
static void common_loss(const struct report_model *m, struct md *w)
{
    const struct common_shift *s = &m->comparison->shift;
    bool of_node = s->from_controls || s->confirmed == SHIFT_NODE;
    if (!s->found || !s->worse)
        return;
    AUTO(buf_release) struct buf facts = {.max = PHRASE_MAX};
    AUTO(buf_release) struct buf change = {.max = PHRASE_MAX};
    shift_change(m->comparison->primary, shift_size(s), true, w->lang, &change);
    name_facts(m, w->lang, &facts);
    md_bullet(w);
    md_say(w, step_for_shift(m->comparison), buf_str(&change));
    if (of_node && facts.len)
        md_say(w, MSG_STEP_NODE_FACTS, buf_str(&facts));
    md_line(w);
}

static void card_losses(const struct comparison *c, struct md *w)
{
    AUTO(buf_release) struct buf change = {.max = PHRASE_MAX};
    for (size_t i = 0; i < c->cards.count; i++) {
        const struct card_shift *card = &c->cards.items[i];
        if (!card->worse)
            continue;
        buf_clear(&change);
        shift_change(c->primary, card->ratio, true, w->lang, &change);
        bool of_gpu = card->from_controls || card->from_others;
        md_item(w, of_gpu ? MSG_STEP_CARD_GPU : MSG_STEP_CARD_OPEN, card->gpu, buf_str(&change));
    }
}

static void suspects(const struct report_model *m, struct md *w)
{
    const struct comparison *c = m->comparison;
    int n = c->verdicts[VERDICT_SUSPECTED];
    bool again = false;
    for (size_t i = 0; i < c->count; i++)
        again |= confirm_may_settle(&c->deltas[i]);
    if (n)
        md_item(w, again ? MSG_STEP_SUSPECTS_CONFIRM : MSG_STEP_SUSPECTS,
                phrase_count(w->lang, n, MSG_CELLS_ONE, MSG_CELLS_MANY).s);
}

static const struct opening *found_for(const struct comparison *c, const struct delta *d)
{
    const struct opening *o = d->metric == c->primary && lead_is_wanted(d)
                                  ? openings_of(&c->openings, d->variant, d->context)
                                  : NULL;
    return o && *o->found ? o : NULL;
}

/* One line for each commit that a search found, for all cells that it made slower. */
static void found_commits(const struct comparison *c, struct md *w)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct opening *o = found_for(c, &c->deltas[i]), *other;
        struct opening_words words;
        int cells = 0;
        bool told = false;
        for (size_t k = 0; o && k < c->count; k++) {
            other = found_for(c, &c->deltas[k]);
            bool same = other && strcmp(other->found, o->found) == 0;
            told |= same && k < i;
            cells += same;
        }
        if (!o || told)
            continue;
        opening_words(o, w->lang, &words);
        md_item(w, strcmp(o->found, o->found_last) == 0 ? MSG_STEP_COMMIT : MSG_STEP_COMMITS,
                phrase_count(w->lang, cells, MSG_CELLS_ONE, MSG_CELLS_MANY).s, words.commit.s, words.subject,
                words.range);
    }
}

void next_steps_causes(const struct report_model *m, struct md *w)
{
    const struct comparison *c = m->comparison;
    common_loss(m, w);
    card_losses(c, w);
    found_commits(c, w);
    for (enum lead lead = 0; lead < LEAD_COUNT; lead++) {
        enum code_evidence by = BY_NOTHING;
        int cells = 0;
        for (size_t i = 0; i < c->count; i++) {
            const struct delta *d = &c->deltas[i];
            if (d->metric != c->primary || !lead_is_wanted(d) || lead_of(m, d) != lead || found_for(c, d))
                continue;
            cells++;
            if (lead_code(m, d->variant).by > by) /* the weakest evidence of them all */
                by = lead_code(m, d->variant).by;
        }
        if (cells)
            write_lead(m, lead, cells, by, w);
    }
    suspects(m, w);
}
