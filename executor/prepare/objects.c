#include "executor/prepare/prepare.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/contract/occupancy.h"
#include "executor/code/build_identity.h"

#include <glob.h>
#include <string.h>

enum { PATTERN_MAX = 4096 };

/* Adds the waves of a SIMD that its registers let in, where the GPU's limits are known. */
static void add_occupancy(const struct code_item *kernel, json_t *out)
{
    const struct gpu_limits *limits = gpu_limits_of(kernel->gpu);
    const int64_t *n = kernel->facts.resource;
    const struct kernel_use use = {
        .vgprs = (double)n[KERNEL_VGPRS], .agprs = (double)n[KERNEL_AGPRS], .sgprs = (double)n[KERNEL_SGPRS]};
    if (limits && n[KERNEL_VGPRS] >= 0)
        json_object_set_new(out, "occupancy", json_pack("{s:f}", "waves", occupancy_per_simd(&use, limits)));
}

/* Encodes a kernel as in resources.json. */
static json_t *encode(const struct code_item *kernel)
{
    static const struct {
        const char *key;
        enum kernel_resource resource;
    } rows[] = {
        {"vgprs", KERNEL_VGPRS},
        {"agprs", KERNEL_AGPRS},
        {"sgprs", KERNEL_SGPRS},
        {"scratch_bytes", KERNEL_SCRATCH_BYTES},
        {"vgpr_spills", KERNEL_VGPR_SPILLS},
        {"sgpr_spills", KERNEL_SGPR_SPILLS},
        {"lds_static_bytes", KERNEL_LDS_BYTES},
    };
    json_t *out = json_pack("{s:s, s:s, s:i, s:s*}", "name", kernel->name, "gpu", kernel->gpu,
                            "lds_dynamic_bytes", 0, "unknown", kernel->unknown);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (kernel->facts.resource[rows[i].resource] != KERNEL_FACT_UNKNOWN)
            json_object_set_new(out, rows[i].key, json_integer(kernel->facts.resource[rows[i].resource]));
    add_occupancy(kernel, out);
    return out;
}

static int scan_files(const glob_t *found, struct code_set *set, char why[REASON_MAX])
{
    struct err err = {.kind = ERR_NONE};
    if (found->gl_pathc > OBJECTS_FILES_MAX) {
        reason_set(why, "no number: \"objects\" names more than %d files", OBJECTS_FILES_MAX);
        return -1;
    }
    for (size_t i = 0; i < found->gl_pathc; i++) {
        if (fs_is_dir(found->gl_pathv[i]) || build_identity_scan(found->gl_pathv[i], NULL, set, &err) == 0)
            continue;
        reason_set(why, "no number: %.400s", err.msg);
        return -1;
    }
    return 0;
}

/* Returns 1 scanned, 0 not, with why, -1 error. */
static int scan_pattern(const char *pattern, const struct subst *values, struct code_set *set,
                        char why[REASON_MAX], struct err *err)
{
    AUTO(buf_release) struct buf path = {.max = PATTERN_MAX};
    AUTO(globfree) glob_t found = {.gl_pathc = 0};
    if (subst_expand(pattern, values, &path, err) != 0)
        return -1;
    if (glob(buf_str(&path), 0, NULL, &found) == 0)
        return scan_files(&found, set, why) == 0;
    reason_set(why, "no number: no file matches \"%.300s\"", buf_str(&path));
    return 0;
}

/* Whether what was read says anything of the kernels that the node's GPUs run. */
static bool has_kernels(const struct code_set *set, const struct code *code, char why[REASON_MAX])
{
    char others[REASON_MAX / 2], here[REASON_MAX / 4];
    targets_text(&set->others, others, sizeof others);
    targets_text(&set->gpus, here, sizeof here);
    if (set->compiles && (set->gpus.count || code->kernels == 0))
        reason_set(why,
                   "no number: the objects have code that %s compiles where it runs (PTX, SPIR-V), which "
                   "says nothing of registers and memory",
                   *here ? here : "the GPU's driver");
    else if (code->kernels == 0 && *others)
        reason_set(why, "no number: the objects have code for %s only, and the node's GPU is %s", others,
                   here);
    else
        return true;
    return false;
}

static json_t *encode_all(struct code_set *set, char why[REASON_MAX])
{
    AUTO(code_release) struct code code = {.kernel = NULL};
    code_kernels(set, &code);
    if (!has_kernels(set, &code, why))
        return NULL;
    json_t *kernels = json_array();
    for (size_t i = 0; i < code.kernels; i++)
        json_array_append_new(kernels, encode(&code.kernel[i]));
    return json_pack("{s:o}", "kernels", kernels);
}

json_t *objects_read(const struct command *patterns, const struct subst *values, const struct targets *gpus,
                     char why[REASON_MAX], struct err *err)
{
    AUTO(code_set_release) struct code_set set = {.item = NULL};
    code_set_init(&set);
    set.gpus = *gpus;
    for (size_t i = 0; i < patterns->argc; i++)
        if (scan_pattern(patterns->argv[i], values, &set, why, err) != 1)
            return NULL;
    return encode_all(&set, why);
}
