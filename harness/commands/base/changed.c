#include "harness/commands/base/changed.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "results/query/unchanged.h"

#include <stdio.h>

static void take(const struct unchanged *found, struct changed_hints *out)
{
    out->item = xcalloc(found->count + 1, sizeof *out->item);
    for (size_t i = 0; i < found->count; i++) {
        const struct unchanged_cell *c = &found->item[i];
        struct changed_hint *h = &out->item[out->count++];
        *h = (struct changed_hint){.context = c->context, .open = c->open};
        snprintf(h->variant, sizeof h->variant, "%.64s", c->variant);
        snprintf(h->fingerprint, sizeof h->fingerprint, "%s", c->fingerprint);
    }
}

int changed_load(const void *arg, const struct plan *p, struct changed_hints *out, struct err *err)
{
    const struct cmd_env *env = arg;
    AUTO(store_close) struct store store = {0};
    AUTO(unchanged_release) struct unchanged found = {.count = 0};
    struct compare_options options = compare_defaults();
    const struct unchanged_request of = {.node = p->node,
                                         .ticket = p->settings.ticket,
                                         .mode = p->settings.mode,
                                         .baseline = p->baseline,
                                         .options = &options};
    *out = (struct changed_hints){.nights = p->changed.nights};
    options.regression = options.improvement = p->threshold;
    if (!fs_exists(env->db))
        return 0;
    if (cmd_store_open(env, &store, STORE_READ, err) != 0 || unchanged_load(&store, &of, &found, err) != 0)
        return -1;
    take(&found, out);
    return 0;
}
