/* bench/judging: the judge on simulated nights, beside simple rules, as tables; see scripts/bench/judging.
 *
 *   judging [--seed N] [--nights N]            noise, planted changes, change points
 *   judging --csv FILE [--better more]         what each rule flags in histories of the user's own
 */
#include "common/base/args.h"
#include "results/judge/nights/changes.h"
#include "tests/simulation/csv_nights.h"
#include "tests/simulation/otava.h"
#include "tests/simulation/scenarios.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY_LEAST = 8, HISTORY_SOME = 20, HISTORY_MOST = 40, SERIES_NIGHTS = 60 };

/* A row of the first table: the judge with one kind of evidence, or a rule. */
struct judged {
    struct score score;
    struct score some, many; /* still nights after 8 to 19 others, and after more */
};

enum { ROWS = AGAINST_COUNT + RULE_COUNT };

static const char *row_name(size_t row, char *out, size_t size)
{
    if (row < AGAINST_COUNT)
        snprintf(out, size, "judge: %s", against_name((enum against_what)row));
    else
        snprintf(out, size, "%s", rule_name((enum rule)(row - AGAINST_COUNT)));
    return out;
}

static bool judge_row(struct simulated *n, size_t row, bool slower[SIMULATED_CELLS])
{
    if (row >= AGAINST_COUNT) {
        trial_rule(n, (enum rule)(row - AGAINST_COUNT), slower);
        return false;
    }
    struct comparison c = trial_compare(n, (enum against_what)row, n->count - 2);
    bool fails = comparison_regressed(&c);
    trial_judge(&c, slower);
    comparison_release(&c);
    return fails;
}

static void judge_night(const struct noise_model *m, size_t i, uint64_t seed, struct judged rows[ROWS])
{
    static const double by[] = {1.03, 1.05, 1.08, 1.10};
    size_t history = HISTORY_LEAST + i / 2 % (HISTORY_MOST - HISTORY_LEAST + 1), cell = NO_CELL;
    struct simulated n;
    simulated_init(&n, m, history + 1, seed);
    if (i % 2) {
        cell = stats_rng_below(&n.rng, SIMULATED_CELLS);
        simulated_plant(&n, cell, 1, history, history + 1, by[stats_rng_below(&n.rng, 4)]);
    }
    simulated_measure(&n);
    for (size_t row = 0; row < ROWS; row++) {
        bool slower[SIMULATED_CELLS];
        bool fails = judge_row(&n, row, slower);
        score_add(&rows[row].score, slower, cell);
        rows[row].score.findings += fails && cell == NO_CELL;
        score_add(history < HISTORY_SOME ? &rows[row].some : &rows[row].many, slower, cell);
    }
    simulated_release(&n);
}

/* Writes "-" for NaN, as there is no such number. */
static const char *number(double x, double scale, const char *format, char out[16])
{
    if (isnan(x))
        snprintf(out, 16, "-");
    else
        snprintf(out, 16, strcmp(format, "%.1f") == 0 ? "%.1f" : "%.2f", scale * x);
    return out;
}

static void print_noise(const struct noise_model *m, size_t nights, uint64_t seed)
{
    struct judged rows[ROWS] = {0};
    for (size_t i = 0; i < nights; i++)
        judge_night(m, i, seed + i, rows);
    for (size_t row = 0; row < ROWS; row++) {
        char name[64], cells[7][16];
        const struct judged *j = &rows[row];
        bool ours = row < AGAINST_COUNT;
        printf("%-15s %-22s %7s %7s %7s %7s %7s %7s %7s\n", row ? "" : m->name,
               row_name(row, name, sizeof name), number(score_alarms(&j->score), 100, "%.1f", cells[0]),
               number(score_alarms(&j->some), 100, "%.1f", cells[1]),
               number(score_alarms(&j->many), 100, "%.1f", cells[2]),
               number(ours ? (double)j->score.findings / j->score.still : NAN, 100, "%.1f", cells[3]),
               number(score_precision(&j->score), 1, "%.2f", cells[4]),
               number(score_recall(&j->score), 1, "%.2f", cells[5]),
               number(score_f1(&j->score), 1, "%.2f", cells[6]));
    }
}

static void print_noises(size_t nights, uint64_t seed)
{
    size_t count;
    const struct noise_model *models = noise_models(&count);
    printf(
        "Noise. %zu nights each after 8 to 40 others, 40 cells, half of the nights with one cell 3, 5, 8 or "
        "10 %% slower.\nalarms: %% of the nights without a change in which a cell is called slower (the "
        "judge: at least "
        "suspected), also "
        "after 8-19 and after 20 and more nights;\nexit 4: %% of them that fail for any reason.\n\n",
        nights);
    printf("%-15s %-22s %7s %7s %7s %7s %7s %7s %7s\n", "noise", "rule", "alarms", "8-19", "20+", "exit 4",
           "prec.", "recall", "F1");
    for (size_t i = 0; i < count; i++)
        print_noise(&models[i], nights, seed + i * nights);
}

/* How often the judge and each rule found something in one scenario over many nights. */
struct outcome {
    int found, others, improved, shifts, fails;
    int by_rule[RULE_COUNT];
};

static void play(const struct scenario *s, uint64_t seed, struct outcome *out)
{
    struct simulated n;
    bool slower[SIMULATED_CELLS];
    simulated_init(&n, noise_model_named(s->noise), s->count, seed);
    scenario_plant(s, &n);
    simulated_measure(&n);
    struct comparison c = trial_compare(&n, s->against, s->base);
    trial_judge(&c, slower);
    for (size_t i = 0; i < SIMULATED_CELLS; i++) {
        bool planted = i >= s->first && i < s->first + s->cells;
        out->found += slower[i] && planted;
        out->others += slower[i] && !planted;
    }
    for (size_t i = 0; i < c.count; i++)
        out->improved += c.deltas[i].verdict == VERDICT_IMPROVED;
    out->shifts += c.shift.found;
    out->fails += comparison_regressed(&c);
    comparison_release(&c);
    for (int r = 0; r < RULE_COUNT; r++) {
        trial_rule(&n, (enum rule)r, slower);
        for (size_t i = s->first; i < s->first + s->cells; i++)
            out->by_rule[r] += slower[i];
    }
    simulated_release(&n);
}

static void print_scenarios(size_t nights, uint64_t seed)
{
    size_t count;
    const struct scenario *all = scenarios(&count);
    printf(
        "\nPlanted changes, %zu nights each. found: %% of the changed cells that the judge calls slower; "
        "other "
        "cells that it\ncalls slower, and cells that it calls improved, a night; %% of nights with one "
        "finding "
        "about all cells, and that fail\n(exit status 4); then what the rules find of the changed cells.\n\n",
        nights);
    printf("%-50s %-11s %6s %6s %6s %6s %6s | %8s %6s %6s %6s %6s %8s\n", "change", "noise", "found",
           "others", "impr.", "shift", "fail", "last ten", "Welch", "Otava", "z", "A/B/A", "repeated");
    for (size_t k = 0; k < count; k++) {
        struct outcome o = {0};
        for (size_t i = 0; i < nights; i++)
            play(&all[k], seed + k * nights + i, &o);
        double each = 100.0 / (double)nights, cells = each / (double)all[k].cells;
        printf("%-50s %-11s %6.1f %6.2f %6.2f %6.1f %6.1f |", all[k].title, all[k].noise, cells * o.found,
               each / 100 * o.others, each / 100 * o.improved, each * o.shifts, each * o.fails);
        for (int r = 0; r < RULE_COUNT; r++)
            printf(" %*.1f", r == RULE_LAST_TEN || r == RULE_REPEATED ? 8 : 6, cells * o.by_rule[r]);
        printf("\n");
    }
}

/* Change points of one series: found of the planted ones within two nights, and others. */
struct points {
    int series, complete, others;
};

struct planted_series {
    const char *title;
    double noise, step;
    size_t from, to; /* nights at the other level; the end of the series is no change */
    double spike;    /* on night 30 */
};

static bool near(size_t a, size_t b)
{
    return a <= b + 2 && b <= a + 2;
}

static void add_points(const struct planted_series *s, const size_t *at, const double *ratio, size_t n,
                       struct points *out)
{
    bool up = s->from == s->to, down = s->from == s->to || s->to == SERIES_NIGHTS;
    for (size_t i = 0; i < n; i++) {
        bool is_up = s->from != s->to && near(at[i], s->from) && ratio[i] > 1,
             is_down = s->from != s->to && s->to < SERIES_NIGHTS && near(at[i], s->to) && ratio[i] < 1;
        up |= is_up;
        down |= is_down;
        out->others += !is_up && !is_down;
    }
    out->series++;
    out->complete += up && down;
}

static void find_both(const struct planted_series *s, const double *x, struct points *ours,
                      struct points *otava)
{
    struct changes c;
    const struct changes_options o = changes_defaults();
    const struct otava_options oo = otava_defaults();
    struct otava_point found[SERIES_NIGHTS];
    size_t at[SERIES_NIGHTS];
    double ratio[SERIES_NIGHTS];
    changes_find(x, SERIES_NIGHTS, &o, &c);
    for (size_t i = 0; i < c.count; i++) {
        at[i] = c.items[i].at;
        ratio[i] = c.items[i].ratio;
    }
    add_points(s, at, ratio, c.count, ours);
    changes_release(&c);
    size_t n = otava_find(x, SERIES_NIGHTS, &oo, found);
    for (size_t i = 0; i < n; i++) {
        at[i] = found[i].at;
        ratio[i] = found[i].after / found[i].before;
    }
    add_points(s, at, ratio, n, otava);
}

static void print_series(const struct planted_series *s, size_t count, uint64_t seed)
{
    const struct noise_model m = {.name = "series", .cell = s->noise, .within = 0.007};
    struct points ours = {0}, otava = {0};
    for (size_t i = 0; i * SIMULATED_CELLS < count; i++) {
        struct simulated n;
        simulated_init(&n, &m, SERIES_NIGHTS, seed + i);
        simulated_plant(&n, 0, SIMULATED_CELLS, s->from, s->to, 1 + s->step);
        simulated_plant(&n, 0, SIMULATED_CELLS, 30, 31, 1 + s->spike);
        simulated_measure(&n);
        for (size_t cell = 0; cell < SIMULATED_CELLS; cell++) {
            double x[SERIES_NIGHTS];
            for (size_t night = 0; night < SERIES_NIGHTS; night++)
                x[night] = simulated_median(&n, night, cell);
            find_both(s, x, &ours, &otava);
        }
        simulated_release(&n);
    }
    printf("%-36s %5.1f %%  %9.2f %9.2f  %9.2f %9.2f\n", s->title, 100 * s->noise,
           (double)ours.complete / ours.series, (double)ours.others / ours.series,
           (double)otava.complete / otava.series, (double)otava.others / otava.series);
}

static void print_changes(size_t count, uint64_t seed)
{
    static const struct planted_series all[] = {
        {"no change", 0.005, 0, 0, 0, 0},
        {"no change", 0.015, 0, 0, 0, 0},
        {"no change, a night of +100 %", 0.015, 0, 0, 0, 1},
        {"step of 5 %", 0.005, 0.05, 40, SERIES_NIGHTS, 0},
        {"step of 5 %", 0.015, 0.05, 40, SERIES_NIGHTS, 0},
        {"step of 5 % on the last five nights", 0.015, 0.05, 55, SERIES_NIGHTS, 0},
        {"bump of 5 %, 8 nights", 0.005, 0.05, 40, 48, 0},
        {"bump of 5 %, 8 nights", 0.015, 0.05, 40, 48, 0},
        {"step of 5 % after a night of +30 %", 0.015, 0.05, 40, SERIES_NIGHTS, 0.3},
        {"step of 5 % after a night of +100 %", 0.015, 0.05, 40, SERIES_NIGHTS, 1},
        {"bump of 5 % after a night of +100 %", 0.015, 0.05, 40, 48, 1},
    };
    printf(
        "\nChange points of series of %d nights: share of series in which all changes are found within two "
        "nights,\nand other points a series.\n\n%-36s %7s  %9s %9s  %9s %9s\n",
        SERIES_NIGHTS, "series", "noise", "judge", "others", "Otava", "others");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        print_series(&all[i], count, seed + i * count);
}

static int read_count(const char *text, const char *option, uint64_t *out, struct err *err)
{
    char *end;
    if (!text)
        return 0;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || v == 0 || v > 1000000000)
        return err_set(err, ERR_INPUT, "%s: \"%s\" is not a number from 1 to 1000000000", option, text);
    *out = v;
    return 0;
}

struct bench_args {
    const char *seed, *nights, *csv, *better;
    bool help;
};

#define AT(member) ARG_AT(struct bench_args, member)

static const struct arg options[] = {
    {"-h,--help", NULL, AT(help), "print this"},
    {"--seed", "N", AT(seed), "of the simulated nights"},
    {"--nights", "N", AT(nights), "nights for each row (default 400)"},
    {"--csv", "FILE", AT(csv), "judge these histories instead: series,night,value[,n]"},
    {"--better", "less|more", AT(better), "of the values in FILE (default less)"},
};

static int bench(int argc, char **argv, struct err *err)
{
    struct bench_args o = {.help = false};
    const char *words[1];
    uint64_t seed = 20261101, nights = 400;
    size_t n;
    const struct args a = {.program = "scripts/bench",
                           .command = "judging",
                           .usage = "",
                           .about = "The judge on simulated nights, beside simple rules.",
                           .own = ARG_TABLE(struct bench_args, options),
                           .into = &o};
    if (args_parse(&a, argc, argv, words, &n, err) != 0 || read_count(o.seed, "--seed", &seed, err) != 0 ||
        read_count(o.nights, "--nights", &nights, err) != 0)
        return -1;
    if (o.help) {
        args_help(&a, stdout);
        return 0;
    }
    if (o.better && strcmp(o.better, "less") != 0 && strcmp(o.better, "more") != 0)
        return err_set(err, ERR_INPUT, "--better: \"%s\" is neither less nor more", o.better);
    if (o.csv)
        return csv_nights_print(o.csv, o.better && strcmp(o.better, "more") == 0, err);
    print_noises((size_t)nights, seed);
    print_scenarios((size_t)nights / 2 + 1, seed + 10000000);
    print_changes((size_t)nights, seed + 20000000);
    return 0;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (bench(argc, argv, &err) == 0)
        return 0;
    fprintf(stderr, "bench/judging: %s\n", err.msg);
    return 2;
}
