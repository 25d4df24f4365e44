#include "common/contract/gpu_wish.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char gpus_expected[] =
    "\"one\", \"all\" or an array of GPUs, each by index, unique id or PCI address";

static bool is_word(const char *s)
{
    size_t len = strlen(s);
    return len >= 1 && len <= GPU_WORD_MAX &&
           strspn(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:.-_") == len;
}

static int read_word(struct gpu_wish *w, const struct json_at *at, struct err *err)
{
    const char *word = json_string_value(at->value);
    if (!word)
        return json_expected(at, "a GPU's index, unique id or PCI address, as a string", err);
    if (!is_word(word))
        return json_fail(
            at, err, "\"%.100s\" cannot be a GPU: expected an index (\"0\"), a unique id or a PCI address",
            word);
    for (size_t i = 0; i < w->count; i++)
        if (strcasecmp(w->word[i], word) == 0)
            return json_fail(at, err, "the GPU \"%s\" is listed twice", word);
    w->word[w->count++] = word;
    return 0;
}

static int read_list(struct gpu_wish *w, const struct json_at *at, struct err *err)
{
    size_t n = json_array_size(at->value);
    if (n == 0)
        return json_fail(at, err, "expected %s, found an empty array: remove it, or write \"all\"",
                         gpus_expected);
    if (n > GPU_WISH_MAX)
        return json_fail(at, err, "expected at most %d GPUs, found %zu", GPU_WISH_MAX, n);
    for (size_t i = 0; i < n; i++) {
        struct json_at item = json_element(at, i);
        if (read_word(w, &item, err) != 0)
            return -1;
    }
    return 0;
}

static int read_amount(struct gpu_wish *w, const struct json_at *at, struct err *err)
{
    const char *word = json_string_value(at->value);
    w->given = at->value != NULL;
    w->amount = GPUS_ONE;
    if (!at->value || (word && strcmp(word, "one") == 0))
        return 0;
    w->amount = GPUS_ALL;
    if (word && strcmp(word, "all") == 0)
        return 0;
    w->amount = GPUS_LISTED;
    return json_is_array(at->value) ? read_list(w, at, err) : json_expected(at, gpus_expected, err);
}

static int check_per_test(const struct gpu_wish *w, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "gpus_per_test");
    if (w->per_test > 1 && w->amount == GPUS_ONE)
        return json_fail(&at, err,
                         "%zu GPUs per test do not fit \"gpus\": \"one\": write \"all\" or a list there",
                         w->per_test);
    if (w->amount == GPUS_LISTED && w->count % w->per_test != 0)
        return json_fail(&at, err,
                         "%zu GPUs per test do not divide the %zu of \"gpus\": list a multiple of %zu",
                         w->per_test, w->count, w->per_test);
    return 0;
}

static int check_placement(const struct gpu_wish *w, const struct json_at *root, const struct settings *s,
                           bool scheduled, struct err *err)
{
    struct json_at at = json_member(root, "placement"), gpus = json_member(root, "gpus");
    if (scheduled && w->amount == GPUS_LISTED)
        return json_fail(
            &gpus, err,
            "a scheduler chooses the GPUs: write \"one\" or \"all\" (of those that a task is given)");
    if (s->placement != PLACEMENT_EVERY)
        return 0;
    if (scheduled)
        return json_fail(
            &at, err,
            "\"every\" is not available through a scheduler, which chooses the GPUs: use \"point\" or "
            "\"cell\"");
    if (w->amount == GPUS_ONE)
        return json_fail(&at, err, "\"every\" needs several GPUs: set \"gpus\" to \"all\" or to a list");
    return 0;
}

/* If two keys both chose GPUs, it would be open which of them a test sees. */
static int check_env(const struct json_at *owner, struct err *err)
{
    struct json_at env = json_member(owner, "env");
    const char *name;
    json_t *value;
    json_object_foreach(json_iterable(env.value), name, value)
    {
        struct json_at at = json_member(&env, name);
        if (gpu_is_visible_name(name))
            return json_fail(&at, err, "\"gpus\" chooses the GPUs too: remove one of them");
    }
    return 0;
}

static int check_environments(const struct gpu_wish *w, const struct json_at *root, struct err *err)
{
    struct json_at variants = json_member(root, "variants");
    int rc = w->given ? check_env(root, err) : 0;
    for (size_t i = 0; w->given && rc == 0 && i < json_array_size(variants.value); i++) {
        struct json_at variant = json_element(&variants, i);
        rc = check_env(&variant, err);
    }
    return rc;
}

int gpu_wish_read(struct gpu_wish *w, const struct json_at *root, const struct settings *s, bool scheduled,
                  struct err *err)
{
    struct json_at at = json_member(root, "gpus");
    *w = (struct gpu_wish){.per_test = (size_t)s->gpus_per_test};
    if (read_amount(w, &at, err) != 0 || check_per_test(w, root, err) != 0 ||
        check_placement(w, root, s, scheduled, err) != 0)
        return -1;
    return check_environments(w, root, err);
}

static bool has_text(const json_t *gpu, const char *key, const char *word)
{
    const char *text = json_string_value(json_object_get(gpu, key));
    return text && strcasecmp(text, word) == 0;
}

bool gpu_word_names(const char *word, const json_t *gpu)
{
    char index[32];
    snprintf(index, sizeof index, "%lld", (long long)json_integer_value(json_object_get(gpu, "index")));
    return strcmp(word, index) == 0 || has_text(gpu, "unique_id", word) || has_text(gpu, "pci", word) ||
           has_text(gpu, "kfd_id", word) ||
           (strncasecmp(word, "GPU-", 4) == 0 &&
            (has_text(gpu, "unique_id", word + 4) || has_text(gpu, "kfd_id", word + 4)));
}

void gpu_id(const json_t *gpu, char out[static GPU_WORD_MAX + 1])
{
    const char *id = json_string_value(json_object_get(gpu, "unique_id")),
               *pci = json_string_value(json_object_get(gpu, "pci"));
    if (id && is_word(id))
        snprintf(out, GPU_WORD_MAX + 1, "%s", id);
    else if (pci && is_word(pci))
        snprintf(out, GPU_WORD_MAX + 1, "%s", pci);
    else
        snprintf(out, GPU_WORD_MAX + 1, "%lld", (long long)json_integer_value(json_object_get(gpu, "index")));
}

bool gpu_is_visible_name(const char *name)
{
    static const char *const names[] = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                        "CUDA_VISIBLE_DEVICES"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}
