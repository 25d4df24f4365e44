#include "harness/plan/gpu_tests.h"

#include "common/base/alloc.h"
#include "harness/plan/cell_numbers.h"

#include <stdio.h>
#include <string.h>

void gpu_tests_hint(json_t *tests, const struct gpu_hints *hints)
{
    json_auto_t *known = cell_numbers();
    size_t i;
    json_t *test;
    for (i = 0; i < hints->count; i++)
        cell_number_set(known, hints->item[i].variant, hints->item[i].context, i);
    json_array_foreach(tests, i, test)
    {
        size_t at = cell_number_of_test(known, test);
        const struct gpu_hint *h = at < hints->count ? &hints->item[at] : NULL;
        if (h && h->gpu[0])
            json_object_set_new(test, "home", json_string(h->gpu));
        if (h && h->expected_s > 0 && h->expected_s <= TEST_TIMEOUT_MAX_S)
            json_object_set_new(test, "expected_s", json_real(h->expected_s));
    }
}

static const json_t *find_named(const char *word, const json_t *node_gpus)
{
    for (size_t i = 0; i < json_array_size(node_gpus); i++)
        if (gpu_word_names(word, json_array_get(node_gpus, i)))
            return json_array_get(node_gpus, i);
    return NULL;
}

static void list_ids(const json_t *node_gpus, struct buf *out)
{
    char id[GPU_WORD_MAX + 1];
    for (size_t i = 0; i < json_array_size(node_gpus); i++) {
        gpu_id(json_array_get(node_gpus, i), id);
        buf_printf(out, "%s%zu (%s)", i ? ", " : "", i, id);
    }
}

static int fail_unknown(const char *word, const json_t *node_gpus, struct err *err)
{
    AUTO(buf_release) struct buf list = {.max = 1 << 14};
    list_ids(node_gpus, &list);
    return err_set(err, ERR_INPUT, "$.gpus: the node has no GPU \"%.96s\"; it has %s", word,
                   list.len > 0 ? buf_str(&list) : "none that can be identified");
}

/* Lists the wanted GPUs, in the order of the node. */
static int listed(const struct gpu_wish *wish, const json_t *node_gpus, json_t *out, struct err *err)
{
    for (size_t w = 0; w < wish->count; w++)
        if (!find_named(wish->word[w], node_gpus))
            return fail_unknown(wish->word[w], node_gpus, err);
    for (size_t i = 0; i < json_array_size(node_gpus); i++) {
        json_t *gpu = json_array_get(node_gpus, i);
        bool wanted = wish->amount != GPUS_LISTED;
        for (size_t w = 0; !wanted && w < wish->count; w++)
            wanted = gpu_word_names(wish->word[w], gpu);
        if (wanted)
            json_array_append(out, gpu);
    }
    return 0;
}

json_t *gpu_tests_groups(const struct gpu_wish *wish, const json_t *node_gpus, struct err *err)
{
    json_auto_t *chosen = json_array(), *groups = json_array();
    if (listed(wish, node_gpus, chosen, err) != 0)
        return NULL;
    for (size_t i = 0; i + wish->per_test <= json_array_size(chosen); i += wish->per_test) {
        char id[GPU_WORD_MAX + 1];
        gpu_id(json_array_get(chosen, i), id);
        json_array_append_new(groups, json_string(id));
    }
    if (json_array_size(groups) > 0)
        return json_incref(groups);
    err_set(err, ERR_INPUT,
            "$.placement: \"every\" needs GPUs that can be told apart, %zu for each test; the node shows %zu",
            wish->per_test, json_array_size(chosen));
    return NULL;
}

int gpu_tests_check_size(const struct plan *p, size_t groups, struct err *err)
{
    int64_t most = 0;
    for (size_t i = 0; i < p->matrix.count; i++)
        most = p->matrix.contexts[i].repetitions > most ? p->matrix.contexts[i].repetitions : most;
    if (plan_test_count(p) * groups <= LIMIT_TESTS &&
        (size_t)(most + p->matrix.warmup) * groups <= LIMIT_REPETITIONS)
        return 0;
    return err_set(err, ERR_INPUT,
                   "%s: $.placement: on each of %zu GPUs the plan has more than %d tests, or %d repetitions "
                   "of a cell: use "
                   "fewer of them, or list fewer GPUs",
                   p->file, groups, LIMIT_TESTS, LIMIT_REPETITIONS);
}

static json_int_t last_repetition(const json_t *tests, const json_t *of)
{
    json_int_t last = 0;
    size_t i;
    json_t *test;
    json_array_foreach(tests, i, test)
    {
        json_int_t n = json_integer_value(json_object_get(test, "repetition"));
        if (n > last && json_equal(json_object_get(test, "context"), json_object_get(of, "context")) &&
            json_equal(json_object_get(test, "variant"), json_object_get(of, "variant")))
            last = n;
    }
    return last;
}

json_t *gpu_tests_on_each(const json_t *tests, const json_t *groups)
{
    json_t *out = json_array(), *test;
    size_t i;
    json_array_foreach(tests, i, test)
    {
        json_int_t first = json_integer_value(json_object_get(test, "repetition")),
                   count = last_repetition(tests, test);
        for (size_t g = 0; g < json_array_size(groups); g++) {
            json_t *copy = json_copy(test);
            json_object_set(copy, "gpu", json_array_get(groups, g));
            json_object_set_new(copy, "index", json_integer((json_int_t)json_array_size(out) + 1));
            json_object_set_new(copy, "repetition", json_integer(first + (json_int_t)g * count));
            json_array_append_new(out, copy);
        }
    }
    return out;
}
