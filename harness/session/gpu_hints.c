#include "harness/session/gpu_hints.h"

#include "common/base/alloc.h"
#include "results/store/placing.h"

#include <stdio.h>
#include <stdlib.h>

static void add_place(void *arg, const struct last_place *place)
{
    struct gpu_hints *out = arg;
    out->item = xrealloc(out->item, (out->count + 1) * sizeof *out->item);
    struct gpu_hint *h = &out->item[out->count++];
    *h = (struct gpu_hint){.context = place->context, .expected_s = place->wall_s};
    snprintf(h->variant, sizeof h->variant, "%.64s", place->variant);
    snprintf(h->gpu, sizeof h->gpu, "%.1023s", place->gpu);
}

void gpu_hints_load(struct gpu_hints *out, const char *db, const struct plan *p)
{
    struct store store = {0};
    struct err ignored;
    *out = (struct gpu_hints){.count = 0};
    if (!db || !fs_exists(db) || store_open(&store, db, STORE_READ, &ignored) != 0)
        return;
    (void)last_places(&store, p->scheduler.on ? p->scheduler.node_class : p->node, p->settings.ticket,
                      p->settings.mode, add_place, out, &ignored);
    store_close(&store);
}

void gpu_hints_release(struct gpu_hints *h)
{
    free(h->item);
    *h = (struct gpu_hints){.count = 0};
}
