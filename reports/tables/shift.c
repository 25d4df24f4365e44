#include "reports/tables/shift.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "reports/words/number.h"
#include "results/judge/confirm.h"
#include "results/stats/stats.h"

#include <math.h>
#include <string.h>

enum { PART_MAX = 256, CARD_TEXT_MAX = 2048, CELLS_NAMED = 4, NAMES_MAX = 1024 };

/* Smaller common factors are not worth a sentence. */
static const double shift_shown = 0.01;

void shift_change(enum metric m, double ratio, bool worse, enum report_lang lang, struct buf *out)
{
    struct num change = num_percent(fabs(ratio - 1));
    if (metric_is_speed(m))
        message_plain(out, lang, worse ? MSG_SHIFT_SLOWER : MSG_SHIFT_FASTER, change.s);
    else
        message_plain(out, lang, worse ? MSG_SHIFT_WORSE : MSG_SHIFT_BETTER, change.s, metric_info(m)->name);
}

/* A change that is not due to the code is put down to the GPU if that differs, and else to the node. */
static enum msg shift_message(const struct common_shift *s)
{
    if (s->from_controls)
        return s->device_changed ? MSG_SHIFT_GPU : MSG_SHIFT_NODE;
    switch (s->confirmed) {
    case SHIFT_NODE:
        return s->device_changed ? MSG_SHIFT_GPU_CONFIRMED : MSG_SHIFT_NODE_CONFIRMED;
    case SHIFT_CODE:
        return MSG_SHIFT_CODE_CONFIRMED;
    case SHIFT_UNSETTLED:
        break;
    }
    return MSG_SHIFT_UNKNOWN;
}

/* Says whether alternating both builds would tell the cause, or has failed to. */
static const char *confirm_clause(const struct comparison *c, enum report_lang lang)
{
    switch (confirm_use_for(c)) {
    case CONFIRM_CAN_TELL:
        return message(lang, MSG_SHIFT_CONFIRM_TELLS);
    case CONFIRM_DID_NOT_TELL:
        return message(lang, MSG_SHIFT_CONFIRM_DID_NOT);
    case CONFIRM_USELESS:
        break;
    }
    return "";
}

/* The number of cells that moved by as much, and that of all cells if some did not. */
static void put_agreement(const struct common_shift *s, enum report_lang lang, struct buf *out)
{
    if (s->agree == s->cells)
        buf_puts(out, num_int((int64_t)s->cells).s);
    else
        message_plain(out, lang, MSG_SHIFT_AGREE, num_int((int64_t)s->agree).s, num_int((int64_t)s->cells).s);
}

/* The cells whose reference has the common factor in it: "v3 at 4096, v4 at 4096 and 3 more". */
static void put_factored(const struct comparison *c, enum report_lang lang, struct buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        if (d->metric != c->primary || !(fabs(d->reference.common - 1) > 0) || n++ >= CELLS_NAMED)
            continue;
        buf_puts(out, n > 1 ? ", " : "");
        text_printable(out, d->variant, strlen(d->variant), sizeof d->variant);
        if (d->context)
            message_plain(out, lang, MSG_AT_CONTEXT, num_int(d->context).s);
    }
    if (n > CELLS_NAMED)
        message_plain(out, lang, MSG_AND_MORE, num_int((int64_t)(n - CELLS_NAMED)).s);
    buf_puts(out, n ? "" : message(lang, MSG_NO_CELL));
}

const char *shift_cells(const struct common_shift *s, enum report_lang lang)
{
    return message(lang, s->agree == s->cells ? MSG_ALL_CELLS : MSG_MOST_CELLS);
}

/* Says since when: since the base, or since the nights if the run was compared with a base as well. */
static void put_since(const struct comparison *c, bool since_base, enum report_lang lang, struct buf *out)
{
    if (since_base)
        message_plain(out, lang, MSG_SHIFT_SINCE_BASE);
    else if (*c->base_id)
        message_plain(out, lang, MSG_SHIFT_SINCE_NIGHTS);
}

static void describe_shift(const struct comparison *c, enum report_lang lang, struct buf *out)
{
    const struct common_shift *s = &c->shift;
    AUTO(buf_release) struct buf change = {.max = PART_MAX};
    AUTO(buf_release) struct buf cells = {.max = PART_MAX};
    AUTO(buf_release) struct buf factored = {.max = NAMES_MAX};
    put_agreement(s, lang, &cells);
    put_factored(c, lang, &factored);
    shift_change(c->primary, shift_size(s), s->worse, lang, &change);
    message_plain(out, lang, shift_message(s), buf_str(&change), buf_str(&cells), confirm_clause(c, lang),
                  shift_cells(s, lang), num_change(s->ratio - 1).s, buf_str(&factored));
    put_since(c, s->since_base, lang, out);
}

static void describe_small(const struct comparison *c, enum report_lang lang, struct buf *out)
{
    const struct common_shift *s = &c->shift;
    enum msg night = s->unusual ? MSG_SHIFT_UNUSUAL : MSG_SHIFT_SMALL;
    AUTO(buf_release) struct buf cells = {.max = PART_MAX};
    AUTO(buf_release) struct buf factored = {.max = NAMES_MAX};
    put_agreement(s, lang, &cells);
    put_factored(c, lang, &factored);
    message_plain(out, lang, isnan(s->p) ? MSG_SHIFT_SMALL_PAIR : night, num_change(s->ratio - 1).s,
                  buf_str(&cells), buf_str(&factored));
}

size_t verdict_uneven_cells(const struct comparison *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++)
        n += c->deltas[i].reason == REASON_UNEVEN;
    return n;
}

static void describe_uneven(const struct comparison *c, enum report_lang lang, struct buf *out)
{
    AUTO_FREE double *changes = xcalloc(c->count + 1, sizeof *changes);
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->deltas[i].reason == REASON_UNEVEN)
            changes[n++] = c->deltas[i].estimate.ratio - 1;
    if (n == 0)
        return;
    buf_puts(out, out->len ? " " : "");
    message_plain(out, lang, MSG_NIGHT_UNEVEN, num_int((int64_t)n).s, num_change(stats_median(changes, n)).s);
}

void verdict_shift(const struct comparison *c, enum report_lang lang, struct buf *out)
{
    const struct common_shift *s = &c->shift;
    if (s->found)
        describe_shift(c, lang, out);
    else if (s->known && fabs(s->ratio - 1) >= shift_shown)
        describe_small(c, lang, out);
    if (s->device_changed) {
        buf_puts(out, out->len ? " " : "");
        message_plain(out, lang, MSG_SHIFT_DEVICE);
    }
    if (s->accepted) {
        buf_puts(out, out->len ? " " : "");
        message_plain(out, lang, MSG_SHIFT_ACCEPTED, s->accepted->who, num_date(s->accepted->accepted_at).s,
                      s->accepted->reason);
    }
    describe_uneven(c, lang, out);
}

static enum msg card_cause(const struct card_shift *s)
{
    if (s->from_controls)
        return MSG_CARD_SHIFT_CONTROLS;
    return s->from_others ? MSG_CARD_SHIFT_OTHERS : MSG_CARD_SHIFT_OPEN;
}

void verdict_card(const struct comparison *c, const struct card_shift *s, enum report_lang lang,
                  struct buf *out)
{
    AUTO(buf_release) struct buf change = {.max = PART_MAX};
    if (metric_is_speed(c->primary))
        message_plain(&change, lang, s->worse ? MSG_CARD_SLOWER : MSG_CARD_FASTER,
                      num_percent(fabs(s->ratio - 1)).s);
    else
        shift_change(c->primary, s->ratio, s->worse, lang, &change);
    message_plain(out, lang, s->cells == s->all ? MSG_CARD_SHIFT_ALL : MSG_CARD_SHIFT_MOST, s->gpu,
                  buf_str(&change), num_int((int64_t)s->all).s, num_int((int64_t)s->cells).s);
    message_plain(out, lang, card_cause(s));
    put_since(c, s->since_base, lang, out);
}

static void write_card(const struct comparison *c, size_t i, struct md *w)
{
    AUTO(buf_release) struct buf text = {.max = CARD_TEXT_MAX};
    verdict_card(c, &c->cards.items[i], w->lang, &text);
    md_text(w, buf_str(&text));
    md_line(w);
}

void cards_paragraphs(const struct comparison *c, struct md *w)
{
    for (size_t i = 0; i < c->cards.count; i++) {
        write_card(c, i, w);
        md_end(w);
    }
}

void cards_items(const struct comparison *c, const char *indent, struct md *w)
{
    for (size_t i = 0; i < c->cards.count; i++) {
        buf_puts(w->out, indent);
        md_bullet(w);
        write_card(c, i, w);
    }
}
