#include "executor/node/clocks_control.h"

#include "common/base/clock.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RECHECK_MS = 20 };

static const double await_limit_s = 5;

/* sysfs comes first: it needs no other program and tells at once whether it may be written. */
static const struct clocks_control *const ways[] = {&clocks_by_sysfs, &clocks_by_sysfs_number,
                                                    &clocks_by_amd_smi, &clocks_by_rocm_smi, &clocks_by_nvml};

static enum control_result deny(const struct clocks_gpu *gpu, const struct err *last, struct err *err)
{
    const char *remedy =
        gpu->nvidia ? "run the executor as root, or have an administrator lock the clocks (nvidia-smi -lgc)"
                    : "run the executor as root, let 'sudo -n amd-smi' work without a password, or give your "
                      "group write access to the file by a udev rule";
    err_set(err, ERR_NODE, "setting the clocks of GPU %s needs a privilege that user %ld lacks: %s; %s",
            gpu->name, (long)geteuid(), last->msg, remedy);
    return CONTROL_DENIED;
}

static enum control_result none(const struct clocks_gpu *gpu, struct err *err)
{
    err_set(err, ERR_NODE,
            "GPU %s has no usable control of its clocks, neither in sysfs nor through a tool of its vendor",
            gpu->name);
    return CONTROL_FAILED;
}

void control_expected(const struct clocks_request *want, const struct clocks_state *before,
                      struct clocks_state *out)
{
    bool fixed = want->mode == CLOCKS_FIXED;
    *out = (struct clocks_state){.min_mhz = fixed ? want->mhz : before->min_mhz, .max_mhz = want->mhz};
    snprintf(out->level, sizeof out->level, "%s", fixed ? "manual" : "perf_determinism");
}

/* Waits for a short time until the driver shows the state. */
static enum control_result await_state(const struct clocks_gpu *gpu, const struct clocks_state *want,
                                       struct err *err)
{
    struct clocks_state now;
    int64_t deadline_ns = clock_deadline_ns(await_limit_s);
    do {
        if (clocks_state_read(gpu, &now) && clocks_state_equal(want, &now))
            return CONTROL_DONE;
        poll(NULL, 0, RECHECK_MS);
    } while (clock_left_ms(deadline_ns) > 0);
    err_set(err, ERR_NODE,
            "GPU %s: the driver did not apply the clocks: level %s with %d to %d MHz was requested, level %s "
            "with %d to %d MHz is set",
            gpu->name, want->level, want->min_mhz, want->max_mhz, now.level, now.min_mhz, now.max_mhz);
    return CONTROL_FAILED;
}

static enum control_result hold(const struct clocks_control *way, const struct clocks_gpu *gpu,
                                const struct clocks_request *want, struct err *err)
{
    struct clocks_state before, expected;
    if (way->hold)
        return way->hold(gpu, want, err);
    clocks_state_read(gpu, &before);
    control_expected(want, &before, &expected);
    enum control_result r = want->mode == CLOCKS_FIXED ? way->set_range(gpu, want->mhz, want->mhz, err)
                                                       : way->set_determinism(gpu, want->mhz, err);
    return r == CONTROL_DONE ? await_state(gpu, &expected, err) : r;
}

static enum control_result put_back(const struct clocks_control *way, const struct clocks_gpu *gpu,
                                    const struct clocks_state *before, struct err *err)
{
    enum control_result r;
    if (way->put_back)
        return way->put_back(gpu, before, err);
    if (strcmp(before->level, "perf_determinism") == 0 && before->max_mhz > 0 && way->set_determinism)
        r = way->set_determinism(gpu, before->max_mhz, err);
    else if (strcmp(before->level, "manual") == 0 && before->max_mhz > 0 && way->set_range)
        r = way->set_range(gpu, before->min_mhz, before->max_mhz, err);
    else
        r = way->set_level(gpu, before->level, err);
    return r == CONTROL_DONE ? await_state(gpu, before, err) : r;
}

/* want NULL: puts back. What is denied in one way may be done in another. */
static enum control_result try_ways(const struct clocks_gpu *gpu, const struct clocks_request *want,
                                    const struct clocks_state *before, const char **through, struct err *err)
{
    struct err last, first = {.kind = ERR_NONE};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!ways[i]->works_with(gpu))
            continue;
        enum control_result r =
            want ? hold(ways[i], gpu, want, &last) : put_back(ways[i], gpu, before, &last);
        if (r == CONTROL_DENIED) {
            first = first.kind == ERR_NONE ? last : first;
            continue;
        }
        *through = ways[i]->name;
        if (r == CONTROL_FAILED)
            *err = last;
        return r;
    }
    return first.kind == ERR_NONE ? none(gpu, err) : deny(gpu, &first, err);
}

enum control_result control_hold(const struct clocks_gpu *gpu, const struct clocks_request *want,
                                 const char **through, struct err *err)
{
    return try_ways(gpu, want, NULL, through, err);
}

enum control_result control_put_back(const struct clocks_gpu *gpu, const struct clocks_state *before,
                                     struct err *err)
{
    const char *ignored;
    return try_ways(gpu, NULL, before, &ignored, err);
}
