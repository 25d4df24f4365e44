#include "executor/prepare/prepare.h"

#include "common/base/alloc.h"
#include "common/base/regex.h"
#include "executor/bundle/artifact.h"

#include <math.h>
#include <string.h>

enum { RESOURCES_MAX = 1 << 20 };
static const double plausible_max = 0x1p60;

static bool is_of_variant(const json_t *kernel, const char *variant)
{
    const char *name = json_string_value(json_object_get(kernel, "variant"));
    return name && strcmp(name, variant) == 0;
}

/* A shared build lists the kernels of all its variants: keep those of this one. */
static void keep_variant(json_t *root, const char *variant)
{
    json_t *kernels = json_object_get(root, "kernels"), *kernel;
    json_auto_t *own = json_array();
    size_t i;
    json_array_foreach(kernels, i, kernel) if (is_of_variant(kernel, variant)) json_array_append(own, kernel);
    if (json_array_size(own) > 0)
        json_object_set(root, "kernels", own);
}

int kernel_usage_take(struct suite *s, size_t variant, struct err *err)
{
    struct variant_state *state = &s->variant[variant];
    char path[FS_PATH_MAX];
    struct err why = {.kind = ERR_NONE};
    if (fs_join(path, err, state->build, RESOURCES_FILE) != 0)
        return -1;
    if (!fs_exists(path))
        return 0;
    json_auto_t *root = json_load(path, RESOURCES_MAX, &why);
    if (!json_is_object(root)) {
        state->status = STATUS_BUILD_FAILED;
        reason_set(state->reason, "%.500s", root ? RESOURCES_FILE ": not a JSON object" : why.msg);
        return 0;
    }
    keep_variant(root, s->job.variant[variant].build_as);
    json_decref(state->resources);
    state->resources = json_incref(root);
    return artifact_json(state->dir, RESOURCES_FILE, json_incref(root), &s->secrets, err);
}

static double number_member(const json_t *kernel, const char *key)
{
    const json_t *v = json_object_get(kernel, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* The registers of a lane: where AGPRs lie behind the VGPRs, both, aligned to four. gpu: what it is for. */
static double registers_of(const json_t *kernel, const char *gpu)
{
    enum { ALIGN = 4 };
    double vgprs = number_member(kernel, "vgprs"), agprs = number_member(kernel, "agprs");
    return agprs > 0 && vgprs >= 0 && gpu && target_has_unified_registers(gpu)
               ? ceil(vgprs / ALIGN) * ALIGN + agprs
               : vgprs;
}

/* Returns NaN, with *missing, when the entry has no such number. arch: of all kernels, NULL: unknown. */
static double number_of(const json_t *kernel, const char *arch, enum gate_kind kind, const char **missing)
{
    const char *gpu = json_string_value(json_object_get(kernel, "gpu"));
    switch (kind) {
    case GATE_SCRATCH_BYTES:
        return number_member(kernel, *missing = "scratch_bytes");
    case GATE_SPILLS: {
        double vector = number_member(kernel, *missing = "vgpr_spills"),
               scalar = number_member(kernel, "sgpr_spills");
        /* Who says why spills are unknown does not leave scalar ones out because there are none. */
        return isnan(scalar) && !json_object_get(kernel, "unknown") ? vector : vector + scalar;
    }
    case GATE_VGPRS:
        *missing = "vgprs";
        return registers_of(kernel, gpu ? gpu : arch);
    case GATE_LDS_BYTES: {
        double fixed = number_member(kernel, *missing = "lds_static_bytes");
        if (!(fixed >= 0))
            return fixed;
        double dynamic = number_member(kernel, *missing = "lds_dynamic_bytes");
        return dynamic < 0 ? dynamic : fixed + dynamic;
    }
    case GATE_MIN_OCCUPANCY:
        return number_member(json_object_get(kernel, *missing = "occupancy"), "waves");
    case GATE_COMMAND:
    case GATE_MAX_REL_L2:
    case GATE_KIND_COUNT:
        break;
    }
    *missing = "number";
    return NAN;
}

static bool is_worse(enum gate_kind kind, double a, double b)
{
    return kind == GATE_MIN_OCCUPANCY ? a < b : a > b;
}

/* Returns false, with why, for a number that is missing or that no kernel can have. */
static bool is_plausible(double n, const char *key, const json_t *kernel, const char *of,
                         char why[REASON_MAX])
{
    const char *name = json_string_value(json_object_get(kernel, "name")),
               *unknown = json_string_value(json_object_get(kernel, "unknown"));
    if (n >= 0 && n <= plausible_max)
        return true;
    if (isfinite(n))
        reason_set(why, "no number: %.200s has %g as %s of kernel %.200s, which is impossible", of, n, key,
                   name ? name : "?");
    else
        reason_set(why, "no number: %.100s has no %s for kernel %.200s%s%.100s", of, key, name ? name : "?",
                   unknown ? ": " : "", unknown ? unknown : "");
    return false;
}

/* kernel: compiled, or empty for all kernels. A name that exceeds the limits of a match does not match. */
static bool is_meant(struct regex *kernel, const json_t *item)
{
    struct err ignored = {.kind = ERR_NONE};
    const char *name = json_string_value(json_object_get(item, "name"));
    return !kernel->code || (name && regex_match(kernel, name, strlen(name), 0, &ignored) == 1);
}

static bool find_worst(const json_t *resources, const struct gate *gate, struct regex *kernel, const char *of,
                       double *number, const char **worst, char why[REASON_MAX])
{
    const json_t *kernels = json_object_get(resources, "kernels");
    const char *arch = json_string_value(json_object_get(resources, "arch"));
    *number = NAN;
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        const json_t *item = json_array_get(kernels, i);
        const char *missing, *name = json_string_value(json_object_get(item, "name"));
        if (!is_meant(kernel, item))
            continue;
        double n = number_of(item, arch, gate->kind, &missing);
        if (!is_plausible(n, missing, item, of, why))
            return false;
        if (isnan(*number) || is_worse(gate->kind, n, *number)) {
            *number = n;
            *worst = name ? name : "?";
        }
    }
    if (isnan(*number))
        reason_set(why, "no number: no kernel in %.200s matches \"%.200s\"", of, gate->kernel);
    return !isnan(*number);
}

bool kernel_usage_number(const json_t *resources, const struct gate *gate, const char *of, double *number,
                         const char **worst, char why[REASON_MAX])
{
    const json_t *kernels = json_object_get(resources, "kernels");
    AUTO(regex_release) struct regex kernel = {.code = NULL};
    struct err err = {.kind = ERR_NONE};
    if (json_array_size(kernels) == 0)
        reason_set(why, "no number: the build wrote %s%.200s", resources ? "no kernel in " : "no ", of);
    else if (gate->kernel && regex_compile(&kernel, gate->kernel, &err) != 0)
        reason_set(why, "%s", err.msg);
    else
        return find_worst(resources, gate, &kernel, of, number, worst, why);
    return false;
}
