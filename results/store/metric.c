#include "results/store/metric.h"

#include <stddef.h>
#include <string.h>

static const struct metric_info table[METRIC_COUNT] = {
#define METRIC_TEST(id, label, sql, ...)                                                                     \
    [METRIC_##id] = {.kind = METRIC_OF_TEST, .name = #label, .column = #sql, .param = ":" #sql, __VA_ARGS__},
#define METRIC_BUILD(id, label, sql, ...)                                                                    \
    [METRIC_##id] = {.kind = METRIC_OF_BUILD, .name = #label, .column = #sql, .param = ":" #sql, __VA_ARGS__},
#define METRIC_RATE(id, label, time, sql, ...)                                                               \
    [METRIC_##id] = {.kind = METRIC_OF_TIME, .name = #label, .base = METRIC_##time, __VA_ARGS__},
#include "results/store/metric.def"
};

#define HELP "metric to show (default: the primary metric of the run):"

static const char help[] = HELP
#define METRIC_TEST(id, label, ...) " " #label
#define METRIC_BUILD(id, label, ...) " " #label
#define METRIC_RATE(id, label, ...) " " #label
#include "results/store/metric.def"
    ;

const struct metric_info *metric_info(enum metric m)
{
    return &table[m];
}

const char *metric_names(void)
{
    return help + sizeof HELP;
}

const char *metric_help(void)
{
    return help;
}

bool metric_from_name(const char *name, enum metric *out)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (strcmp(table[i].name, name) == 0) {
            *out = (enum metric)i;
            return true;
        }
    return false;
}

int metric_parse(const char *name, enum metric *out, struct err *err)
{
    return metric_from_name(name, out)
               ? 0
               : err_set(err, ERR_INPUT, "--metric: no metric \"%.40s\"; expected one of %s", name,
                         metric_names());
}

bool metric_is_time(enum metric m)
{
    static const char *const units[] = {"s", "ms", "us", "ns"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(table[m].unit, units[i]) == 0)
            return true;
    return false;
}

bool metric_is_judged(enum metric m)
{
    return table[m].primary && table[m].timing;
}

void metric_derive(double *value, int context)
{
    for (int m = 0; m < METRIC_COUNT; m++)
        if (table[m].kind == METRIC_OF_TIME)
            value[m] = context / value[table[m].base];
}

/* The primary metric with the next rank after `rank`, or METRIC_COUNT. */
static enum metric next_primary(int rank)
{
    enum metric next = METRIC_COUNT;
    for (int m = 0; m < METRIC_COUNT; m++)
        if (table[m].primary > rank && (next == METRIC_COUNT || table[m].primary < table[next].primary))
            next = (enum metric)m;
    return next;
}

enum metric metric_default(void)
{
    return next_primary(0);
}

enum metric metric_primary(enum metric wanted, const struct metric_set *measured)
{
    if (measured->has[wanted])
        return wanted;
    for (enum metric m = next_primary(0); m != METRIC_COUNT; m = next_primary(table[m].primary))
        if (measured->has[m])
            return m;
    return wanted;
}
