#include "results/judge/verdict.h"

#include <math.h>
#include <string.h>

static const char *const verdict_names[VERDICT_COUNT] = {
    [VERDICT_IMPROVED] = "improved",
    [VERDICT_REGRESSED] = "regressed",
    [VERDICT_UNCHANGED] = "unchanged",
    [VERDICT_NOISY] = "noisy",
    [VERDICT_NEW] = "new",
    [VERDICT_MISSING] = "missing",
    [VERDICT_BROKEN] = "broken",
    [VERDICT_FIXED] = "fixed",
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

bool confirmation_from_name(const char *name, enum confirmation *out)
{
    for (int i = 0; i < CONFIRM_COUNT; i++)
        if (strcmp(confirmation_names[i], name) == 0) {
            *out = (enum confirmation)i;
            return true;
        }
    return false;
}

double delta_measured(const struct delta *d)
{
    return d->ratio * (d->factor_is_open ? d->common : 1) * (d->own_is_open ? d->own : 1);
}

bool delta_by_ranks(const struct delta *d)
{
    double least = fmin(d->reference, d->now_median), most = fmax(d->reference, d->now_median);
    return d->method == METHOD_MANN_WHITNEY && d->gpus <= 1 && least == 0 && most > 0;
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
