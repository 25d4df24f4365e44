#include "harness/propose/json.h"

#include "common/contract/timing_rule.h"
#include "harness/propose/name.h"
#include "harness/propose/unit.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 5, ITEMS_MAX = 4 };

/* Where a number is: its key, the one above it, and the unit that stands beside it as a text. */
struct place {
    const char *key, *above, *unit;
    const char *path;
};

static bool is_one_of(const char *key, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(key, *list) == 0)
            return true;
    return false;
}

static const char *const statistics[] = {"mean", "avg", "average", "median", "min",   "max",    "p50",
                                         "p90",  "p95", "p99",     "value",  "score", "result", NULL};

/* Besides names that contain a unit, recognises a unit beside the number ("unit", "time_unit"), a unit in the
 * key above a statistic ("latency_ms": {"mean": ...}), hyperfine's keys, which are in seconds, and common
 * names of times, whose unit is unknown. */
static bool unit_of_key(const struct place *at, struct propose_unit *u)
{
    static const char *const of_hyperfine[] = {"mean", "median", "min", "max", NULL},
                             *const times[] = {"time", "elapsed", "latency", "duration", "runtime", NULL},
                             *const timed[] = {"real_time", "cpu_time", "time", NULL};
    bool statistic = is_one_of(at->key, statistics);
    if (propose_unit_of(at->key, strlen(at->key), u))
        return true;
    if (at->unit && (statistic || is_one_of(at->key, timed)))
        return propose_unit_at(at->unit, strlen(at->unit), u);
    if (statistic && propose_unit_of(at->above, strlen(at->above), u))
        return true;
    *u = (struct propose_unit){.unit = "s"};
    if (strncmp(at->path, "$.results[", strlen("$.results[")) == 0 && is_one_of(at->key, of_hyperfine))
        return true;
    *u = (struct propose_unit){.unit = ""};
    return is_one_of(at->key, times);
}

/* Of JSON lines a node keeps the last value at each path. */
static bool is_there(struct proposal *out, const char *path, const struct propose_unit *u, double value,
                     size_t number)
{
    for (size_t i = 0; i < out->count; i++) {
        struct proposed *one = &out->item[i];
        if (strcmp(one->path, path) != 0)
            continue;
        snprintf(one->unit, sizeof one->unit, "%s", u->unit);
        one->more = u->more;
        one->value = value;
        one->line = number;
        return true;
    }
    return false;
}

static void add_number(struct proposal *out, const struct place *at, double value, size_t number)
{
    struct propose_unit u;
    char name[2 * TIMING_PATH_KEY_MAX + 2];
    if (!unit_of_key(at, &u) || strlen(at->path) >= PROPOSED_PATH_MAX || propose_is_aside(at->key) ||
        propose_is_date(value, u.unit) || is_there(out, at->path, &u, value, number))
        return;
    if (out->count == PROPOSED_MAX) {
        out->too_many++;
        return;
    }
    struct proposed *one = &out->item[out->count];
    *one = (struct proposed){.more = u.more, .value = value, .line = number};
    snprintf(one->unit, sizeof one->unit, "%s", u.unit);
    snprintf(one->path, sizeof one->path, "%s", at->path);
    bool above = is_one_of(at->key, statistics) && *at->above && strncmp(at->path, "$.results[", 10) != 0;
    snprintf(name, sizeof name, "%s%s%s", above ? at->above : "", above ? "_" : "", at->key);
    propose_name(out, name, 0, strlen(name), NULL, one);
    out->count++;
}

/* The unit that an object names for its numbers. */
static const char *unit_beside(const json_t *object)
{
    static const char *const keys[] = {"time_unit", "unit", "units", "scoreUnit", NULL};
    const char *unit = NULL;
    for (const char *const *k = keys; *k && !unit; k++)
        unit = json_string_value(json_object_get(object, *k));
    return unit;
}

static bool plain_key(const char *key)
{
    return *key && !strpbrk(key, ".[") && strlen(key) < TIMING_PATH_KEY_MAX;
}

static void walk(struct proposal *out, const json_t *value, const struct place *at, int depth, size_t number)
{
    char below[PROPOSED_PATH_MAX + TIMING_PATH_KEY_MAX + 2];
    const char *name;
    json_t *item;
    if (json_is_number(value)) {
        add_number(out, at, json_number_value(value), number);
        return;
    }
    if (depth == DEPTH_MAX || strlen(at->path) >= PROPOSED_PATH_MAX)
        return;
    json_object_foreach((json_t *)value, name, item)
    {
        const struct place member = {name, at->key, unit_beside(value), below};
        if (!plain_key(name))
            continue;
        snprintf(below, sizeof below, "%s.%s", at->path, name);
        walk(out, item, &member, depth + 1, number);
    }
    for (size_t i = 0;
         i < json_array_size(value) && i < ITEMS_MAX && !json_is_number(json_array_get(value, i)); i++) {
        const struct place element = {at->key, at->above, at->unit, below};
        snprintf(below, sizeof below, "%s[%zu]", at->path, i);
        walk(out, json_array_get(value, i), &element, depth + 1, number);
    }
}

void propose_json(struct proposal *out, const json_t *value, size_t number)
{
    walk(out, value, &(const struct place){"", "", NULL, "$"}, 0, number);
}
