#include "executor/node/gpu_use.h"

#include "common/base/text.h"
#include "common/contract/gpu_wish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 4 << 10 };

static const char *const visible_names[] = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                            "CUDA_VISIBLE_DEVICES"};

static const char *entry(const struct env *env, const char *name)
{
    for (size_t i = 0; i < env->count; i++)
        if (strcmp(env->name[i], name) == 0)
            return env->value[i];
    return NULL;
}

/* Returns the list that a variable gives a variant's tests; NULL: none. */
static const char *list_of(const struct job *job, const struct variant *v, const char *name)
{
    const char *own = entry(&v->env, name), *common = entry(&job->env, name);
    const char *list = own ? own : common ? common : getenv(name);
    return list && *list ? list : NULL;
}

/* GPUs by their places among the node's, in the order in which a runtime numbers them. */
struct order {
    size_t count;
    size_t place[GPU_USE_MAX];
};

static bool is_digits(const char *word)
{
    return *word && strspn(word, "0123456789") == strlen(word);
}

/* CUDA also takes the beginning of an id, if there is no other like it. */
static bool begins_id(const json_t *gpu, const char *word)
{
    const char *id = json_string_value(json_object_get(gpu, "unique_id"));
    return id && strncmp(word, "GPU-", 4) == 0 && word[4] && strncmp(id, word, strlen(word)) == 0;
}

/* Finds what one word of a list names: the index among those that are seen so far, or an id. */
static bool find_gpu(const char *word, const json_t *gpus, const struct order *of, size_t *place)
{
    size_t found = 0;
    if (is_digits(word)) {
        unsigned long index = strtoul(word, NULL, 10);
        *place = index < of->count ? of->place[index] : 0;
        return index < of->count;
    }
    for (size_t i = 0; i < of->count; i++) {
        const json_t *gpu = json_array_get(gpus, of->place[i]);
        if (!gpu_word_names(word, gpu) && !begins_id(gpu, word))
            continue;
        *place = of->place[i];
        found++;
    }
    return found == 1;
}

/* Keeps what a list lets through, in its order. Returns false if it names a GPU that is not known. */
static bool narrow(const char *list, const json_t *gpus, struct order *seen)
{
    const struct order of = *seen;
    char words[LIST_MAX], *at = words, *word;
    if (!list)
        return true;
    if (strlen(list) >= sizeof words)
        return false;
    snprintf(words, sizeof words, "%s", list);
    seen->count = 0;
    while ((word = strsep(&at, ",")) != NULL) {
        word += strspn(word, " \t");
        word[strcspn(word, " \t")] = '\0';
        if (strcmp(word, "-1") == 0 || (!*word && seen->count > 0)) /* ends the list */
            return true;
        if (seen->count == of.count || !find_gpu(word, gpus, &of, &seen->place[seen->count]))
            return false;
        seen->count++;
    }
    return true;
}

static struct order all_of(const json_t *gpus, size_t count, bool amd)
{
    struct order all = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        const char *vendor = json_string_value(json_object_get(json_array_get(gpus, i), "vendor"));
        if ((vendor && strcmp(vendor, "amd") == 0) == amd)
            all.place[all.count++] = i;
    }
    return all;
}

static void mark(const struct order *all, const struct order *seen, bool known, bool *used)
{
    const struct order *of = known ? seen : all;
    for (size_t i = 0; i < of->count; i++)
        used[of->place[i]] = true;
}

/* If a list names a GPU that is not known, all of them count as used. HIP's list, for which CUDA's is another
 * name on AMD, counts only what ROCR's lets through. */
static void use_visible(const struct job *job, const struct variant *v, const json_t *gpus, size_t count,
                        bool *used)
{
    const char *rocr = list_of(job, v, "ROCR_VISIBLE_DEVICES"), *hip = list_of(job, v, "HIP_VISIBLE_DEVICES"),
               *cuda = list_of(job, v, "CUDA_VISIBLE_DEVICES");
    const struct order amd = all_of(gpus, count, true), nvidia = all_of(gpus, count, false);
    struct order seen = amd;
    bool known = narrow(rocr, gpus, &seen) && narrow(hip ? hip : cuda, gpus, &seen);
    mark(&amd, &seen, known, used);
    seen = nvidia;
    known = narrow(cuda, gpus, &seen);
    mark(&nvidia, &seen, known, used);
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
        use_visible(job, &job->variant[i], gpus, count, used);
    for (size_t i = 0; i < count; i++)
        if (used[i])
            gpu_use_add(out, json_array_get(gpus, i), i);
    qsort(out->name, out->count, sizeof out->name[0], compare_names);
}

int gpu_use_path(const struct layout *l, const char *name, char *path, struct err *err)
{
    return machine_gpu_file(l, name, "lock", path, err);
}
