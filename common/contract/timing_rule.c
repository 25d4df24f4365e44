#include "common/contract/timing_rule.h"

#include "common/base/text.h"
#include "common/contract/pattern.h"

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

static int init_json(struct timing_rule *rule, const struct json_at *spec, struct err *err)
{
    struct json_at map = json_member(spec, "map");
    size_t n = json_object_size(map.value);
    const char *name;
    json_t *path;
    if (n < 1 || n > LIMIT_TIMINGS)
        return json_fail(&map, err, "expected an object of 1 to %d names and JSON paths", LIMIT_TIMINGS);
    json_object_foreach((json_t *)(uintptr_t)map.value, name, path)
    {
        struct json_at at = json_member(&map, name);
        if (!text_is_name(name))
            return json_fail(&at, err, "expected a name such as prefill_s as the key");
        if (!json_is_string(path) || json_string_value(path)[0] != '$')
            return json_fail(&at, err, "expected a path such as \"$.results[0].prefill\"");
        snprintf(rule->part[rule->count].name, LIMIT_NAME + 1, "%s", name);
        rule->part[rule->count].path = strdup(json_string_value(path));
        if (!rule->part[rule->count++].path)
            return err_set(err, ERR_INTERNAL, "no memory for the timings rule");
    }
    return 0;
}

struct rewriter {
    struct timing_rule *rule;
    struct buf out;
    size_t groups;
};

/* At "(?<name>": notes the name and the group's number. Returns the length of "?<name>", 0 when it is bad. */
static size_t take_name(struct rewriter *w, const char *s)
{
    size_t len = s[1] == '<' ? strcspn(s + 2, ">") : 0;
    char name[LIMIT_NAME + 1] = "";
    if (s[1] != '<' || s[2 + len] != '>' || len > LIMIT_NAME || w->rule->count >= LIMIT_TIMINGS)
        return 0;
    memcpy(name, s + 2, len);
    if (!text_is_name(name))
        return 0;
    memcpy(w->rule->part[w->rule->count].name, name, sizeof name);
    w->rule->part[w->rule->count++].group = w->groups;
    return len + 3;
}

/* Turns named groups into numbered ones and \d into [0-9]. */
static int rewrite(struct rewriter *w, const char *s, const struct json_at *at, struct err *err)
{
    while (*s) {
        size_t len = 1;
        if (*s == '\\' && s[1] == 'd') {
            buf_puts(&w->out, "[0-9]");
            s += 2;
            continue;
        }
        if (*s == '\\' && s[1] >= '1' && s[1] <= '9')
            return json_fail(at, err, "back-references are not supported");
        if (*s == '\\' && s[1])
            len = 2;
        else if (*s == '[')
            len = pattern_bracket_length(s);
        buf_add(&w->out, s, len);
        s += len;
        if (s[-1] != '(' || len != 1)
            continue;
        w->groups++;
        if (*s == '?') {
            size_t skip = take_name(w, s);
            if (!skip)
                return json_fail(at, err, "after \"(?\" only <name> is supported, at most %d of them",
                                 LIMIT_TIMINGS);
            s += skip;
        }
    }
    return 0;
}

static int init_regex(struct timing_rule *rule, const struct json_at *spec, const char *pattern,
                      struct err *err)
{
    struct json_at at = json_member(spec, "pattern");
    struct rewriter w = {.rule = rule};
    int rc = -1;
    buf_init(&w.out, LIMIT_PATTERN * 3);
    if (pattern_is_too_large(pattern))
        json_fail(&at, err, "its repetitions make more than %d parts of it", PATTERN_NODES_MAX);
    else if (rewrite(&w, pattern, &at, err) == 0) {
        char why[128];
        int code = regcomp(&rule->regex, buf_str(&w.out), REG_EXTENDED);
        if (code != 0) {
            regerror(code, &rule->regex, why, sizeof why);
            json_fail(&at, err, "not a regular expression: %s", why);
        } else {
            rule->kind = TIMING_REGEX; /* from here on there is something to free */
            rc = rule->count > 0 && w.groups <= LIMIT_TIMINGS
                     ? 0
                     : json_fail(&at, err, "expected 1 to %d groups, named like (?<prefill_s>[0-9.]+)",
                                 LIMIT_TIMINGS);
        }
    }
    buf_release(&w.out);
    return rc;
}

static int read_rule(struct timing_rule *rule, const struct json_at *at, struct err *err)
{
    const char *kind;
    struct spec spec;
    struct json_at kind_at = json_member(at, "kind");
    if (!json_is_object(at->value))
        return json_fail(at, err, "expected null or an object with \"kind\"");
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

void timing_rule_release(struct timing_rule *rule)
{
    for (size_t i = 0; i < rule->count; i++)
        free(rule->part[i].path);
    if (rule->kind == TIMING_REGEX)
        regfree(&rule->regex);
    *rule = (struct timing_rule){.kind = TIMING_MARK};
}
