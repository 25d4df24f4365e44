/* causes_support: a world of six variants at two contexts, sixteen nights and tonight, in which a test plants
 * a change and what differs beside it, and the causes that are found in it. Everything is inline, as in
 * support.h.
 */
#pragma once

#include "tests/unit/results_support.h"

#include "results/judge/causes/causes_find.h"
#include "results/stats/stats.h"
#include "results/store/identity.h"

enum {
    VARIANTS = 6,
    CONTEXTS = 2,
    NIGHTS = 16,
    REPETITIONS = 4,
    KEPT = 4,
    FACTS_MAX = 16,
    RUNS = NIGHTS + 1
};
enum { LAST = NIGHTS - 1, TONIGHT = NIGHTS };

static const int contexts[CONTEXTS] = {1024, 4096};

struct fact {
    const char *key, *value;
};

/* One night, or tonight. */
struct night_of_world {
    double factor[VARIANTS][CONTEXTS]; /* what was planted */
    double repetition[REPETITIONS];    /* the same, of single tests of v0 at 1024 */
    double clock[VARIANTS];            /* MHz */
    double memory;                     /* MHz */
    int neighbours[REPETITIONS];
    int beside; /* tests of its own run */
    bool neighbours_unknown;
    const char *code[VARIANTS];  /* what its identity is a hash of; "" for unknown */
    const char *image[VARIANTS]; /* the digest of its container's */
    bool files;                  /* identities are of files */
    const char *source, *plan;
    bool warmup;
    double throttled_s;
    enum status status;            /* of v0 at 1024 */
    double timeout_s;              /* 0: unknown */
    const char *gpu, *watched_gpu; /* of all tests, and of those of v0 at 1024; NULL: unknown */
    struct fact facts[FACTS_MAX];
    size_t n_facts;
};

struct world {
    struct night_of_world nights[RUNS];
    double sensitivity[VARIANTS];
    size_t variants;                /* that are measured */
    bool rate;                      /* judged by throughput */
    bool has_base;                  /* tonight is compared with the last night alone */
    enum confirmation confirmation; /* of v0 at 1024 */
    enum shift_cause shift_confirmed;
    double together; /* what `noise --gpus` measured for v0 at its first context; 0: nothing */
    double noise;    /* in units of the usual one */
    uint64_t seed;   /* of the noise */
};

static const char plan_text[] = "{\"order\":\"grouped\",\"variants\":[{\"name\":\"v0\",\"build\":[[\"/opt/"
                                "rocm/bin/hipcc\",\"-O3\",\"{src}/a.hip\"]],"
                                "\"run\":[\"{build}/a\"]}]}";

static inline void set_fact(struct night_of_world *n, const char *key, const char *value)
{
    for (size_t i = 0; i < n->n_facts; i++)
        if (strcmp(n->facts[i].key, key) == 0) {
            n->facts[i].value = value;
            return;
        }
    assert_true(n->n_facts < FACTS_MAX);
    n->facts[n->n_facts++] = (struct fact){key, value};
}

static inline void calm_night(struct night_of_world *n)
{
    static const char *const codes[] = {"v0", "v1", "v2", "v3", "v4", "v5"};
    *n = (struct night_of_world){.memory = 1300, .source = "s1", .plan = plan_text, .status = STATUS_OK};
    for (size_t v = 0; v < VARIANTS; v++) {
        n->clock[v] = 2000;
        n->code[v] = codes[v];
        n->image[v] = "sha256:aaaa";
        for (size_t c = 0; c < CONTEXTS; c++)
            n->factor[v][c] = 1;
    }
    for (size_t i = 0; i < REPETITIONS; i++)
        n->repetition[i] = 1;
    set_fact(n, "driver", "6.10.5");
    set_fact(n, "rocm", "6.4.0");
    set_fact(n, "kernel", "6.8.0-40");
    set_fact(n, "compilers.hipcc.version", "6.4.0");
    set_fact(n, "compilers.nvcc.version", "12.9");
    set_fact(n, "gpus0.unique_id", "0xabc");
    set_fact(n, "gpus0.power_cap_w", "750");
    set_fact(n, "env.HSA_XNACK", "0");
    set_fact(n, "env.v0.TILE", "64");
}

static inline struct world *calm_world(void)
{
    struct world *w = calloc(1, sizeof *w);
    for (size_t i = 0; i < RUNS; i++)
        calm_night(&w->nights[i]);
    for (size_t v = 0; v < VARIANTS; v++)
        w->sensitivity[v] = 1;
    w->variants = VARIANTS;
    w->noise = 1;
    return w;
}

static inline double level_of(size_t v, size_t c)
{
    return 0.05 * (double)(v + 1) * contexts[c] / 1024;
}

/* With the usual noise, 0.3 % between nights, 0.2 % within one. d: as in draft_next_night(). */
static inline struct run_data make_run(const struct world *w, int night, struct stats_rng *rng,
                                       struct draft *d)
{
    const struct night_of_world *n = &w->nights[night];
    draft_next_night(d, night);
    d->info.key = night + 1;
    if (*n->source)
        sha256_of(n->source, strlen(n->source), d->info.source_sha256);
    sha256_of(n->plan, strlen(n->plan), d->info.plan_sha256);
    for (size_t v = 0; v < w->variants; v++)
        for (size_t c = 0; c < CONTEXTS; c++) {
            double own = exp(w->noise * 0.003 * stats_rng_normal(rng));
            char name[24];
            snprintf(name, sizeof name, "v%zu", v);
            for (int r = 0; r < REPETITIONS + n->warmup; r++) {
                bool watched = v == 0 && c == 0;
                double clock = n->clock[v] * exp(0.001 * stats_rng_normal(rng));
                double time = level_of(v, c) * n->factor[v][c] * own *
                              exp(w->noise * 0.002 * stats_rng_normal(rng)) *
                              pow(clock / 2000, -w->sensitivity[v]);
                struct run_test *t = draft_shot(d, name, contexts[c], r + 1,
                                                time * (watched ? n->repetition[r % REPETITIONS] : 1));
                t->warmup = n->warmup && r == 0;
                t->status = watched ? n->status : STATUS_OK;
                t->timeout_s = n->timeout_s > 0 ? n->timeout_s : (double)NAN;
                const char *gpu = watched ? n->watched_gpu : n->gpu;
                t->gpu = gpu ? gpu : "";
                t->value[METRIC_SCLK_MHZ] = clock > 0 ? clock : (double)NAN;
                t->activity.mclk_mhz = n->memory;
                t->activity.throttled_s = n->throttled_s;
                t->beside = n->beside;
                t->activity.neighbours = n->neighbours_unknown ? RUN_UNKNOWN : n->neighbours[r % REPETITIONS];
            }
        }
    struct run_data run = run_copied_from(d);
    run.facts = calloc(FACTS_MAX, sizeof *run.facts);
    for (size_t v = 0; v < w->variants; v++) {
        if (*n->code[v])
            sha256_of(n->code[v], strlen(n->code[v]), run.variants[v].code_sha256);
        run.variants[v].code_of_device = !n->files;
        snprintf(run.variants[v].image_digest, sizeof run.variants[v].image_digest, "%s", n->image[v]);
    }
    for (size_t i = 0; i < n->n_facts; i++) {
        size_t at = run.n_facts++;
        for (; at > 0 && strcmp(run.facts[at - 1].key, n->facts[i].key) > 0; at--)
            run.facts[at] = run.facts[at - 1];
        snprintf(run.facts[at].key, sizeof run.facts[at].key, "%s", n->facts[i].key);
        snprintf(run.facts[at].value, sizeof run.facts[at].value, "%s", n->facts[i].value);
    }
    return run;
}

static inline void add_night(struct history *h, const struct run_data *run, int night)
{
    uint64_t device = run_device(run);
    for (size_t i = 0; i < run->n_cells; i++) {
        const struct cell *c = &run->cells[i];
        static const enum metric metrics[] = {METRIC_PREFILL_S, METRIC_SCLK_MHZ};
        for (size_t m = 0; m < COUNT(metrics); m++) {
            struct history_series *s = &h->series[i * COUNT(metrics) + m];
            if (!s->points)
                s->points = calloc(NIGHTS, sizeof *s->points);
            snprintf(s->variant, sizeof s->variant, "%s", run->variants[c->variant].name);
            s->context = c->context;
            s->metric = metrics[m];
            if (c->n[metrics[m]] > 0)
                s->points[s->count++] =
                    (struct history_point){.run_key = night + 1,
                                           .median = c->median[metrics[m]],
                                           .n = REPETITIONS,
                                           .measured_at = 86400000LL * night,
                                           .within = 0.002,
                                           .code = variant_code(&run->variants[c->variant]),
                                           .device = device};
        }
    }
    h->nights++;
}

static inline struct history history_of(const struct run_data *runs)
{
    struct history h = {0};
    h.series = calloc((size_t)2 * VARIANTS * CONTEXTS, sizeof *h.series);
    h.count = (size_t)2 * VARIANTS * CONTEXTS;
    for (int i = 0; i < NIGHTS; i++)
        add_night(&h, &runs[i], i);
    history_sort(&h);
    return h;
}

/* A kernel whose registers and instructions depend on the code it is a hash of. */
static inline struct run_details details_of(const struct world *w, const struct night_of_world *n)
{
    struct run_details d = {0};
    d.kernels = calloc((size_t)2 * VARIANTS, sizeof *d.kernels);
    for (size_t v = 0; v < w->variants; v++)
        for (size_t k = 0; k < 2; k++) {
            struct run_kernel_code *code = &d.kernels[d.n_kernels++];
            const char *of = k ? "the same in all" : n->code[v];
            code->variant = v;
            code->name = strdup(k ? "reduce" : "attention");
            sha256_of(of, strlen(of), code->sha256);
            kernel_facts_init(&code->facts);
            code->facts.resource[KERNEL_VGPRS] = strlen(of) > 2 ? 128 : 96;
            code->facts.instructions[INSTRUCTION_MATRIX] = 64;
        }
    return d;
}

/* Everything that was made of a world, until it is released. */
struct found {
    struct run_data runs[RUNS];
    struct run_details details[RUNS];
    json_t *plans[RUNS];
    struct history history;
    struct nights model;
    struct comparison comparison;
    struct causes_input input;
    struct together_cell together;
    struct together together_list;
    struct cause_run befores[KEPT];
};

static inline struct cause_run run_of(const struct found *f, int night)
{
    return (struct cause_run){&f->runs[night], &f->details[night], f->plans[night]};
}

static inline struct found *explain(const struct world *w)
{
    struct compare_options o = compare_defaults();
    struct found *f = calloc(1, sizeof *f);
    struct draft d = {0};
    struct stats_rng rng;
    stats_rng_seed(&rng, w->seed);
    o.metric = w->rate ? METRIC_TOK_PER_S : o.metric;
    for (int i = 0; i < RUNS; i++) {
        f->runs[i] = make_run(w, i, &rng, &d);
        f->details[i] = details_of(w, &w->nights[i]);
        f->plans[i] = *w->nights[i].plan ? json_loads(w->nights[i].plan, 0, NULL) : NULL;
    }
    draft_release(&d);
    f->history = history_of(f->runs);
    nights_model(&f->history, METRIC_PREFILL_S, NULL, &f->model);
    compare_runs(w->has_base ? &f->runs[LAST] : NULL, &f->runs[TONIGHT], w->has_base ? NULL : &f->history, &o,
                 &f->comparison);
    f->comparison.deltas[0].confirmation = w->confirmation;
    if (w->confirmation == CONFIRM_NODE)
        f->comparison.deltas[0].verdict = VERDICT_NOISY;
    f->comparison.shift.confirmed = w->shift_confirmed;
    for (int i = 0; i < KEPT; i++)
        f->befores[i] = run_of(f, NIGHTS - KEPT + i);
    f->input = (struct causes_input){.now = run_of(f, TONIGHT),
                                     .base_key = w->has_base ? NIGHTS : 0,
                                     .nights = w->has_base ? NULL : &f->model,
                                     .clocks = w->has_base ? NULL : &f->history,
                                     .befores = f->befores,
                                     .n_befores = KEPT};
    f->together = (struct together_cell){.context = contexts[0],
                                         .metric = METRIC_PREFILL_S,
                                         .ratio = w->together,
                                         .low = w->together - 0.01,
                                         .high = w->together + 0.01,
                                         .gpus = 8};
    snprintf(f->together.variant, sizeof f->together.variant, "v0");
    f->together_list = (struct together){.cells = &f->together, .count = 1};
    if (w->together > 0)
        f->input.together = &f->together_list;
    causes_find(&f->input, &f->comparison, &f->comparison.causes);
    return f;
}

static inline void release(struct found *f)
{
    comparison_release(&f->comparison);
    nights_model_release(&f->model);
    history_release(&f->history);
    for (int i = 0; i < RUNS; i++) {
        run_data_release(&f->runs[i]);
        details_release(&f->details[i]);
        json_decref(f->plans[i]);
    }
    free(f);
}

static inline void names_of(const struct cell_causes *c, char out[128])
{
    size_t len = 0;
    *out = '\0';
    for (int k = 0; c && k < CAUSE_KINDS; k++) {
        const struct cause *cause = causes_kind(c, (enum cause_kind)k);
        if (cause)
            len +=
                (size_t)snprintf(out + len, 128 - len, "%s%s%s", len ? " " : "", cause_kind_name(cause->kind),
                                 cause->certainty == CAUSE_ESTABLISHED ? "!" : "");
    }
}
