#include "executor/code/code_set.h"

#include "common/base/alloc.h"
#include "common/contract/proto.h"

#include <stdlib.h>
#include <string.h>

/* Builds whose parts are read as they were keep their identity in the next schema, so it is not the schema's
 * name. */
#define HASH_BEGIN "kernsweep.code/1"

void code_set_init(struct code_set *s)
{
    *s = (struct code_set){.item = NULL};
}

static void release_items(struct code_item *item, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(item[i].name);
        free(item[i].listing);
    }
    free(item);
}

void code_set_release(struct code_set *s)
{
    release_items(s->item, s->count);
    code_set_init(s);
}

void code_set_refuse(struct code_set *s, const char *why)
{
    if (s->why.kind == ERR_NONE)
        err_set(&s->why, ERR_INPUT, "%s", why);
}

int code_set_check(const struct code_set *s, struct err *err)
{
    if (s->why.kind == ERR_NONE)
        return 0;
    *err = s->why;
    return -1;
}

void code_set_add_kernel(struct code_set *s, const char *name, const struct code_item *kernel)
{
    if (s->count == CODE_ITEMS_MAX) {
        code_set_refuse(s, "more than 200000 kernels, functions and files");
        return;
    }
    ALLOC_GROW(s->item, s->count + 1, s->cap);
    s->item[s->count] = *kernel;
    s->item[s->count++].name = xstrdup(name);
}

void code_set_add(struct code_set *s, enum code_item_kind kind, const char *name, const char *sha256)
{
    struct code_item item = {.kind = kind};
    memcpy(item.sha256, sha256, SHA256_HEX_LEN + 1);
    kernel_facts_init(&item.facts);
    code_set_add_kernel(s, name, &item);
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

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Returns more than 0 if the first needs more; scratch memory counts most. */
static int by_need(const struct code_item *a, const struct code_item *b)
{
    static const enum kernel_resource order[] = {KERNEL_SCRATCH_BYTES, KERNEL_VGPRS, KERNEL_AGPRS,
                                                 KERNEL_LDS_BYTES};
    int need = 0;
    for (size_t i = 0; need == 0 && i < sizeof order / sizeof *order; i++)
        need = compare_numbers(a->facts.resource[order[i]], b->facts.resource[order[i]]);
    if (need == 0)
        need = -strcmp(a->sha256, b->sha256);
    return need ? need : (a->listing != NULL) - (b->listing != NULL);
}

static int by_body(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The order of the hashes depends on the name, so that of the bodies must not. */
static void join_bodies(const struct code_item *item, size_t count, char *out)
{
    char(*body)[KERNEL_BODY_LEN + 1] = xcalloc(count, sizeof *body), sha256[SHA256_HEX_LEN + 1];
    struct sha256 h;
    for (size_t i = 0; i < count; i++)
        memcpy(body[i], item[i].facts.body, sizeof *body);
    qsort(body, count, sizeof *body, by_body);
    sha256_begin(&h);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(body[i], body[i - 1]) != 0)
            sha256_add_text(&h, body[i]);
    sha256_end(&h, sha256);
    memcpy(out, sha256, KERNEL_BODY_LEN);
    free(body);
}

/* Joins the kernels of one name, from *at on: several if built for several GPUs, or local to files. */
static void join_kernels(const struct code_set *s, size_t *at, struct code_item *out)
{
    const struct code_item *first = &s->item[*at], *chosen = first;
    struct sha256 h;
    bool several = false;
    size_t i = *at;
    sha256_begin(&h);
    for (; i < s->count && s->item[i].kind == CODE_ITEM_KERNEL && strcmp(s->item[i].name, first->name) == 0;
         i++) {
        if (by_need(&s->item[i], chosen) > 0)
            chosen = &s->item[i];
        if (i > *at && strcmp(s->item[i].sha256, s->item[i - 1].sha256) == 0)
            continue;
        several = several || i > *at;
        sha256_add_text(&h, s->item[i].sha256);
    }
    *out = *chosen;
    sha256_end(&h, out->sha256);
    if (several)
        join_bodies(first, i - *at, out->facts.body);
    else
        memcpy(out->sha256, first->sha256, SHA256_HEX_LEN + 1);
    *at = i;
}

/* Copies the item, its name and its listing. */
static void add_listed(struct code *out, const struct code_item *item)
{
    ALLOC_GROW(out->kernel, out->kernels + 1, out->cap);
    struct code_item *copy = &out->kernel[out->kernels++];
    *copy = *item;
    copy->name = xstrdup(item->name);
    copy->listing = item->listing ? xstrdup(item->listing) : NULL;
}

static void list_kernels(const struct code_set *s, struct code *out)
{
    for (size_t i = 0; i < s->count;) {
        if (s->item[i].kind != CODE_ITEM_KERNEL) {
            i++;
            continue;
        }
        struct code_item joined;
        join_kernels(s, &i, &joined);
        add_listed(out, &joined);
    }
    if (out->kernels <= CODE_LISTED_MAX)
        return;
    release_items(out->kernel, out->kernels);
    out->kernel = NULL;
    out->omitted = out->kernels;
    out->kernels = out->cap = 0;
}

int code_of_set(struct code_set *s, struct code *out, struct err *err)
{
    struct sha256 h;
    *out = (struct code){.of_device = code_set_has_device(s), .gpus = s->gpus, .others = s->others};
    snprintf(out->reads, sizeof out->reads, "%s", s->reads);
    if (s->count == 0)
        return err_set(err, ERR_INPUT, "the build left no files in its folder");
    qsort(s->item, s->count, sizeof *s->item, by_content);
    sha256_begin(&h);
    sha256_add_text(&h, HASH_BEGIN);
    sha256_add_text(&h, out->of_device ? "device" : "files");
    add_distinct(&h, s, out->of_device);
    sha256_end(&h, out->sha256);
    list_kernels(s, out);
    return 0;
}

static int by_copy(const void *x, const void *y)
{
    const struct code_item *a = x, *b = y;
    int order = strcmp(a->name, b->name);
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    order = order ? order : strcmp(a->gpu, b->gpu);
    return order ? order : strcmp(a->sha256, b->sha256);
}

/* The copy with a listing comes first. */
static int by_copy_listed(const void *x, const void *y)
{
    const struct code_item *a = x, *b = y;
    int order = by_copy(x, y);
    return order ? order : (b->listing != NULL) - (a->listing != NULL);
}

void code_kernels(struct code_set *s, struct code *out)
{
    *out = (struct code){.of_device = code_set_has_device(s)};
    if (s->count)
        qsort(s->item, s->count, sizeof *s->item, by_copy_listed);
    for (size_t i = 0; i < s->count; i++) {
        const struct code_item *item = &s->item[i];
        if (item->kind != CODE_ITEM_KERNEL || (i && by_copy(item - 1, item) == 0))
            continue;
        if (out->kernels == CODE_LISTED_MAX)
            out->omitted++;
        else
            add_listed(out, item);
    }
}

void code_release(struct code *c)
{
    release_items(c->kernel, c->kernels);
    *c = (struct code){.kernel = NULL};
}

json_t *code_kernel_encode(const struct code_item *kernel)
{
    json_t *out = json_pack("{s:s, s:s}", "name", kernel->name, "sha256", kernel->sha256);
    json_auto_t *facts = kernel_facts_encode(&kernel->facts);
    if (*kernel->gpu)
        json_object_set_new(out, "gpu", json_string(kernel->gpu));
    json_object_update(out, facts);
    if (kernel->unknown)
        json_object_set_new(out, "unknown", json_string(kernel->unknown));
    return out;
}

json_t *code_gpus_encode(const struct targets *t)
{
    json_t *out = json_array();
    for (size_t i = 0; i < t->count; i++)
        json_array_append_new(out, json_string(t->name[i]));
    return out;
}

json_t *code_encode(const struct code *c)
{
    char others[TARGETS_MAX * (TARGET_MAX + 2)];
    json_t *kernels = json_array();
    for (size_t i = 0; i < c->kernels; i++)
        json_array_append_new(kernels, code_kernel_encode(&c->kernel[i]));
    json_t *out = json_pack("{s:s, s:s, s:s, s:o}", "schema", PROTO_SCHEMA_CODE, "kind",
                            c->of_device ? "device" : "files", "sha256", c->sha256, "kernels", kernels);
    if (c->omitted)
        json_object_set_new(out, "kernels_omitted", json_integer((json_int_t)c->omitted));
    if (c->gpus.count && c->of_device)
        json_object_set_new(out, "gpus", code_gpus_encode(&c->gpus));
    targets_text(&c->others, others, sizeof others);
    if (*others)
        json_object_set_new(out, "only_for", json_string(others));
    return out;
}

json_t *code_encode_unknown(const char *why)
{
    return json_pack("{s:s, s:s, s:s, s:[]}", "schema", PROTO_SCHEMA_CODE, "kind", "unknown", "reason", why,
                     "kernels");
}
