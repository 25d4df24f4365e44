#include "results/ingest/bundle/code.h"

#include "common/base/alloc.h"
#include "results/ingest/bundle/artifact.h"

#include <stdlib.h>
#include <string.h>

static int need_sha256(const struct json_at *at, char *out, struct err *err)
{
    if (artifact_sha256(at, "sha256", out, err) != 0)
        return -1;
    return *out ? 0 : json_fail(at, err, "sha256 is missing");
}

static int read_kernel(const struct json_at *at, size_t variant, struct run_details *out, struct err *err)
{
    const char *name;
    if (json_get_str(at, "name", &name, err) != 0)
        return -1;
    if (!*name || strlen(name) >= DETAILS_KERNEL_MAX)
        return json_fail(at, err, "expected a name of 1 to %d bytes", DETAILS_KERNEL_MAX - 1);
    ALLOC_GROW(out->kernels, out->n_kernels + 1, out->cap_kernels);
    struct run_kernel_code *k = &out->kernels[out->n_kernels];
    *k = (struct run_kernel_code){.variant = variant};
    if (need_sha256(at, k->sha256, err) != 0 || kernel_facts_decode(at, &k->facts, err) != 0)
        return -1;
    k->name = xstrdup(name);
    out->n_kernels++;
    return 0;
}

static int read_kernels(const struct json_at *code, size_t variant, struct run_details *out, struct err *err)
{
    struct json_at list = json_member(code, "kernels");
    if (!json_is_array(list.value) || json_array_size(list.value) > DETAILS_KERNELS_MAX)
        return json_fail(&list, err, "expected an array of at most %d kernels", DETAILS_KERNELS_MAX);
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        struct json_at kernel = json_element(&list, i);
        if (read_kernel(&kernel, variant, out, err) != 0)
            return -1;
    }
    return 0;
}

/* Takes back what a failed reading has filled in. */
static void forget(struct draft *d, size_t variant)
{
    struct run_details *out = &d->details;
    d->variants[variant].code_sha256[0] = '\0';
    while (out->n_kernels && out->kernels[out->n_kernels - 1].variant == variant)
        free(out->kernels[--out->n_kernels].name);
}

int code_read(const struct json_at *code, size_t variant, struct draft *d, struct err *err)
{
    struct run_variant *v = &d->variants[variant];
    const char *schema, *kind;
    if (json_get_str(code, "schema", &schema, err) != 0 || json_get_str(code, "kind", &kind, err) != 0)
        return -1;
    if (strcmp(schema, PROTO_SCHEMA_CODE) != 0)
        return json_fail(code, err, "schema is \"%.80s\", expected \"%s\"", schema, PROTO_SCHEMA_CODE);
    if (strcmp(kind, "unknown") == 0)
        return 0;
    v->code_of_device = strcmp(kind, "device") == 0;
    if (!v->code_of_device && strcmp(kind, "files") != 0)
        return json_fail(code, err, "unknown kind \"%.40s\"", kind);
    if (need_sha256(code, v->code_sha256, err) == 0 && read_kernels(code, variant, &d->details, err) == 0)
        return 0;
    forget(d, variant);
    return -1;
}
