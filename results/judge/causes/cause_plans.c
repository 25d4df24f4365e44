#include "results/judge/causes/cause_plans.h"

#include "common/base/alloc.h"
#include "common/base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In a plan of kernels the run's variants are shapes, so an entry is also found by the kernel's name. */
const json_t *cause_plan_variant(const struct cause_run *r, const char *variant)
{
    const struct run_variant *v = run_data_variant(r->run, variant);
    const json_t *list = json_object_get(r->plan, "variants"), *item;
    size_t i;
    json_array_foreach(list, i, item)
    {
        const char *name = json_text(item, "name");
        if (strcmp(name, variant) == 0 || (v && *name && strcmp(name, v->kernel) == 0))
            return item;
    }
    return NULL;
}

/* A string comes without its quotes, anything else as JSON. */
static char *text_of(const json_t *value, const char *absent)
{
    if (!value || json_is_string(value))
        return xstrdup(value ? json_string_value(value) : absent);
    return json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
}

static void compare_values(const char *key, const json_t *before, const json_t *now,
                           struct cause_changes *out)
{
    if (before == now || (before && now && json_equal(before, now)))
        return;
    AUTO_FREE char *was = text_of(before, "");
    AUTO_FREE char *is = text_of(now, "");
    cause_add_change(out, key, was, is);
}

/* What tests run in, with its default. Variables, patches and held clocks are compared as facts instead. */
struct plan_key {
    const char *key, *usual;
};

static const struct plan_key of_all[] = {
    {"gpus", "one"},      {"gpus_per_test", "1"}, {"placement", "point"}, {"isolate", "false"},
    {"in_tree", "false"}, {"limits", "{}"},       {"container", ""},      {NULL, NULL}};
static const struct plan_key of_variant[] = {
    {"alone", "false"}, {"cwd", ""}, {"in_tree", "false"}, {"container", ""}, {NULL, NULL}};

static void compare_keys(const struct plan_key *keys, const json_t *before, const json_t *now,
                         struct cause_changes *out)
{
    for (; keys->key; keys++) {
        const json_t *a = json_object_get(before, keys->key), *b = json_object_get(now, keys->key);
        AUTO_FREE char *was = text_of(a, keys->usual);
        AUTO_FREE char *is = text_of(b, keys->usual);
        if (!(a && b && json_equal(a, b)) && strcmp(was, is) != 0)
            cause_add_change(out, keys->key, was, is);
    }
}

/* Compares the keys that decide how tests are measured; each comes with its default. */
static void compare_words(const struct cause_run *before, const struct cause_run *now,
                          struct cause_changes *out)
{
    static const char *const words[][2] = {
        {"order", "interleaved"}, {"clock", "process"}, {"prompt_tokens", "if_printed"}, {"model", ""}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *was = json_string_value(json_object_get(before->plan, words[i][0])),
                   *is = json_string_value(json_object_get(now->plan, words[i][0]));
        was = was ? was : words[i][1];
        is = is ? is : words[i][1];
        if (strcmp(was, is) != 0)
            cause_add_change(out, words[i][0], was, is);
    }
}

static json_int_t sample_interval(const json_t *plan)
{
    const json_t *ms = json_object_get(json_object_get(plan, "sampling"), "interval_ms");
    return ms ? json_integer_value(ms) : 100;
}

static void compare_sampling(const struct cause_run *before, const struct cause_run *now,
                             struct cause_changes *out)
{
    char was[32], is[32];
    json_int_t a = sample_interval(before->plan), b = sample_interval(now->plan);
    snprintf(was, sizeof was, "%lld ms", (long long)a);
    snprintf(is, sizeof is, "%lld ms", (long long)b);
    if (a != b)
        cause_add_change(out, "sampling.interval_ms", was, is);
}

void cause_compare_plans(const struct cause_run *before, const struct cause_run *now, const char *variant,
                         struct cause_differences *out)
{
    const char *a = before->run->info.plan_sha256, *b = now->run->info.plan_sha256;
    if (!before->plan || !now->plan) {
        if (*a && *b && strcmp(a, b) != 0)
            cause_add_change(&out->method[SCOPE_ALL], "plan", a, b);
        return;
    }
    compare_words(before, now, &out->method[SCOPE_ALL]);
    compare_sampling(before, now, &out->method[SCOPE_ALL]);
    compare_values("timings", json_object_get(before->plan, "timings"), json_object_get(now->plan, "timings"),
                   &out->method[SCOPE_ALL]);
    compare_keys(of_all, before->plan, now->plan, &out->method[SCOPE_ALL]);
    const json_t *was = cause_plan_variant(before, variant), *is = cause_plan_variant(now, variant);
    if (!was || !is)
        return;
    compare_keys(of_variant, was, is, &out->method[SCOPE_VARIANT]);
    compare_values("build", json_object_get(was, "build"), json_object_get(is, "build"), &out->toolchain);
    compare_values("run", json_object_get(was, "run"), json_object_get(is, "run"),
                   &out->method[SCOPE_VARIANT]);
}
