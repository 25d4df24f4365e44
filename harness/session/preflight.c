#include "harness/session/preflight.h"

#include "common/contract/container.h"
#include "common/contract/test_variable.h"
#include "harness/session/tuning.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double disk_blocker_bytes = 256.0 * (1 << 20);
static const double disk_warning_bytes = 4.0 * (1 << 30);
static const double clock_warning_s = 5;
static const double vram_taken_warning = 0.05;
static const double gib = 1 << 30;

static const char *text_of(const json_t *obj, const char *key, const char *fallback)
{
    const char *s = json_string_value(json_object_get(obj, key));
    return s ? s : fallback;
}

static double number_of(const json_t *obj, const char *key)
{
    const json_t *v = json_object_get(obj, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static void check_system(struct preflight *p, const json_t *node)
{
    preflight_add(p, PREFLIGHT_OK, "host", "", "%s, %s, %s, %.0f CPUs, %.0f GiB",
                  text_of(node, "hostname", "?"), text_of(node, "os", "?"), text_of(node, "kernel", "?"),
                  number_of(node, "cpus"), number_of(node, "mem_bytes") / gib);
}

static void check_disk(struct preflight *p, const json_t *node)
{
    double left = number_of(node, "disk_free_bytes");
    enum preflight_level level = left < disk_blocker_bytes   ? PREFLIGHT_BLOCKER
                                 : left < disk_warning_bytes ? PREFLIGHT_WARNING
                                                             : PREFLIGHT_OK;
    if (!isfinite(left))
        preflight_add(p, PREFLIGHT_WARNING, "disk", "check with df on the node", "free space unknown");
    else
        preflight_add(p, level, "disk",
                      level == PREFLIGHT_OK ? "" : "free some: the workdir holds old runs and builds",
                      "%.1f GiB free in %s", left / gib, text_of(node, "workdir", "the workdir"));
}

static bool has_named(const json_t *list, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        if (strcmp(text_of(item, "name", ""), name) == 0)
            return true;
    }
    return false;
}

static bool has_amd_gpu(const json_t *node)
{
    size_t i;
    json_t *gpu;
    json_array_foreach(json_object_get(node, "gpus"), i, gpu)
    {
        if (strncmp(text_of(gpu, "arch", ""), "gfx", 3) == 0)
            return true;
    }
    return false;
}

static void check_gpu_compilers(struct preflight *p, const json_t *node, const struct preflight_needs *needs)
{
    const json_t *compilers = json_object_get(node, "compilers");
    bool hipcc = has_named(compilers, "hipcc"), nvcc = has_named(compilers, "nvcc");
    if (!hipcc && (needs->hipcc || has_amd_gpu(node)))
        preflight_add(p, PREFLIGHT_WARNING, "hipcc",
                      "install ROCm's hipcc (/opt/rocm/bin), or build elsewhere", "not found%s",
                      needs->hipcc ? ", and the plan's builds need it" : ", but there is an AMD GPU");
    if (!nvcc && needs->nvcc)
        preflight_add(p, PREFLIGHT_WARNING, "nvcc", "install CUDA's nvcc, or build elsewhere",
                      "not found, and the plan's builds need it");
    if (!hipcc && !nvcc && !needs->hipcc && !needs->nvcc && !has_amd_gpu(node))
        preflight_add(p, PREFLIGHT_OK, "compiler", "", "no hipcc and no nvcc: builds for a GPU will fail");
}

static void check_compilers(struct preflight *p, const json_t *node, const struct preflight_needs *needs)
{
    const json_t *list = json_object_get(node, "compilers");
    size_t i;
    json_t *c;
    json_array_foreach(list, i, c) preflight_add(p, PREFLIGHT_OK, "compiler", "", "%s: %s",
                                                 text_of(c, "name", "?"), text_of(c, "version", "?"));
    if (json_array_size(list) == 0)
        preflight_add(p, PREFLIGHT_WARNING, "compiler", "install ROCm's hipcc, or build elsewhere",
                      "none found");
    else
        check_gpu_compilers(p, node, needs);
}

/* Whether a process is known that has memory of that GPU, or may have. */
static bool has_user(const json_t *node, size_t index)
{
    size_t i, k;
    json_t *user, *own;
    json_array_foreach(json_object_get(node, "gpu_processes"), i, user)
    {
        const json_t *gpus = json_object_get(user, "gpus");
        json_array_foreach(gpus, k, own)
        {
            if (json_integer_value(own) == (json_int_t)index)
                return true;
        }
        if (json_array_size(gpus) == 0)
            return true;
    }
    return false;
}

static bool is_usable(const json_t *gpu)
{
    return !json_is_false(json_object_get(gpu, "usable"));
}

static bool has_usable(const json_t *gpus)
{
    size_t i;
    json_t *gpu;
    json_array_foreach(gpus, i, gpu)
    {
        if (is_usable(gpu))
            return true;
    }
    return false;
}

/* A container sees GPUs that it was not given; a user that may open none of them is not meant to. */
static void check_gpu(struct preflight *p, const json_t *node, size_t index, bool wanted)
{
    const json_t *gpus = json_object_get(node, "gpus"), *gpu = json_array_get(gpus, index);
    double total = number_of(gpu, "vram_total_bytes"), used = number_of(gpu, "vram_used_bytes");
    bool usable = is_usable(gpu), closed = !has_usable(gpus),
         taken = wanted && usable && isfinite(total) && isfinite(used) && total > 0 &&
                 used > vram_taken_warning * total;
    const char *arch = text_of(gpu, "arch", "");
    char memory[64] = "memory unknown";
    if (isfinite(total) && isfinite(used))
        snprintf(memory, sizeof memory, "%.1f of %.0f GiB taken", used / gib, total / gib);
    preflight_add(p, taken || closed ? PREFLIGHT_WARNING : PREFLIGHT_OK, "gpu",
                  closed   ? "add the user to the group that owns /dev/dri/renderD* (render), "
                             "or give them to the container"
                  : !taken ? ""
                  : has_user(node, index)
                      ? "see who uses it: timings will suffer"
                      : "no visible process holds it: reset the GPU, or look inside containers",
                  "%s%s%s, driver %s, %s%s", text_of(gpu, "name", "unnamed"), *arch ? " " : "", arch,
                  text_of(gpu, "driver", "?"), memory, usable ? "" : ", may not be opened by this user");
}

/* Whether a run may use the GPU. One that wants any takes the first that no other run has locked. */
static bool is_wanted(const struct gpu_wish *wish, const json_t *gpu, size_t index)
{
    if (!wish || wish->amount == GPUS_ALL)
        return true;
    for (size_t i = 0; i < wish->count; i++)
        if (gpu_word_names(wish->word[i], gpu))
            return true;
    return wish->amount == GPUS_ONE && index == 0;
}

/* A process of which it is not known where its memory is may be anywhere. */
static bool is_in_the_way(const json_t *user, const json_t *gpus, const struct gpu_wish *wish)
{
    const json_t *own = json_object_get(user, "gpus"), *bytes = json_object_get(user, "vram_bytes");
    size_t i;
    json_t *index;
    bool some = json_array_size(own) == 0 && !(json_is_number(bytes) && json_number_value(bytes) == 0);
    json_array_foreach(own, i, index)
    {
        size_t place = (size_t)json_integer_value(index);
        some |= is_wanted(wish, json_array_get(gpus, place), place);
    }
    return some;
}

static void check_gpu_users(struct preflight *p, const json_t *node, const struct gpu_wish *wish)
{
    const json_t *gpus = json_object_get(node, "gpus"), *first = NULL;
    size_t i, count = 0;
    json_t *user;
    json_array_foreach(json_object_get(node, "gpu_processes"), i, user)
    {
        if (!is_in_the_way(user, gpus, wish))
            continue;
        first = first ? first : user;
        count++;
    }
    if (count > 0)
        preflight_add(p, PREFLIGHT_WARNING, "gpu users", "wait for them, or end them",
                      "%zu other process%s the GPU, the first is pid %.0f", count,
                      count == 1 ? " uses" : "es use", number_of(first, "pid"));
}

static void check_gpus(struct preflight *p, const json_t *node, const struct gpu_wish *wish)
{
    const json_t *gpus = json_object_get(node, "gpus");
    const char *rocm = json_string_value(json_object_get(node, "rocm"));
    size_t i;
    json_t *gpu;
    json_array_foreach(gpus, i, gpu) check_gpu(p, node, i, is_wanted(wish, gpu, i));
    if (json_array_size(gpus) == 0)
        preflight_add(p, PREFLIGHT_WARNING, "gpu",
                      "fine for CPU variants; otherwise check the driver (amdgpu, /dev/kfd)",
                      "none found, so no GPU telemetry");
    else
        preflight_add(p, PREFLIGHT_OK, "rocm", "", "%s", rocm ? rocm : "not found");
    check_gpu_users(p, node, wish);
}

static void tell_clocks(struct preflight *p, const json_t *left)
{
    const char *gpu = text_of(left, "gpu", "?"), *run = text_of(left, "run_id", "?"),
               *mode = text_of(left, "mode", "?"), *user = text_of(left, "user", "?");
    double mhz = number_of(left, "mhz");
    if (json_is_true(json_object_get(left, "held")))
        preflight_add(p, PREFLIGHT_OK, "held clocks", "", "GPU %s: %s at %.0f MHz, by the run %s", gpu, mode,
                      mhz, run);
    else
        preflight_add(
            p, PREFLIGHT_WARNING, "left clocks",
            json_is_true(json_object_get(left, "can_put_back"))
                ? "the next run on this GPU puts them back before it measures"
                : "this user lacks the privilege to put them back: ask that user or root to start a run, "
                  "or to use amd-smi reset --clocks or nvidia-smi -rgc",
            "GPU %s still has the clocks (%s, %.0f MHz) of the run %s of user %s, whose executor died", gpu,
            mode, mhz, run, user);
}

static void check_clocks(struct preflight *p, const json_t *node)
{
    size_t i;
    json_t *left;
    json_array_foreach(json_object_get(node, "clocks_left"), i, left) tell_clocks(p, left);
}

static void check_leftovers(struct preflight *p, const json_t *node)
{
    const json_t *left = json_object_get(node, "leftovers");
    if (json_array_size(left) > 0)
        preflight_add(p, PREFLIGHT_WARNING, "leftovers", "the next run ends them before it measures",
                      "%zu process%s of earlier runs, the first is pid %.0f of %s", json_array_size(left),
                      json_array_size(left) == 1 ? "" : "es", number_of(json_array_get(left, 0), "pid"),
                      text_of(json_array_get(left, 0), "run_id", "?"));
}

static void check_unfinished(struct preflight *p, const json_t *node)
{
    const json_t *left = json_object_get(node, "unfinished");
    size_t n = json_array_size(left);
    if (n > 0)
        preflight_add(p, PREFLIGHT_WARNING, "leftovers",
                      "remove what nobody needs, or have its owner remove it",
                      "%zu source tree%s of killed commands could not be removed, the first is %.160s", n,
                      n == 1 ? "" : "s", json_string_value(json_array_get(left, 0)));
}

static void check_clock(struct preflight *p, const struct preflight_needs *needs)
{
    double off = needs->clock_offset_s;
    if (!isfinite(off))
        return;
    bool wrong = fabs(off) - needs->clock_error_s > clock_warning_s;
    preflight_add(p, wrong ? PREFLIGHT_WARNING : PREFLIGHT_OK, "clock",
                  wrong ? "set it (chrony): dates in the journal will be wrong" : "",
                  "%+.1f s against this machine (+-%.1f s)", off, needs->clock_error_s);
}

static void check_model(struct preflight *p, const json_t *node, const struct preflight_needs *needs)
{
    const json_t *model = json_object_get(node, "model");
    if (!json_is_object(model))
        return;
    const char *path = text_of(model, "path", "?"),
               *error = json_string_value(json_object_get(model, "error"));
    double context = number_of(model, "context_length");
    if (error)
        preflight_add(p, PREFLIGHT_BLOCKER, "model", "put the model there, or correct $.model in the plan",
                      "%s", error);
    else if (isfinite(context) && context < (double)needs->largest_context)
        preflight_add(
            p, PREFLIGHT_BLOCKER, "model",
            "kernsweep gguf set FILE llama.context_length N on the node, or smaller contexts (--contexts)",
            "%s: llama.context_length %.0f is below the largest context, %" PRId64, path, context,
            needs->largest_context);
    else if (!isfinite(context))
        preflight_add(p, PREFLIGHT_WARNING, "model", "see it with kernsweep gguf show FILE on the node",
                      "%s: its metadata has no context_length", path);
    else
        preflight_add(p, PREFLIGHT_OK, "model", "", "%s, llama.context_length %.0f", path, context);
}

/* Returns the first limit of the plan that the node cannot enforce, or NULL. */
static const char *broken_limit(const json_t *held, const struct preflight_needs *needs)
{
    if (needs->by_scheduler)
        return NULL;
    if (needs->limit_memory && !json_is_true(json_object_get(held, "memory")))
        return "memory";
    return needs->limit_processes > 0 && !json_is_true(json_object_get(held, "processes")) ? "processes"
                                                                                           : NULL;
}

static const char *can_limit(const json_t *held)
{
    bool memory = json_is_true(json_object_get(held, "memory")),
         processes = json_is_true(json_object_get(held, "processes"));
    return memory && processes ? "limits on memory and processes work"
           : memory            ? "limits on memory work, on processes they do not"
           : processes         ? "limits on processes work, on memory they do not"
                               : "limits do not work";
}

static void check_isolation(struct preflight *p, const json_t *node, const struct preflight_needs *needs)
{
    const json_t *works = json_object_get(json_object_get(node, "containment"), "isolate");
    if (!json_is_boolean(works))
        return;
    if (json_is_true(works))
        preflight_add(p, PREFLIGHT_OK, "isolation", "", "user namespaces: a plan can isolate its tests");
    else if (needs->isolate && !needs->by_scheduler)
        preflight_add(p, PREFLIGHT_BLOCKER, "isolation",
                      "allow user namespaces (docs/nodes.md), or drop \"isolate\"",
                      "the plan isolates its tests, and this user may not create user namespaces");
    else
        preflight_add(p, PREFLIGHT_OK, "isolation", "",
                      "no user namespaces: a plan's \"isolate\" would block its run");
}

static void check_containment(struct preflight *p, const json_t *node, const struct preflight_needs *needs)
{
    const json_t *held = json_object_get(node, "containment");
    const char *kind = text_of(held, "kind", ""), *why = text_of(held, "why", ""),
               *limit = broken_limit(held, needs);
    if (!json_is_object(held))
        return;
    if (limit)
        preflight_add(p, PREFLIGHT_BLOCKER, "containment",
                      "delegate control groups to this user (docs/nodes.md), or drop the limit",
                      "the plan's limits.%s cannot be enforced here (control groups: %s)%s%s", limit,
                      text_of(held, "hierarchy", "?"), *why ? ": " : "", why);
    else if (strcmp(kind, "group") == 0)
        preflight_add(p, PREFLIGHT_OK, "containment", "", "process groups only: %s; see docs/nodes.md", why);
    else
        preflight_add(p, PREFLIGHT_OK, "containment", "", "a control group per test (%s, %s); %s",
                      strcmp(kind, "scope") == 0 ? "in a scope of systemd" : "delegated",
                      text_of(held, "hierarchy", "?"), can_limit(held));
}

static bool has_engine(const json_t *engines, int wanted)
{
    return wanted == ENGINE_AUTO ? json_array_size(engines) > 0
                                 : has_named(engines, container_engine_names[wanted]);
}

static void check_engines(struct preflight *p, const json_t *node, const struct preflight_needs *needs)
{
    const json_t *engines = json_object_get(node, "engines");
    size_t i;
    json_t *e;
    json_array_foreach(engines, i, e)
        preflight_add(p, PREFLIGHT_OK, "containers", "", "%s: %s", text_of(e, "name", "?"),
                      text_of(e, "version", "version unknown"));
    for (int k = 0; container_engine_names[k] && !needs->by_scheduler; k++) {
        if ((needs->engines & 1u << k) && json_is_array(engines) && !has_engine(engines, k))
            preflight_add(p, PREFLIGHT_BLOCKER, "containers",
                          "install it on the node, or change the plan's container",
                          "the plan's containers need %s, which is not in the node's PATH",
                          k == ENGINE_AUTO ? "podman, docker or apptainer" : container_engine_names[k]);
    }
}

static void tell_slowing(struct preflight *p, const json_t *variables, const char *by, const char *remedy)
{
    const char *name, *value;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)variables, name, v)
    {
        value = json_string_value(v);
        if (value && test_variable_slows(name, value))
            preflight_add(p, PREFLIGHT_WARNING, "variables", remedy,
                          "%s sets %s=%.60s: it serialises, traces or logs what tests do, so their times are "
                          "not those of normal use",
                          by, name, value);
    }
}

/* A debug run is meant to be slow. What the plan sets replaces what the login does. */
static void check_variables(struct preflight *p, const json_t *node, const struct preflight_needs *needs)
{
    if (needs->debug)
        return;
    json_auto_t *login = json_copy(json_object_get(node, "login"));
    const char *name;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)needs->env, name, v) json_object_del(login, name);
    tell_slowing(p, login, "the node's login", "unset it on the node, or set it to 0 in the plan's \"env\"");
    tell_slowing(p, needs->env, "the plan", "remove it from the plan's \"env\", or use --mode debug");
}

void preflight_check(struct preflight *out, const json_t *node, const struct preflight_needs *needs)
{
    *out = (struct preflight){0};
    check_system(out, node);
    check_clock(out, needs);
    check_disk(out, node);
    check_compilers(out, node, needs);
    if (needs->compile_only) {
        check_engines(out, node, needs);
        return;
    }
    check_gpus(out, node, needs->gpus);
    tuning_check(out, node);
    check_containment(out, node, needs);
    check_isolation(out, node, needs);
    check_engines(out, node, needs);
    check_leftovers(out, node);
    check_unfinished(out, node);
    check_clocks(out, node);
    check_model(out, node, needs);
    check_variables(out, node, needs);
}
