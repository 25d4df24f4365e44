/* causes: each kind is named where it holds, and no other where it is tempting and false.
 *
 * A world of six variants at two contexts, sixteen nights and tonight, in which a scenario plants a change
 * and what differs beside it. Each row says exactly which causes are to be found ("code!" is established,
 * "clock" coincides), for the cell of variant v0 at 1024, or for what all cells have in common.
 */
#include "tests/unit/results_support.h"

#include "results/judge/causes_find.h"
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
    bool neighbours_unknown;
    const char *code[VARIANTS]; /* what its identity is a hash of; "" for unknown */
    bool files;                 /* identities are of files */
    const char *source, *plan;
    bool warmup;
    enum status status; /* of v0 at 1024 */
    struct fact facts[FACTS_MAX];
    size_t n_facts;
};

struct world {
    struct night_of_world nights[RUNS];
    double sensitivity[VARIANTS];
    size_t variants;                /* that are measured */
    bool has_base;                  /* tonight is compared with the last night alone */
    enum confirmation confirmation; /* of v0 at 1024 */
    enum shift_cause shift_confirmed;
};

static const char plan_text[] = "{\"order\":\"grouped\",\"variants\":[{\"name\":\"v0\",\"build\":[[\"/opt/"
                                "rocm/bin/hipcc\",\"-O3\",\"{src}/a.hip\"]],"
                                "\"run\":[\"{build}/a\"]}]}";

static void set_fact(struct night_of_world *n, const char *key, const char *value)
{
    for (size_t i = 0; i < n->n_facts; i++)
        if (strcmp(n->facts[i].key, key) == 0) {
            n->facts[i].value = value;
            return;
        }
    assert_true(n->n_facts < FACTS_MAX);
    n->facts[n->n_facts++] = (struct fact){key, value};
}

static void calm_night(struct night_of_world *n)
{
    static const char *const codes[] = {"v0", "v1", "v2", "v3", "v4", "v5"};
    *n = (struct night_of_world){.memory = 1300, .source = "s1", .plan = plan_text, .status = STATUS_OK};
    for (size_t v = 0; v < VARIANTS; v++) {
        n->clock[v] = 2000;
        n->code[v] = codes[v];
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

static struct world *calm_world(void)
{
    struct world *w = calloc(1, sizeof *w);
    for (size_t i = 0; i < RUNS; i++)
        calm_night(&w->nights[i]);
    for (size_t v = 0; v < VARIANTS; v++)
        w->sensitivity[v] = 1;
    w->variants = VARIANTS;
    return w;
}

static double level_of(size_t v, size_t c)
{
    return 0.05 * (double)(v + 1) * contexts[c] / 1024;
}

/* 0.3 % between nights, 0.2 % within one. */
static struct run_data make_run(const struct world *w, int night, struct stats_rng *rng)
{
    const struct night_of_world *n = &w->nights[night];
    struct draft d;
    draft_night(&d, night);
    d.info.key = night + 1;
    if (*n->source)
        sha256_of(n->source, strlen(n->source), d.info.source_sha256);
    sha256_of(n->plan, strlen(n->plan), d.info.plan_sha256);
    for (size_t v = 0; v < w->variants; v++)
        for (size_t c = 0; c < CONTEXTS; c++) {
            double own = exp(0.003 * stats_rng_normal(rng));
            char name[8];
            snprintf(name, sizeof name, "v%zu", v);
            for (int r = 0; r < REPETITIONS + n->warmup; r++) {
                bool watched = v == 0 && c == 0;
                double clock = n->clock[v] * exp(0.001 * stats_rng_normal(rng));
                double time = level_of(v, c) * n->factor[v][c] * own * exp(0.002 * stats_rng_normal(rng)) *
                              pow(clock / 2000, -w->sensitivity[v]);
                struct run_test *t = draft_shot(&d, name, contexts[c], r + 1,
                                                time * (watched ? n->repetition[r % REPETITIONS] : 1));
                t->warmup = n->warmup && r == 0;
                t->status = watched ? n->status : STATUS_OK;
                t->value[METRIC_SCLK_MHZ] = clock > 0 ? clock : (double)NAN;
                t->activity.mclk_mhz = n->memory;
                t->activity.throttled_s = 0;
                t->activity.neighbours = n->neighbours_unknown ? RUN_UNKNOWN : n->neighbours[r % REPETITIONS];
            }
        }
    struct run_data run = run_of_draft(&d);
    run.facts = calloc(FACTS_MAX, sizeof *run.facts);
    for (size_t v = 0; v < w->variants; v++) {
        if (*n->code[v])
            sha256_of(n->code[v], strlen(n->code[v]), run.variants[v].code_sha256);
        run.variants[v].code_of_device = !n->files;
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

static void add_night(struct history *h, const struct run_data *run, int night)
{
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
                                           .device = run_device(run)};
        }
    }
    h->nights++;
}

static struct history history_of(const struct run_data *runs)
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
static struct run_details details_of(const struct world *w, const struct night_of_world *n)
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
    struct cause_run befores[KEPT];
};

static struct cause_run run_of(const struct found *f, int night)
{
    return (struct cause_run){&f->runs[night], &f->details[night], f->plans[night]};
}

static struct found *explain(const struct world *w)
{
    const struct compare_options o = compare_defaults();
    struct found *f = calloc(1, sizeof *f);
    struct stats_rng rng;
    struct err err = {0};
    stats_rng_seed(&rng, 7);
    for (int i = 0; i < RUNS; i++) {
        f->runs[i] = make_run(w, i, &rng);
        f->details[i] = details_of(w, &w->nights[i]);
        f->plans[i] = *w->nights[i].plan ? json_loads(w->nights[i].plan, 0, NULL) : NULL;
    }
    f->history = history_of(f->runs);
    assert_ok(nights_model(&f->history, METRIC_PREFILL_S, &f->model, &err), &err);
    assert_ok(compare_runs(w->has_base ? &f->runs[LAST] : NULL, &f->runs[TONIGHT],
                           w->has_base ? NULL : &f->history, &o, &f->comparison, &err),
              &err);
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
    assert_ok(causes_find(&f->input, &f->comparison, &f->comparison.causes, &err), &err);
    return f;
}

static void release(struct found *f)
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

static void names_of(const struct cell_causes *c, char out[128])
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

/* What scenarios plant. */

#define TONIGHT_OF(w) (&(w)->nights[TONIGHT])

static void slower(struct night_of_world *n, size_t v, double factor)
{
    for (size_t c = 0; c < CONTEXTS; c++)
        n->factor[v][c] *= factor;
}

static void one_cell_slower(struct world *w)
{
    TONIGHT_OF(w)->factor[0][0] = 1.1;
}

static void variant_slower(struct world *w)
{
    slower(TONIGHT_OF(w), 0, 1.1);
}

static void all_slower(struct world *w)
{
    for (size_t v = 0; v < VARIANTS; v++)
        slower(TONIGHT_OF(w), v, 1.08);
}

static void new_code(struct world *w)
{
    variant_slower(w);
    TONIGHT_OF(w)->code[0] = "v0 anew";
    TONIGHT_OF(w)->source = "s2";
}

static void new_code_of_all(struct world *w)
{
    static const char *const codes[] = {"v0 anew", "v1 anew", "v2 anew", "v3 anew", "v4 anew", "v5 anew"};
    for (size_t v = 0; v < VARIANTS; v++)
        TONIGHT_OF(w)->code[v] = codes[v];
    TONIGHT_OF(w)->source = "s2";
}

static void new_code_and_driver(struct world *w)
{
    new_code(w);
    set_fact(TONIGHT_OF(w), "driver", "6.12.0");
}

static void new_code_of_all_and_driver(struct world *w)
{
    variant_slower(w);
    new_code_of_all(w);
    set_fact(TONIGHT_OF(w), "driver", "6.12.0");
}

static void new_sources_of_the_same_code(struct world *w)
{
    one_cell_slower(w);
    TONIGHT_OF(w)->source = "s2";
}

static void new_sources_of_unknown_code(struct world *w)
{
    variant_slower(w);
    for (size_t i = 0; i < RUNS; i++)
        w->nights[i].code[0] = "";
    TONIGHT_OF(w)->source = "s2";
}

/* The new code was slow last night already. */
static void new_code_last_night(struct world *w)
{
    new_code(w);
    slower(&w->nights[LAST], 0, 1.1);
    w->nights[LAST].code[0] = "v0 anew";
    w->nights[LAST].source = "s2";
}

/* Tonight's code ran for twelve nights, then another one for four, all at one level. */
static void code_of_earlier_nights(struct world *w)
{
    variant_slower(w);
    for (int i = NIGHTS - 2; i < NIGHTS; i++)
        w->nights[i].code[0] = "v0 between";
}

static void other_kind_of_identity(struct world *w)
{
    variant_slower(w);
    TONIGHT_OF(w)->code[0] = "v0 anew";
    TONIGHT_OF(w)->files = true;
}

static void confirmed_code(struct world *w)
{
    new_code_of_all_and_driver(w);
    w->confirmation = CONFIRM_STANDS;
}

static void confirmed_node(struct world *w)
{
    new_code_of_all_and_driver(w);
    w->confirmation = CONFIRM_NODE;
}

static void faster_code(struct world *w)
{
    slower(TONIGHT_OF(w), 0, 0.85);
    TONIGHT_OF(w)->code[0] = "v0 anew";
    TONIGHT_OF(w)->source = "s2";
}

static void broken_code(struct world *w)
{
    TONIGHT_OF(w)->code[0] = "v0 anew";
    TONIGHT_OF(w)->source = "s2";
    TONIGHT_OF(w)->status = STATUS_CRASH;
}

static void new_compiler(struct world *w)
{
    variant_slower(w);
    TONIGHT_OF(w)->code[0] = "v0 anew";
    set_fact(TONIGHT_OF(w), "compilers.hipcc.version", "7.0.1");
}

static void new_compiler_and_sources(struct world *w)
{
    new_compiler(w);
    TONIGHT_OF(w)->source = "s2";
}

static void new_compiler_same_code(struct world *w)
{
    one_cell_slower(w);
    set_fact(TONIGHT_OF(w), "compilers.hipcc.version", "7.0.1");
}

/* The build calls hipcc. */
static void compiler_that_is_not_used(struct world *w)
{
    new_code(w);
    set_fact(TONIGHT_OF(w), "compilers.nvcc.version", "13.0");
}

static void new_flags(struct world *w)
{
    variant_slower(w);
    TONIGHT_OF(w)->code[0] = "v0 anew";
    TONIGHT_OF(w)->plan = "{\"order\":\"grouped\",\"variants\":[{\"name\":\"v0\",\"build\":[[\"/opt/rocm/bin/"
                          "hipcc\",\"-O1\",\"{src}/a.hip\"]],"
                          "\"run\":[\"{build}/a\"]}]}";
}

static void driver_and_one_cell(struct world *w)
{
    one_cell_slower(w);
    set_fact(TONIGHT_OF(w), "driver", "6.12.0");
}

static void driver_and_whole_variant(struct world *w)
{
    variant_slower(w);
    set_fact(TONIGHT_OF(w), "driver", "6.12.0");
}

static void driver_and_all(struct world *w)
{
    all_slower(w);
    set_fact(TONIGHT_OF(w), "driver", "6.12.0");
}

/* A newer executor records what older ones did not. */
static void fact_that_was_not_recorded(struct world *w)
{
    variant_slower(w);
    set_fact(TONIGHT_OF(w), "gpus0.firmware.smc", "4.86.1");
    set_fact(TONIGHT_OF(w), "system.governor", "powersave");
}

static void variable_of_the_variant(struct world *w)
{
    variant_slower(w);
    set_fact(TONIGHT_OF(w), "env.v0.TILE", "32");
}

static void variable_of_another_variant(struct world *w)
{
    one_cell_slower(w);
    set_fact(TONIGHT_OF(w), "env.v1.TILE", "32");
}

/* The clock of all nights varies by 2 %, so that sensitivities are known. */
static void varied_clock(struct world *w)
{
    static const double steps[] = {0, -2, 1, -1, 2, 0, -2, 2, 1, -1, 0, 2, -2, 1, -1, 0};
    for (int i = 0; i < NIGHTS; i++)
        for (size_t v = 0; v < VARIANTS; v++)
            w->nights[i].clock[v] = 2000 * (1 + steps[i] / 100);
}

static void lower_clock_of_all(struct world *w)
{
    for (size_t v = 0; v < VARIANTS; v++)
        TONIGHT_OF(w)->clock[v] = 1850;
}

static void lower_clock_measured(struct world *w)
{
    varied_clock(w);
    TONIGHT_OF(w)->clock[0] = 1850;
}

static void lower_clock_bounded(struct world *w)
{
    TONIGHT_OF(w)->clock[0] = 1850;
}

/* v0 does not care for the clock, as its nights show. */
static void clock_that_does_not_matter(struct world *w)
{
    varied_clock(w);
    w->sensitivity[0] = 0;
    one_cell_slower(w);
    TONIGHT_OF(w)->clock[0] = 1850;
}

static void lower_clock_but_faster(struct world *w)
{
    slower(TONIGHT_OF(w), 0, 0.85);
    TONIGHT_OF(w)->clock[0] = 1960;
}

static void clock_of_all_and_own_change(struct world *w)
{
    varied_clock(w);
    lower_clock_of_all(w);
    one_cell_slower(w);
}

static void clock_that_varies_as_usual(struct world *w)
{
    varied_clock(w);
    for (size_t i = 0; i < NIGHTS; i++) /* noise that hides the sensitivity */
        slower(&w->nights[i], 0, i % 4 < 2 ? 1.02 : 0.98);
    slower(TONIGHT_OF(w), 0, 1.15);
    TONIGHT_OF(w)->clock[0] = 1950;
}

static void clock_explains_a_part(struct world *w)
{
    lower_clock_measured(w);
    slower(TONIGHT_OF(w), 0, 1.2);
}

/* Code that draws more power lowers its own clock. */
static void clock_that_follows_the_code(struct world *w)
{
    lower_clock_measured(w);
    TONIGHT_OF(w)->code[0] = "v0 anew";
    TONIGHT_OF(w)->source = "s2";
}

static void power_cap(struct world *w)
{
    lower_clock_measured(w);
    set_fact(TONIGHT_OF(w), "gpus0.power_cap_w", "550");
    set_fact(TONIGHT_OF(w), "kernel", "6.8.0-45");
}

static void lower_memory_clock(struct world *w)
{
    TONIGHT_OF(w)->memory = 1170;
    variant_slower(w);
    for (size_t v = 1; v < VARIANTS; v++)
        w->sensitivity[v] = 0;
}

static void clock_of_all_measured(struct world *w)
{
    varied_clock(w);
    lower_clock_of_all(w);
}

static void neighbours_in_all_tests(struct world *w)
{
    all_slower(w);
    for (size_t i = 0; i < REPETITIONS; i++)
        TONIGHT_OF(w)->neighbours[i] = 2;
}

/* Of single tests: those beside which another process ran are slower. */
static void neighbours_of_slow_tests(struct world *w)
{
    for (size_t i = 0; i < REPETITIONS; i++) {
        TONIGHT_OF(w)->neighbours[i] = i < 2;
        TONIGHT_OF(w)->repetition[i] = i < 2 ? 1.40 : 1.12;
    }
}

static void neighbours_of_any_tests(struct world *w)
{
    one_cell_slower(w);
    for (size_t i = 0; i < REPETITIONS; i++)
        TONIGHT_OF(w)->neighbours[i] = i < 2;
}

static void neighbours_that_spare_the_others(struct world *w)
{
    one_cell_slower(w);
    for (size_t i = 0; i < REPETITIONS; i++)
        TONIGHT_OF(w)->neighbours[i] = 1;
}

static void neighbours_as_before(struct world *w)
{
    all_slower(w);
    for (size_t n = 0; n < RUNS; n++)
        for (size_t i = 0; i < REPETITIONS; i++)
            w->nights[n].neighbours[i] = 1;
}

static void neighbours_that_nobody_counted(struct world *w)
{
    neighbours_in_all_tests(w);
    for (size_t n = 0; n < NIGHTS; n++)
        w->nights[n].neighbours_unknown = true;
}

static void other_command(struct world *w)
{
    variant_slower(w);
    TONIGHT_OF(w)->plan = "{\"order\":\"grouped\",\"variants\":[{\"name\":\"v0\",\"build\":[[\"/opt/rocm/bin/"
                          "hipcc\",\"-O3\",\"{src}/a.hip\"]],"
                          "\"run\":[\"{build}/a\",\"--batch\",\"2\"]}]}";
}

/* Another hash of the plan, and nothing in it that matters. */
static void plan_with_a_comment(struct world *w)
{
    one_cell_slower(w);
    TONIGHT_OF(w)->plan =
        "{\"comment\":\"ours\",\"order\":\"grouped\",\"clock\":\"process\",\"sampling\":{\"interval_ms\":100}"
        ","
        "\"variants\":[{\"name\":\"v0\",\"build\":[[\"/opt/rocm/bin/hipcc\",\"-O3\",\"{src}/a.hip\"]],"
        "\"run\":[\"{build}/a\"]}]}";
}

static void order_and_one_cell(struct world *w)
{
    one_cell_slower(w);
    TONIGHT_OF(w)->plan = "{\"order\":\"interleaved\"}";
}

static void order_and_all(struct world *w)
{
    all_slower(w);
    TONIGHT_OF(w)->plan = "{\"order\":\"interleaved\"}";
}

static void warmup_and_all(struct world *w)
{
    all_slower(w);
    TONIGHT_OF(w)->warmup = true;
}

static void another_gpu(struct world *w)
{
    new_code(w);
    for (size_t c = 0; c < CONTEXTS; c++)
        TONIGHT_OF(w)->factor[0][c] = 1.055;
    set_fact(TONIGHT_OF(w), "gpus0.unique_id", "0xdef");
}

static void another_gpu_and_a_large_change(struct world *w)
{
    new_code(w);
    slower(TONIGHT_OF(w), 0, 1.2);
    set_fact(TONIGHT_OF(w), "gpus0.unique_id", "0xdef");
}

static void another_gpu_and_all(struct world *w)
{
    all_slower(w);
    set_fact(TONIGHT_OF(w), "gpus0.unique_id", "0xdef");
}

static void all_slower_with_new_code(struct world *w)
{
    all_slower(w);
    new_code_of_all(w);
}

static void all_slower_code_confirmed(struct world *w)
{
    all_slower_with_new_code(w);
    set_fact(TONIGHT_OF(w), "driver", "6.12.0");
    w->shift_confirmed = SHIFT_CODE;
}

static void all_slower_node_confirmed(struct world *w)
{
    all_slower_with_new_code(w);
    w->shift_confirmed = SHIFT_NODE;
}

/* The node is slower for all, and v0 has new code that is slower still. */
static void node_and_code(struct world *w)
{
    all_slower(w);
    new_code(w);
    set_fact(TONIGHT_OF(w), "driver", "6.12.0");
}

/* Two variants, and only the last night: too few cells for a common factor. */
static void few_cells(struct world *w)
{
    w->variants = 2;
    w->has_base = true;
}

static void few_cells_all_slower(struct world *w)
{
    few_cells(w);
    all_slower(w);
}

static void few_cells_all_slower_and_new_code(struct world *w)
{
    few_cells_all_slower(w);
    TONIGHT_OF(w)->code[0] = "v0 anew";
}

static void few_cells_new_code(struct world *w)
{
    few_cells(w);
    new_code(w);
}

static void few_cells_driver(struct world *w)
{
    few_cells(w);
    driver_and_one_cell(w);
}

static void base_and_new_code(struct world *w)
{
    w->has_base = true;
    new_code_and_driver(w);
}

static void base_and_one_cell(struct world *w)
{
    w->has_base = true;
    driver_and_one_cell(w);
}

static void base_and_driver(struct world *w)
{
    w->has_base = true;
    driver_and_all(w);
}

static void base_and_clock(struct world *w)
{
    w->has_base = true;
    TONIGHT_OF(w)->clock[0] = 1850;
}

struct scenario {
    void (*plant)(struct world *w);
    const char *cell;  /* causes of v0 at 1024; "" for none */
    const char *shift; /* of what all cells have in common */
    bool tempting;     /* something differs that is not the cause */
};

static const struct scenario scenarios[] = {
    /* code */
    {new_code, "code!", "", false},
    {faster_code, "code!", "", false},
    {broken_code, "code!", "", false},
    {new_code_and_driver, "code!", "", true},
    {new_code_of_all_and_driver, "code environment", "", false},
    {new_sources_of_the_same_code, "unexplained", "", true},
    {new_sources_of_unknown_code, "code", "", false},
    {new_code_last_night, "code!", "", false},
    {code_of_earlier_nights, "unexplained", "", true},
    {other_kind_of_identity, "unexplained", "", true},
    {confirmed_code, "code!", "", true},
    {all_slower_with_new_code, "", "code", false},
    {all_slower_code_confirmed, "", "code!", true},
    /* toolchain */
    {new_compiler, "code! toolchain!", "", false},
    {new_compiler_and_sources, "code! toolchain", "", false},
    {new_flags, "code! toolchain!", "", false},
    {new_compiler_same_code, "unexplained", "", true},
    {compiler_that_is_not_used, "code!", "", true},
    /* environment */
    {driver_and_all, "", "environment node!", false},
    {driver_and_whole_variant, "environment", "", false},
    {variable_of_the_variant, "environment!", "", false},
    {driver_and_one_cell, "unexplained", "", true},
    {fact_that_was_not_recorded, "unexplained", "", true},
    {variable_of_another_variant, "unexplained", "", true},
    /* clock */
    {lower_clock_measured, "clock!", "", false},
    {lower_clock_bounded, "clock", "", false},
    {clock_explains_a_part, "clock! unexplained", "", false},
    {lower_memory_clock, "clock", "", false},
    {power_cap, "environment clock!", "", true},
    {clock_of_all_measured, "", "clock! node!", false},
    {clock_that_follows_the_code, "code clock", "", false},
    {clock_that_does_not_matter, "unexplained", "", true},
    {lower_clock_but_faster, "unexplained", "", true},
    {clock_of_all_and_own_change, "unexplained", "clock! node!", true},
    {clock_that_varies_as_usual, "unexplained", "", true},
    /* node */
    {all_slower, "", "node!", false},
    {all_slower_node_confirmed, "", "node!", true},
    {confirmed_node, "environment node!", "", true},
    {node_and_code, "code!", "environment node!", true},
    /* neighbours */
    {neighbours_in_all_tests, "", "node! neighbours", false},
    {neighbours_of_slow_tests, "neighbours!", "", false},
    {neighbours_of_any_tests, "unexplained", "", true},
    {neighbours_that_spare_the_others, "unexplained", "", true},
    {neighbours_as_before, "", "node!", true},
    {neighbours_that_nobody_counted, "", "node!", true},
    /* method */
    {other_command, "method!", "", false},
    {order_and_all, "", "node! method", false},
    {another_gpu, "code method", "", false},
    {another_gpu_and_all, "", "node! method", false},
    {another_gpu_and_a_large_change, "code!", "", true},
    {plan_with_a_comment, "unexplained", "", true},
    {order_and_one_cell, "unexplained", "", true},
    {warmup_and_all, "", "node!", true},
    /* against one run */
    {base_and_new_code, "code!", "", true},
    {base_and_one_cell, "unexplained", "", true},
    {base_and_driver, "", "environment node!", false},
    {base_and_clock, "clock", "", false},
    {few_cells_all_slower, "node!", "", false},
    {few_cells_all_slower_and_new_code, "node", "", true},
    {few_cells_new_code, "code", "", false},
    {few_cells_driver, "unexplained", "", true},
    /* unexplained */
    {one_cell_slower, "unexplained", "", false},
    {variant_slower, "unexplained", "", false},
};

static void every_cause_is_named_right_and_none_false(void **state)
{
    size_t wrong = 0, tempting = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(scenarios); i++) {
        const struct scenario *s = &scenarios[i];
        struct world *w = calm_world();
        char cell[128], shift[128];
        s->plant(w);
        struct found *f = explain(w);
        names_of(causes_of(&f->comparison.causes, "v0", 1024), cell);
        names_of(causes_of(&f->comparison.causes, "", 0), shift);
        tempting += s->tempting;
        if (strcmp(cell, s->cell) != 0 || strcmp(shift, s->shift) != 0) {
            print_error(
                "scenario %zu: expected \"%s\" and in common \"%s\", found \"%s\" and \"%s\" (%s: %s)\n", i,
                s->cell, s->shift, cell, shift, verdict_name(f->comparison.deltas[0].verdict),
                f->comparison.deltas[0].reason);
            wrong++;
        }
        release(f);
        free(w);
    }
    assert_int_equal(wrong, 0);
    assert_true(2 * tempting + 8 >= COUNT(scenarios));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cause_is_named_right_and_none_false),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
