/* Next steps: which kernels to change, to keep or to drop. */
#include "common/base/alloc.h"
#include "reports/model/insight.h"
#include "reports/sections/next_steps.h"
#include "reports/sections/phrase.h"

#include <stdlib.h>

static void serialised(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->kernel.count; i++) {
        struct launch_growth g = launch_growth(m->kernel.launches, m->kernel.count, i);
        if (g.largest && g.serialised && g.grid_known)
            md_item(w, MSG_STEP_GRID, m->kernel.launches[i].kernel, num_growth(g.work).s,
                    num_growth(g.actual).s);
    }
}

/* A variant is known to be slower only if it was compared, and was slower, wherever the run measured. */
static void slow_variants(const struct report_model *m, struct md *w)
{
    const int places = insight_places(m);
    for (size_t v = 0; v < m->now.n_variants; v++) {
        struct standing_range s = insight_standing(m, v, m->reference);
        if (!report_model_first(m, v) || s.contexts == 0 || s.contexts < places || s.slow < s.contexts)
            continue;
        AUTO(buf_release) struct buf where = {.max = PHRASE_MAX};
        phrase_where(&where, w->lang, s.contexts, s.context, *m->now.variants[v].shape);
        md_item(w, MSG_STEP_DISABLE, report_model_variant(m, v), report_model_reference(m), buf_str(&where),
                num_factor(s.high).s,
                phrase_count(w->lang, s.repetitions, MSG_REPETITIONS_ONE, MSG_REPETITIONS_MANY).s);
    }
}

/* Cells of a variant at whose contexts another is OK, too. */
struct contest {
    const struct cell **cells;
    size_t count;
    int least, most; /* variants that are OK at one of these contexts */
};

static struct contest contest_of(const struct report_model *m, size_t variant)
{
    struct contest c = {.cells = xcalloc(m->now.n_cells, sizeof *c.cells)};
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *cell = &m->now.cells[i];
        int n = insight_ok_at(m, cell->context);
        if (cell->variant != variant || n < 2)
            continue;
        c.least = c.count == 0 || n < c.least ? n : c.least;
        c.most = n > c.most ? n : c.most;
        c.cells[c.count++] = cell;
    }
    return c;
}

/* Whether every variant is OK wherever the run has tests. */
static bool is_whole(const struct report_model *m, const struct contest *c)
{
    return (size_t)c->least == m->now.n_variants && c->count * m->now.n_variants == m->now.n_cells;
}

static void fastest_of_all(const struct report_model *m, size_t variant, struct md *w)
{
    AUTO(buf_release) struct buf contexts = {.max = PHRASE_MAX};
    phrase_contexts(&contexts, w->lang, &m->now);
    md_item(w, contexts.len ? MSG_STEP_FOCUS : MSG_STEP_FOCUS_PLAIN, report_model_variant(m, variant),
            num_int((int64_t)m->now.n_variants).s, buf_str(&contexts));
}

static void fastest_of_some(const struct report_model *m, size_t variant, const struct contest *c,
                            struct md *w)
{
    AUTO(buf_release) struct buf where = {.max = PHRASE_MAX};
    AUTO(buf_release) struct buf variants = {.max = PHRASE_MAX};
    phrase_at_cells(&where, w->lang, c->cells, c->count);
    if (c->least == c->most)
        buf_puts(&variants, num_int(c->most).s);
    else
        message_plain(&variants, w->lang, MSG_RANGE, num_int(c->least).s, num_int(c->most).s);
    md_item(w, MSG_STEP_FOCUS_SOME, report_model_variant(m, variant), buf_str(&variants), buf_str(&where));
}

static void fastest_variant(const struct report_model *m, struct md *w)
{
    size_t v;
    if (!insight_fastest(m, &v))
        return;
    struct contest c = contest_of(m, v);
    w->out->failed |= !c.cells;
    if (c.count && is_whole(m, &c))
        fastest_of_all(m, v, w);
    else if (c.count)
        fastest_of_some(m, v, &c, w);
    free(c.cells);
}

/* Writes one line for each variant all of whose kernels that ran use scratch. */
static void scratch(const struct report_model *m, struct md *w)
{
    bool nvidia = resources_nvidia(m->resources, m->now.n_variants);
    for (size_t v = 0; v < m->now.n_variants; v++) {
        struct scratch s = insight_scratch(m, v);
        if (s.kernels == 0 || !(s.low > 0))
            continue;
        AUTO(buf_release) struct buf bytes = {.max = 128};
        buf_puts(&bytes, num_fixed(s.low, 0).s);
        if (s.high > s.low)
            buf_printf(&bytes, "-%s", num_fixed(s.high, 0).s);
        if (s.use == SCRATCH_OF_SPILLS)
            md_item(w, nvidia ? MSG_STEP_SPILL_NVIDIA : MSG_STEP_SPILL, report_model_variant(m, v),
                    buf_str(&bytes));
        else
            md_item(w, nvidia ? MSG_STEP_VARIABLES_NVIDIA : MSG_STEP_VARIABLES, report_model_variant(m, v),
                    buf_str(&bytes), phrase_scratch(w->lang, s.use));
    }
}

/* The kernel of a variant whose occupancy LDS limits most; NULL when LDS limits none. */
static const struct kernel_resources *most_limited(const struct variant_resources *r)
{
    const struct kernel_resources *most = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const struct kernel_resources *k = &r->kernels[i];
        if (k->ran && k->has_occupancy && k->occupancy.limit == LIMIT_LDS &&
            k->occupancy.waves < WAVES_TO_HIDE && (!most || k->occupancy.waves < most->occupancy.waves))
            most = k;
    }
    return most;
}

static void limited_by_lds(const struct report_model *m, struct md *w)
{
    for (size_t v = 0; v < m->now.n_variants; v++) {
        const struct kernel_resources *k = most_limited(&m->resources[v]);
        if (k)
            md_item(w, resources_nvidia(&m->resources[v], 1) ? MSG_STEP_SHARED : MSG_STEP_LDS,
                    report_model_variant(m, v), num_fixed(k->use.lds, 0).s,
                    phrase_waves(w->lang, k->occupancy.waves, resources_nvidia(&m->resources[v], 1)).s,
                    num_fixed(k->use.threads, 0).s);
    }
}

static void steps_of_scaling(const struct report_model *m, struct md *w)
{
    for (size_t i = 0; i < m->scaling.count; i++) {
        const struct scaling *s = &m->scaling.items[i];
        const struct scaling_row *row = insight_worst_step(s);
        if (row)
            md_item(w, MSG_STEP_PROFILE, m->now.variants[s->variant].name, num_int((row - 1)->context).s,
                    num_int(row->context).s, num_growth(row->step).s, num_growth(row->step_expected).s);
    }
}

void next_steps_kernels(const struct report_model *m, struct md *w)
{
    serialised(m, w);
    if (metric_is_speed(m->primary.metric)) {
        slow_variants(m, w);
        fastest_variant(m, w);
    }
    scratch(m, w);
    limited_by_lds(m, w);
    steps_of_scaling(m, w);
}
