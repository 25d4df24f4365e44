#include "reports/model/changed_code.h"

#include "common/base/alloc.h"
#include "reports/model/parts.h"
#include "results/store/run_load.h"

#include <stdlib.h>
#include <string.h>

static void add_variant(struct changed_code *c, const struct run_data *now, const struct run_details *details,
                        size_t v)
{
    const char *name = now->variants[v].name;
    const struct run_variant *before = run_data_variant(&c->run, name);
    const struct kernel_side side = {&c->run, &c->details, name}, now_side = {now, details, name};
    struct changed_variant *item = &c->items[c->count];
    if (!before || !before->code_of_device || !now->variants[v].code_of_device ||
        strcmp(before->code_sha256, now->variants[v].code_sha256) == 0)
        return;
    *item = (struct changed_variant){.variant = v};
    kernel_pairs_make(&side, &now_side, &item->pairs);
    if (item->pairs.changed)
        c->count++;
    else
        kernel_pairs_release(&item->pairs);
}

int changed_code_load(struct store *s, int64_t before, const struct run_data *now,
                      const struct run_details *details, struct changed_code *out, struct err *err)
{
    *out = (struct changed_code){.items = xcalloc(now->n_variants, sizeof *out->items)};
    if (run_data_load(s, before, &out->run, err) != 0 || details_load(s, before, &out->details, err) != 0)
        return -1;
    for (size_t v = 0; v < now->n_variants; v++)
        add_variant(out, now, details, v);
    return 0;
}

void changed_code_release(struct changed_code *c)
{
    for (size_t i = 0; i < c->count; i++)
        kernel_pairs_release(&c->items[i].pairs);
    free(c->items);
    details_release(&c->details);
    run_data_release(&c->run);
    *c = (struct changed_code){.items = NULL};
}

/* Compares with the newest run of the base or, without a base, with the night before. */
int model_changed_code(struct report_model *m, struct err *err)
{
    const struct against *a = m->against;
    int64_t before = a->n_base_runs ? a->base_runs[0] : a->last.info.key;
    if (!m->has_comparison || m->base.is_now || before == 0)
        return 0;
    return changed_code_load(m->subject->store, before, &m->now, &m->details, &m->base.changed_code, err);
}
