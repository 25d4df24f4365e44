#include "harness/session/counting.h"

#include "harness/session/measure.h"

#include <string.h>

enum { LIST_MAX = 1 << 16 };

/* The cells as values of --variants, --contexts and --repeat. */
struct lists {
    struct buf variants, contexts, repeat;
};

static void lists_init(struct lists *l)
{
    buf_init(&l->variants, LIST_MAX);
    buf_init(&l->contexts, LIST_MAX);
    buf_init(&l->repeat, LIST_MAX);
}

static void lists_release(struct lists *l)
{
    buf_release(&l->variants);
    buf_release(&l->contexts);
    buf_release(&l->repeat);
}

static void add_cell(const struct suspect_list *cells, size_t at, struct lists *l)
{
    const struct suspect *c = &cells->items[at];
    bool variant = false, context = false;
    for (size_t i = 0; i < at; i++) {
        variant = variant || strcmp(cells->items[i].variant, c->variant) == 0;
        context = context || cells->items[i].context == c->context;
    }
    if (!variant)
        buf_printf(&l->variants, "%s%s", l->variants.len ? "," : "", c->variant);
    if (context)
        return;
    buf_printf(&l->contexts, "%s%d", l->contexts.len ? "," : "", c->context);
    buf_printf(&l->repeat, "%s%d:1", l->repeat.len ? "," : "", c->context);
}

static int narrow(struct plan *p, const struct suspect_list *cells, struct err *err)
{
    struct lists l;
    lists_init(&l);
    for (size_t i = 0; i < cells->count; i++)
        add_cell(cells, i, &l);
    const struct overrides o = {
        .variants = buf_str(&l.variants), .contexts = buf_str(&l.contexts), .repeat = buf_str(&l.repeat)};
    int rc = buf_ok(&l.variants) && buf_ok(&l.contexts) && buf_ok(&l.repeat)
                 ? overrides_apply(&o, p, err)
                 : err_set(err, ERR_INTERNAL, "too many cells to count");
    p->matrix.warmup = 0;
    lists_release(&l);
    return rc;
}

int counting_measure(const char *plan, const struct suspect_list *cells, const char *source,
                     const struct session_options *options, struct store *store, struct err *err)
{
    struct plan p = {0};
    struct session_options opt = *options;
    int64_t key;
    opt.repeatable = false;
    opt.overrides.variants = opt.overrides.contexts = opt.overrides.axis = opt.overrides.repeat = NULL;
    opt.purpose = PURPOSE_CONFIRM;
    opt.source_sha256 = *source ? source : NULL;
    opt.counters = true;
    int rc = plan_load(&p, plan, err);
    if (rc == 0) {
        rc = narrow(&p, cells, err);
        if (rc == 0)
            rc = measure_run(&p, &opt, store, &key, err);
        plan_release(&p);
    }
    return rc;
}
