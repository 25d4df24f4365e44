/* A back-end: how many processes of others hold memory of the GPUs, twice a second, from NVML's list and
 * from class/kfd/kfd/proc. In a container both may have the pids of another namespace, or leave processes
 * out: a process counts if it was listed before the test began, or if the list has one of the test's own,
 * which shows that its pids can be told apart. Without either nothing is known. */
#include "common/base/alloc.h"
#include "executor/process/proctree.h"
#include "executor/telemetry/amd_gpus.h"
#include "executor/telemetry/backend.h"
#include "executor/telemetry/nvml.h"
#include "executor/telemetry/nvml_helper/due.h"
#include "executor/workdir/sysfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USERS_MAX = 256 };

static const double refresh_s = 0.5;

struct users {
    size_t count;
    pid_t pid[USERS_MAX];
};

struct neighbours {
    const struct telemetry_gpus *only;
    struct nvml *nvml;     /* NULL: none */
    char kfd[FS_PATH_MAX]; /* "": none */
    pid_t root;
    struct due due;
    struct users before;
    size_t other_count;
    unsigned long other[TELEMETRY_GPUS_MAX]; /* kfd's numbers of the GPUs whose samples are not taken */
    struct proctree tree;
};

static bool contains(const pid_t *list, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == pid)
            return true;
    return false;
}

static void add_user(struct users *u, pid_t pid)
{
    if (pid > 0 && u->count < USERS_MAX && !contains(u->pid, u->count, pid))
        u->pid[u->count++] = pid;
}

/* Whether a file "vram_GPU" is of a GPU whose samples are taken. */
static bool is_of_used(const struct neighbours *n, const char *file)
{
    unsigned long id;
    if (sscanf(file, "vram_%lu", &id) != 1)
        return false;
    for (size_t i = 0; i < n->other_count; i++)
        if (n->other[i] == id)
            return false;
    return true;
}

struct listing {
    const struct neighbours *of;
    struct users *users;
};

/* What a process holds of the GPUs whose samples are taken. */
struct holding {
    const struct neighbours *of;
    bool some;
};

static void see_memory(const char *path, const char *name, void *arg)
{
    struct holding *h = arg;
    unsigned long long bytes = 0;
    AUTO_FCLOSE FILE *f = is_of_used(h->of, name) ? fopen(path, "re") : NULL;
    h->some |= f && fscanf(f, "%llu", &bytes) == 1 && bytes > 0;
}

/* A process that only opened the device, as monitors do, has a folder but no memory. */
static void see_process(const char *path, const char *name, void *arg)
{
    struct listing *l = arg;
    struct holding holding = {.of = l->of};
    entries_each(path, "vram_", see_memory, &holding);
    if (holding.some)
        add_user(l->users, (pid_t)strtol(name, NULL, 10));
}

static void list_kfd(const struct neighbours *n, struct users *out)
{
    struct listing listing = {.of = n, .users = out};
    if (*n->kfd)
        entries_each(n->kfd, ENTRIES_NUMBERS, see_process, &listing);
}

static bool is_on_used(const struct neighbours *n, const struct nvml_facts *facts, int32_t gpu)
{
    return gpu < 0 || gpu >= facts->gpu_count || telemetry_uses(n->only, facts->gpu[gpu].uuid);
}

static void list_users(const struct neighbours *n, struct users *out)
{
    struct nvml_facts facts;
    out->count = 0;
    if (n->nvml && nvml_peek(n->nvml, &facts))
        for (int32_t i = 0; i < facts.process_count; i++)
            if (is_on_used(n, &facts, facts.process[i].gpu))
                add_user(out, (pid_t)facts.process[i].pid);
    list_kfd(n, out);
}

static void neighbours_read(void *state, struct sample *out)
{
    struct neighbours *n = state;
    struct users now;
    size_t own = 0, before = 0;
    if (!due_take(&n->due, out->t_s, refresh_s))
        return;
    list_users(n, &now);
    proctree_listed(&n->tree, n->root);
    for (size_t i = 0; i < now.count; i++) {
        bool is_own = contains(n->tree.pid, n->tree.count, now.pid[i]);
        own += is_own;
        before += !is_own && contains(n->before.pid, n->before.count, now.pid[i]);
    }
    if (own > 0 || before > 0)
        sample_put(out, SAMPLE_NEIGHBOURS, (double)(own > 0 ? now.count - own : before));
}

static void see_gpu(const struct amd_gpu *gpu, size_t index, void *arg)
{
    struct neighbours *n = arg;
    char number[32];
    snprintf(number, sizeof number, "%zu", index);
    if (gpu->gpu_id > 0 && n->other_count < TELEMETRY_GPUS_MAX &&
        !telemetry_uses(n->only, *gpu->id ? gpu->id : number))
        n->other[n->other_count++] = gpu->gpu_id;
}

static void *neighbours_open(const struct telemetry_target *target)
{
    if (target->pid <= 0)
        return NULL;
    struct neighbours *n = xcalloc(1, sizeof *n);
    n->root = target->pid;
    n->only = target->only;
    n->nvml = target->nvml && target->nvml->ask >= 0 ? target->nvml : NULL;
    if (fs_join(n->kfd, NULL, target->layout->sysfs, "class/kfd/kfd/proc") != 0 || !fs_is_dir(n->kfd))
        n->kfd[0] = '\0';
    if (n->only->count > 0)
        amd_gpus_each(target->layout, see_gpu, n);
    if (n->nvml || *n->kfd) {
        list_users(n, &n->before);
        return n;
    }
    free(n);
    return NULL;
}

const struct telemetry_backend telemetry_neighbours = {
    .name = "neighbours",
    .per_test = true,
    .open = neighbours_open,
    .read = neighbours_read,
    .close = free,
};
