/* The judge on real nights (tests/fixtures/nights): thirty nights of one build on two GPUs, and nine nights
 * with one kernel changed. Each is judged against the nights before it.
 */
#include "tests/unit/support.h"

#include "results/ingest/text/csv.h"
#include "results/judge/compare.h"
#include "results/stats/stats.h"
#include "results/store/identity.h"
#include "results/store/when.h"

enum { NIGHTS = 30, ON_FIRST_GPU = 16, PLANTS = 9, HISTORY_LEAST = 8, CELLS = 20, REPETITIONS = 3 };

struct real_nights {
    struct run_data runs[NIGHTS + 1];
    size_t count;
};

static struct real_nights nights, planted;

static const char *text(const json_t *row, const char *key)
{
    const char *value = json_string_value(json_object_get(row, key));
    assert_non_null(value);
    return value;
}

static size_t variant_of(struct run_data *run, const char *name, const char *code)
{
    for (size_t i = 0; i < run->n_variants; i++)
        if (strcmp(run->variants[i].name, name) == 0)
            return i;
    struct run_variant *v = &run->variants[run->n_variants++];
    snprintf(v->name, sizeof v->name, "%s", name);
    snprintf(v->code_sha256, sizeof v->code_sha256, "%s", code);
    v->code_of_device = true;
    for (int m = 0; m < METRIC_COUNT; m++)
        v->value[m] = NAN;
    return run->n_variants - 1;
}

static void add_test(struct run_data *run, const json_t *row)
{
    char name[RUN_NAME_MAX];
    snprintf(name, sizeof name, "%s", text(row, "series"));
    char *slash = strchr(name, '/');
    assert_non_null(slash);
    *slash = '\0';
    struct run_test *t = &run->tests[run->n_tests++];
    *t = (struct run_test){.variant = variant_of(run, name, text(row, "code")),
                           .context = (int)strtol(slash + 1, NULL, 10),
                           .reason = "",
                           .gpu = "",
                           .repetition = (int)strtol(text(row, "repetition"), NULL, 10)};
    run_activity_init(&t->activity);
    for (int m = 0; m < METRIC_COUNT; m++)
        t->value[m] = NAN;
    t->value[METRIC_PREFILL_S] = strtod(text(row, "value"), NULL);
}

static void begin_night(struct real_nights *n, const json_t *row)
{
    struct run_data *run = &n->runs[n->count++];
    run->variants = calloc(CELLS, sizeof *run->variants);
    run->tests = calloc((size_t)CELLS * REPETITIONS, sizeof *run->tests);
    run->facts = calloc(1, sizeof *run->facts);
    assert_true(run->variants && run->tests && run->facts);
    run->n_facts = 1;
    snprintf(run->facts->key, sizeof run->facts->key, "gpus[0].unique_id");
    snprintf(run->facts->value, sizeof run->facts->value, "%s", text(row, "gpu"));
    snprintf(run->info.tag, sizeof run->info.tag, "%s", text(row, "night"));
    snprintf(run->info.started_at, sizeof run->info.started_at, "%s", text(row, "measured_at"));
    run->info.key = when_parse(run->info.started_at);
}

static void load(const char *path, struct real_nights *n)
{
    struct err err = {0};
    AUTO(buf_release) struct buf csv = {.max = 1 << 20};
    if (fs_read_file(path, csv.max, &csv, &err) != 0)
        fail_msg("%s", err.msg);
    json_t *rows = csv_parse(buf_str(&csv), csv.len, path, NULL, NULL, &err);
    assert_non_null(rows);
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        if (n->count == 0 || strcmp(n->runs[n->count - 1].info.tag, text(row, "night")) != 0)
            begin_night(n, row);
        add_test(&n->runs[n->count - 1], row);
    }
    for (i = 0; i < n->count; i++)
        run_data_make_cells(&n->runs[i]);
    json_decref(rows);
}

static int load_nights(void **state)
{
    (void)state;
    load("tests/fixtures/nights/nights.csv", &nights);
    load("tests/fixtures/nights/planted.csv", &planted);
    return nights.count == NIGHTS && planted.count == PLANTS ? 0 : -1;
}

static int release_nights(void **state)
{
    (void)state;
    for (size_t i = 0; i < nights.count; i++)
        run_data_release(&nights.runs[i]);
    for (size_t i = 0; i < planted.count; i++)
        run_data_release(&planted.runs[i]);
    return 0;
}

static struct history_point point_of(const struct run_data *run, const struct cell *c)
{
    double values[REPETITIONS];
    size_t n = run_data_values(run, c, METRIC_PREFILL_S, values);
    double median = c->median[METRIC_PREFILL_S];
    return (struct history_point){.run_key = run->info.key,
                                  .median = median,
                                  .n = (int)n,
                                  .measured_at = run->info.key,
                                  .within = stats_sd(values, n) / median,
                                  .code = variant_code(&run->variants[c->variant]),
                                  .device = run_device(run)};
}

/* Nights [from, to), without one of them, and then one with a planted change if there is one. */
static struct history history_of(size_t from, size_t to, size_t without, const struct run_data *then)
{
    const struct run_data *first = &nights.runs[from];
    struct history h = {.series = calloc(CELLS, sizeof *h.series), .nights = to - from};
    assert_non_null(h.series);
    for (size_t i = 0; i < first->n_cells; i++) {
        struct history_series *s = &h.series[h.count++];
        const char *variant = first->variants[first->cells[i].variant].name;
        snprintf(s->variant, sizeof s->variant, "%s", variant);
        s->context = first->cells[i].context;
        s->metric = METRIC_PREFILL_S;
        s->points = calloc(to - from + 1, sizeof *s->points);
        assert_non_null(s->points);
        for (size_t k = from; k < to; k++)
            if (k != without)
                s->points[s->count++] =
                    point_of(&nights.runs[k], run_data_cell(&nights.runs[k], variant, s->context));
        if (then)
            s->points[s->count++] = point_of(then, run_data_cell(then, variant, s->context));
    }
    history_sort(&h);
    return h;
}

static struct comparison judge(const struct run_data *now, size_t from, size_t to, size_t without,
                               const struct run_data *then)
{
    struct compare_options o = compare_defaults();
    struct comparison c;
    struct history h = history_of(from, to, without, then);
    compare_runs(NULL, now, &h, &o, &c);
    history_release(&h);
    return c;
}

static void print_changes(const char *night, const struct comparison *c)
{
    if (c->shift.found)
        print_message("night %s: all cells %+.1f %%\n", night, 100 * (c->shift.ratio - 1));
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        if (verdict_is_slower(d->verdict) || d->verdict == VERDICT_IMPROVED)
            print_message("night %s: %s %d %s %+.1f %%\n", night, d->variant, d->context,
                          verdict_name(d->verdict), 100 * (d->estimate.ratio - 1));
    }
}

/* How many of the nights [from, to) alarm, judged against the nights since `since`. */
static int alarms(size_t since, size_t from, size_t to)
{
    int count = 0;
    for (size_t i = from; i < to; i++) {
        AUTO(comparison_release) struct comparison c = judge(&nights.runs[i], since, i, NIGHTS, NULL);
        count += comparison_regressed(&c);
        print_changes(nights.runs[i].info.tag, &c);
    }
    print_message("%d of %zu nights alarm\n", count, to - from);
    return count;
}

TEST(nights_of_one_build_on_one_gpu_raise_no_alarm)
{
    assert_int_equal(alarms(0, HISTORY_LEAST, ON_FIRST_GPU), 0);
    assert_int_equal(alarms(ON_FIRST_GPU, ON_FIRST_GPU + HISTORY_LEAST, NIGHTS), 0);
}

TEST(nights_of_one_build_raise_no_alarm_on_another_gpu)
{
    assert_true(alarms(0, HISTORY_LEAST, NIGHTS) <= 1);
}

/* The order in which they were measured is the only thing that tells nights of one build apart. */
TEST(of_thirty_nights_judged_by_the_others_of_their_gpu_at_most_one_alarms)
{
    int count = 0;
    for (size_t i = 0; i < NIGHTS; i++) {
        bool first = i < ON_FIRST_GPU;
        struct comparison c =
            judge(&nights.runs[i], first ? 0 : ON_FIRST_GPU, first ? ON_FIRST_GPU : NIGHTS, i, NULL);
        count += comparison_regressed(&c);
        print_changes(nights.runs[i].info.tag, &c);
        comparison_release(&c);
    }
    print_message("%d of %d nights alarm\n", count, NIGHTS);
    assert_true(count <= 1);
}

struct plant {
    const char *night, *variant;
    int least; /* cells of the variant that must be found slower on that night */
};

static const struct plant plants[PLANTS] = {
    {"barrier_half", "baseline_vec", 4},  {"barrier_one", "baseline_vec", 4},
    {"tile_vec_16", "baseline_vec", 3},   {"spill_v5_192", "v5", 0},
    {"barrier_two", "baseline_vec", 4},   {"tile_fa1_4", "fa1_serial_kv", 1},
    {"tile_fa1_2", "fa1_serial_kv", 3},   {"spill_vec_200", "baseline_vec", 4},
    {"spill_vec_192", "baseline_vec", 4},
};

/* Judges a planted night by the nights before, of which another one with a change may be the last, and counts
 * the cells that are slower. No cell of another variant may be. */
static int count_slower(size_t plant, const struct run_data *then, bool finding)
{
    const struct run_data *now = &planted.runs[plant];
    size_t to = now->info.key > nights.runs[ON_FIRST_GPU].info.key ? NIGHTS : ON_FIRST_GPU;
    AUTO(comparison_release) struct comparison c = judge(now, 0, to, NIGHTS, then);
    int found = 0;
    assert_string_equal(now->info.tag, plants[plant].night);
    print_changes(now->info.tag, &c);
    for (size_t k = 0; k < c.count; k++) {
        const struct delta *d = &c.deltas[k];
        if (!(finding ? d->verdict == VERDICT_REGRESSED : verdict_is_slower(d->verdict)))
            continue;
        assert_string_equal(d->variant, plants[plant].variant);
        found++;
    }
    return found;
}

TEST(planted_changes_are_suspects_on_their_first_night)
{
    for (size_t i = 0; i < PLANTS; i++)
        assert_true(count_slower(i, NULL, false) >= plants[i].least);
}

/* Two changes of one variant, one night after the other. Less than 5 % may need a third. */
TEST(a_variant_that_is_slower_on_two_nights_is_a_finding)
{
    static const struct {
        size_t first, second;
        int least;
    } pairs[] = {{1, 2, 2}, {4, 7, 4}, {7, 8, 4}};
    for (size_t i = 0; i < COUNT(pairs); i++)
        assert_true(count_slower(pairs[i].second, &planted.runs[pairs[i].first], true) >= pairs[i].least);
}

GROUP(load_nights, release_nights);
