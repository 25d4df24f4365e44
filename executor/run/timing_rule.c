#include "executor/run/timings.h"

#include "common/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const json_keys_known[] = {"kind", "map", "unit", NULL};
static const char *const regex_keys_known[] = {"kind", "pattern", "unit", NULL};

static int read_unit(struct timing_rule *rule, const struct json_at *spec, struct err *err)
{
    const char *unit = "s";
    if (json_get_str_def(spec, "unit", &unit, err) != 0)
        return -1;
    rule->unit = strcmp(unit, "s") == 0    ? 1
                 : strcmp(unit, "ms") == 0 ? 1e-3
                 : strcmp(unit, "us") == 0 ? 1e-6
                                           : 0;
    struct json_at at = json_member(spec, "unit");
    return rule->unit > 0 ? 0 : json_fail(&at, err, "expected \"s\", \"ms\" or \"us\"");
}

static int init_json(struct timing_rule *rule, const struct json_at *spec, struct err *err)
{
    struct json_at map = json_member(spec, "map");
    const char *name;
    json_t *path;
    if (json_keys(spec, json_keys_known, err) != 0)
        return -1;
    if (!json_is_object(map.value) || json_object_size(map.value) == 0 ||
        json_object_size(map.value) > LIMIT_TIMINGS)
        return json_fail(&map, err, "expected an object of 1 to %d names and JSON paths", LIMIT_TIMINGS);
    json_object_foreach((json_t *)map.value, name, path)
    {
        struct json_at at = json_member(&map, name);
        if (!text_is_name(name))
            return json_fail(&at, err, "a timing's name must be letters, digits and '_'");
        if (!json_is_string(path) || json_string_value(path)[0] != '$')
            return json_fail(&at, err, "expected a path like \"$.results[0].prefill\"");
        snprintf(rule->part[rule->count].name, LIMIT_NAME + 1, "%s", name);
        rule->part[rule->count].path = strdup(json_string_value(path));
        if (!rule->part[rule->count++].path)
            return err_set(err, ERR_INTERNAL, "no memory for the timings rule");
    }
    return 0;
}

/* A part for each named group. */
static int take_groups(struct timing_rule *rule, const struct json_at *at, struct err *err)
{
    size_t names = regex_names(&rule->regex);
    if (names == 0 || regex_groups(&rule->regex) > LIMIT_TIMINGS)
        return json_fail(at, err, "expected 1 to %d groups, named like (?<prefill_s>[0-9.]+)", LIMIT_TIMINGS);
    for (; rule->count < names; rule->count++) {
        size_t *group = &rule->part[rule->count].group;
        snprintf(rule->part[rule->count].name, LIMIT_NAME + 1, "%s",
                 regex_name(&rule->regex, rule->count, group));
    }
    return 0;
}

static int init_regex(struct timing_rule *rule, const struct json_at *spec, struct err *err)
{
    const char *pattern;
    struct json_at at = json_member(spec, "pattern");
    struct err why = {0};
    if (json_keys(spec, regex_keys_known, err) != 0 || json_get_str(spec, "pattern", &pattern, err) != 0)
        return -1;
    if (strlen(pattern) > LIMIT_PATTERN)
        return json_fail(&at, err, "longer than %d bytes", LIMIT_PATTERN);
    if (regex_compile(&rule->regex, pattern, &why) != 0)
        return json_fail(&at, err, "not a regular expression: %s", why.msg);
    rule->kind = TIMING_REGEX; /* from here on there is something to free */
    return take_groups(rule, &at, err);
}

static int read_rule(struct timing_rule *rule, const struct json_at *spec, struct err *err)
{
    const char *kind;
    struct json_at at = json_member(spec, "kind");
    if (!json_is_object(spec->value))
        return json_fail(spec, err, "expected null or an object with \"kind\"");
    if (json_get_str(spec, "kind", &kind, err) != 0 || read_unit(rule, spec, err) != 0)
        return -1;
    if (strcmp(kind, "json") == 0) {
        rule->kind = TIMING_JSON;
        return init_json(rule, spec, err);
    }
    if (strcmp(kind, "regex") == 0)
        return init_regex(rule, spec, err);
    return json_fail(&at, err, "expected \"json\" or \"regex\"");
}

int timing_rule_init(struct timing_rule *rule, const struct json_at *spec, struct err *err)
{
    *rule = (struct timing_rule){.kind = TIMING_MARK, .unit = 1};
    if (!spec || !spec->value || json_is_null(spec->value) || read_rule(rule, spec, err) == 0)
        return 0;
    timing_rule_release(rule);
    return -1;
}

void timing_rule_release(struct timing_rule *rule)
{
    for (size_t i = 0; i < rule->count; i++)
        free(rule->part[i].path);
    if (rule->kind == TIMING_REGEX)
        regex_release(&rule->regex);
    *rule = (struct timing_rule){.kind = TIMING_MARK};
}
