#include "harness/propose/json.h"

#include "common/contract/timing_rule.h"
#include "harness/propose/name.h"
#include "harness/propose/unit.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 5, ITEMS_MAX = 4 };

/* Besides names that contain a unit, recognises hyperfine's keys, which are in seconds, and common names of
 * times, whose unit is unknown. */
static const struct propose_unit *unit_of_key(const char *key)
{
    static const struct propose_unit seconds = {"", "s", false}, unknown = {"", "", false};
    static const char *const of_hyperfine[] = {"mean", "median", "min", "max"}, *const times[] = {
                                                                                    "time", "elapsed",
                                                                                    "latency", "duration",
                                                                                    "runtime"};
    const struct propose_unit *u = propose_unit_of(key, strlen(key));
    for (size_t i = 0; !u && i < sizeof of_hyperfine / sizeof *of_hyperfine; i++)
        u = strcmp(key, of_hyperfine[i]) == 0 ? &seconds : NULL;
    for (size_t i = 0; !u && i < sizeof times / sizeof *times; i++)
        u = strcmp(key, times[i]) == 0 ? &unknown : NULL;
    return u;
}

static void add_number(struct proposal *out, const char *key, const char *path, double value, size_t number)
{
    const struct propose_unit *u = unit_of_key(key);
    if (!u || out->count == PROPOSED_MAX || strlen(path) >= PROPOSED_PATH_MAX || propose_is_aside(key))
        return;
    struct proposed *one = &out->item[out->count];
    *one = (struct proposed){.more = u->more, .value = value, .line = number};
    snprintf(one->unit, sizeof one->unit, "%s", u->unit);
    snprintf(one->path, sizeof one->path, "%s", path);
    propose_name(out, key, strlen(key), one);
    out->count++;
}

static bool plain_key(const char *key)
{
    return *key && !strpbrk(key, ".[") && strlen(key) < TIMING_PATH_KEY_MAX;
}

static void walk(struct proposal *out, const json_t *value, const char *key, const char *path, int depth,
                 size_t number)
{
    char below[PROPOSED_PATH_MAX + TIMING_PATH_KEY_MAX + 2];
    const char *name;
    json_t *item;
    if (json_is_number(value)) {
        add_number(out, key, path, json_number_value(value), number);
        return;
    }
    if (depth == DEPTH_MAX || strlen(path) >= PROPOSED_PATH_MAX)
        return;
    json_object_foreach((json_t *)value, name, item)
    {
        if (!plain_key(name))
            continue;
        snprintf(below, sizeof below, "%s.%s", path, name);
        walk(out, item, name, below, depth + 1, number);
    }
    for (size_t i = 0;
         i < json_array_size(value) && i < ITEMS_MAX && !json_is_number(json_array_get(value, i)); i++) {
        snprintf(below, sizeof below, "%s[%zu]", path, i);
        walk(out, json_array_get(value, i), key, below, depth + 1, number);
    }
}

void propose_json(struct proposal *out, const json_t *value, size_t number)
{
    walk(out, value, "", "$", 0, number);
}
