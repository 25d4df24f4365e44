#include "reports/model/sweep.h"

#include "common/base/alloc.h"
#include "reports/model/parts.h"
#include "results/judge/within.h"
#include "results/query/report_queries.h"
#include "results/query/sweep_runs.h"
#include "results/stats/stats.h"
#include "results/store/details.h"
#include "results/store/run_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sweep_side *side_of(struct sweep_model *m, const char *node)
{
    for (size_t i = 0; i < m->n_sides; i++)
        if (strcmp(m->sides[i].node, node) == 0)
            return &m->sides[i];
    struct sweep_side *side = &m->sides[m->n_sides++];
    *side = (struct sweep_side){.ratio = NAN, .low = NAN, .high = NAN};
    snprintf(side->node, sizeof side->node, "%s", node);
    return side;
}

/* The summary of a BLOCKED run has the reason. */
static int load_reason(struct sweep_side *side, struct store *s, struct err *err)
{
    AUTO(details_release) struct run_details details = {0};
    if (details_load(s, side->run.info.key, &details, err) != 0)
        return -1;
    return model_reason(&details, side->failure, sizeof side->failure, err);
}

/* A node that has several runs of the sweep shows its last. */
static int load_run(struct sweep_model *m, struct store *s, int64_t key, struct err *err)
{
    struct run_data run = {0};
    if (run_data_load(s, key, &run, err) != 0) {
        run_data_release(&run);
        return -1;
    }
    struct sweep_side *side = side_of(m, run.info.node);
    run_data_release(&side->run);
    side->run = run;
    side->has_run = true;
    side->measured = run.info.counts.ok > 0;
    return side->measured ? 0 : load_reason(side, s, err);
}

static int load_sides(struct sweep_model *m, struct store *s, const struct sweep_node *nodes, size_t n_nodes,
                      struct err *err)
{
    AUTO_FREE int64_t *keys = NULL;
    size_t n;
    if (sweep_runs(s, m->id, &keys, &n, err) != 0)
        return -1;
    m->sides = xcalloc(n + n_nodes, sizeof *m->sides);
    for (size_t i = 0; i < n_nodes; i++)
        snprintf(side_of(m, nodes[i].node)->failure, RUN_REASON_MAX, "%s", nodes[i].failure);
    for (size_t i = 0; i < n; i++)
        if (load_run(m, s, keys[i], err) != 0)
            return -1;
    return m->n_sides > 0 ? 0 : err_set(err, ERR_INPUT, "%s: no run of this sweep is in the store", m->id);
}

static int choose_reference(struct sweep_model *m, struct store *s, struct err *err)
{
    bool kernels = false;
    m->reference = 0;
    while (m->reference < m->n_sides && !m->sides[m->reference].measured)
        m->reference++;
    if (m->reference == m->n_sides) {
        m->primary = quantity_of(METRIC_PREFILL_S, false);
        return 0;
    }
    const struct run_data *run = &m->sides[m->reference].run;
    if (report_kernels_alone(s, run, &kernels, err) != 0)
        return -1;
    m->primary = quantity_of(run_data_metric(run), kernels);
    snprintf(m->ticket, sizeof m->ticket, "%s", run->info.ticket);
    snprintf(m->date, sizeof m->date, "%s", run->info.date);
    return 0;
}

static bool has_cell(const struct sweep_model *m, const char *variant, int context)
{
    for (size_t i = 0; i < m->n_cells; i++)
        if (m->cells[i].context == context && strcmp(m->cells[i].variant, variant) == 0)
            return true;
    return false;
}

static void collect_cells(struct sweep_model *m)
{
    size_t room = 0;
    for (size_t i = 0; i < m->n_sides; i++) {
        const struct run_data *run = &m->sides[i].run;
        for (size_t c = 0; c < run->n_cells; c++) {
            const char *variant = run->variants[run->cells[c].variant].name;
            if (has_cell(m, variant, run->cells[c].context))
                continue;
            ALLOC_GROW(m->cells, m->n_cells + 1, room);
            struct sweep_cell *cell = &m->cells[m->n_cells++];
            snprintf(cell->variant, sizeof cell->variant, "%s", variant);
            cell->context = run->cells[c].context;
        }
    }
}

const struct cell *sweep_model_cell(const struct sweep_model *m, size_t side, const struct sweep_cell *c)
{
    return m->sides[side].has_run ? run_data_cell(&m->sides[side].run, c->variant, c->context) : NULL;
}

struct sweep_ratio sweep_model_ratio(const struct sweep_model *m, size_t side, const struct sweep_cell *c)
{
    struct sweep_ratio r = {.value = NAN, .ratio = NAN, .error = NAN};
    enum metric metric = m->primary.metric;
    const struct cell *own = sweep_model_cell(m, side, c);
    if (!own)
        return r;
    r.value = own->median[metric];
    const struct cell *base = sweep_model_cell(m, m->reference, c);
    if (side == m->reference || !base || !(base->median[metric] > 0) || !(r.value > 0))
        return r;
    r.ratio = r.value / base->median[metric];
    r.error =
        r.ratio * cells_estimate(&m->sides[m->reference].run, base, &m->sides[side].run, own, metric).error;
    return r;
}

static void measure_side(struct sweep_model *m, size_t side)
{
    struct sweep_side *s = &m->sides[side];
    AUTO_FREE double *ratios = xcalloc(m->n_cells, sizeof *ratios);
    for (size_t i = 0; i < m->n_cells; i++) {
        double ratio = sweep_model_ratio(m, side, &m->cells[i]).ratio;
        if (isnan(ratio))
            continue;
        s->low = s->cells ? fmin(s->low, ratio) : ratio;
        s->high = s->cells ? fmax(s->high, ratio) : ratio;
        ratios[s->cells++] = ratio;
    }
    s->ratio = stats_median(ratios, s->cells);
}

static bool has_facts(const struct sweep_side *s)
{
    return s->measured && s->run.n_facts > 0;
}

/* Whether the key has another value, or none, on another side. */
static bool differs(const struct sweep_model *m, const char *key)
{
    const char *first = NULL;
    for (size_t i = 0; i < m->n_sides; i++) {
        const char *value = has_facts(&m->sides[i]) ? run_data_fact(&m->sides[i].run, key) : NULL;
        if (!has_facts(&m->sides[i]))
            continue;
        value = value ? value : "";
        if (first && strcmp(first, value) != 0)
            return true;
        first = value;
    }
    return false;
}

static bool has_fact(const struct sweep_model *m, const char *key)
{
    for (size_t i = 0; i < m->n_facts; i++)
        if (strcmp(m->facts[i].key, key) == 0)
            return true;
    return false;
}

static void add_fact(struct sweep_model *m, const char *key)
{
    ALLOC_GROW(m->facts, m->n_facts + 1, m->facts_room);
    struct sweep_fact *f = &m->facts[m->n_facts++];
    *f = (struct sweep_fact){.value = xcalloc(m->n_sides, sizeof *f->value)};
    snprintf(f->key, sizeof f->key, "%s", key);
    for (size_t i = 0; i < m->n_sides; i++) {
        const char *value = m->sides[i].has_run ? run_data_fact(&m->sides[i].run, key) : NULL;
        f->value[i] = value ? value : "";
    }
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct sweep_fact *)a)->key, ((const struct sweep_fact *)b)->key);
}

/* Whether the fact only tells one machine or card from another. */
static bool is_identity(const char *key)
{
    static const char *const last[] = {"hostname", "index", "unique_id", "kfd_id", "uuid", "serial", "pci"};
    const char *dot = strrchr(key, '.'), *name = dot ? dot + 1 : key;
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        if (strcmp(name, last[i]) == 0)
            return true;
    return false;
}

/* Whether a fact of a further GPU, "gpus3.driver", says nothing that the first one does not say on every
 * side. */
static bool is_like_first_gpu(const struct sweep_model *m, const char *key)
{
    char first[RUN_FACT_MAX];
    size_t digits = strncmp(key, "gpus", 4) == 0 ? strspn(key + 4, "0123456789") : 0;
    if (digits == 0 || key[4 + digits] != '.' || strncmp(key, "gpus0.", 6) == 0)
        return false;
    snprintf(first, sizeof first, "gpus0%s", key + 4 + digits);
    for (size_t i = 0; i < m->n_sides; i++) {
        const struct run_data *run = &m->sides[i].run;
        const char *own = m->sides[i].has_run ? run_data_fact(run, key) : NULL;
        const char *of_first = own ? run_data_fact(run, first) : NULL;
        if (own && (!of_first || strcmp(own, of_first) != 0))
            return false;
    }
    return true;
}

static bool is_difference(const struct sweep_model *m, const char *key)
{
    return !has_fact(m, key) && !is_identity(key) && differs(m, key) && !is_like_first_gpu(m, key);
}

static void collect_facts(struct sweep_model *m)
{
    for (size_t i = 0; i < m->n_sides; i++)
        for (size_t k = 0; has_facts(&m->sides[i]) && k < m->sides[i].run.n_facts; k++) {
            const char *key = m->sides[i].run.facts[k].key;
            if (is_difference(m, key))
                add_fact(m, key);
        }
    if (m->n_facts > 0)
        qsort(m->facts, m->n_facts, sizeof *m->facts, by_key);
}

int sweep_model_load(struct sweep_model *m, struct store *s, const char *id, const struct sweep_node *nodes,
                     size_t n_nodes, struct err *err)
{
    *m = (struct sweep_model){0};
    snprintf(m->id, sizeof m->id, "%s", id);
    if (load_sides(m, s, nodes, n_nodes, err) != 0 || choose_reference(m, s, err) != 0)
        return -1;
    collect_cells(m);
    collect_facts(m);
    for (size_t i = 0; i < m->n_sides; i++)
        measure_side(m, i);
    return 0;
}

void sweep_model_release(struct sweep_model *m)
{
    for (size_t i = 0; i < m->n_sides; i++)
        run_data_release(&m->sides[i].run);
    for (size_t i = 0; i < m->n_facts; i++)
        free(m->facts[i].value);
    free(m->sides);
    free(m->cells);
    free(m->facts);
    *m = (struct sweep_model){0};
}
