#include "executor/telemetry/telemetry.h"

#include "executor/telemetry/backend.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct telemetry_backend *const backends[TELEMETRY_BACKENDS] = {
    &telemetry_process_tree, &telemetry_amdgpu, &telemetry_kfd, &telemetry_nvml, &telemetry_neighbours,
};

static const int64_t patience_ns = 500 * 1000000;

static void open_backends(struct telemetry *t, const struct telemetry_target *target, bool per_test)
{
    struct telemetry_target own = *target;
    own.only = &t->only;
    for (int i = 0; i < TELEMETRY_BACKENDS; i++) {
        if (backends[i]->per_test == per_test)
            t->state[i] = backends[i]->open(&own);
    }
}

static void close_backends(struct telemetry *t, bool per_test)
{
    for (int i = 0; i < TELEMETRY_BACKENDS; i++) {
        if (backends[i]->per_test != per_test || !t->state[i])
            continue;
        backends[i]->close(t->state[i]);
        t->state[i] = NULL;
    }
}

void telemetry_open(struct telemetry *t, const struct telemetry_target *target, const char *const *ids,
                    size_t count)
{
    *t = (struct telemetry){.state = {NULL}};
    for (size_t i = 0; count <= TELEMETRY_GPUS_MAX && i < count; i++)
        snprintf(t->only.id[t->only.count++], TELEMETRY_ID_MAX, "%s", ids[i]);
    open_backends(t, target, false);
}

void telemetry_close(struct telemetry *t)
{
    close_backends(t, true);
    close_backends(t, false);
}

bool telemetry_uses(const struct telemetry_gpus *only, const char *id)
{
    for (size_t i = 0; i < only->count; i++)
        if (strcmp(only->id[i], id) == 0)
            return true;
    return only->count == 0 || !*id;
}

void telemetry_begin(struct telemetry *t, const struct telemetry_target *target)
{
    open_backends(t, target, true);
}

void telemetry_end(struct telemetry *t)
{
    close_backends(t, true);
}

void telemetry_read(struct telemetry *t, double t_s, struct sample *out)
{
    sample_clear(out, t_s);
    for (int i = 0; i < TELEMETRY_BACKENDS; i++) {
        if (t->state[i])
            backends[i]->read(t->state[i], out);
    }
}

void telemetry_ask(struct telemetry *t, int64_t now_ns)
{
    t->patience_ns = now_ns + patience_ns;
    for (int i = 0; i < TELEMETRY_BACKENDS; i++) {
        if (t->state[i] && backends[i]->ask)
            backends[i]->ask(t->state[i]);
    }
}

bool telemetry_answered(const struct telemetry *t, int64_t now_ns)
{
    bool all = true;
    for (int i = 0; i < TELEMETRY_BACKENDS; i++) {
        if (t->state[i] && backends[i]->answered)
            all &= backends[i]->answered(t->state[i]);
    }
    return all || now_ns >= t->patience_ns;
}

void telemetry_read_fresh(struct telemetry *t, struct sample *out)
{
    sample_clear(out, 0);
    for (int i = 0; i < TELEMETRY_BACKENDS; i++) {
        if (t->state[i] && backends[i]->read_fresh)
            backends[i]->read_fresh(t->state[i], out);
        else if (t->state[i])
            backends[i]->read(t->state[i], out);
    }
}

void telemetry_trace(const struct telemetry *t, struct power_trace *out)
{
    out->count = 0;
    for (int i = 0; i < TELEMETRY_BACKENDS; i++) {
        if (t->state[i] && backends[i]->trace)
            backends[i]->trace(t->state[i], out);
    }
}

double telemetry_cpu_s(const struct telemetry *t)
{
    double sum = 0;
    for (int i = 0; i < TELEMETRY_BACKENDS; i++) {
        if (t->state[i] && backends[i]->cpu_s)
            sum += backends[i]->cpu_s(t->state[i]);
    }
    return sum;
}
