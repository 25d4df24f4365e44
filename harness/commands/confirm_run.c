#include "harness/commands/confirm_run.h"

#include "harness/session/measure.h"

#include <stdio.h>
#include <string.h>

enum { TURNS = 4, REPETITIONS_MIN = 3 };

/* The words of --variants, --contexts and --repeat for the suspects. */
struct words {
    struct buf variants, contexts, repeat;
};

static void words_release(struct words *w)
{
    buf_release(&w->variants);
    buf_release(&w->contexts);
    buf_release(&w->repeat);
}

static bool seen_before(const struct suspect_list *l, size_t i, bool variant)
{
    for (size_t j = 0; j < i; j++)
        if (variant ? strcmp(l->items[j].variant, l->items[i].variant) == 0
                    : l->items[j].context == l->items[i].context)
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

static int name_suspects(const struct plan *p, const struct comparison *c, struct words *w, struct err *err)
{
    struct suspect_list l;
    if (confirm_suspects(c, &l, err) != 0)
        return -1;
    for (size_t i = 0; i < l.count; i++) {
        const struct suspect *s = &l.items[i];
        if (!seen_before(&l, i, true))
            buf_printf(&w->variants, "%s%s", i ? "," : "", s->variant);
        if (seen_before(&l, i, false))
            continue;
        buf_printf(&w->contexts, "%s%d", i ? "," : "", s->context);
        buf_printf(&w->repeat, "%s%d:%lld", i ? "," : "", s->context,
                   (long long)repetitions_of(p, s->context));
    }
    suspect_list_release(&l);
    return buf_ok(&w->variants) && buf_ok(&w->contexts) && buf_ok(&w->repeat)
               ? 0
               : err_set(err, ERR_INTERNAL, "too many suspects to confirm");
}

/* The plan, cut down to the suspects. */
static int narrow(struct plan *p, const char *file, const struct comparison *c, struct err *err)
{
    struct words w;
    buf_init(&w.variants, 1 << 16);
    buf_init(&w.contexts, 1 << 16);
    buf_init(&w.repeat, 1 << 16);
    int rc = plan_load(p, file, err);
    if (rc == 0) {
        rc = name_suspects(p, c, &w, err);
        const struct overrides suspects = {
            .variants = buf_str(&w.variants), .contexts = buf_str(&w.contexts), .repeat = buf_str(&w.repeat)};
        if (rc == 0)
            rc = overrides_apply(&suspects, p, err);
        if (rc != 0)
            plan_release(p);
    }
    words_release(&w);
    return rc;
}

static int take_turns(const struct confirm_run *r, struct plan *p, struct store *s,
                      const char *const sources[TURNS], struct run_data *out, struct err *err)
{
    for (size_t i = 0; i < TURNS; i++) {
        struct session_options opt = r->opt;
        int64_t key;
        opt.overrides.tag = RUN_TAG_CONFIRM;
        opt.source_sha256 = *sources[i] ? sources[i] : NULL;
        if (measure_run(p, &opt, s, &key, err) != 0 || run_data_load(s, key, &out[i], err) != 0)
            return -1;
    }
    return 0;
}

int confirm_run(void *arg, struct store *s, const struct run_data *now, const struct against *against,
                struct comparison *c, struct err *err)
{
    const struct confirm_run *r = arg;
    const char *a = against->base.info.source_sha256, *b = now->info.source_sha256;
    const char *const sources[TURNS] = {a, b, b, a};
    struct run_data runs[TURNS] = {0};
    struct plan p = {0};
    if (!*a != !*b)
        return err_set(err, ERR_NODE,
                       "one of the two runs had no sources of its own: there are no two builds");
    if (narrow(&p, r->plan, c, err) != 0)
        return -1;
    fprintf(stderr, "confirming %d suspects: the base's build and this one, in turns\n",
            c->verdicts[VERDICT_REGRESSED]);
    int rc = take_turns(r, &p, s, sources, runs, err);
    if (rc == 0) {
        const struct run_data *const base[] = {&runs[0], &runs[3]}, *const again[] = {&runs[1], &runs[2]};
        rc = confirm_judge(c, base, 2, again, 2, &against->options, err);
    }
    if (rc == 0)
        rc = confirm_save(s, now->info.key, against->base.info.key, c, err);
    for (size_t i = 0; i < TURNS; i++)
        run_data_release(&runs[i]);
    plan_release(&p);
    return rc;
}
