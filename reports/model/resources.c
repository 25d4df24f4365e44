#include "reports/model/resources.h"

#include "common/base/alloc.h"
#include "common/base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double number(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    double n = json_is_number(v) ? json_number_value(v) : (double)NAN;
    return n >= 0 && n < 1e15 ? n : (double)NAN;
}

static void text(const json_t *object, const char *key, char *out, size_t size)
{
    const char *s = json_string_value(json_object_get(object, key));
    snprintf(out, size, "%s", s ? s : "");
}

/* An absent part counts as none if the other part is there. */
static double sum(double a, double b)
{
    if (isnan(a))
        return b;
    return isnan(b) ? a : a + b;
}

static void decode_ports(const json_t *ports, struct kernel_resources *k)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)ports, name, value)
    {
        if (k->n_ports == RESOURCES_PORTS_MAX || !json_is_number(value))
            continue;
        struct port_use *p = &k->ports[k->n_ports++];
        snprintf(p->name, sizeof p->name, "%s", name);
        p->cycles = json_number_value(value);
    }
}

static void decode_kernel(const json_t *o, const struct gpu_limits *limits, struct kernel_resources *k)
{
    text(o, "name", k->name, sizeof k->name);
    k->use.vgprs = number(o, "vgprs");
    k->use.agprs = number(o, "agprs");
    k->use.scratch = number(o, "scratch_bytes");
    k->use.lds = sum(number(o, "lds_static_bytes"), number(o, "lds_dynamic_bytes"));
    k->lds_dynamic = number(o, "lds_dynamic_bytes");
    k->use.threads = number(o, "block_threads");
    k->use.sgprs = number(o, "sgprs");
    k->vgpr_spills = number(o, "vgpr_spills");
    k->sgpr_spills = number(o, "sgpr_spills");
    k->useful_threads = number(o, "query_threads");
    k->kv_passes = number(o, "kv_passes");
    k->blocks = number(o, "blocks");
    decode_ports(json_object_get(o, "ports"), k);
    k->has_occupancy = limits && k->use.threads > 0;
    if (k->has_occupancy)
        k->occupancy = occupancy_of(&k->use, limits);
}

int resources_decode(const char *body, const char *place, struct variant_resources *out, struct err *err)
{
    *out = (struct variant_resources){0};
    json_auto_t *root = json_parse(body, strlen(body), place, err);
    if (!root)
        return -1;
    const json_t *list = json_object_get(root, "kernels");
    size_t n = json_array_size(list) < RESOURCES_KERNELS_MAX ? json_array_size(list) : RESOURCES_KERNELS_MAX;
    text(root, "arch", out->arch, sizeof out->arch);
    text(root, "compiler", out->compiler, sizeof out->compiler);
    out->limits = gpu_limits_of(out->arch);
    out->kernels = xcalloc(n, sizeof *out->kernels);
    for (; out->count < n; out->count++)
        decode_kernel(json_array_get(list, out->count), out->limits, &out->kernels[out->count]);
    return 0;
}

void resources_release(struct variant_resources *r)
{
    free(r->kernels);
    *r = (struct variant_resources){0};
}

bool resources_nvidia(const struct variant_resources *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].limits)
            return list[i].limits->nvidia;
    return false;
}

const struct port_use *resources_bound(const struct kernel_resources *k)
{
    const struct port_use *most = NULL;
    for (size_t i = 0; i < k->n_ports; i++)
        if (!most || k->ports[i].cycles > most->cycles)
            most = &k->ports[i];
    return most;
}
