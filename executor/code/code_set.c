#include "executor/code/code_set.h"

#include "common/base/alloc.h"
#include "common/contract/proto.h"

#include <stdlib.h>
#include <string.h>

void code_set_init(struct code_set *s)
{
    *s = (struct code_set){.item = NULL};
}

static void release_items(struct code_item *item, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(item[i].name);
    free(item);
}

void code_set_release(struct code_set *s)
{
    release_items(s->item, s->count);
    code_set_init(s);
}

int code_set_add(struct code_set *s, enum code_item_kind kind, const char *name, const char *sha256,
                 struct err *err)
{
    char *copy = strdup(name);
    if (s->count == CODE_ITEMS_MAX) {
        free(copy);
        return err_set(err, ERR_INPUT, "more than %d kernels, functions and files", CODE_ITEMS_MAX);
    }
    if (!copy || !ALLOC_GROW(s->item, s->count + 1, s->cap)) {
        free(copy);
        return err_set(err, ERR_INTERNAL, "no memory for the code identity");
    }
    struct code_item *item = &s->item[s->count++];
    item->kind = kind;
    item->name = copy;
    memcpy(item->sha256, sha256, SHA256_HEX_LEN + 1);
    return 0;
}

bool code_set_has_device(const struct code_set *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->item[i].kind == CODE_ITEM_KERNEL || s->item[i].kind == CODE_ITEM_OPAQUE)
            return true;
    return false;
}

static int by_content(const void *x, const void *y)
{
    const struct code_item *a = x, *b = y;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->sha256, b->sha256);
}

static void add_distinct(struct sha256 *h, const struct code_set *s, bool of_device)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct code_item *item = &s->item[i];
        char kind = (char)item->kind;
        if ((item->kind == CODE_ITEM_FILE) == of_device || (i && by_content(item - 1, item) == 0))
            continue;
        sha256_add(h, &kind, 1);
        sha256_add_text(h, item->name);
        sha256_add_text(h, item->sha256);
    }
}

/* The kernels of one name, from *at on: several if they are built for several GPUs, or are local to files. */
static void join_kernels(const struct code_set *s, size_t *at, char *out)
{
    const struct code_item *first = &s->item[*at];
    struct sha256 h;
    bool several = false;
    size_t i = *at;
    sha256_begin(&h);
    for (; i < s->count && s->item[i].kind == CODE_ITEM_KERNEL && strcmp(s->item[i].name, first->name) == 0;
         i++) {
        if (i > *at && strcmp(s->item[i].sha256, s->item[i - 1].sha256) == 0)
            continue;
        several = several || i > *at;
        sha256_add_text(&h, s->item[i].sha256);
    }
    sha256_end(&h, out);
    if (!several)
        memcpy(out, first->sha256, SHA256_HEX_LEN + 1);
    *at = i;
}

static int list_kernels(const struct code_set *s, struct code *out, struct err *err)
{
    size_t cap = 0;
    for (size_t i = 0; i < s->count;) {
        if (s->item[i].kind != CODE_ITEM_KERNEL) {
            i++;
            continue;
        }
        char *name = strdup(s->item[i].name);
        if (!name || !ALLOC_GROW(out->kernel, out->kernels + 1, cap)) {
            free(name);
            return err_set(err, ERR_INTERNAL, "no memory for the code identity");
        }
        struct code_item *kernel = &out->kernel[out->kernels++];
        *kernel = (struct code_item){.kind = CODE_ITEM_KERNEL, .name = name};
        join_kernels(s, &i, kernel->sha256);
    }
    if (out->kernels > CODE_LISTED_MAX) {
        size_t omitted = out->kernels;
        release_items(out->kernel, out->kernels);
        out->kernel = NULL;
        out->kernels = 0;
        out->omitted = omitted;
    }
    return 0;
}

int code_of_set(struct code_set *s, struct code *out, struct err *err)
{
    struct sha256 h;
    *out = (struct code){.of_device = code_set_has_device(s)};
    if (s->count == 0)
        return err_set(err, ERR_INPUT, "the build left no files in its folder");
    qsort(s->item, s->count, sizeof *s->item, by_content);
    sha256_begin(&h);
    sha256_add_text(&h, PROTO_SCHEMA_CODE);
    sha256_add_text(&h, out->of_device ? "device" : "files");
    add_distinct(&h, s, out->of_device);
    sha256_end(&h, out->sha256);
    return list_kernels(s, out, err);
}

void code_release(struct code *c)
{
    release_items(c->kernel, c->kernels);
    *c = (struct code){.kernel = NULL};
}

json_t *code_encode(const struct code *c)
{
    json_t *kernels = json_array();
    for (size_t i = 0; i < c->kernels; i++)
        json_array_append_new(
            kernels, json_pack("{s:s, s:s}", "name", c->kernel[i].name, "sha256", c->kernel[i].sha256));
    json_t *out = json_pack("{s:s, s:s, s:s, s:o}", "schema", PROTO_SCHEMA_CODE, "kind",
                            c->of_device ? "device" : "files", "sha256", c->sha256, "kernels", kernels);
    if (c->omitted)
        json_object_set_new(out, "kernels_omitted", json_integer((json_int_t)c->omitted));
    return out;
}

json_t *code_encode_unknown(const char *why)
{
    return json_pack("{s:s, s:s, s:s, s:[]}", "schema", PROTO_SCHEMA_CODE, "kind", "unknown", "reason", why,
                     "kernels");
}
