#include "harness/session/confirm.h"

#include "harness/session/measure.h"

#include <string.h>

enum { REPETITIONS_MIN = 3, SELECTION_MAX = 1 << 16 };

/* The suspects as the values of --variants, --contexts and --repeat. */
struct selection {
    struct buf variants, contexts, repeat;
};

static void selection_init(struct selection *sel)
{
    buf_init(&sel->variants, SELECTION_MAX);
    buf_init(&sel->contexts, SELECTION_MAX);
    buf_init(&sel->repeat, SELECTION_MAX);
}

static void selection_release(struct selection *sel)
{
    buf_release(&sel->variants);
    buf_release(&sel->contexts);
    buf_release(&sel->repeat);
}

static bool variant_listed(const struct suspect_list *l, size_t end, const char *variant)
{
    for (size_t i = 0; i < end; i++)
        if (strcmp(l->items[i].variant, variant) == 0)
            return true;
    return false;
}

static bool context_listed(const struct suspect_list *l, size_t end, int context)
{
    for (size_t i = 0; i < end; i++)
        if (l->items[i].context == context)
            return true;
    return false;
}

static int64_t repetitions_of(const struct plan *p, int context)
{
    for (size_t i = 0; i < p->matrix.count; i++)
        if (p->matrix.contexts[i].tokens == context && p->matrix.contexts[i].repetitions > REPETITIONS_MIN)
            return p->matrix.contexts[i].repetitions;
    return REPETITIONS_MIN;
}

static int select_suspects(const struct plan *p, const struct suspect_list *l, struct selection *sel,
                           struct err *err)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct suspect *s = &l->items[i];
        const char *comma = i ? "," : "";
        if (!variant_listed(l, i, s->variant))
            buf_printf(&sel->variants, "%s%s", comma, s->variant);
        if (context_listed(l, i, s->context))
            continue;
        buf_printf(&sel->contexts, "%s%d", comma, s->context);
        buf_printf(&sel->repeat, "%s%d:%lld", comma, s->context, (long long)repetitions_of(p, s->context));
    }
    return buf_ok(&sel->variants) && buf_ok(&sel->contexts) && buf_ok(&sel->repeat)
               ? 0
               : err_set(err, ERR_INTERNAL, "too many suspects to confirm");
}

/* Loads the plan, restricted to the suspects. Call plan_release() even after a failure. */
static int load_suspects_plan(struct plan *p, const char *file, const struct suspect_list *l, struct err *err)
{
    struct selection sel;
    selection_init(&sel);
    int rc = plan_load(p, file, err);
    if (rc == 0)
        rc = select_suspects(p, l, &sel, err);
    const struct overrides narrow = {.variants = buf_str(&sel.variants),
                                     .contexts = buf_str(&sel.contexts),
                                     .repeat = buf_str(&sel.repeat)};
    if (rc == 0)
        rc = overrides_apply(&narrow, p, err);
    selection_release(&sel);
    return rc;
}

static int measure_turn(const struct confirm_request *r, struct plan *p, const char *source, struct store *s,
                        int64_t *key, struct err *err)
{
    struct session_options opt = r->opt;
    opt.repeatable = false;
    opt.overrides.variants = opt.overrides.contexts = opt.overrides.repeat = NULL;
    opt.purpose = PURPOSE_CONFIRM;
    opt.source_sha256 = *source ? source : NULL;
    return measure_run(p, &opt, s, key, err);
}

/* A B B A, so that a steady drift of the node affects both sides alike. */
static int measure_turns(const struct confirm_request *r, struct plan *p, struct store *s,
                         struct confirm_runs *out, struct err *err)
{
    int64_t base[CONFIRM_TURNS], now[CONFIRM_TURNS];
    if (measure_turn(r, p, r->base_source, s, &base[0], err) != 0 ||
        measure_turn(r, p, r->now_source, s, &now[0], err) != 0 ||
        measure_turn(r, p, r->now_source, s, &now[1], err) != 0 ||
        measure_turn(r, p, r->base_source, s, &base[1], err) != 0)
        return -1;
    for (int i = 0; i < CONFIRM_TURNS; i++, out->count++) {
        out->base[out->count] = base[i];
        out->now[out->count] = now[i];
    }
    return 0;
}

int confirm_measure(const struct confirm_request *r, const struct suspect_list *suspects, struct store *s,
                    struct confirm_runs *out, struct err *err)
{
    struct plan p = {0};
    if (!*r->base_source != !*r->now_source)
        return err_set(err, ERR_NODE,
                       "one of the two runs had no source tree: there are no two builds to compare");
    if (out->count + CONFIRM_TURNS > CONFIRM_RUNS_MAX)
        return err_set(err, ERR_INTERNAL, "more than %d rounds of confirming", CONFIRM_ROUNDS_MAX);
    int rc = load_suspects_plan(&p, r->plan, suspects, err);
    if (rc == 0)
        rc = measure_turns(r, &p, s, out, err);
    plan_release(&p);
    return rc;
}
