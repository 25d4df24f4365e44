/* Cards: the GPUs of a run that used several: which one stands out, by how much, how sure; and how many tests
 * ran beside each other. */
#include "common/base/alloc.h"
#include "reports/sections/section.h"
#include "reports/tables/shift.h"
#include "reports/tables/standings_table.h"
#include "reports/tables/tables.h"
#include "reports/words/number.h"

#include <stdlib.h>

enum { CHANGED_MAX = 2048 };

static int most_beside(const struct run_data *run)
{
    int most = 0;
    for (size_t i = 0; i < run->n_tests; i++)
        most = run->tests[i].beside > most ? run->tests[i].beside : most;
    return most;
}

static bool any_shared(const struct place_standing *cards, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cards[i].cells > 0)
            return true;
    return false;
}

static void outstanding(const struct place_standing *cards, size_t n, struct md *w)
{
    for (size_t i = 0; i < n; i++)
        if (cards[i].speed == PLACE_SLOW || cards[i].speed == PLACE_FAST)
            md_item(w, cards[i].speed == PLACE_SLOW ? MSG_CARDS_SLOW : MSG_CARDS_FAST, cards[i].place,
                    num_change(cards[i].ratio - 1).s, num_change(cards[i].ratio_low - 1).s,
                    num_change(cards[i].ratio_high - 1).s, num_int(cards[i].cells).s);
}

/* Those that differ from before, whatever the others do. */
static void changed(const struct report_model *m, struct md *w)
{
    AUTO(buf_release) struct buf text = {.max = CHANGED_MAX};
    for (size_t i = 0; m->has_comparison && i < m->comparison->cards.count; i++) {
        buf_clear(&text);
        verdict_card(m->comparison, &m->comparison->cards.items[i], w->lang, &text);
        md_bullet(w);
        md_text(w, buf_str(&text));
        md_line(w);
    }
}

void section_cards(const struct report_model *m, struct md *w)
{
    struct table t;
    const struct place_standing *cards = m->cards;
    if (m->n_cards < 2)
        return;
    md_heading(w, 2, MSG_H_CARDS);
    outstanding(cards, m->n_cards, w);
    changed(m, w);
    table_init(&t);
    table_standings(&t, PLACE_GPU, cards, m->n_cards, m->has_comparison ? &m->comparison->cards : NULL,
                    w->lang);
    md_table(w, &t);
    table_release(&t);
    md_para(w, any_shared(cards, m->n_cards) ? MSG_CARDS_NOTE : MSG_CARDS_NOT_SHARED);
    if (most_beside(&m->now) > 0)
        md_para(w, MSG_CARDS_BESIDE, num_int(most_beside(&m->now)).s);
}
