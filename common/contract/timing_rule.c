#include "common/contract/timing_rule.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const units[] = {"s", "ms", "us", NULL};
static const double seconds[] = {1, 1e-3, 1e-6};

struct spec {
    const char *pattern;
    int unit;
};

#define UNIT_KEY                                                                                             \
    {                                                                                                        \
        KEY_AT(struct spec, unit), .kind = KEY_CHOICE, .in = IN_BOTH, .words = units                         \
    }

const struct key timing_json_keys[] = {
    {.name = "kind", .kind = KEY_CONST, .in = IN_BOTH, .required = true, .text = "json"},
    {.name = "map", .kind = KEY_PART, .in = IN_BOTH, .required = true},
    UNIT_KEY,
    {.name = NULL},
};
const struct key timing_regex_keys[] = {
    {.name = "kind", .kind = KEY_CONST, .in = IN_BOTH, .required = true, .text = "regex"},
    {KEY_AT(struct spec, pattern), .kind = KEY_TEXT, .in = IN_BOTH, .required = true, .least = 1,
     .most = LIMIT_PATTERN},
    UNIT_KEY,
    {.name = NULL},
};

/* Whether it is "$", then ".name" and "[3]" in any order. */
static bool is_path(const char *s)
{
    if (*s++ != '$')
        return false;
    while (*s) {
        size_t n = *s == '.' ? strcspn(s + 1, ".[") : *s == '[' ? strspn(s + 1, "0123456789") : 0;
        if (n == 0 || n >= TIMING_PATH_KEY_MAX || (*s == '[' && s[n + 1] != ']'))
            return false;
        s += n + 1 + (*s == '[');
    }
    return true;
}

static int init_json(struct timing_rule *rule, const struct json_at *spec, struct err *err)
{
    struct json_at map = json_member(spec, "map");
    size_t n = json_object_size(map.value);
    const char *name;
    json_t *path;
    if (!json_is_object(map.value))
        return json_expected(&map, "an object of 1 to 16 names and JSON paths", err);
    if (n < 1 || n > LIMIT_TIMINGS)
        return json_fail(&map, err, "expected 1 to %d names and JSON paths, found %zu", LIMIT_TIMINGS, n);
    json_object_foreach(json_iterable(map.value), name, path)
    {
        struct json_at at = json_member(&map, name);
        if (!text_is_name(name))
            return json_fail(&at, err, "expected a name such as prefill_s as the key, found \"%.80s\"", name);
        if (!json_is_string(path))
            return json_expected(&at, "a path such as \"$.results[0].prefill\"", err);
        if (!is_path(json_string_value(path)))
            return json_fail(&at, err, "expected a path such as \"$.results[0].prefill\", found \"%.80s\"",
                             json_string_value(path));
        snprintf(rule->part[rule->count].name, LIMIT_NAME + 1, "%s", name);
        rule->part[rule->count++].path = xstrdup(json_string_value(path));
    }
    return 0;
}

static int read_groups(struct timing_rule *rule, const struct json_at *at, struct err *err)
{
    size_t names = regex_names(&rule->regex);
    if (names == 0)
        return json_fail(at, err, "expected a group named like (?<prefill_s>[0-9.]+), found none");
    if (regex_groups(&rule->regex) > LIMIT_TIMINGS)
        return json_fail(at, err, "expected 1 to %d groups, found %zu", LIMIT_TIMINGS,
                         regex_groups(&rule->regex));
    for (; rule->count < names; rule->count++) {
        size_t *group = &rule->part[rule->count].group;
        snprintf(rule->part[rule->count].name, LIMIT_NAME + 1, "%s",
                 regex_name(&rule->regex, rule->count, group));
    }
    return 0;
}

static int init_regex(struct timing_rule *rule, const struct json_at *spec, const char *pattern,
                      struct err *err)
{
    struct json_at at = json_member(spec, "pattern");
    struct err why = {0};
    if (regex_compile(&rule->regex, pattern, &why) != 0)
        return json_fail(&at, err, "not a regular expression: %s", why.msg);
    rule->kind = TIMING_REGEX; /* from here on, release frees the regex */
    rule->pattern = xstrdup(pattern);
    return read_groups(rule, &at, err);
}

static int read_rule(struct timing_rule *rule, const struct json_at *at, struct err *err)
{
    const char *kind;
    struct spec spec;
    struct json_at kind_at = json_member(at, "kind");
    if (json_is_string(at->value) && strcmp(json_string_value(at->value), "wall") == 0) {
        rule->kind = TIMING_WALL;
        return 0;
    }
    if (!json_is_object(at->value))
        return json_expected(at, "\"wall\", null or an object with \"kind\"", err);
    if (json_get_str(at, "kind", &kind, err) != 0)
        return -1;
    bool regex = strcmp(kind, "regex") == 0;
    if (!regex && strcmp(kind, "json") != 0)
        return json_fail(&kind_at, err, "expected \"json\" or \"regex\", found \"%.80s\"", kind);
    const struct key_table table = {regex ? timing_regex_keys : timing_json_keys, &spec};
    if (keys_read(at, IN_BOTH, &table, 1, err) != 0)
        return -1;
    rule->unit = seconds[spec.unit];
    if (regex)
        return init_regex(rule, at, spec.pattern, err);
    rule->kind = TIMING_JSON;
    return init_json(rule, at, err);
}

int timing_rule_init(struct timing_rule *rule, const struct json_at *spec, struct err *err)
{
    *rule = (struct timing_rule){.kind = TIMING_MARK, .unit = 1};
    if (!spec || !spec->value || json_is_null(spec->value) || read_rule(rule, spec, err) == 0)
        return 0;
    timing_rule_release(rule);
    return -1;
}

/* Returns rule->count if there is none. */
static size_t find_part(const struct timing_rule *rule, const char *name)
{
    size_t i = 0;
    while (i < rule->count && strcmp(rule->part[i].name, name) != 0)
        i++;
    return i;
}

static int add_path(struct timing_rule *rule, const struct own_metric *m, const struct json_at *at,
                    struct err *err)
{
    struct timing_part *part = &rule->part[rule->count];
    if (*m->from == '$' && !is_path(m->from))
        return json_fail(at, err, "expected a path such as \"$.results[0].gbs\", found \"%.80s\"", m->from);
    part->path = xstrdup(m->from);
    snprintf(part->name, sizeof part->name, "%s", m->name);
    part->own = true;
    rule->count++;
    return 0;
}

/* A timing that the rule finds under the name `from` becomes the metric. */
static int take_part(struct timing_rule *rule, const struct own_metric *m, const struct json_at *at,
                     struct err *err)
{
    size_t place = find_part(rule, m->from);
    struct timing_part *part = &rule->part[place];
    if (place == rule->count || part->own)
        return json_fail(at, err, "no %s of \"timings\" is called \"%.80s\"",
                         rule->kind == TIMING_REGEX ? "group of the pattern" : "path in the map", m->from);
    snprintf(part->name, sizeof part->name, "%s", m->name);
    part->own = true;
    return 0;
}

static int add_metric(struct timing_rule *rule, const struct own_metric *m, const struct json_at *one,
                      struct err *err)
{
    struct json_at from = json_member(one, "from");
    const struct json_at *at = from.value ? &from : one;
    switch (rule->kind) {
    case TIMING_MARK:
        return add_path(rule, m, at, err);
    case TIMING_JSON:
        return *m->from == '$' ? add_path(rule, m, at, err) : take_part(rule, m, at, err);
    case TIMING_REGEX:
        return take_part(rule, m, at, err);
    case TIMING_WALL:
        return json_fail(one, err, "a metric is read from the output, which \"timings\": \"wall\" ignores");
    }
    return 0;
}

int timing_rule_add_metrics(struct timing_rule *rule, const struct own_metrics *metrics,
                            const struct json_at *at, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < metrics->count; i++) {
        struct json_at one = json_element(at, i);
        rc |= add_metric(rule, &metrics->item[i], &one, err);
    }
    return rc;
}

bool timing_rule_is_given(const struct timing_rule *rule)
{
    return rule->count > 0;
}

bool timing_rule_has(const struct timing_rule *rule, const char *name)
{
    return find_part(rule, name) < rule->count;
}

void timing_rule_release(struct timing_rule *rule)
{
    for (size_t i = 0; i < rule->count; i++)
        free(rule->part[i].path);
    if (rule->kind == TIMING_REGEX)
        regex_release(&rule->regex);
    free(rule->pattern);
    *rule = (struct timing_rule){.kind = TIMING_MARK};
}
