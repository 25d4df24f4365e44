/* A way to set clocks: amdgpu's files power_dpm_force_performance_level, which chooses a policy, and
 * pp_od_clk_voltage, which takes its limits as lines: "s 0 MHZ" the lower one of the shader clock, "s 1 MHZ"
 * the upper one, "c" to apply them. Each line is one write(). Older GPUs have pp_dpm_sclk instead, a list of
 * frequencies of which some are allowed by their numbers. */
#include "executor/clocks/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LEVEL_FILE "power_dpm_force_performance_level"
#define LIMITS_FILE "pp_od_clk_voltage"
#define FREQUENCIES_FILE "pp_dpm_sclk"

static bool sysfs_works_with(const struct clocks_gpu *gpu)
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
    int fd = open(path, O_WRONLY | O_CLOEXEC), saved = errno;
    enum control_result r = CONTROL_DONE;
    for (size_t i = 0; r == CONTROL_DONE && lines[i]; i++) {
        ssize_t len = (ssize_t)strlen(lines[i]);
        ssize_t n = fd >= 0 ? write(fd, lines[i], (size_t)len) : -1;
        if (fd >= 0)
            saved = n < 0 ? errno : EIO;
        snprintf(shown, sizeof shown, "%.*s", (int)len - 1, lines[i]);
        r = n == len ? CONTROL_DONE : fail(saved, path, shown, err);
    }
    if (fd >= 0)
        close(fd);
    return r;
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

/* The number of the frequency in pp_dpm_sclk, or -1. */
static int find_frequency(const struct clocks_gpu *gpu, int mhz)
{
    char path[FS_PATH_MAX], line[128];
    int found = -1, index, value;
    FILE *f = fs_join(path, NULL, gpu->device, FREQUENCIES_FILE) == 0 ? fopen(path, "re") : NULL;
    while (f && found < 0 && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%d: %dM", &index, &value) == 2 && value == mhz)
            found = index;
    }
    if (f)
        fclose(f);
    return found;
}

static bool has_limits_file(const struct clocks_gpu *gpu)
{
    char path[FS_PATH_MAX];
    return fs_join(path, NULL, gpu->device, LIMITS_FILE) == 0 && fs_exists(path);
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

static enum control_result sysfs_hold(const struct clocks_gpu *gpu, const struct clocks_request *want,
                                      struct err *err)
{
    struct clocks_state before, expected;
    clocks_state_read(gpu, &before);
    if (!has_limits_file(gpu))
        return hold_by_number(gpu, want, err);
    control_expected(want, &before, &expected);
    enum control_result r = write_level(gpu, expected.level, err);
    if (r == CONTROL_DONE)
        r = write_limits(gpu, want->mode == CLOCKS_FIXED ? want->mhz : 0, want->mhz, err);
    return r != CONTROL_DONE ? r : control_await(gpu, &expected, err);
}

static enum control_result sysfs_put_back(const struct clocks_gpu *gpu, const struct clocks_state *before,
                                          struct err *err)
{
    enum control_result r = write_level(gpu, before->level, err);
    if (r == CONTROL_DONE && clocks_level_has_limits(before->level) && before->max_mhz > 0 &&
        has_limits_file(gpu))
        r = write_limits(gpu, strcmp(before->level, "manual") == 0 ? before->min_mhz : 0, before->max_mhz,
                         err);
    return r != CONTROL_DONE ? r : control_await(gpu, before, err);
}

const struct clocks_control clocks_by_sysfs = {
    .name = "sysfs",
    .works_with = sysfs_works_with,
    .hold = sysfs_hold,
    .put_back = sysfs_put_back,
};
