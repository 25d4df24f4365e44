#include "results/judge/nights/places.h"

#include "results/store/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_counted(const struct run_test *t, enum metric m)
{
    return !t->warmup && t->status == STATUS_OK && !isnan(t->value[m]);
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool places_have(const struct places *p, uint64_t device)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->device[i] == device)
            return true;
    return false;
}

/* Reads the GPUs of a cell's tests: an identity is a hash, and mostly a test ran on the GPU of the one
 * before.
 */
struct reader {
    const struct run_data *run;
    const struct run_test *last; /* that was read; NULL: none */
    uint64_t device;             /* of that one */
};

static uint64_t device_of(struct reader *r, const struct run_test *t)
{
    if (!r->last || strcmp(r->last->gpu, t->gpu) != 0 || strcmp(r->last->gpu_mode, t->gpu_mode) != 0)
        r->device = test_device(r->run, t);
    r->last = t;
    return r->device;
}

void places_of(const struct run_data *run, const struct cell *c, enum metric m, struct places *out)
{
    struct reader reader = {.run = run};
    *out = (struct places){0};
    for (size_t i = 0; c && i < c->count; i++) {
        const struct run_test *t = &run->tests[c->first + i];
        if (!is_counted(t, m))
            continue;
        uint64_t device = device_of(&reader, t);
        if (places_have(out, device))
            continue;
        if (!device || out->count == PLACES_MAX) {
            *out = (struct places){.count = 1};
            return;
        }
        out->device[out->count++] = device;
    }
    if (out->count == 0)
        out->count = 1;
    qsort(out->device, out->count, sizeof *out->device, by_size);
}

size_t places_values(const struct run_data *run, const struct cell *c, enum metric m, uint64_t device,
                     double *out)
{
    struct reader reader = {.run = run};
    size_t n = 0;
    for (size_t i = 0; c && i < c->count; i++) {
        const struct run_test *t = &run->tests[c->first + i];
        if (is_counted(t, m) && (!device || device_of(&reader, t) == device))
            out[n++] = t->value[m];
    }
    return n;
}

const char *places_name(const struct run_data *run, const struct cell *c, uint64_t device)
{
    for (size_t i = 0; c && device && i < c->count; i++) {
        const struct run_test *t = &run->tests[c->first + i];
        if (*t->gpu && gpu_identity(t->gpu, t->gpu_mode) == device)
            return t->gpu;
    }
    return "";
}
