/* A way to set clocks: amdgpu's files power_dpm_force_performance_level, which chooses a policy, and
 * pp_od_clk_voltage, which takes its limits as lines: "s 0 MHZ" the lower one of the shader clock, "s 1 MHZ"
 * the upper one, "c" to apply them. Each line is one write(). Older GPUs have pp_dpm_sclk instead, a list of
 * frequencies of which some are allowed by their numbers. */
#include "common/base/alloc.h"
#include "executor/node/clocks_control.h"
#include "executor/workdir/sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LEVEL_FILE "power_dpm_force_performance_level"
#define LIMITS_FILE "pp_od_clk_voltage"
#define FREQUENCIES_FILE "pp_dpm_sclk"

static bool has_level(const struct clocks_gpu *gpu)
{
    struct clocks_state now;
    return clocks_state_read(gpu, &now);
}

static enum control_result fail(int saved, const char *path, const char *text, struct err *err)
{
    err_set_errno(err, ERR_NODE, saved, "%s: cannot write '%s'", path, text);
    return saved == EACCES || saved == EPERM || saved == EROFS ? CONTROL_DENIED : CONTROL_FAILED;
}

/* lines: NULL-terminated, each with its line break. */
static enum control_result write_lines(const struct clocks_gpu *gpu, const char *name,
                                       const char *const *lines, struct err *err)
{
    char path[FS_PATH_MAX], shown[64];
    if (fs_join(path, err, gpu->device, name) != 0)
        return CONTROL_FAILED;
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
    for (size_t i = 0; lines[i]; i++) {
        ssize_t len = (ssize_t)strlen(lines[i]);
        ssize_t n = fd >= 0 ? write(fd, lines[i], (size_t)len) : -1;
        int saved = n < 0 ? errno : EIO;
        snprintf(shown, sizeof shown, "%.*s", (int)len - 1, lines[i]);
        if (n != len)
            return fail(saved, path, shown, err);
    }
    return CONTROL_DONE;
}

static enum control_result write_level(const struct clocks_gpu *gpu, const char *level, struct err *err)
{
    char line[CLOCKS_LEVEL_MAX + 2];
    snprintf(line, sizeof line, "%s\n", level);
    return write_lines(gpu, LEVEL_FILE, (const char *const[]){line, NULL}, err);
}

/* min_mhz 0: the lower limit stays. */
static enum control_result write_limits(const struct clocks_gpu *gpu, int min_mhz, int max_mhz,
                                        struct err *err)
{
    char lower[32], upper[32];
    snprintf(lower, sizeof lower, "s 0 %d\n", min_mhz);
    snprintf(upper, sizeof upper, "s 1 %d\n", max_mhz);
    const char *const both[] = {lower, upper, "c\n", NULL};
    return write_lines(gpu, LIMITS_FILE, min_mhz > 0 ? both : both + 1, err);
}

/* Returns the number of the frequency in pp_dpm_sclk, or -1. */
static int find_frequency(const struct clocks_gpu *gpu, int mhz)
{
    AUTO_FCLOSE FILE *f = sysfile_open(gpu->device, FREQUENCIES_FILE);
    char line[128];
    int found = -1, index, value;
    while (f && found < 0 && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%d: %dM", &index, &value) == 2 && value == mhz)
            found = index;
    }
    return found;
}

static bool has_limits_file(const struct clocks_gpu *gpu)
{
    char path[FS_PATH_MAX];
    return fs_join(path, NULL, gpu->device, LIMITS_FILE) == 0 && fs_exists(path);
}

static enum control_result set_range(const struct clocks_gpu *gpu, int min_mhz, int max_mhz, struct err *err)
{
    enum control_result r = write_level(gpu, "manual", err);
    return r == CONTROL_DONE ? write_limits(gpu, min_mhz, max_mhz, err) : r;
}

static enum control_result set_determinism(const struct clocks_gpu *gpu, int mhz, struct err *err)
{
    enum control_result r = write_level(gpu, "perf_determinism", err);
    return r == CONTROL_DONE ? write_limits(gpu, 0, mhz, err) : r;
}

static enum control_result hold_by_number(const struct clocks_gpu *gpu, const struct clocks_request *want,
                                          struct err *err)
{
    char line[32];
    int index = want->mode == CLOCKS_FIXED ? find_frequency(gpu, want->mhz) : -1;
    if (index < 0) {
        err_set(err, ERR_NODE,
                "GPU %s supports only the mode \"fixed\", at a frequency listed in %s/" FREQUENCIES_FILE
                ", not %d MHz",
                gpu->name, gpu->device, want->mhz);
        return CONTROL_FAILED;
    }
    enum control_result r = write_level(gpu, "manual", err);
    snprintf(line, sizeof line, "%d\n", index);
    return r != CONTROL_DONE ? r : write_lines(gpu, FREQUENCIES_FILE, (const char *const[]){line, NULL}, err);
}

static bool works_by_limits(const struct clocks_gpu *gpu)
{
    return has_level(gpu) && has_limits_file(gpu);
}

static bool works_by_number(const struct clocks_gpu *gpu)
{
    return has_level(gpu) && !has_limits_file(gpu);
}

const struct clocks_control clocks_by_sysfs = {
    .name = "sysfs",
    .works_with = works_by_limits,
    .set_level = write_level,
    .set_range = set_range,
    .set_determinism = set_determinism,
};

const struct clocks_control clocks_by_sysfs_number = {
    .name = "sysfs",
    .works_with = works_by_number,
    .set_level = write_level,
    .hold = hold_by_number,
};
