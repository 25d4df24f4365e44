#include "results/judge/facts.h"

#include "common/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fact_list_add(struct fact_list *out, const char *key, const char *base, const char *now)
{
    if (strcmp(base, now) == 0)
        return;
    ALLOC_GROW(out->items, out->count + 1, out->cap);
    struct fact_change *f = &out->items[out->count++];
    snprintf(f->key, sizeof f->key, "%s", key);
    snprintf(f->base, sizeof f->base, "%s", base);
    snprintf(f->now, sizeof f->now, "%s", now);
}

void compare_facts(const struct run_data *a, const struct run_data *b, struct fact_list *out)
{
    *out = (struct fact_list){0};
    fact_list_add(out, "node", a->info.node, b->info.node);
    fact_list_add(out, "mode", a->info.mode, b->info.mode);
    fact_list_add(out, "source", a->info.source_sha256, b->info.source_sha256);
    for (size_t i = 0, j = 0; i < a->n_facts || j < b->n_facts;) {
        int order = i == a->n_facts ? 1 : j == b->n_facts ? -1 : strcmp(a->facts[i].key, b->facts[j].key);
        const char *base = order <= 0 ? a->facts[i].value : "", *now = order >= 0 ? b->facts[j].value : "";
        fact_list_add(out, order <= 0 ? a->facts[i].key : b->facts[j].key, base, now);
        i += order <= 0;
        j += order >= 0;
    }
}

void fact_list_release(struct fact_list *l)
{
    free(l->items);
    *l = (struct fact_list){0};
}
