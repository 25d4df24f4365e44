#include "results/judge/causes/cause_gpus.h"

#include "results/store/identity.h"

#include <stdio.h>
#include <string.h>

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

/* Of one test, which may run on several: "a+b". *known: the facts have them all. */
static void compare_gpus(const struct run_data *before, const struct run_data *now, const char *gpus,
                         bool *known, struct fact_list *out)
{
    for (const char *p = gpus; *p; p += *p == '+') {
        char id[RUN_GPU_MAX], was[RUN_FACT_MAX], is[RUN_FACT_MAX];
        size_t len = strcspn(p, "+");
        snprintf(id, sizeof id, "%.*s", (int)len, p);
        p += len;
        if (!owner_of(now, id, is)) {
            *known = false;
            return;
        }
        if (owner_of(before, id, was))
            compare_gpu(before, now, was, is, out);
    }
}

void cause_gpu_facts(const struct run_data *before, const struct run_data *now, const char *variant,
                     int context, bool *named, struct fact_list *out)
{
    struct tests_of then = {.run = before, .variant = variant, .context = context, .last = ""};
    struct tests_of tonight = {.run = now, .variant = variant, .context = context, .last = ""};
    const char *gpus;
    size_t tests = 0;
    *out = (struct fact_list){0};
    *named = next_gpus(&then) != NULL;
    while (*named && (gpus = next_gpus(&tonight))) {
        tests++;
        compare_gpus(before, now, gpus, named, out);
    }
    *named = *named && tests > 0;
    if (!*named)
        fact_list_release(out);
}
