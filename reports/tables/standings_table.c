#include "reports/tables/standings_table.h"

#include "reports/words/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum cell_mark mark_of(enum place_speed s)
{
    return s == PLACE_SLOW ? MARK_BAD : s == PLACE_FAST ? MARK_GOOD : MARK_NONE;
}

static const char *speed_text(enum place_speed s, enum report_lang lang)
{
    static const enum msg words[PLACE_SPEED_COUNT] = {[PLACE_ALIKE] = MSG_PLACE_IS_ALIKE,
                                                      [PLACE_SLOW] = MSG_PLACE_IS_SLOW,
                                                      [PLACE_FAST] = MSG_PLACE_IS_FAST,
                                                      [PLACE_UNKNOWN] = MSG_PLACE_IS_UNKNOWN};
    return message(lang, words[s]);
}

static void add_interval(struct table *t, const struct place_standing *s)
{
    char text[80];
    if (isnan(s->ratio_low)) {
        table_text(t, NUM_NONE);
        return;
    }
    snprintf(text, sizeof text, "%.32s .. %.32s", num_change(s->ratio_low - 1).s,
             num_change(s->ratio_high - 1).s);
    table_text(t, text);
}

static void add_before(struct table *t, const struct place_standing *s, const struct card_shifts *cards)
{
    for (size_t i = 0; i < cards->count; i++)
        if (strcmp(cards->items[i].gpu, s->place) == 0) {
            table_marked(t, num_change(cards->items[i].ratio - 1).s,
                         cards->items[i].worse ? MARK_BAD : MARK_GOOD);
            return;
        }
    table_text(t, NUM_NONE);
}

static void add_row(struct table *t, const struct place_standing *s, bool with_mode,
                    const struct card_shifts *cards, enum report_lang lang)
{
    table_code(t, s->place);
    if (with_mode)
        table_text(t, *s->mode ? s->mode : NUM_NONE);
    table_text(t, num_int(s->tests).s);
    table_text(t, num_int(s->cells).s);
    table_text(t, num_int(s->worse).s);
    table_text(t, isnan(s->ratio) ? NUM_NONE : num_change(s->ratio - 1).s);
    add_interval(t, s);
    table_text(t, isnan(s->p) ? NUM_NONE : num_p(s->p).s);
    table_marked(t, speed_text(s->speed, lang), mark_of(s->speed));
    if (cards)
        add_before(t, s, cards);
}

void table_standings(struct table *t, enum place_kind by, const struct place_standing *places, size_t count,
                     const struct card_shifts *cards, enum report_lang lang)
{
    bool with_mode = false;
    for (size_t i = 0; i < count; i++)
        with_mode |= *places[i].mode != '\0';
    table_texts(t, lang, by == PLACE_NODE ? MSG_COL_NODE : MSG_COL_GPU);
    if (with_mode)
        table_texts(t, lang, MSG_COL_MODE);
    table_numbers(t, lang, MSG_COL_TESTS, MSG_COL_SHARED_CELLS, MSG_COL_WORSE_IN, MSG_COL_VS_MIDDLE,
                  MSG_COL_INTERVAL, MSG_COL_P);
    table_texts(t, lang, MSG_COL_VERDICT);
    if (cards && cards->count == 0)
        cards = NULL;
    if (cards)
        table_numbers(t, lang, MSG_COL_VS_BEFORE);
    for (size_t i = 0; i < count; i++)
        add_row(t, &places[i], with_mode, cards, lang);
}
