#include "results/store/metric.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/contract/own_metric.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { RANK_OF_OWN = 30 };

static struct metric_info table[METRIC_COUNT] = {
#define METRIC_TEST(id, label, sql, ...)                                                                     \
    [METRIC_##id] = {.kind = METRIC_OF_TEST, .name = #label, .column = #sql, .param = ":" #sql, __VA_ARGS__},
#define METRIC_BUILD(id, label, sql, ...)                                                                    \
    [METRIC_##id] = {.kind = METRIC_OF_BUILD, .name = #label, .column = #sql, .param = ":" #sql, __VA_ARGS__},
#define METRIC_RATE(id, label, time, sql, ...)                                                               \
    [METRIC_##id] = {.kind = METRIC_OF_TIME, .name = #label, .base = METRIC_##time, __VA_ARGS__},
#define METRIC_PER_TOKEN(id, label, whole, sql, ...)                                                         \
    [METRIC_##id] = {.kind = METRIC_OF_TOKEN, .name = #label, .base = METRIC_##whole, __VA_ARGS__},
#include "results/store/metric.def"
};

const char metric_help[] =
    "metric to show (default: the primary metric of the run), one of the plan's own, or one of"
#define METRIC_TEST(id, label, ...) " " #label
#define METRIC_BUILD(id, label, ...) " " #label
#define METRIC_RATE(id, label, ...) " " #label
#define METRIC_PER_TOKEN(id, label, ...) " " #label
#include "results/store/metric.def"
    ;

/* What the entries behind the built-in ones point to. `owner` is the run that defined it first. */
static struct own {
    char name[LIMIT_NAME + 1];
    char unit[LIMIT_UNIT + 1];
    char title[LIMIT_NAME + LIMIT_UNIT + 4];
    char owner[LIMIT_NAME + 1];
} own[METRIC_COUNT - METRIC_BUILT_IN];
static size_t taken, defined;

static const struct metric_info free_place = {.name = "", .title = "", .unit = "", .kind = METRIC_FREE};

static bool is_taken(enum metric m)
{
    return m < METRIC_BUILT_IN || (size_t)(m - METRIC_BUILT_IN) < taken;
}

const struct metric_info *metric_info(enum metric m)
{
    return is_taken(m) ? &table[m] : &free_place;
}

bool metric_from_name(const char *name, enum metric *out)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (is_taken((enum metric)i) && strcmp(table[i].name, name) == 0) {
            *out = (enum metric)i;
            return true;
        }
    return false;
}

int metric_parse(const char *name, enum metric *out, struct err *err)
{
    if (metric_from_name(name, out) && table[*out].better != METRIC_UNDEFINED)
        return 0;
    if (metric_from_name(name, out))
        return err_set(
            err, ERR_INPUT,
            "--metric: it is not known whether less or more of \"%.40s\" is better: define it under "
            "\"metrics\" of the plan or mapping",
            name);
    AUTO(buf_release) struct buf names = {.max = ERR_MSG_MAX};
    for (int i = 0; i < METRIC_COUNT; i++)
        if (is_taken((enum metric)i) && table[i].better != METRIC_UNDEFINED)
            buf_printf(&names, " %s", table[i].name);
    err_set(err, ERR_INPUT, "--metric: no metric \"%.40s\"; expected one of%s", name, buf_str(&names));
    return -1;
}

static enum metric add_own(const char *name)
{
    enum metric m = (enum metric)(METRIC_BUILT_IN + taken);
    struct own *o = &own[taken++];
    snprintf(o->name, sizeof o->name, "%s", name);
    snprintf(o->title, sizeof o->title, "%s", name);
    o->unit[0] = '\0';
    table[m] = (struct metric_info){.name = o->name,
                                    .title = o->title,
                                    .unit = o->unit,
                                    .kind = METRIC_OF_EXTRA,
                                    .better = METRIC_UNDEFINED,
                                    .timing = o->name};
    return m;
}

static void define(enum metric m, const struct metric_definition *d, const char *owner)
{
    struct own *o = &own[m - METRIC_BUILT_IN];
    snprintf(o->unit, sizeof o->unit, "%s", d->unit);
    snprintf(o->title, sizeof o->title, *d->unit ? "%s (%s)" : "%s", d->name, d->unit);
    snprintf(o->owner, sizeof o->owner, "%s", owner);
    table[m].better = d->better;
    table[m].least = d->least;
    table[m].primary = RANK_OF_OWN + (int)defined++;
}

static const char *better_name(enum metric_better b)
{
    return b == METRIC_MORE ? "more" : "less";
}

static int check_same(enum metric m, const struct metric_definition *d, const char *owner, struct err *err)
{
    const struct metric_info *info = &table[m];
    if (strcmp(info->unit, d->unit) == 0 && info->better == d->better)
        return 0;
    return err_set(
        err, ERR_INPUT,
        "metric %s: run %.64s has it in \"%s\" (%s is better), run %.64s in \"%s\" (%s): they cannot "
        "be compared; give the changed metric another name",
        d->name, own[m - METRIC_BUILT_IN].owner, info->unit, better_name(info->better), owner, d->unit,
        better_name(d->better));
}

int metric_define(const struct metric_definition *d, const char *owner, enum metric *out, struct err *err)
{
    bool known = metric_from_name(d->name, out);
    if (known && *out < METRIC_BUILT_IN)
        return err_set(err, ERR_INPUT, "run %.64s: metric \"%s\" is built in", owner, d->name);
    if (known && table[*out].better != METRIC_UNDEFINED)
        return check_same(*out, d, owner, err);
    if (defined == METRIC_DEFINED_MAX || (!known && taken == METRIC_COUNT - METRIC_BUILT_IN))
        return err_set(err, ERR_INPUT, "run %.64s: more than %d metrics of its own at once", owner,
                       METRIC_DEFINED_MAX);
    if (!known)
        *out = add_own(d->name);
    define(*out, d, owner);
    return 0;
}

bool metric_mention(const char *name, enum metric *out)
{
    if (metric_from_name(name, out))
        return *out >= METRIC_BUILT_IN;
    if (taken - defined >= METRIC_PRINTED_MAX || taken == METRIC_COUNT - METRIC_BUILT_IN)
        return false;
    *out = add_own(name);
    return true;
}

void metric_forget(void)
{
    taken = defined = 0;
}

bool metric_is_time(enum metric m)
{
    return own_metric_seconds(metric_info(m)->unit) > 0;
}

bool metric_is_speed(enum metric m)
{
    const struct metric_info *info = metric_info(m);
    size_t n = strlen(info->unit);
    return metric_is_time(m) ||
           (info->better == METRIC_MORE && n > 2 && strcmp(info->unit + n - 2, "/s") == 0);
}

bool metric_is_judged(enum metric m)
{
    const struct metric_info *info = metric_info(m);
    return info->primary && info->timing;
}

bool metric_is_possible(enum metric m, double value, double wall_s)
{
    double seconds = value * own_metric_seconds(metric_info(m)->unit);
    return m == METRIC_WALL_S || !own_metric_too_long(seconds, wall_s);
}

bool metric_is_derived(enum metric m)
{
    return table[m].kind == METRIC_OF_TIME || table[m].kind == METRIC_OF_TOKEN;
}

double metric_derived(enum metric m, double base, int context)
{
    if (context <= 0) /* it has none */
        return NAN;
    return table[m].kind == METRIC_OF_TIME ? context / base : base / context;
}

void metric_derive(double *value, int context, bool tokens)
{
    for (int m = 0; m < METRIC_BUILT_IN; m++)
        if (metric_is_derived((enum metric)m))
            value[m] = table[m].kind == METRIC_OF_TOKEN && !tokens
                           ? (double)NAN
                           : metric_derived((enum metric)m, value[table[m].base], context);
}

/* The primary metric with the next rank after `rank`, or METRIC_COUNT. */
static enum metric next_primary(int rank)
{
    enum metric next = METRIC_COUNT;
    for (int m = 0; m < METRIC_COUNT; m++) {
        int own_rank = metric_info((enum metric)m)->primary;
        if (own_rank > rank && (next == METRIC_COUNT || own_rank < table[next].primary))
            next = (enum metric)m;
    }
    return next;
}

enum metric metric_default(void)
{
    return METRIC_COUNT;
}

enum metric metric_primary(enum metric wanted, const struct metric_set *measured)
{
    if (wanted != METRIC_COUNT && measured->has[wanted])
        return wanted;
    for (enum metric m = next_primary(0); m != METRIC_COUNT; m = next_primary(table[m].primary))
        if (measured->has[m])
            return m;
    return wanted != METRIC_COUNT ? wanted : next_primary(0);
}
