/* Two ways to set clocks: AMD's program amd-smi, and its predecessor rocm-smi, which names GPUs by their
 * number among AMD's. Where sudo lets a user run them, they can set what the user cannot write to sysfs; what
 * they did is read there. */
#include "common/base/run.h"
#include "common/base/spawn.h"
#include "common/base/text.h"
#include "executor/node/clocks_control.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 8, NUMBER_LEN = 16 };

#define AMD_SMI "amd-smi"
#define ROCM_SMI "rocm-smi"

static const double limit_s = 30; /* amd-smi takes up to 9 s */

/* Finds the program in PATH, or in ROCm's folder. path: char[FS_PATH_MAX] */
static bool find_program(const char *name, char *path)
{
    if (spawn_find(name, path) && path[0] == '/')
        return true;
    return fs_join(path, NULL, "/opt/rocm/bin", name) == 0 && access(path, X_OK) == 0;
}

static bool is_installed(const char *name)
{
    char path[FS_PATH_MAX];
    return find_program(name, path);
}

static void quote_end(const struct run_result *res, char *out, size_t size)
{
    text_printable_fixed(out, size, res->stderr_text, res->stderr_len);
    for (size_t len = strlen(out); len > 0 && out[len - 1] == ' '; len--)
        out[len - 1] = '\0';
}

/* Runs the program as root itself, or through "sudo -n". words: its arguments; an empty one ends them. */
static enum control_result run_smi(const char *name, const char *const *words, struct err *err)
{
    char path[FS_PATH_MAX], said[200];
    const char *argv[WORDS_MAX + 4];
    size_t n = 0;
    struct run_result res;
    if (!find_program(name, path)) {
        err_set(err, ERR_NODE, "the program %s is not installed", name);
        return CONTROL_FAILED;
    }
    if (geteuid() != 0) {
        argv[n++] = "sudo";
        argv[n++] = "-n";
    }
    argv[n++] = path;
    for (size_t i = 0; i < WORDS_MAX && words[i] && *words[i]; i++)
        argv[n++] = words[i];
    argv[n] = NULL;
    struct run run = {.argv = argv, .deadline_s = limit_s, .end_group = true, .grace_s = 1};
    if (run_program(&run, &res, err) != 0)
        return CONTROL_FAILED;
    if (res.exited && res.exit_code == 0)
        return CONTROL_DONE;
    quote_end(&res, said, sizeof said);
    err_set(err, ERR_NODE, "'%s%s' ended with exit code %d%s%s", geteuid() != 0 ? "sudo -n " : "", path,
            res.exited ? res.exit_code : -1, *said ? ": " : "", said);
    return geteuid() != 0 ? CONTROL_DENIED : CONTROL_FAILED;
}

static bool amd_smi_works_with(const struct clocks_gpu *gpu)
{
    return !gpu->nvidia && *gpu->pci && is_installed(AMD_SMI);
}

/* second and third may be "". */
static enum control_result amd_smi_set(const struct clocks_gpu *gpu, const char *option, const char *first,
                                       const char *second, const char *third, struct err *err)
{
    return run_smi(AMD_SMI,
                   (const char *const[]){"set", "--gpu", gpu->pci, option, first, second, third, NULL}, err);
}

static enum control_result amd_smi_level(const struct clocks_gpu *gpu, const char *level, struct err *err)
{
    char name[CLOCKS_LEVEL_MAX];
    snprintf(name, sizeof name, "%s", strcmp(level, "perf_determinism") == 0 ? "determinism" : level);
    for (char *p = name; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return amd_smi_set(gpu, "--perf-level", name, "", "", err);
}

static enum control_result amd_smi_range(const struct clocks_gpu *gpu, int min_mhz, int max_mhz,
                                         struct err *err)
{
    char lower[NUMBER_LEN], upper[NUMBER_LEN];
    snprintf(lower, sizeof lower, "%d", min_mhz);
    snprintf(upper, sizeof upper, "%d", max_mhz);
    enum control_result r = amd_smi_level(gpu, "manual", err);
    if (r == CONTROL_DONE)
        r = amd_smi_set(gpu, "--clk-limit", "sclk", "min", lower, err);
    return r == CONTROL_DONE ? amd_smi_set(gpu, "--clk-limit", "sclk", "max", upper, err) : r;
}

static enum control_result amd_smi_determinism(const struct clocks_gpu *gpu, int mhz, struct err *err)
{
    char text[NUMBER_LEN];
    snprintf(text, sizeof text, "%d", mhz);
    return amd_smi_set(gpu, "--perf-determinism", text, "", "", err);
}

const struct clocks_control clocks_by_amd_smi = {
    .name = AMD_SMI,
    .works_with = amd_smi_works_with,
    .set_level = amd_smi_level,
    .set_range = amd_smi_range,
    .set_determinism = amd_smi_determinism,
};

static bool rocm_smi_works_with(const struct clocks_gpu *gpu)
{
    return !gpu->nvidia && is_installed(ROCM_SMI);
}

/* second may be "". */
static enum control_result rocm_smi_set(const struct clocks_gpu *gpu, const char *option, const char *first,
                                        const char *second, struct err *err)
{
    char index[NUMBER_LEN];
    snprintf(index, sizeof index, "%d", gpu->index);
    return run_smi(
        ROCM_SMI, (const char *const[]){"-d", index, "--autorespond", "y", option, first, second, NULL}, err);
}

static enum control_result rocm_smi_level(const struct clocks_gpu *gpu, const char *level, struct err *err)
{
    return rocm_smi_set(gpu, "--setperflevel", level, "", err);
}

static enum control_result rocm_smi_range(const struct clocks_gpu *gpu, int min_mhz, int max_mhz,
                                          struct err *err)
{
    char lower[NUMBER_LEN], upper[NUMBER_LEN];
    snprintf(lower, sizeof lower, "%d", min_mhz);
    snprintf(upper, sizeof upper, "%d", max_mhz);
    enum control_result r = rocm_smi_level(gpu, "manual", err);
    return r == CONTROL_DONE ? rocm_smi_set(gpu, "--setsrange", lower, upper, err) : r;
}

static enum control_result rocm_smi_determinism(const struct clocks_gpu *gpu, int mhz, struct err *err)
{
    char text[NUMBER_LEN];
    snprintf(text, sizeof text, "%d", mhz);
    return rocm_smi_set(gpu, "--setperfdeterminism", text, "", err);
}

const struct clocks_control clocks_by_rocm_smi = {
    .name = ROCM_SMI,
    .works_with = rocm_smi_works_with,
    .set_level = rocm_smi_level,
    .set_range = rocm_smi_range,
    .set_determinism = rocm_smi_determinism,
};
