#include "results/ingest/bundle/artifact.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 4 };

/* Values that change from minute to minute would give every run its own environment. */
static bool is_fleeting(const char *key)
{
    static const char *const keys[] = {
        "schema",    "time",     "workdir",     "disk_free_bytes", "vram_used_bytes", "gpu_processes",
        "leftovers", "uptime_s", "loadavg",     "mem_free_bytes",  "temperatures",    "power_w",
        "preflight", "ras",      "clocks_left", "unfinished"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static int add_scalar(struct draft *d, const char *key, const json_t *v, struct err *err)
{
    char text[64];
    switch (json_typeof(v)) {
    case JSON_STRING:
        return draft_add_fact(d, key, json_string_value(v), err);
    case JSON_INTEGER:
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(v));
        return draft_add_fact(d, key, text, err);
    case JSON_REAL:
        snprintf(text, sizeof text, "%.10g", json_real_value(v));
        return draft_add_fact(d, key, text, err);
    case JSON_TRUE:
    case JSON_FALSE:
        return draft_add_fact(d, key, json_is_true(v) ? "true" : "false", err);
    case JSON_NULL:
    case JSON_OBJECT:
    case JSON_ARRAY:
        return 0;
    }
    return 0;
}

/* A compiler goes by its name, "compilers.hipcc.version"; elements of other arrays are numbered. */
static void element_key(char *out, size_t size, const char *base, const json_t *element, size_t i)
{
    const char *name =
        strcmp(base, "compilers") == 0 ? json_string_value(json_object_get(element, "name")) : NULL;
    if (name)
        snprintf(out, size, "%s.%.60s", base, name);
    else
        snprintf(out, size, "%.150s%zu", base, i);
}

static int flatten(struct draft *d, const char *base, const json_t *v, int depth, struct err *err)
{
    char key[RUN_FACT_MAX];
    const char *name;
    json_t *member;
    if (depth > DEPTH_MAX)
        return 0;
    if (json_is_object(v))
        json_object_foreach((json_t *)(uintptr_t)v, name, member)
        {
            if (is_fleeting(name))
                continue;
            snprintf(key, sizeof key, "%.150s%s%.80s", base, *base ? "." : "", name);
            if (flatten(d, key, member, depth + 1, err) != 0)
                return -1;
        }
    else if (json_is_array(v))
        for (size_t i = 0; i < json_array_size(v); i++) {
            element_key(key, sizeof key, base, json_array_get(v, i), i);
            if (flatten(d, key, json_array_get(v, i), depth + 1, err) != 0)
                return -1;
        }
    else
        return add_scalar(d, base, v, err);
    return 0;
}

int artifact_node(const struct json_at *node, struct draft *d, struct err *err)
{
    if (!json_is_object(node->value))
        return json_fail(node, err, "expected an object");
    return flatten(d, "", node->value, 0, err) == 0 ? 0 : err_wrap(err, "%s", node->file);
}

static bool is_secret(const json_t *secrets, const char *name)
{
    size_t i;
    json_t *s;
    json_array_foreach(secrets, i, s)
    {
        if (json_is_string(s) && strcmp(json_string_value(s), name) == 0)
            return true;
    }
    return false;
}

static int add_env(const struct json_at *owner, const char *prefix, const json_t *secrets, struct draft *d,
                   struct err *err)
{
    struct json_at env = json_member(owner, "env");
    json_t *members = json_object_get(owner->value, "env");
    if (!env.value || json_is_null(env.value))
        return 0;
    if (!json_is_object(env.value))
        return json_fail(&env, err, "expected an object");
    const char *name;
    json_t *value;
    json_object_foreach(members, name, value)
    {
        char key[RUN_FACT_MAX];
        snprintf(key, sizeof key, "env.%s%.150s", prefix, name);
        const char *text = is_secret(secrets, name) ? "***" : json_string_value(value);
        if (draft_add_fact(d, key, text ? text : "", err) != 0)
            return -1;
    }
    return 0;
}

/* Adds the fact "patches.v3", the patches of the variant, as far as they fit. */
static int add_patches(const struct json_at *variant, const char *name, struct draft *d, struct err *err)
{
    const json_t *patches = json_object_get(variant->value, "patches"), *patch;
    char key[RUN_FACT_MAX], text[RUN_FACT_MAX] = "";
    size_t i, len = 0;
    json_array_foreach(patches, i, patch)
    {
        const char *file = json_string_value(json_object_get(patch, "file")),
                   *from = json_string_value(json_object_get(patch, "pattern")),
                   *to = json_string_value(json_object_get(patch, "replacement"));
        if (file && from && to && len < sizeof text)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s: %s -> %s", len ? "; " : "", file,
                                    from, to);
    }
    snprintf(key, sizeof key, "patches.%s", name);
    return draft_add_fact(d, key, text, err);
}

int artifact_env(const struct json_at *job, struct draft *d, struct err *err)
{
    const json_t *secrets = json_object_get(job->value, "secrets");
    struct json_at variants = json_member(job, "variants");
    if (add_env(job, "", secrets, d, err) != 0)
        return -1;
    for (size_t i = 0; i < json_array_size(variants.value) && i < d->n_variants; i++) {
        struct json_at v = json_element(&variants, i);
        char prefix[RUN_NAME_MAX + 1];
        snprintf(prefix, sizeof prefix, "%s.", d->variants[i].name);
        if (add_env(&v, prefix, secrets, d, err) != 0 || add_patches(&v, d->variants[i].name, d, err) != 0)
            return -1;
    }
    return 0;
}
