#include "tests/simulation/simulated.h"

#include "results/store/identity.h"
#include "results/store/when.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DAY_MS = 86400000 };

static const double slow_share = 0.3, tail_share = 0.05, spike_share = 0.02;
/* The quartiles of spikes on public histories, about: 1.5 to 4 % of cells and nights there have one. */
static const double spike_sizes[] = {0.06, 0.08, 0.13, 0.30};
static const double state_changes = 0.2;
static const char *const variants[SIMULATED_VARIANTS] = {"baseline", "v1", "v2", "v3", "v4"};

static void *must_calloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) {
        fprintf(stderr, "simulated nights: no memory for %zu elements\n", count);
        abort();
    }
    return p;
}

static size_t at(size_t night, size_t cell)
{
    return night * SIMULATED_CELLS + cell;
}

const char *simulated_variant(size_t cell)
{
    return variants[cell / SIMULATED_CONTEXTS];
}

int simulated_context(size_t cell)
{
    return 256 << cell % SIMULATED_CONTEXTS;
}

size_t simulated_cell(const char *variant, int context)
{
    for (size_t i = 0; i < SIMULATED_CELLS; i++)
        if (simulated_context(i) == context && strcmp(simulated_variant(i), variant) == 0)
            return i;
    fprintf(stderr, "simulated nights: no cell %s %d\n", variant, context);
    abort();
}

void simulated_init(struct simulated *n, const struct noise_model *model, size_t count, uint64_t seed)
{
    double low = model->low > 0 ? model->low : 0.05, high = model->high > 0 ? model->high : 5;
    *n = (struct simulated){.model = model, .count = count};
    stats_rng_seed(&n->rng, seed);
    n->factor = must_calloc(count * SIMULATED_CELLS, sizeof *n->factor);
    n->shots = must_calloc(count * SIMULATED_CELLS * SIMULATED_REPETITIONS_MAX, sizeof *n->shots);
    n->repetitions = must_calloc(count, sizeof *n->repetitions);
    n->code = must_calloc(count * SIMULATED_VARIANTS, sizeof *n->code);
    n->gpu = must_calloc(count, sizeof *n->gpu);
    for (size_t i = 0; i < SIMULATED_CELLS; i++) {
        n->level[i] = low * pow(high / low, stats_rng_unit(&n->rng));
        n->phase[i] = stats_rng_unit(&n->rng);
    }
    for (size_t i = 0; i < count * SIMULATED_CELLS; i++)
        n->factor[i] = 1;
    for (size_t i = 0; i < count; i++)
        n->repetitions[i] = SIMULATED_REPETITIONS;
}

void simulated_release(struct simulated *n)
{
    free(n->factor);
    free(n->shots);
    free(n->repetitions);
    free(n->code);
    free(n->gpu);
    *n = (struct simulated){0};
}

void simulated_plant(struct simulated *n, size_t first_cell, size_t cells, size_t from, size_t to,
                     double factor)
{
    for (size_t night = from; night < to && night < n->count; night++)
        for (size_t i = first_cell; i < first_cell + cells; i++)
            n->factor[at(night, i)] *= factor;
}

void simulated_identify(struct simulated *n)
{
    for (size_t i = 0; i < n->count * SIMULATED_VARIANTS; i++)
        n->code[i] = 0x1000 + i % SIMULATED_VARIANTS;
}

void simulated_change_code(struct simulated *n, size_t variant, size_t from)
{
    for (size_t night = from; night < n->count; night++)
        n->code[night * SIMULATED_VARIANTS + variant] += 0x1000;
}

void simulated_swap_gpu(struct simulated *n, size_t from)
{
    for (size_t night = 0; night < n->count; night++)
        n->gpu[night] = night < from ? 0xa : 0xb;
}

/* The next value of an AR(1) process with this marginal standard deviation. */
static double next_of(double before, double memory, double sd, struct stats_rng *rng)
{
    return memory * before + sd * sqrt(1 - memory * memory) * stats_rng_normal(rng);
}

/* What a node does to the tests of one night. */
struct weather {
    double node;
    double cell[SIMULATED_CELLS];
    double clock;
    double extra[SIMULATED_CELLS]; /* spikes, and uneven nights */
    bool state[SIMULATED_CELLS];
    size_t cut; /* tests from this one on are in the slow state */
};

static void change_weather(const struct noise_model *m, struct weather *w, bool first, struct stats_rng *rng)
{
    w->node = next_of(w->node, first ? 0 : m->node_memory, m->node, rng);
    for (size_t i = 0; i < SIMULATED_CELLS; i++)
        w->cell[i] = next_of(w->cell[i], first ? 0 : m->cell_memory, m->cell, rng);
    w->clock = stats_rng_unit(rng) < slow_share ? m->clock_night : 0;
    w->cut = SIZE_MAX;
    if (stats_rng_unit(rng) < 0.5)
        w->cut = stats_rng_below(rng, (uint64_t)SIMULATED_CELLS * SIMULATED_REPETITIONS);
}

static void change_extras(const struct noise_model *m, struct weather *w, struct stats_rng *rng)
{
    bool uneven = m->uneven > 0 && stats_rng_unit(rng) < m->uneven;
    for (size_t i = 0; i < SIMULATED_CELLS; i++) {
        w->extra[i] = uneven ? m->uneven_by * 1.5 * fabs(stats_rng_normal(rng)) : 0;
        if (m->spikes > 0 && stats_rng_unit(rng) < m->spikes)
            w->extra[i] += spike_sizes[stats_rng_below(rng, sizeof spike_sizes / sizeof *spike_sizes)];
        if (m->states > 0 && i % 4 == 0 && stats_rng_unit(rng) < state_changes)
            w->state[i] = !w->state[i];
        w->extra[i] += w->state[i] ? m->states : 0;
    }
}

/* Of a cell and night, before its tests scatter. */
static double conditions_of(const struct simulated *n, const struct weather *w, size_t night, size_t cell)
{
    return n->level[cell] * (1 + w->node) * (1 + w->cell[cell]) * (1 + w->clock) * (1 + w->extra[cell]) *
           pow(1 + n->model->drift, (double)night);
}

static double rounded(double x, double unit, double phase)
{
    double steps = round(x / unit + phase) - phase;
    return unit * fmax(steps, 1 - phase);
}

static double one_shot(struct simulated *n, size_t cell, double expected, bool slow)
{
    const struct noise_model *m = n->model;
    double x = expected * (1 + m->within * stats_rng_normal(&n->rng));
    if (stats_rng_unit(&n->rng) < slow_share)
        x *= 1 + m->clock_test;
    if (stats_rng_unit(&n->rng) < tail_share)
        x *= 1 + m->tail;
    if (slow)
        x *= 1 + m->clock_cut;
    if (m->step > 0)
        x = rounded(x, m->step * n->level[cell], n->phase[cell]);
    if (m->tick > 0)
        x = rounded(x, m->tick, 0);
    return x;
}

static void measure_night(struct simulated *n, const struct weather *w, size_t night)
{
    for (size_t i = 0; i < SIMULATED_CELLS; i++) {
        n->last[i] = conditions_of(n, w, night, i);
        double expected = n->last[i] * n->factor[at(night, i)];
        if (stats_rng_unit(&n->rng) < spike_share && night + 1 < n->count)
            expected *= 1 + n->model->spike;
        for (int r = 0; r < n->repetitions[night]; r++) {
            size_t done = i * SIMULATED_REPETITIONS + (size_t)r;
            n->shots[at(night, i) * SIMULATED_REPETITIONS_MAX + (size_t)r] =
                one_shot(n, i, expected, done >= w->cut);
        }
    }
}

void simulated_measure(struct simulated *n)
{
    struct weather w = {0};
    for (size_t night = 0; night < n->count; night++) {
        change_weather(n->model, &w, night == 0, &n->rng);
        change_extras(n->model, &w, &n->rng);
        measure_night(n, &w, night);
    }
}

const double *simulated_shots(const struct simulated *n, size_t night, size_t cell, size_t *count)
{
    *count = (size_t)n->repetitions[night];
    return n->shots + at(night, cell) * SIMULATED_REPETITIONS_MAX;
}

size_t simulated_again(struct simulated *n, size_t build, size_t cell, double out[SIMULATED_REPETITIONS])
{
    for (size_t r = 0; r < SIMULATED_REPETITIONS; r++)
        out[r] = one_shot(n, cell, n->last[cell] * n->factor[at(build, cell)], false);
    return SIMULATED_REPETITIONS;
}

double simulated_median(const struct simulated *n, size_t night, size_t cell)
{
    size_t count;
    const double *x = simulated_shots(n, night, cell, &count);
    return stats_median(x, count);
}

static int64_t first_night(void)
{
    return when_midnight("2025-01-01");
}

static struct run_fact device_fact(uint64_t gpu)
{
    struct run_fact f = {.key = "gpus.0.uuid"};
    snprintf(f.value, sizeof f.value, "GPU-%llu", (unsigned long long)gpu);
    return f;
}

static uint64_t device_of(uint64_t gpu)
{
    struct device_identity id;
    if (!gpu)
        return 0;
    struct run_fact f = device_fact(gpu);
    device_identity_begin(&id);
    device_identity_add(&id, &f);
    return device_identity_end(&id);
}

static struct history_point point_of(const struct simulated *n, size_t night, size_t cell)
{
    size_t count;
    const double *x = simulated_shots(n, night, cell, &count);
    double median = stats_median(x, count);
    return (struct history_point){
        .run_key = (int64_t)night + 1,
        .median = median,
        .n = (int)count,
        .within = stats_sd(x, count) / median,
        .code = n->code[night * SIMULATED_VARIANTS + cell / SIMULATED_CONTEXTS],
    };
}

/* What the points of a night have in common. */
static void place_night(const struct simulated *n, struct history *h, size_t night, size_t from)
{
    int64_t measured_at = first_night() + (int64_t)night * DAY_MS;
    uint64_t device = device_of(n->gpu[night]);
    for (size_t i = 0; i < h->count; i++) {
        h->series[i].points[night - from].measured_at = measured_at;
        h->series[i].points[night - from].device = device;
    }
}

struct history simulated_history(const struct simulated *n, size_t from, size_t to)
{
    size_t count = to - from;
    struct history h = {.series = must_calloc(SIMULATED_CELLS, sizeof *h.series), .nights = count};
    for (size_t i = 0; count && i < SIMULATED_CELLS; i++) {
        struct history_series *s = &h.series[h.count++];
        *s = (struct history_series){
            .context = simulated_context(i), .metric = n->model->metric, .count = count};
        snprintf(s->variant, sizeof s->variant, "%s", simulated_variant(i));
        s->points = must_calloc(count, sizeof *s->points);
        for (size_t night = from; night < to; night++)
            s->points[night - from] = point_of(n, night, i);
    }
    for (size_t night = from; night < to; night++)
        place_night(n, &h, night, from);
    history_sort(&h);
    return h;
}

static void name_run(struct run_info *r, const struct simulated *n, size_t night)
{
    r->key = (int64_t)night + 1;
    snprintf(r->run_id, sizeof r->run_id, "night-%04zu", night);
    snprintf(r->ticket, sizeof r->ticket, "simulated");
    snprintf(r->node, sizeof r->node, "192.0.2.10");
    snprintf(r->mode, sizeof r->mode, "perf");
    snprintf(r->origin, sizeof r->origin, "bundle");
    when_format(first_night() + (int64_t)night * DAY_MS, r->started_at);
    memcpy(r->date, r->started_at, 10);
    r->status = RUN_COMPLETE;
    r->counts.total = r->counts.ok = SIMULATED_CELLS * n->repetitions[night];
}

static void add_variants(struct run_data *run, const struct simulated *n, size_t night)
{
    run->variants = must_calloc(SIMULATED_VARIANTS, sizeof *run->variants);
    run->n_variants = SIMULATED_VARIANTS;
    for (size_t i = 0; i < SIMULATED_VARIANTS; i++) {
        struct run_variant *v = &run->variants[i];
        uint64_t code = n->code[night * SIMULATED_VARIANTS + i];
        snprintf(v->name, sizeof v->name, "%s", variants[i]);
        for (int m = 0; m < METRIC_COUNT; m++)
            v->value[m] = NAN;
        if (code) {
            snprintf(v->code_sha256, sizeof v->code_sha256, "%016llx%048d", (unsigned long long)code, 0);
            v->code_of_device = true;
        }
    }
}

static void add_test(struct run_data *run, const struct simulated *n, size_t cell, size_t repetition,
                     double value)
{
    struct run_test *t = &run->tests[run->n_tests++];
    *t = (struct run_test){
        .variant = cell / SIMULATED_CONTEXTS,
        .context = simulated_context(cell),
        .repetition = (int)repetition + 1,
        .index = (int)run->n_tests,
        .reason = "",
        .gpu = "",
        .exit_code = 0,
        .samples = RUN_UNKNOWN,
        .prompt_tokens = RUN_UNKNOWN,
    };
    t->used.vram_before = t->used.vram_after = t->used.vram_max_gap_ms = t->used.cpu_user_s =
        t->used.cpu_system_s = NAN;
    run_activity_init(&t->activity);
    for (int m = 0; m < METRIC_COUNT; m++)
        t->value[m] = NAN;
    t->value[n->model->metric] = value;
}

static struct run_data empty_run(const struct simulated *n, size_t night)
{
    struct run_data run = {0};
    name_run(&run.info, n, night);
    add_variants(&run, n, night);
    if (n->gpu[night]) {
        run.facts = must_calloc(1, sizeof *run.facts);
        run.facts[run.n_facts++] = device_fact(n->gpu[night]);
    }
    run.tests = must_calloc((size_t)SIMULATED_CELLS * SIMULATED_REPETITIONS_MAX, sizeof *run.tests);
    return run;
}

struct run_data simulated_run(const struct simulated *n, size_t night)
{
    struct run_data run = empty_run(n, night);
    for (size_t i = 0; i < SIMULATED_CELLS; i++) {
        size_t count;
        const double *x = simulated_shots(n, night, i, &count);
        for (size_t r = 0; r < count; r++)
            add_test(&run, n, i, r, x[r]);
    }
    run_data_make_cells(&run);
    return run;
}

void session_init(struct session *s, struct simulated *n)
{
    struct weather w = {0};
    change_weather(n->model, &w, true, &n->rng);
    for (size_t i = 0; i < SIMULATED_CELLS; i++)
        s->conditions[i] = conditions_of(n, &w, n->count - 1, i);
}

struct run_data session_run(struct session *s, struct simulated *n, size_t night)
{
    struct run_data run = empty_run(n, night);
    for (size_t i = 0; i < SIMULATED_CELLS; i++)
        for (size_t r = 0; r < SIMULATED_REPETITIONS; r++)
            add_test(&run, n, i, r, one_shot(n, i, s->conditions[i] * n->factor[at(night, i)], false));
    run_data_make_cells(&run);
    return run;
}
