#include "results/ingest/import/unit.h"

#include <stddef.h>
#include <string.h>

enum dimension { PLAIN, TIME, SIZE, TOKENS, FLOPS, ENERGY, FREQUENCY };

static const struct unit {
    const char *name;
    enum dimension dimension;
    double base; /* in the dimension's first unit */
} units[] = {
    {"", PLAIN, 1},          {"s", TIME, 1},           {"sec", TIME, 1},        {"seconds", TIME, 1},
    {"ms", TIME, 1e-3},      {"us", TIME, 1e-6},       {"ns", TIME, 1e-9},      {"min", TIME, 60},
    {"h", TIME, 3600},       {"bytes", SIZE, 1},       {"B", SIZE, 1},          {"kB", SIZE, 1e3},
    {"KB", SIZE, 1e3},       {"MB", SIZE, 1e6},        {"GB", SIZE, 1e9},       {"KiB", SIZE, 1024},
    {"MiB", SIZE, 1 << 20},  {"GiB", SIZE, 1 << 30},   {"tok/s", TOKENS, 1},    {"FLOP/s", FLOPS, 1},
    {"GFLOP/s", FLOPS, 1e9}, {"TFLOP/s", FLOPS, 1e12}, {"J", ENERGY, 1},        {"kJ", ENERGY, 1e3},
    {"Wh", ENERGY, 3600},    {"MHz", FREQUENCY, 1},    {"GHz", FREQUENCY, 1e3},
};

static const struct unit *find_unit(const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

bool unit_factor(const char *from, const char *to, double *factor)
{
    const struct unit *a = find_unit(from), *b = find_unit(to);
    *factor = 1;
    if (strcmp(from, to) == 0)
        return true;
    if (!a || !b || a->dimension != b->dimension)
        return false;
    *factor = a->base / b->base;
    return true;
}
