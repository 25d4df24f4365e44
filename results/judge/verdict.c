#include "results/judge/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const verdict_names[VERDICT_COUNT] = {
    [VERDICT_IMPROVED] = "improved", [VERDICT_REGRESSED] = "regressed", [VERDICT_SUSPECTED] = "suspected",
    [VERDICT_ACCEPTED] = "accepted", [VERDICT_UNCHANGED] = "unchanged", [VERDICT_NOISY] = "noisy",
    [VERDICT_NEW] = "new",           [VERDICT_MISSING] = "missing",     [VERDICT_BROKEN] = "broken",
    [VERDICT_FAILING] = "failing",   [VERDICT_FIXED] = "fixed",
};

static const char *const method_names[METHOD_COUNT] = {
    [METHOD_NONE] = "none",           [METHOD_EXACT] = "exact",
    [METHOD_THRESHOLD] = "threshold", [METHOD_MANN_WHITNEY] = "mann-whitney",
    [METHOD_BOOTSTRAP] = "bootstrap", [METHOD_NIGHTS] = "nights",
};

static const char *const floor_names[FLOOR_COUNT] = {
    [FLOOR_NIGHTS] = "nights",
    [FLOOR_WITHIN] = "repetitions",
    [FLOOR_QUANTUM] = "resolution",
};

static const char *const reference_names[REFERENCE_COUNT] = {
    [REFERENCE_NONE] = "none",
    [REFERENCE_RUN] = "run",
    [REFERENCE_LEVEL] = "level",
    [REFERENCE_BASE] = "base-nights",
};

static const char *const confirmation_names[CONFIRM_COUNT] = {
    [CONFIRM_NOT_ASKED] = "not-asked", [CONFIRM_STANDS] = "confirmed",    [CONFIRM_REFUTED] = "refuted",
    [CONFIRM_NODE] = "node",           [CONFIRM_UNDECIDED] = "undecided",
};

const char *confirmation_name(enum confirmation c)
{
    return confirmation_names[c];
}

const char *shift_cause_name(enum shift_cause c)
{
    static const char *const names[] = {
        [SHIFT_UNSETTLED] = "unsettled", [SHIFT_NODE] = "node", [SHIFT_CODE] = "code"};
    return names[c];
}

const char *verdict_name(enum verdict v)
{
    return verdict_names[v];
}

bool verdict_is_slower(enum verdict v)
{
    return v == VERDICT_REGRESSED || v == VERDICT_SUSPECTED;
}

const char *scale_floor_name(enum scale_floor f)
{
    return floor_names[f];
}

const char *reference_kind_name(enum reference_kind k)
{
    return reference_names[k];
}

const char *compare_method_name(enum compare_method m)
{
    return method_names[m];
}

static const char *const undecided_names[UNDECIDED_COUNT] = {
    [UNDECIDED_NOISY] = "noisy",
    [UNDECIDED_NOT_MEASURED] = "not-measured",
    [UNDECIDED_OLDER_BASE] = "older-base",
    [UNDECIDED_OTHER_BUILD] = "other-build",
};

const char *undecided_name(enum undecided u)
{
    return undecided_names[u];
}

bool undecided_from_name(const char *name, enum undecided *out)
{
    for (int i = 0; i < UNDECIDED_COUNT; i++)
        if (strcmp(undecided_names[i], name) == 0) {
            *out = (enum undecided)i;
            return true;
        }
    return false;
}

bool confirmation_from_name(const char *name, enum confirmation *out)
{
    for (int i = 0; i < CONFIRM_COUNT; i++)
        if (strcmp(confirmation_names[i], name) == 0) {
            *out = (enum confirmation)i;
            return true;
        }
    return false;
}

struct delta delta_of(const char *variant, int context, enum metric m)
{
    const struct delta_side none = {
        .gpu = "", .code = "", .said = "", .median = NAN, .beside = RUN_UNKNOWN, .compiled = RUN_UNKNOWN};
    struct delta d = {
        .context = context,
        .metric = m,
        .verdict = VERDICT_UNCHANGED,
        .base = none,
        .now = none,
        .estimate = {.ratio = NAN,
                     .factor = NAN,
                     .threshold = NAN,
                     .noise_floor = NAN,
                     .freedom = NAN,
                     .z = NAN,
                     .between_runs = NAN,
                     .detectable = NAN,
                     .p = NAN,
                     .p_adjusted = NAN,
                     .low = NAN,
                     .high = NAN,
                     .reach = NAN},
        .reference = {.value = NAN, .history_median = NAN, .common = 1, .own = 1},
    };
    snprintf(d.variant, sizeof d.variant, "%s", variant);
    return d;
}

double delta_measured(const struct delta *d)
{
    return d->estimate.ratio * (d->doubts.factor_is_open ? d->reference.common : 1) *
           (d->doubts.own_is_open ? d->reference.own : 1);
}

bool delta_is_remeasured(const struct delta *d)
{
    bool known = d->confirmation == CONFIRM_STANDS || d->reason == REASON_SHARED;
    return d->verdict == VERDICT_REGRESSED && known && d->again > 0;
}

double delta_size(const struct delta *d)
{
    return delta_is_remeasured(d) ? d->again : d->estimate.ratio;
}

double shift_size(const struct common_shift *s)
{
    return s->confirmed == SHIFT_CODE && s->again > 0 ? s->again : s->ratio;
}

double least_difference(enum metric m, bool spread_known)
{
    const struct metric_info *info = metric_info(m);
    return spread_known && info->kind != METRIC_OF_EXTRA ? 0 : info->least;
}

bool delta_by_ranks(const struct delta *d)
{
    double least = fmin(d->reference.value, d->now.median), most = fmax(d->reference.value, d->now.median);
    return d->estimate.method == METHOD_MANN_WHITNEY && d->estimate.gpus <= 1 && least == 0 && most > 0;
}

struct compare_options compare_defaults(void)
{
    return (struct compare_options){
        .regression = 0.05,
        .improvement = 0.05,
        .node_shift = 0.10,
        .practical = 0.02,
        .z_limit = 3.5,
        .fdr = 0.035,
        .history_min = 8,
        .metric = metric_default(),
        .seed = 20260214,
    };
}
