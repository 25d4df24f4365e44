#include "results/judge/causes/cause_differences.h"

#include "common/base/alloc.h"
#include "results/judge/causes/cause_plans.h"
#include "results/judge/facts.h"
#include "results/store/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fact_class {
    FACT_IGNORED,
    FACT_TOOLCHAIN,
    FACT_VARIABLE_OF_VARIANT,
    FACT_VARIABLE_OF_ALL,
    FACT_ENVIRONMENT,
    FACT_LIMIT,
    FACT_METHOD,
    FACT_DEVICE,
    FACT_SOURCES,
};

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

/* Classifies a key such as "gpus0.firmware.smc" by the part behind the GPU's number. */
static enum fact_class class_of_gpu(const char *key)
{
    static const char *const identity[] = {"unique_id",        "uuid", "serial", "name", "arch",
                                           "vram_total_bytes", NULL};
    static const char *const place[] = {
        "index",           "kfd_id",         "vendor", "pci", "numa_node", "power_cap_default_w",
        "power_cap_max_w", "pcie_width_max", NULL};
    static const char *const limits[] = {
        "power_cap_w", "power_cap2_w", "node_power_limit_w", "sclk_min_mhz", "sclk_max_mhz", "perf_level",
        NULL};
    const char *dot = strchr(key, '.');
    if (!dot || is_one_of(dot + 1, place))
        return FACT_IGNORED;
    if (is_one_of(dot + 1, identity))
        return FACT_DEVICE;
    return is_one_of(dot + 1, limits) ? FACT_LIMIT : FACT_ENVIRONMENT;
}

/* A key is "env.NAME" or "env.VARIANT.NAME"; the name of a variable has no dot. */
static enum fact_class class_of_variable(const char *key, const char *variant)
{
    const char *rest = key + strlen("env."), *dot = strrchr(rest, '.');
    size_t len = strlen(variant);
    if (!dot)
        return FACT_VARIABLE_OF_ALL;
    bool mine = (size_t)(dot - rest) == len && strncmp(rest, variant, len) == 0;
    return mine ? FACT_VARIABLE_OF_VARIANT : FACT_IGNORED;
}

static enum fact_class class_of(const char *key, const char *variant)
{
    static const char *const device[] = {"node", "host", "hostname", NULL};
    if (starts_with(key, "env."))
        return class_of_variable(key, variant);
    if (starts_with(key, "login."))
        return FACT_VARIABLE_OF_ALL;
    if (starts_with(key, "compilers."))
        return FACT_TOOLCHAIN;
    if (starts_with(key, "gpus"))
        return class_of_gpu(key);
    if (starts_with(key, "patches."))
        return strcmp(key + strlen("patches."), variant) == 0 ? FACT_SOURCES : FACT_IGNORED;
    if (strcmp(key, "source") == 0)
        return FACT_SOURCES;
    if (is_one_of(key, device))
        return FACT_DEVICE;
    bool method = strcmp(key, "mode") == 0 || starts_with(key, "model.") || starts_with(key, "clocks.");
    return method ? FACT_METHOD : FACT_ENVIRONMENT;
}

static bool ends_in_word(const char *text, const char *word)
{
    const char *slash = strrchr(text, '/');
    return strcmp(slash ? slash + 1 : text, word) == 0;
}

static bool names_word(const json_t *commands, const char *word)
{
    const json_t *command, *w;
    size_t i, j;
    json_array_foreach(commands, i, command)
    {
        json_array_foreach(command, j, w)
        {
            if (json_is_string(w) && ends_in_word(json_string_value(w), word))
                return true;
        }
    }
    return false;
}

/* "compilers.hipcc.version" -> "hipcc" */
static void compiler_of(const char *key, char out[CAUSE_TEXT_MAX])
{
    const char *name = key + strlen("compilers."), *dot = strrchr(name, '.');
    snprintf(out, CAUSE_TEXT_MAX, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
}

/* A build that names compilers uses only those; if it names none, any of them may be behind its commands. */
static bool uses_compiler(const struct cause_run *now, const char *variant, const char *key)
{
    const json_t *build = json_object_get(cause_plan_variant(now, variant), "build");
    char compiler[CAUSE_TEXT_MAX];
    bool names_any = false;
    for (size_t i = 0; build && i < now->run->n_facts; i++) {
        if (!starts_with(now->run->facts[i].key, "compilers."))
            continue;
        compiler_of(now->run->facts[i].key, compiler);
        names_any |= names_word(build, compiler);
    }
    compiler_of(key, compiler);
    return !names_any || names_word(build, compiler);
}

static struct cause_changes *place_of(struct cause_differences *out, enum fact_class class)
{
    switch (class) {
    case FACT_IGNORED:
    case FACT_SOURCES:
        return NULL;
    case FACT_TOOLCHAIN:
        return &out->toolchain;
    case FACT_VARIABLE_OF_VARIANT:
        return &out->environment[SCOPE_VARIANT];
    case FACT_VARIABLE_OF_ALL:
    case FACT_ENVIRONMENT:
    case FACT_LIMIT:
        return &out->environment[SCOPE_ALL];
    case FACT_METHOD:
        return &out->method[SCOPE_ALL];
    case FACT_DEVICE:
        return &out->device;
    }
    return NULL;
}

/* Whether a fact that only one side has is a difference. */
static bool may_be_absent(enum fact_class class, const char *key)
{
    return class == FACT_VARIABLE_OF_VARIANT || class == FACT_VARIABLE_OF_ALL || class == FACT_SOURCES ||
           starts_with(key, "clocks.");
}

/* "driver" and "gpus3.driver" -> "driver" */
static const char *without_gpu(const char *key)
{
    const char *dot = strchr(key, '.');
    return starts_with(key, "gpus") && dot ? dot + 1 : key;
}

/* The same change on every GPU of a node, or on the node and its GPU, is listed once. */
static bool is_listed(const struct cause_changes *list, const struct fact_change *f)
{
    struct cause_changes one = {0};
    cause_add_change(&one, f->key, f->base, f->now);
    for (size_t i = 0; i < list->count && i < CAUSE_CHANGES_MAX; i++)
        if (strcmp(without_gpu(list->items[i].key), without_gpu(one.items[0].key)) == 0 &&
            strcmp(list->items[i].before, one.items[0].before) == 0 &&
            strcmp(list->items[i].now, one.items[0].now) == 0)
            return true;
    return false;
}

static void take_fact(const struct cause_run *now, const char *variant, const struct fact_change *f,
                      struct cause_differences *out)
{
    enum fact_class class = class_of(f->key, variant);
    struct cause_changes *place = place_of(out, class);
    if ((!*f->base || !*f->now) && !may_be_absent(class, f->key))
        return;
    if (class == FACT_TOOLCHAIN && !uses_compiler(now, variant, f->key))
        return;
    if (class == FACT_SOURCES && *f->base && *f->now)
        out->other_sources = true;
    if (class == FACT_SOURCES)
        out->same_sources = false;
    if (place && !is_listed(place, f))
        cause_add_change(place, f->key, f->base, f->now);
    if (class == FACT_VARIABLE_OF_VARIANT || class == FACT_VARIABLE_OF_ALL)
        cause_add_change(&out->variables, f->key, f->base, f->now);
    if ((class == FACT_LIMIT || starts_with(f->key, "clocks.")) && !is_listed(&out->limits, f))
        cause_add_change(&out->limits, f->key, f->base, f->now);
}

/* Goes over the tests of a cell, or over all of them. */
struct tests_of {
    const struct run_data *run;
    const char *variant;
    int context;
    size_t next;
    const char *last; /* GPUs of the test before; "" for none */
};

static bool has_test(const struct tests_of *s, const struct run_test *t)
{
    return *t->gpu && (!*s->variant || (t->context == s->context &&
                                        strcmp(s->run->variants[t->variant].name, s->variant) == 0));
}

/* The GPUs of the next test that ran on others than the one before; NULL after the last. */
static const char *next_gpus(struct tests_of *s)
{
    while (s->next < s->run->n_tests) {
        const struct run_test *t = &s->run->tests[s->next++];
        if (has_test(s, t) && strcmp(t->gpu, s->last) != 0)
            return s->last = t->gpu;
    }
    return NULL;
}

/* "gpus3", the part of the keys that belong to the GPU with this id; false if there is none. */
static bool owner_of(const struct run_data *r, const char *id, char owner[RUN_FACT_MAX])
{
    size_t len = 0;
    for (size_t i = 0; !len && i < r->n_facts; i++) {
        len = device_owner(&r->facts[i], id);
        snprintf(owner, RUN_FACT_MAX, "%.*s", (int)len, r->facts[i].key);
    }
    return len > 0;
}

static void compare_gpu(const struct run_data *before, const struct run_data *now, const char *was,
                        const char *is, struct fact_list *out)
{
    size_t len = strlen(is);
    for (size_t i = 0; i < now->n_facts; i++) {
        const struct run_fact *f = &now->facts[i];
        char key[2 * RUN_FACT_MAX];
        if (strncmp(f->key, is, len) != 0 || f->key[len] != '.')
            continue;
        snprintf(key, sizeof key, "%s%s", was, f->key + len);
        const char *value = run_data_fact(before, key);
        fact_list_add(out, f->key, value ? value : "", f->value);
    }
}

/* Compares the GPUs of one test, perhaps several ("a+b"). Returns whether the facts have all of them. */
static bool compare_gpus(const struct run_data *before, const struct run_data *now, const char *gpus,
                         struct fact_list *out)
{
    for (const char *p = gpus; *p; p += *p == '+') {
        char id[RUN_GPU_MAX], was[RUN_FACT_MAX], is[RUN_FACT_MAX];
        size_t len = strcspn(p, "+");
        snprintf(id, sizeof id, "%.*s", (int)len, p);
        p += len;
        if (!owner_of(now, id, is))
            return false;
        if (owner_of(before, id, was))
            compare_gpu(before, now, was, is, out);
    }
    return true;
}

/* Compares the facts of the GPUs that the tests of a cell (variant "": all tests) ran on, whatever number a
 * GPU has in either run; the node's other GPUs explain nothing. False, with *out empty: a test does not say
 * where it ran, or `now` has no facts of its GPU. *out has the keys of `now`; the caller calls
 * fact_list_release(). */
static bool gpu_facts(const struct run_data *before, const struct run_data *now, const char *variant,
                      int context, struct fact_list *out)
{
    struct tests_of then = {.run = before, .variant = variant, .context = context, .last = ""};
    struct tests_of tonight = {.run = now, .variant = variant, .context = context, .last = ""};
    const char *gpus;
    bool named = next_gpus(&then) != NULL, any = false;
    *out = (struct fact_list){0};
    while (named && (gpus = next_gpus(&tonight))) {
        any = true;
        named = compare_gpus(before, now, gpus, out);
    }
    if (!named || !any)
        fact_list_release(out);
    return named && any;
}

static bool plan_sets(const struct run_data *r, const char *variant, const char *name)
{
    char key[RUN_FACT_MAX];
    snprintf(key, sizeof key, "env.%.100s", name);
    if (run_data_fact(r, key))
        return true;
    snprintf(key, sizeof key, "env.%.100s.%.100s", variant, name);
    return run_data_fact(r, key) != NULL;
}

/* A variable of the login that one side has, and the other has not, says something only where both recorded
 * their node, and the plans let it pass. */
static bool login_counts(const struct run_data *before, const struct run_data *now, const char *variant,
                         const char *key)
{
    const char *name = key + strlen("login.");
    return run_data_fact(before, "kernel") && run_data_fact(now, "kernel") &&
           !plan_sets(before, variant, name) && !plan_sets(now, variant, name);
}

/* Takes the facts of all GPUs only if those of the GPUs that the tests ran on are not known. */
static void take_facts(const struct cause_run *before, const struct cause_run *now, const char *variant,
                       int context, struct cause_differences *out)
{
    AUTO(fact_list_release) struct fact_list facts = {0}, of_gpus = {0};
    bool named = gpu_facts(before->run, now->run, variant, context, &of_gpus);
    compare_facts(before->run, now->run, &facts);
    bool recorded = before->run->n_facts && now->run->n_facts;
    for (size_t i = 0; i < facts.count; i++) {
        const struct fact_change *f = &facts.items[i];
        enum fact_class class = class_of(f->key, variant);
        bool counts = recorded || class == FACT_SOURCES || class == FACT_DEVICE || class == FACT_METHOD;
        if (starts_with(f->key, "login."))
            counts = login_counts(before->run, now->run, variant, f->key);
        if (counts && !(named && starts_with(f->key, "gpus")))
            take_fact(now, variant, f, out);
    }
    for (size_t i = 0; i < of_gpus.count; i++)
        take_fact(now, variant, &of_gpus.items[i], out);
}

/* Compares the digests of the images that builds and tests ran in, since a tag may name another image by now.
 * variant "": reports a change only if all images known on both sides changed. */
static void compare_images(const struct cause_run *before, const struct cause_run *now, const char *variant,
                           struct cause_differences *out)
{
    const struct run_variant *was = NULL, *is = NULL;
    for (size_t i = 0; i < now->run->n_variants; i++) {
        const struct run_variant *v = &now->run->variants[i], *old = run_data_variant(before->run, v->name);
        bool known = old && *old->image_digest && *v->image_digest;
        if (!known || (*variant && strcmp(v->name, variant) != 0))
            continue;
        if (strcmp(old->image_digest, v->image_digest) == 0)
            return;
        was = old;
        is = v;
    }
    if (is)
        cause_add_change(&out->environment[*variant ? SCOPE_VARIANT : SCOPE_ALL], "image", was->image_digest,
                         is->image_digest);
}

/* The facts may name one GPU in different ways, but its identity tells. */
static void compare_devices(const struct cause_run *before, const struct cause_run *now,
                            struct cause_differences *out)
{
    uint64_t a = run_device(before->run), b = run_device(now->run);
    bool named = a && b && a == b;
    if (named) /* the same GPU under another name, or with another size as a driver reports it */
        out->device = (struct cause_changes){0};
}

void cause_differences(const struct cause_run *before, const struct cause_run *now, const char *variant,
                       int context, struct cause_differences *out)
{
    const struct run_info *a = &before->run->info, *b = &now->run->info;
    *out = (struct cause_differences){0};
    out->same_sources = *a->source_sha256 && strcmp(a->source_sha256, b->source_sha256) == 0;
    take_facts(before, now, variant, context, out);
    compare_devices(before, now, out);
    cause_compare_plans(before, now, variant, out);
    compare_images(before, now, variant, out);
}

static bool has_key(const struct cause_changes *list, const char *key)
{
    for (size_t i = 0; i < list->count && i < CAUSE_CHANGES_MAX; i++)
        if (strcmp(without_gpu(list->items[i].key), without_gpu(key)) == 0)
            return true;
    return list->count > CAUSE_CHANGES_MAX;
}

static void keep_changes(struct cause_changes *list, const struct cause_changes *earlier)
{
    size_t listed = list->count < CAUSE_CHANGES_MAX ? list->count : CAUSE_CHANGES_MAX, kept = 0;
    for (size_t i = 0; i < listed; i++)
        if (has_key(earlier, list->items[i].key))
            list->items[kept++] = list->items[i];
    if (list->count > CAUSE_CHANGES_MAX && kept == CAUSE_CHANGES_MAX)
        return;
    list->count = kept; /* those behind the listed ones cannot be named */
}

void cause_differences_keep(struct cause_differences *d, const struct cause_differences *earlier)
{
    keep_changes(&d->toolchain, &earlier->toolchain);
    keep_changes(&d->variables, &earlier->variables);
    keep_changes(&d->limits, &earlier->limits);
    keep_changes(&d->device, &earlier->device);
    for (int i = 0; i < SCOPES; i++) {
        keep_changes(&d->environment[i], &earlier->environment[i]);
        keep_changes(&d->method[i], &earlier->method[i]);
    }
    d->same_sources = d->same_sources && earlier->same_sources;
    d->other_sources = d->other_sources && earlier->other_sources;
}
