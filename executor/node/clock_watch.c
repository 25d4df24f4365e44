#include "executor/node/clock_watch.h"

#include "executor/telemetry/sample.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES_LEAST = 3 };

static const double interval_s = 0.1; /* drivers update these values no faster */
static const double busy_percent = 50;
static const double tolerance = 0.03; /* of the frequency: clocks move in steps, and sensors round */
static const double outside_most = 0.1;

void clock_samples_add(struct clock_samples *s, const struct clocks_request *want, double mhz)
{
    if (!sample_is_plausible(SAMPLE_SCLK, mhz))
        return;
    bool above = mhz > want->mhz * (1 + tolerance), below = mhz < want->mhz * (1 - tolerance);
    s->lowest = s->count == 0 || mhz < s->lowest ? mhz : s->lowest;
    s->highest = s->count == 0 || mhz > s->highest ? mhz : s->highest;
    s->count++;
    s->sum += mhz;
    s->outside += above || (below && want->mode == CLOCKS_FIXED);
}

enum clock_verdict clock_samples_judge(const struct clock_samples *s)
{
    if (s->count < SAMPLES_LEAST)
        return CLOCKS_UNSEEN;
    return s->outside > outside_most * s->count ? CLOCKS_OTHER : CLOCKS_SEEN;
}

static int open_in(const char *dir, const char *name)
{
    char path[FS_PATH_MAX];
    return fs_join(path, NULL, dir, name) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static int open_clock(const char *device)
{
    char root[FS_PATH_MAX], dir[FS_PATH_MAX];
    struct dirent *e;
    int fd = -1;
    DIR *d = fs_join(root, NULL, device, "hwmon") == 0 ? opendir(root) : NULL;
    while (d && fd < 0 && (e = readdir(d))) {
        if (strncmp(e->d_name, "hwmon", 5) == 0 && fs_join(dir, NULL, root, e->d_name) == 0)
            fd = open_in(dir, "freq1_input");
    }
    if (d)
        closedir(d);
    return fd;
}

void clock_watch_open(struct clock_watch *w, const struct clocks *clocks, struct nvml *nvml)
{
    *w = (struct clock_watch){.clocks = clocks, .nvml = nvml};
    for (size_t i = 0; i < clocks->count; i++) {
        const struct clocks_gpu *gpu = &clocks->item[i].gpu;
        w->gpu[i].clock_fd = gpu->nvidia ? -1 : open_clock(gpu->device);
        w->gpu[i].busy_fd = gpu->nvidia ? -1 : open_in(gpu->device, "gpu_busy_percent");
    }
}

void clock_watch_close(struct clock_watch *w)
{
    for (size_t i = 0; w->clocks && i < w->clocks->count; i++) {
        if (w->gpu[i].clock_fd >= 0)
            close(w->gpu[i].clock_fd);
        if (w->gpu[i].busy_fd >= 0)
            close(w->gpu[i].busy_fd);
        w->gpu[i].clock_fd = w->gpu[i].busy_fd = -1;
    }
}

static double read_number(int fd)
{
    char text[64], *end;
    ssize_t n = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
    if (n <= 0)
        return NAN;
    text[n] = '\0';
    double value = strtod(text, &end);
    return end != text && value != UINT32_MAX ? value : (double)NAN; /* all ones would be 4295 MHz */
}

/* A GPU that does not show its load counts as busy. */
static void add_if_busy(struct clock_watch *w, size_t i, double mhz, double busy)
{
    if (!(busy < busy_percent))
        clock_samples_add(&w->gpu[i].seen, &w->clocks->want, mhz);
}

static void take_nvidia(struct clock_watch *w, size_t i, const struct nvml_facts *facts)
{
    for (int32_t g = 0; g < facts->gpu_count; g++) {
        if (strcmp(facts->gpu[g].uuid, w->clocks->item[i].gpu.name) == 0)
            add_if_busy(w, i, facts->gpu[g].sm_mhz, facts->gpu[g].busy);
    }
}

void clock_watch_take(struct clock_watch *w, double t_s)
{
    struct nvml_facts facts;
    if (t_s < w->last_s) /* the next test */
        w->due.at_s = 0;
    w->last_s = t_s;
    if (!w->clocks || w->clocks->count == 0 || !due_take(&w->due, t_s, interval_s))
        return;
    bool has_facts = w->nvml && w->nvml->ask >= 0 && nvml_latest(w->nvml, w, &facts);
    for (size_t i = 0; i < w->clocks->count; i++) {
        if (!w->clocks->item[i].gpu.nvidia)
            add_if_busy(w, i, read_number(w->gpu[i].clock_fd) * 1e-6, read_number(w->gpu[i].busy_fd));
        else if (has_facts)
            take_nvidia(w, i, &facts);
    }
}

static void explain(const struct clock_watch *w, size_t i, enum clock_verdict verdict, char *text)
{
    const struct clocks_request *want = &w->clocks->want;
    const struct clock_samples *seen = &w->gpu[i].seen;
    const char *name = w->clocks->item[i].gpu.name;
    if (verdict == CLOCKS_UNSEEN)
        snprintf(
            text, CLOCKS_NOTE_MAX,
            "GPU %s: too few samples under load (%u) to tell whether its clock was held; use longer tests or "
            "a shorter sampling interval",
            name, seen->count);
    else
        snprintf(text, CLOCKS_NOTE_MAX,
                 "GPU %s: its clock was to be %s %d MHz, but %u of %u samples under load are outside that "
                 "(%.0f to %.0f MHz, mean %.0f); choose a frequency that its power cap and temperature allow",
                 name, want->mode == CLOCKS_FIXED ? "fixed at" : "at most", want->mhz, seen->outside,
                 seen->count, seen->lowest, seen->highest, seen->sum / seen->count);
}

enum clock_verdict clock_watch_judge(const struct clock_watch *w, char *text)
{
    enum clock_verdict worst = CLOCKS_SEEN;
    *text = '\0';
    for (size_t i = 0; i < w->clocks->count; i++) {
        enum clock_verdict v = clock_samples_judge(&w->gpu[i].seen);
        if (v <= worst)
            continue;
        worst = v;
        explain(w, i, v, text);
    }
    return worst;
}
