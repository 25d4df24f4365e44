#include "harness/plan/smoke.h"

static bool seen(const struct plan_variants *v, size_t count, const json_t *written)
{
    for (size_t i = 0; i < count; i++)
        if (v->item[i].written == written)
            return true;
    return false;
}

void plan_smoke(struct plan *p)
{
    struct matrix *m = &p->matrix;
    struct plan_variants *v = &p->variants;
    size_t kept = 0;
    for (size_t i = 1; i < m->count; i++)
        if (m->contexts[i].tokens < m->contexts[0].tokens)
            m->contexts[0] = m->contexts[i];
    m->contexts[0].repetitions = 1;
    m->count = 1;
    m->warmup = p->warmup = 0;
    for (size_t i = 0; i < v->count; i++)
        if (!seen(v, kept, v->item[i].written))
            v->item[kept++] = v->item[i];
    v->count = kept;
}
