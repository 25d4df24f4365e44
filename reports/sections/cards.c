/* Cards: the GPUs of a run that used several: which one stands out, by how much, how sure; and how many tests
 * ran beside each other. */
#include "common/base/alloc.h"
#include "reports/sections/section.h"
#include "reports/tables/shift.h"
#include "reports/tables/standings_table.h"
#include "reports/tables/tables.h"
#include "reports/words/number.h"

#include <stdlib.h>

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

void section_cards(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    const struct place_standing *cards = m->cards;
    if (m->n_cards < 2)
        return;
    md_heading(w, 2, MSG_H_CARDS);
    outstanding(cards, m->n_cards, w);
    if (m->has_comparison)
        cards_items(m->comparison, "", w);
    table_standings(&t, PLACE_GPU, cards, m->n_cards, m->has_comparison ? &m->comparison->cards : NULL,
                    w->lang);
    md_table(w, &t);
    md_para(w, any_shared(cards, m->n_cards) ? MSG_CARDS_NOTE : MSG_CARDS_NOT_SHARED);
    if (most_beside(&m->now) > 0)
        md_para(w, MSG_CARDS_BESIDE, num_int(most_beside(&m->now)).s);
}
