#include "reports/words/reason.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "reports/words/quantity.h"
#include "results/judge/confirm.h"
#include "results/judge/within.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 4096 };

const char *verdict_word(enum verdict v, enum report_lang lang)
{
    static const enum msg words[VERDICT_COUNT] = {
        [VERDICT_IMPROVED] = MSG_VERDICT_IMPROVED,
        [VERDICT_REGRESSED] = MSG_VERDICT_REGRESSED,
        [VERDICT_SUSPECTED] = MSG_VERDICT_SUSPECTED,
        [VERDICT_ACCEPTED] = MSG_VERDICT_ACCEPTED,
        [VERDICT_UNCHANGED] = MSG_VERDICT_UNCHANGED,
        [VERDICT_NOISY] = MSG_VERDICT_NOISY,
        [VERDICT_NEW] = MSG_VERDICT_NEW,
        [VERDICT_MISSING] = MSG_VERDICT_MISSING,
        [VERDICT_BROKEN] = MSG_VERDICT_BROKEN,
        [VERDICT_FAILING] = MSG_VERDICT_FAILING,
        [VERDICT_FIXED] = MSG_VERDICT_FIXED,
    };
    return message(lang, words[v]);
}

/* A smaller factor is not worth a word in the evidence of a cell. */
static const double factor_shown = 0.005;
/* Ratios beyond this are said as "1.5x slower". */
static const double times_shown = 1.5;

/* Chooses one message of three: for two runs, for nights, and within a run. */
static enum msg message_for(const struct delta *d, enum msg runs, enum msg nights, enum msg within)
{
    switch (d->compared) {
    case COMPARED_NIGHTS:
        return nights;
    case COMPARED_VARIANTS:
        return within;
    case COMPARED_RUNS:
    case COMPARED_TURNS:
        break;
    }
    return runs;
}

static enum msg lacking_side(const struct delta *d)
{
    if (d->base.n == 0 && d->now.n == 0)
        return MSG_EVIDENCE_NO_VALUE_EITHER;
    return d->now.n == 0 ? MSG_EVIDENCE_NO_VALUE : MSG_EVIDENCE_NO_VALUE_BASE;
}

static enum msg failing_side(const struct delta *d)
{
    if (d->base.failed && d->now.failed)
        return MSG_EVIDENCE_BOTH_FAIL;
    if (d->base.failed)
        return MSG_EVIDENCE_BASE_FAILS;
    return d->now.n ? MSG_EVIDENCE_HEAD_FAILS_SOME : MSG_EVIDENCE_HEAD_FAILS;
}

/* The sentence of a verdict that rests on no values; MSG_COUNT if it rests on values. */
static enum msg sentence_without_values(const struct delta *d)
{
    switch (d->reason) {
    case REASON_NEW:
        return message_for(d, MSG_EVIDENCE_NEW, MSG_EVIDENCE_NEW_NIGHTS, MSG_EVIDENCE_NEW_WITHIN);
    case REASON_MISSING:
        return message_for(d, MSG_EVIDENCE_MISSING, MSG_EVIDENCE_MISSING_NIGHTS, MSG_EVIDENCE_MISSING_WITHIN);
    case REASON_STATUS:
        if (d->verdict == VERDICT_FAILING && d->base.status == d->now.status)
            return MSG_EVIDENCE_STILL;
        return message_for(d, MSG_EVIDENCE_STATUS, MSG_EVIDENCE_STATUS_NIGHTS, MSG_EVIDENCE_STATUS_WITHIN);
    case REASON_METRIC_LOST:
        return MSG_EVIDENCE_LOST;
    case REASON_METRIC_GAINED:
        return MSG_EVIDENCE_GAINED;
    case REASON_FEW_NIGHTS:
        return MSG_EVIDENCE_YOUNG;
    case REASON_NO_VALUE:
        return lacking_side(d);
    case REASON_OTHER_WORK:
        return MSG_EVIDENCE_OTHER_WORK;
    case REASON_OTHER_WINDOW:
        return MSG_EVIDENCE_OTHER_WINDOW;
    case REASON_OTHER_METER:
        return MSG_EVIDENCE_OTHER_METER;
    case REASON_APART:
        return MSG_EVIDENCE_APART;
    case REASON_NOT_BUILT:
        return d->now.present ? MSG_EVIDENCE_BASE_NOT_BUILT : MSG_EVIDENCE_HEAD_NOT_BUILT;
    case REASON_SAME_CODE:
        return MSG_EVIDENCE_SAME_CODE;
    case REASON_SAME_DEVICE_CODE:
        return MSG_EVIDENCE_SAME_DEVICE_CODE;
    case REASON_TESTS_FAIL:
        return failing_side(d);
    case REASON_NO_RATIO:
        return MSG_EVIDENCE_NO_RATIO;
    case REASON_SAME_VALUE:
        return d->now.median == 0 ? MSG_EVIDENCE_ZERO : MSG_COUNT;
    case REASON_NONE:
    case REASON_OTHER_GPU:
    case REASON_NEGLIGIBLE:
    case REASON_EXACT:
    case REASON_CHANGED:
    case REASON_SUSPECT:
    case REASON_UNEVEN:
    case REASON_STANDS:
    case REASON_BACK:
    case REASON_SHARED:
    case REASON_BELOW:
    case REASON_INSUFFICIENT:
    case REASON_NOT_SIGNIFICANT:
    case REASON_INTERVAL:
    case REASON_FACTOR_ERROR:
    case REASON_NOISE:
    case REASON_SPREAD:
    case REASON_DISAGREE:
    case REASON_STAYED:
    case REASON_ONE_ROUND:
        break;
    }
    return MSG_COUNT;
}

static void say_without_values(const struct delta *d, enum msg sentence, enum report_lang lang,
                               struct buf *out)
{
    const struct delta_side *failed = d->now.status != STATUS_OK || d->reason == REASON_TESTS_FAIL ? &d->now
                                      : d->reason == REASON_NOT_BUILT                              ? &d->base
                                                                                                   : NULL;
    message_plain(out, lang, sentence, status_name(d->base.status), status_name(d->now.status),
                  metric_info(d->metric)->name, num_int(d->reference.history_n).s, num_int(d->now.failed).s,
                  num_int(d->now.of).s);
    if (!failed)
        return;
    if (d->reason != REASON_TESTS_FAIL && failed->of > 1 && failed->failed > 0)
        message_plain(out, lang, MSG_EVIDENCE_FAILED, num_int(failed->failed).s, num_int(failed->of).s);
    if (*failed->said)
        message_plain(out, lang, MSG_EVIDENCE_SAID, failed->said);
}

/* Says what t is against, which of the scales bounds it, and what was removed. */
static void evidence_of_nights(const struct delta *d, enum report_lang lang, struct buf *out)
{
    static const enum msg against[REFERENCE_COUNT] = {
        [REFERENCE_NONE] = MSG_EVIDENCE_AGAINST_LEVEL,
        [REFERENCE_RUN] = MSG_EVIDENCE_AGAINST_RUN,
        [REFERENCE_LEVEL] = MSG_EVIDENCE_AGAINST_LEVEL,
        [REFERENCE_BASE] = MSG_EVIDENCE_AGAINST_BASE,
    };
    static const enum msg floors[FLOOR_COUNT] = {
        [FLOOR_NIGHTS] = MSG_EVIDENCE_FLOOR_NIGHTS,
        [FLOOR_WITHIN] = MSG_EVIDENCE_FLOOR_WITHIN,
        [FLOOR_QUANTUM] = MSG_EVIDENCE_FLOOR_QUANTUM,
    };
    message_plain(out, lang, MSG_EVIDENCE_T, num_fixed(d->estimate.z, 1).s,
                  num_fixed(d->estimate.freedom, 0).s);
    bool one = d->reference.kind == REFERENCE_BASE && d->reference.nights == 1;
    message_plain(out, lang, one ? MSG_EVIDENCE_AGAINST_NIGHT : against[d->reference.kind],
                  num_int(d->reference.nights).s,
                  metric_beside(d->metric, d->reference.value, d->now.median).s);
    if (fabs(d->reference.common - 1) >= factor_shown)
        message_plain(out, lang, MSG_EVIDENCE_COMMON, num_fixed(d->reference.common, 3).s);
    if (fabs(d->reference.own - 1) >= factor_shown)
        message_plain(out, lang, MSG_EVIDENCE_OWN, num_fixed(d->reference.own, 3).s);
    message_plain(out, lang, floors[d->estimate.floor], num_percent(d->estimate.noise_floor).s);
    message_plain(out, lang, MSG_EVIDENCE_LIMIT, num_percent(d->estimate.threshold).s);
    if (d->reference.control)
        message_plain(out, lang, MSG_EVIDENCE_CONTROL);
}

/* Says which GPUs the cell ran on, what ran beside it, and whether its values may have a first compile in
 * them. */
static void evidence_of_places(const struct delta *d, enum report_lang lang, struct buf *out)
{
    if (d->doubts.other_device) {
        buf_puts(out, "; ");
        message_plain(out, lang, MSG_EVIDENCE_OTHER_GPU);
    }
    if (d->estimate.gpus > 1)
        message_plain(out, lang, MSG_EVIDENCE_GPUS, num_int((int64_t)d->estimate.gpus).s,
                      num_int((int64_t)d->estimate.gpus_worse).s,
                      num_int((int64_t)d->estimate.gpus_better).s);
    if (d->now.beside >= 0 && d->base.beside >= 0 && d->now.beside != d->base.beside)
        message_plain(out, lang, MSG_EVIDENCE_BESIDE, num_int(d->now.beside).s, num_int(d->base.beside).s);
    if (d->now.compiled > 0)
        message_plain(out, lang, MSG_EVIDENCE_COMPILED, num_int(d->now.compiled).s, num_int(d->now.n).s);
    if (d->base.compiled > 0)
        message_plain(out, lang,
                      d->compared == COMPARED_NIGHTS ? MSG_EVIDENCE_COMPILED_NIGHTS
                                                     : MSG_EVIDENCE_COMPILED_BASE,
                      num_int(d->base.compiled).s,
                      num_int(d->compared == COMPARED_NIGHTS ? d->base.values : d->base.n).s);
    if (d->doubts.first)
        message_plain(out, lang, MSG_EVIDENCE_FIRST);
}

static void evidence_of_ranks(const struct delta *d, enum report_lang lang, struct buf *out)
{
    message_plain(out, lang, delta_by_ranks(d) ? MSG_EVIDENCE_RANKS : MSG_EVIDENCE_MANN_WHITNEY,
                  num_int(d->base.n).s, num_int(d->now.n).s, num_p(d->estimate.p).s,
                  num_p(d->estimate.p_adjusted).s, num_percent(d->estimate.threshold).s);
}

/* Variants of one run are judged by pair.h, so their evidence has its own words. */
static void evidence_within(const struct delta *d, enum report_lang lang, struct buf *out)
{
    const struct metric_info *m = metric_info(d->metric);
    bool speed = metric_is_time(d->metric);
    double times = speed || m->better == METRIC_MORE ? d->estimate.factor : 1 / d->estimate.factor;
    message_plain(out, lang, speed ? MSG_EVIDENCE_WITHIN_SPEED : MSG_EVIDENCE_WITHIN, num_factor(times).s,
                  num_int(d->base.n).s, num_int(d->now.n).s, num_percent(d->estimate.threshold).s, m->name);
    if (isfinite(d->estimate.reach))
        message_plain(out, lang, MSG_EVIDENCE_REACH, num_percent(d->estimate.reach).s);
    if (d->doubts.apart)
        message_plain(out, lang, MSG_EVIDENCE_WITHIN_APART, num_percent(WITHIN_APART).s);
}

static void evidence_of_method(const struct delta *d, enum report_lang lang, struct buf *out)
{
    struct num base_n = num_int(d->base.n), now_n = num_int(d->now.n);
    struct num limit = num_percent(d->estimate.threshold);
    switch (d->estimate.method) {
    case METHOD_NONE:
    case METHOD_COUNT:
        return;
    case METHOD_EXACT:
        message_plain(out, lang, MSG_EVIDENCE_EXACT);
        return;
    case METHOD_THRESHOLD:
        message_plain(out, lang, MSG_EVIDENCE_THRESHOLD, base_n.s, now_n.s, limit.s);
        return;
    case METHOD_MANN_WHITNEY:
        evidence_of_ranks(d, lang, out);
        return;
    case METHOD_BOOTSTRAP:
        message_plain(out, lang, MSG_EVIDENCE_BOOTSTRAP, base_n.s, now_n.s, num_fixed(d->estimate.low, 3).s,
                      num_fixed(d->estimate.high, 3).s, limit.s);
        return;
    case METHOD_NIGHTS:
        evidence_of_nights(d, lang, out);
        return;
    }
}

/* Says by what the base was multiplied, if two runs were compared alone. */
static void evidence_of_factors(const struct delta *d, enum report_lang lang, struct buf *out)
{
    if (fabs(d->reference.common - 1) >= factor_shown)
        message_plain(out, lang, MSG_EVIDENCE_COMMON_RUNS, num_fixed(d->reference.common, 3).s);
    if (fabs(d->reference.own - 1) >= factor_shown)
        message_plain(out, lang, MSG_EVIDENCE_OWN_RUNS, num_fixed(d->reference.own, 3).s);
}

static bool claims_change(const struct delta *d)
{
    return d->verdict == VERDICT_IMPROVED || verdict_is_slower(d->verdict);
}

void verdict_settles(const struct delta *d, enum report_lang lang, struct buf *out)
{
    if (d->reason == REASON_UNEVEN) {
        message_plain(out, lang, MSG_SETTLES_UNEVEN);
        return;
    }
    if (d->stand.nights)
        message_plain(out, lang, d->stand.nights == 1 ? MSG_SETTLES_NIGHT : MSG_SETTLES_NIGHTS,
                      num_int((int64_t)d->stand.nights).s);
    else
        message_plain(out, lang, MSG_SETTLES_MORE);
    if (confirm_may_settle(d))
        message_plain(out, lang, MSG_SETTLES_CONFIRM);
}

/* Says on which nights the cell was worse. */
static void evidence_of_standing(const struct delta *d, enum report_lang lang, struct buf *out)
{
    if (d->verdict == VERDICT_SUSPECTED) {
        AUTO(buf_release) struct buf settles = {.max = SETTLES_MAX};
        verdict_settles(d, lang, &settles);
        message_plain(out, lang, MSG_EVIDENCE_SUSPECT, buf_str(&settles));
    }
    if (d->stand.stands && d->stand.since)
        message_plain(out, lang, MSG_EVIDENCE_SINCE, num_date(d->stand.since).s);
    else if (d->stand.stands)
        message_plain(out, lang, MSG_EVIDENCE_BEYOND);
    if (d->reason == REASON_BACK)
        message_plain(out, lang, MSG_EVIDENCE_BACK);
    if (d->stand.gone)
        message_plain(out, lang, MSG_EVIDENCE_GONE, num_date(d->stand.gone).s);
    if (d->accepted)
        message_plain(out, lang, MSG_EVIDENCE_ACCEPTED, d->accepted->who,
                      num_date(d->accepted->accepted_at).s, d->accepted->reason);
}

/* Says what the reason adds to the numbers. */
static void evidence_of_reason(const struct delta *d, enum report_lang lang, struct buf *out)
{
    if (d->reason == REASON_NEGLIGIBLE)
        message_plain(
            out, lang,
            metric_info(d->metric)->kind == METRIC_OF_EXTRA ? MSG_EVIDENCE_NEGLIGIBLE : MSG_EVIDENCE_FLOOR,
            metric_least(d->metric).s, metric_difference(d->metric, d->now.median - d->reference.value).s);
    if (d->reason == REASON_INSUFFICIENT && d->estimate.method == METHOD_THRESHOLD)
        message_plain(out, lang, MSG_EVIDENCE_FEW);
    if (d->reason == REASON_SHARED && d->confirmation != CONFIRM_STANDS)
        message_plain(out, lang, MSG_EVIDENCE_GUILTY);
    if (d->reason == REASON_STAYED)
        message_plain(out, lang, MSG_EVIDENCE_STAYED, num_change(delta_measured(d) - 1).s);
    if (d->reason == REASON_DISAGREE)
        message_plain(out, lang, MSG_EVIDENCE_DISAGREE);
    if (d->reason == REASON_NOT_SIGNIFICANT)
        message_plain(out, lang, MSG_EVIDENCE_NOT_SIGNIFICANT, num_p(d->estimate.p).s);
    if (d->reason == REASON_FACTOR_ERROR)
        message_plain(out, lang, MSG_EVIDENCE_FACTOR_ERROR, num_percent(1.96 * d->reference.common_error).s);
    if (d->doubts.unadjusted)
        message_plain(out, lang, MSG_EVIDENCE_UNADJUSTED);
    if (d->reason == REASON_ONE_ROUND)
        message_plain(out, lang, MSG_EVIDENCE_ONE_ROUND);
}

static void evidence_of_noise(const struct delta *d, enum report_lang lang, struct buf *out)
{
    const struct delta_estimate *e = &d->estimate;
    if (isfinite(e->between_runs))
        message_plain(out, lang, MSG_EVIDENCE_SPREAD, num_percent(e->between_runs).s);
    if (isfinite(e->noise_floor) && e->method != METHOD_NIGHTS)
        message_plain(out, lang, MSG_EVIDENCE_NOISE, num_percent(e->noise_floor).s);
    if (isfinite(e->detectable) && e->method != METHOD_THRESHOLD && !claims_change(d))
        message_plain(out, lang, MSG_EVIDENCE_DETECTABLE, num_percent(e->detectable).s);
}

/* Only alternating measurements may lack what a search asks for, or count although some tests failed. */
static void evidence_of_turns(const struct delta *d, enum report_lang lang, struct buf *out)
{
    static const enum msg lacks[] = {[LACK_NEAR_HALF] = MSG_EVIDENCE_NEAR_HALF,
                                     [LACK_AGREEMENT] = MSG_EVIDENCE_TWO_STATES,
                                     [LACK_VALUES] = MSG_EVIDENCE_FEW_VALUES,
                                     [LACK_CELLS] = MSG_EVIDENCE_MANY_CELLS};
    if (d->doubts.lack)
        message_plain(out, lang, lacks[d->doubts.lack], num_int((int64_t)d->doubts.cells).s);
    if (d->base.failed)
        message_plain(out, lang, MSG_EVIDENCE_BASE_FAILED, num_int(d->base.failed).s, num_int(d->base.of).s);
    if (d->now.failed)
        message_plain(out, lang, MSG_EVIDENCE_HEAD_FAILED, num_int(d->now.failed).s, num_int(d->now.of).s);
}

static void evidence_add(const struct delta *d, enum report_lang lang, struct buf *out)
{
    if (d->reference.kind == REFERENCE_RUN && d->estimate.method != METHOD_NIGHTS)
        evidence_of_factors(d, lang, out);
    evidence_of_standing(d, lang, out);
    evidence_of_reason(d, lang, out);
    evidence_of_noise(d, lang, out);
    if (d->base.present && d->now.present)
        evidence_of_places(d, lang, out);
    if (d->compared == COMPARED_TURNS)
        evidence_of_turns(d, lang, out);
    if (d->doubts.outlier)
        message_plain(out, lang, MSG_EVIDENCE_OUTLIER);
    if (d->doubts.slow_first)
        message_plain(out, lang, MSG_EVIDENCE_SLOW_FIRST);
}

static enum msg why_undecided(const struct delta *d)
{
    static const enum msg whys[UNDECIDED_COUNT] = {
        [UNDECIDED_NOISY] = MSG_EVIDENCE_UNDECIDED,
        [UNDECIDED_NOT_MEASURED] = MSG_EVIDENCE_NOT_AGAIN,
        [UNDECIDED_OLDER_BASE] = MSG_EVIDENCE_OLDER_BASE,
        [UNDECIDED_OTHER_BUILD] = MSG_EVIDENCE_OTHER_BUILD,
    };
    return confirm_exceeds_base(d) ? MSG_EVIDENCE_OLDER_BASE : whys[d->doubts.undecided];
}

/* Tells the outcome of measuring both builds again, alternately. */
static void evidence_of_confirmation(const struct delta *d, enum report_lang lang, struct buf *out)
{
    switch (confirm_outcome(d)) {
    case CONFIRM_STANDS:
        message_plain(out, lang, MSG_EVIDENCE_STANDS);
        return;
    case CONFIRM_REFUTED:
        message_plain(out, lang, MSG_EVIDENCE_REFUTED);
        return;
    case CONFIRM_NODE:
        message_plain(out, lang, MSG_EVIDENCE_NODE);
        return;
    case CONFIRM_UNDECIDED:
        message_plain(out, lang, why_undecided(d));
        return;
    case CONFIRM_NOT_ASKED:
    case CONFIRM_COUNT:
        return;
    }
}

void verdict_evidence(const struct delta *d, enum report_lang lang, struct buf *out)
{
    enum msg sentence = sentence_without_values(d);
    if (sentence != MSG_COUNT) {
        say_without_values(d, sentence, lang, out);
        return;
    }
    if (d->compared == COMPARED_VARIANTS && isfinite(d->estimate.factor) &&
        d->estimate.method != METHOD_EXACT)
        evidence_within(d, lang, out);
    else
        evidence_of_method(d, lang, out);
    evidence_of_confirmation(d, lang, out);
    if (d->estimate.method != METHOD_NONE)
        evidence_add(d, lang, out);
}

/* Appends a change like "3.53x slower" or "+4.2 %". */
static void put_ratio(const struct delta *d, double ratio, enum report_lang lang, struct buf *out)
{
    bool time = metric_is_time(d->metric);
    if (ratio >= times_shown)
        message_plain(out, lang, time ? MSG_SHIFT_SLOWER : MSG_CHANGE_MORE, num_factor(ratio).s);
    else if (ratio <= 1 / times_shown)
        message_plain(out, lang, time ? MSG_SHIFT_FASTER : MSG_CHANGE_LESS, num_factor(1 / ratio).s);
    else if (isfinite(ratio))
        buf_puts(out, num_change(ratio - 1).s);
}

struct num verdict_change(const struct delta *d, enum report_lang lang)
{
    AUTO(buf_release) struct buf text = {.max = sizeof(struct num)};
    struct num out = num_change(delta_size(d) - 1), tonight = num_change(d->estimate.ratio - 1);
    if (!delta_is_remeasured(d))
        return out;
    message_plain(&text, lang, MSG_CHANGE_CONFIRMED, out.s, tonight.s);
    snprintf(out.s, sizeof out.s, "%s", buf_str(&text));
    return out;
}

/* Appends the change and the values behind it. */
static void put_change(const struct delta *d, enum report_lang lang, struct buf *out)
{
    double ratio = d->estimate.ratio;
    if (delta_is_remeasured(d))
        buf_puts(out, verdict_change(d, lang).s);
    else
        put_ratio(d, ratio, lang, out);
    buf_printf(out,
               isfinite(ratio) ? " (%s -> %s %s): " : "%s -> %s %s: ", num_six_digits(d->reference.value).s,
               num_six_digits(d->now.median).s, metric_info(d->metric)->unit);
}

struct reason_text verdict_reason(const struct delta *d, enum report_lang lang)
{
    struct reason_text text;
    AUTO(buf_release) struct buf out = {.max = TEXT_MAX};
    if (isfinite(d->reference.value) && isfinite(d->now.median) && d->reason >= REASON_NO_RATIO &&
        d->compared != COMPARED_VARIANTS)
        put_change(d, lang, &out);
    verdict_evidence(d, lang, &out);
    text_printable_fixed(text.s, sizeof text.s, buf_str(&out), out.len);
    return text;
}
