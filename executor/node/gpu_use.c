#include "executor/node/gpu_use.h"

#include "common/base/text.h"
#include "executor/workdir/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const visible_names[] = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                            "CUDA_VISIBLE_DEVICES"};

static const char *entry(const struct env *env, const char *name)
{
    for (size_t i = 0; i < env->count; i++)
        if (strcmp(env->name[i], name) == 0)
            return env->value[i];
    return NULL;
}

/* Returns the list of devices visible to a variant's tests; NULL: all. */
static const char *visible_to(const struct job *job, const struct variant *v)
{
    for (size_t i = 0; i < sizeof visible_names / sizeof *visible_names; i++) {
        const char *name = visible_names[i], *own = entry(&v->env, name), *common = entry(&job->env, name);
        const char *list = own ? own : common ? common : getenv(name);
        if (list && *list)
            return list;
    }
    return NULL;
}

static bool is_word(const char *word, size_t len, const char *text)
{
    return strlen(text) == len && memcmp(word, text, len) == 0;
}

/* Returns the GPU that one word of such a list names, by index or unique id; -1: unknown. */
static int find_gpu(const char *word, size_t len, const json_t *gpus)
{
    for (size_t i = 0; i < json_array_size(gpus); i++) {
        const json_t *gpu = json_array_get(gpus, i);
        const char *id = json_string_value(json_object_get(gpu, "unique_id"));
        char index[32];
        snprintf(index, sizeof index, "%lld", (long long)json_integer_value(json_object_get(gpu, "index")));
        if (is_word(word, len, index) || (id && is_word(word, len, id)))
            return (int)i;
    }
    return -1;
}

/* If the list names a GPU that is not known, all of them count as used. */
static void use_listed(const char *list, const json_t *gpus, bool *used, size_t count)
{
    bool named[GPU_USE_MAX] = {false}, known = list != NULL;
    for (const char *p = list; known && *p;) {
        size_t len = strcspn(p, ",");
        int gpu = find_gpu(p, len, gpus);
        known = gpu >= 0 && (size_t)gpu < count;
        if (known)
            named[gpu] = true;
        p += len + (p[len] == ',');
    }
    for (size_t i = 0; i < count; i++)
        used[i] |= named[i] || !known;
}

static void set_name(char *out, size_t size, const json_t *gpu, size_t index)
{
    const char *id = json_string_value(json_object_get(gpu, "unique_id"));
    if (id && text_is_name(id))
        snprintf(out, size, "%s", id);
    else
        snprintf(out, size, "%zu", index);
}

void gpu_use_add(struct gpu_use *use, const json_t *gpu, size_t index)
{
    if (use->count < GPU_USE_MAX)
        set_name(use->name[use->count++], sizeof use->name[0], gpu, index);
}

bool gpu_use_is(const char *name, const json_t *gpu, size_t index)
{
    char own[LIMIT_NAME + 1];
    set_name(own, sizeof own, gpu, index);
    return strcmp(own, name) == 0;
}

bool gpu_use_chosen_by_job(const struct job *job)
{
    bool chosen = false;
    for (size_t n = 0; n < sizeof visible_names / sizeof *visible_names; n++) {
        chosen |= entry(&job->env, visible_names[n]) != NULL;
        for (size_t v = 0; v < job->variant_count; v++)
            chosen |= entry(&job->variant[v].env, visible_names[n]) != NULL;
    }
    return chosen;
}

/* ROCR comes first, because HIP counts only the devices that ROCR lets through. */
const char *gpu_use_environment(void)
{
    static const char *const names[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                        "CUDA_VISIBLE_DEVICES"};
    const char *list = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !(list && *list); i++)
        list = getenv(names[i]);
    return list && *list ? list : NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

void gpu_use_visible(struct gpu_use *out, const struct job *job, const json_t *gpus)
{
    bool used[GPU_USE_MAX] = {false};
    size_t count = json_array_size(gpus) < GPU_USE_MAX ? json_array_size(gpus) : GPU_USE_MAX;
    out->count = 0;
    for (size_t i = 0; i < job->variant_count; i++)
        use_listed(visible_to(job, &job->variant[i]), gpus, used, count);
    for (size_t i = 0; i < count; i++)
        if (used[i])
            gpu_use_add(out, json_array_get(gpus, i), i);
    qsort(out->name, out->count, sizeof out->name[0], compare_names);
}

int gpu_use_path(const struct layout *l, const char *name, char *path, struct err *err)
{
    return machine_gpu_file(l, name, "lock", path, err);
}
