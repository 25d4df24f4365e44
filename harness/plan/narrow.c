#include "harness/plan/narrow.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "common/contract/proto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 256, KNOWN_MAX = 128 };

/* Returns the value of an axis or of a dimension of the shape, or NULL. */
static const char *value_of(const struct plan_variant *item, const char *axis)
{
    return json_string_value(json_object_get(item->values, axis));
}

static bool is_axis(const struct plan_variants *v, const char *name)
{
    for (size_t i = 0; i < v->count; i++)
        if (value_of(&v->item[i], name))
            return true;
    return false;
}

static bool is_value(const struct plan_variants *v, const char *axis, const char *value)
{
    for (size_t i = 0; i < v->count; i++) {
        const char *own = value_of(&v->item[i], axis);
        if (own && strcmp(own, value) == 0)
            return true;
    }
    return false;
}

/* Lists up to KNOWN_MAX names of axes, or values of the given axis. */
static size_t list_known(const struct plan_variants *v, const char *axis, const char **known)
{
    size_t n = 0;
    for (size_t i = 0; i < v->count; i++) {
        const char *key;
        json_t *value;
        json_object_foreach(json_iterable(v->item[i].values), key, value)
        {
            const char *word = axis ? json_string_value(value) : key;
            size_t k = 0;
            while (k < n && strcmp(known[k], word) != 0)
                k++;
            if (k == n && n < KNOWN_MAX && (!axis || strcmp(key, axis) == 0))
                known[n++] = word;
        }
    }
    return n;
}

static int refuse(const struct plan_variants *v, const char *axis, const char *word, const char *file,
                  struct err *err)
{
    const char *known[KNOWN_MAX];
    AUTO(buf_release) struct buf text = {.max = 512};
    size_t n = list_known(v, axis, known);
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", known[i]);
    return err_set(err, ERR_INPUT, "--axis: %.200s has no %s \"%.80s\"; it has: %.400s", file,
                   axis ? "value" : "axis", word, n ? buf_ok(&text) ? buf_str(&text) : "many" : "none");
}

/* Parses "block=64,dtype=bf16" as {"block": ["64"], "dtype": ["bf16"]}. */
static int parse(const struct plan_variants *v, const char *list, const char *file, json_t *out,
                 struct err *err)
{
    json_t *values = NULL;
    char axis[WORD_MAX] = "", word[WORD_MAX];
    while (*list) {
        size_t len = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)(len < WORD_MAX ? len : WORD_MAX), list);
        list += len + (list[len] == ',');
        char *equal = strchr(word, '='), *value = word;
        if (equal && (!values || !is_value(v, axis, word))) {
            *equal = '\0';
            value = equal + 1;
            snprintf(axis, sizeof axis, "%s", word);
            if (!is_axis(v, axis))
                return refuse(v, NULL, axis, file, err);
            if (!(values = json_object_get(out, axis)))
                json_object_set_new(out, axis, values = json_array());
        }
        if (!values)
            break;
        if (!is_value(v, axis, value))
            return refuse(v, axis, value, file, err);
        json_array_append_new(values, json_string(value));
    }
    return values ? 0
                  : err_set(
                        err, ERR_INPUT,
                        "--axis: expected AXIS=VALUE, with further values and axes separated by commas, such "
                        "as block=64,128,dtype=bf16");
}

static bool is_wanted(const struct plan_variant *item, const json_t *wanted)
{
    const char *axis;
    json_t *values, *one;
    size_t i;
    json_object_foreach(json_iterable(wanted), axis, values)
    {
        const char *own = value_of(item, axis);
        bool any = !own;
        json_array_foreach(values, i, one)
        {
            any = any || strcmp(json_string_value(one), own) == 0;
        }
        if (!any)
            return false;
    }
    return true;
}

int narrow_to_values(struct plan_variants *v, const char *list, const char *file, struct err *err)
{
    json_auto_t *wanted = json_object();
    size_t kept = 0;
    if (parse(v, list, file, wanted, err) != 0)
        return -1;
    for (size_t i = 0; i < v->count; i++)
        if (is_wanted(&v->item[i], wanted))
            v->item[kept++] = v->item[i];
    if (kept == 0)
        return err_set(err, ERR_INPUT, "--axis: %.200s measures no point with all of these values", file);
    v->count = kept;
    return 0;
}

static void keep_variants(struct plan_variants *v, const struct plan_cell *cells, size_t n)
{
    int64_t *contexts = xcalloc(n + 1, sizeof *contexts), *next = contexts;
    size_t kept = 0;
    for (size_t i = 0; i < v->count; i++) {
        struct plan_variant item = v->item[i];
        item.contexts = next;
        for (size_t k = 0; k < n; k++)
            if (strcmp(cells[k].variant, item.name) == 0)
                *next++ = cells[k].context;
        item.n_contexts = (size_t)(next - item.contexts);
        if (item.n_contexts > 0)
            v->item[kept++] = item;
    }
    v->count = kept;
    free(v->contexts);
    v->contexts = contexts;
}

static int check_known(const struct plan_variants *v, const char *variant, const char *file, struct err *err)
{
    for (size_t i = 0; i < v->count; i++)
        if (strcmp(v->item[i].name, variant) == 0)
            return 0;
    return err_set(err, ERR_INPUT, "%s: has no variant \"%.80s\"", file, variant);
}

int narrow_to_cells(struct plan_variants *v, struct matrix *m, const struct json_at *root,
                    const struct plan_cell *cells, size_t n, struct err *err)
{
    AUTO_FREE int64_t *contexts = xcalloc(n + 1, sizeof *contexts);
    for (size_t i = 0; i < n; i++) {
        if (check_known(v, cells[i].variant, root->file, err) != 0)
            return -1;
        contexts[i] = cells[i].context;
    }
    if (matrix_keep(m, root, contexts, n, err) != 0)
        return -1;
    keep_variants(v, cells, n);
    return 0;
}
