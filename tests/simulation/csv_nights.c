#include "tests/simulation/csv_nights.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "results/ingest/text/csv.h"
#include "results/judge/compare.h"
#include "results/judge/nights/changes.h"
#include "results/stats/stats.h"
#include "tests/simulation/otava.h"
#include "tests/simulation/rules.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CSV_BYTES_MAX = 256 << 20,
    HISTORY_MOST = 50,
    HISTORY_LEAST = 8,
    N_MAX = 1000000,
    WHO = RULE_COUNT + 1
};

static const int64_t day_ms = 86400000;

struct row {
    const char *series; /* belong to the JSON array of rows */
    const char *night;
    double number; /* the night as one; NaN if it is none */
    double value;
    int n;
    size_t place; /* in the file */
    size_t at;    /* index of the night among all */
};

/* All repetitions of one series on one night. */
struct point {
    size_t first, count; /* rows */
    size_t night;
    double median;
    int n;
};

struct series {
    const char *name;
    struct point *points;
    size_t count;
    size_t next; /* the first point that is not before the night that is judged */
    double unit; /* median of all values: values are divided by it */
};

struct table {
    json_t *json;
    struct row *rows; /* by series, night, place */
    size_t n_rows;
    const char **nights;
    size_t n_nights;
    struct point *points;
    struct series *series;
    size_t n_series;
    double *medians, *values; /* by point, by row: in units of the series */
};

static int no_memory(struct err *err)
{
    return err_set(err, ERR_INTERNAL, "no memory for the histories");
}

static void table_release(struct table *t)
{
    json_decref(t->json);
    free(t->rows);
    free(t->nights);
    free(t->points);
    free(t->series);
    free(t->medians);
    free(t->values);
}

static bool parse_number(const char *text, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return end != text && !*end && !errno && isfinite(*out);
}

static int read_row(const char *path, size_t i, const json_t *from, bool more, struct row *r, struct err *err)
{
    const char *value = json_string_value(json_object_get(from, "value")),
               *n = json_string_value(json_object_get(from, "n"));
    double count = 1;
    *r = (struct row){.series = json_string_value(json_object_get(from, "series")),
                      .night = json_string_value(json_object_get(from, "night")),
                      .place = i};
    if (!r->series || !r->night || !value)
        return err_set(err, ERR_INPUT, "%s: needs the columns series, night and value", path);
    if (!parse_number(value, &r->value) || r->value <= 0)
        return err_set(err, ERR_INPUT, "%s: row %zu: value \"%.40s\" is not a positive number", path, i + 1,
                       value);
    if (n && *n && (!parse_number(n, &count) || count < 1 || count > N_MAX))
        return err_set(err, ERR_INPUT, "%s: row %zu: n \"%.40s\" is not a number from 1 to %d", path, i + 1,
                       n, N_MAX);
    r->n = (int)count;
    if (more)
        r->value = 1 / r->value;
    if (!parse_number(r->night, &r->number))
        r->number = NAN;
    return 0;
}

static int by_night(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (!isnan(x->number) && !isnan(y->number))
        return (x->number > y->number) - (x->number < y->number);
    return strcmp(x->night, y->night);
}

static int by_series(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int names = strcmp(x->series, y->series);
    if (names)
        return names;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

static int read_rows(const char *path, bool more, struct table *t, struct err *err)
{
    struct buf text;
    buf_init(&text, CSV_BYTES_MAX);
    int rc = fs_read_file(path, CSV_BYTES_MAX, &text, err);
    if (rc == 0 && !(t->json = csv_parse(buf_str(&text), text.len, path, NULL, NULL, err)))
        rc = -1;
    buf_release(&text);
    if (rc != 0)
        return -1;
    t->n_rows = json_array_size(t->json);
    if (t->n_rows == 0)
        return err_set(err, ERR_INPUT, "%s: no rows", path);
    t->rows = calloc(t->n_rows, sizeof *t->rows);
    if (!t->rows)
        return no_memory(err);
    bool numbers = true;
    for (size_t i = 0; i < t->n_rows; i++) {
        if (read_row(path, i, json_array_get(t->json, i), more, &t->rows[i], err) != 0)
            return -1;
        numbers = numbers && !isnan(t->rows[i].number);
    }
    for (size_t i = 0; !numbers && i < t->n_rows; i++)
        t->rows[i].number = NAN;
    return 0;
}

/* Numbers the nights, and sorts the rows by series. */
static void order_rows(struct table *t)
{
    qsort(t->rows, t->n_rows, sizeof *t->rows, by_night);
    for (size_t i = 0; i < t->n_rows; i++) {
        if (i == 0 || by_night(&t->rows[i - 1], &t->rows[i]) != 0)
            t->nights[t->n_nights++] = t->rows[i].night;
        t->rows[i].at = t->n_nights - 1;
    }
    qsort(t->rows, t->n_rows, sizeof *t->rows, by_series);
}

static void add_series(struct table *t, size_t from, size_t to)
{
    struct series *s = &t->series[t->n_series++];
    *s = (struct series){.name = t->rows[from].series, .points = t->points + from};
    for (size_t i = from; i < to; i++)
        t->values[i] = t->rows[i].value;
    s->unit = stats_median(t->values + from, to - from);
    for (size_t i = from, j; i < to; i = j) {
        struct point *p = &s->points[s->count];
        *p = (struct point){.first = i, .night = t->rows[i].at};
        for (j = i; j < to && t->rows[j].at == t->rows[i].at; j++) {
            t->values[j] /= s->unit;
            p->n = p->n < N_MAX ? p->n + t->rows[j].n : p->n;
        }
        p->count = j - i;
        p->median = t->medians[from + s->count++] = stats_median(t->values + i, j - i);
    }
}

static int table_load(const char *path, bool more, struct table *t, struct err *err)
{
    if (read_rows(path, more, t, err) != 0)
        return -1;
    t->nights = calloc(t->n_rows, sizeof *t->nights);
    t->points = calloc(t->n_rows, sizeof *t->points);
    t->series = calloc(t->n_rows, sizeof *t->series);
    t->medians = calloc(t->n_rows, sizeof *t->medians);
    t->values = calloc(t->n_rows, sizeof *t->values);
    if (!t->nights || !t->points || !t->series || !t->medians || !t->values)
        return no_memory(err);
    order_rows(t);
    for (size_t i = 0, j; i < t->n_rows; i = j) {
        for (j = i; j < t->n_rows && strcmp(t->rows[i].series, t->rows[j].series) == 0;)
            j++;
        add_series(t, i, j);
    }
    return 0;
}

/* The series that have a point on the night and enough before it. */
struct tonight {
    size_t night;
    size_t *series; /* indexes */
    size_t count;
    bool (*flagged)[WHO];
};

static struct point *point_of(const struct table *t, const struct tonight *n, size_t i)
{
    struct series *s = &t->series[n->series[i]];
    return &s->points[s->next];
}

static void gather(struct table *t, struct tonight *n)
{
    n->count = 0;
    for (size_t i = 0; i < t->n_series; i++) {
        struct series *s = &t->series[i];
        while (s->next < s->count && s->points[s->next].night < n->night)
            s->next++;
        if (s->next < s->count && s->points[s->next].night == n->night && s->next >= HISTORY_LEAST)
            n->series[n->count++] = i;
    }
}

static int by_rules(const struct table *t, const struct tonight *n, struct err *err)
{
    struct rule_cell *cells = calloc(n->count, sizeof *cells);
    bool *slower = calloc(n->count, sizeof *slower);
    for (size_t i = 0; cells && slower && i < n->count; i++) {
        const struct series *s = &t->series[n->series[i]];
        const struct point *p = point_of(t, n, i), *last = p - 1;
        size_t first = s->next > HISTORY_MOST ? s->next - HISTORY_MOST : 0;
        cells[i] = (struct rule_cell){.nights = t->medians + (s->points - t->points) + first,
                                      .n_nights = s->next - first,
                                      .now = t->values + p->first,
                                      .n_now = p->count,
                                      .last = t->values + last->first,
                                      .n_last = last->count};
    }
    for (int r = 0; cells && slower && r < RULE_COUNT; r++) {
        rule_apply((enum rule)r, cells, n->count, slower);
        for (size_t i = 0; i < n->count; i++)
            n->flagged[i][1 + r] = slower[i];
    }
    bool done = cells && slower;
    free(cells);
    free(slower);
    return done ? 0 : no_memory(err);
}

static void name_cell(char *out, size_t size, size_t series)
{
    snprintf(out, size, "s%06zu", series);
}

static int run_of(const struct table *t, const struct tonight *n, struct run_data *run, struct err *err)
{
    size_t tests = 0;
    for (size_t i = 0; i < n->count; i++)
        tests += point_of(t, n, i)->count;
    *run = (struct run_data){.info = {.key = (int64_t)n->night + 1, .run_id = "tonight"}};
    run->variants = calloc(n->count, sizeof *run->variants);
    run->tests = calloc(tests, sizeof *run->tests);
    if (!run->variants || !run->tests)
        return no_memory(err);
    for (size_t i = 0; i < n->count; i++) {
        const struct point *p = point_of(t, n, i);
        name_cell(run->variants[i].name, RUN_NAME_MAX, n->series[i]);
        run->n_variants++;
        for (int m = 0; m < METRIC_COUNT; m++)
            run->variants[i].value[m] = NAN;
        for (size_t k = 0; k < p->count; k++) {
            struct run_test *test = &run->tests[run->n_tests++];
            *test = (struct run_test){
                .variant = i, .reason = "", .gpu = "", .context = 1, .repetition = (int)k + 1};
            run_activity_init(&test->activity);
            for (int m = 0; m < METRIC_COUNT; m++)
                test->value[m] = NAN;
            test->value[METRIC_PREFILL_S] = t->values[p->first + k];
        }
    }
    run_data_make_cells(run);
    return 0;
}

static int history_before(const struct table *t, const struct tonight *n, struct history *h, struct err *err)
{
    *h = (struct history){.series = calloc(n->count, sizeof *h->series), .nights = n->night};
    if (!h->series)
        return no_memory(err);
    for (size_t i = 0; i < n->count; i++) {
        const struct series *from = &t->series[n->series[i]];
        size_t first = from->next > HISTORY_MOST ? from->next - HISTORY_MOST : 0;
        struct history_series *s = &h->series[h->count++];
        *s = (struct history_series){.context = 1, .metric = METRIC_PREFILL_S};
        name_cell(s->variant, sizeof s->variant, n->series[i]);
        s->points = calloc(from->next - first, sizeof *s->points);
        if (!s->points)
            return no_memory(err);
        for (size_t k = first; k < from->next; k++) {
            const struct point *p = &from->points[k];
            s->points[s->count++] = (struct history_point){
                .run_key = (int64_t)p->night + 1,
                .median = p->median,
                .n = p->n,
                .measured_at = (int64_t)p->night * day_ms,
                .within = stats_sd(t->values + p->first, p->count) / p->median,
            };
        }
    }
    history_sort(h);
    return 0;
}

static int by_index(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void take_verdicts(const struct table *t, const struct tonight *n, const struct comparison *c)
{
    for (size_t k = 0; k < c->count; k++) {
        const struct delta *d = &c->deltas[k];
        size_t series = strtoull(d->variant + 1, NULL, 10);
        const size_t *found = bsearch(&series, n->series, n->count, sizeof series, by_index);
        if (found)
            n->flagged[found - n->series][0] = d->verdict == VERDICT_REGRESSED;
    }
    if (c->shift.found)
        printf("%-20s %-40s %-16s %+.1f %%\n", t->nights[n->night], "(all)", "judge",
               100 * (c->shift.ratio - 1));
}

static int by_judge(const struct table *t, const struct tonight *n, struct err *err)
{
    const struct compare_options o = compare_defaults();
    struct run_data now = {0};
    struct history h = {0};
    struct comparison c;
    int rc = run_of(t, n, &now, err);
    if (rc == 0)
        rc = history_before(t, n, &h, err);
    if (rc == 0) {
        compare_runs(NULL, &now, &h, &o, &c);
        take_verdicts(t, n, &c);
        comparison_release(&c);
    }
    history_release(&h);
    run_data_release(&now);
    return rc;
}

static const char *who_name(size_t who)
{
    return who == 0 ? "judge" : rule_name((enum rule)(who - 1));
}

/* Against the median of the last ten nights. */
static double change_of(const struct table *t, const struct tonight *n, size_t i)
{
    const struct series *s = &t->series[n->series[i]];
    size_t first = s->next > 10 ? s->next - 10 : 0;
    const double *medians = t->medians + (s->points - t->points);
    return s->points[s->next].median / stats_median(medians + first, s->next - first) - 1;
}

struct tally {
    size_t cells, nights;
    size_t flagged[WHO], alarms[WHO];
};

static void print_night(const struct table *t, const struct tonight *n, struct tally *sum)
{
    sum->cells += n->count;
    sum->nights += n->count > 0;
    for (size_t who = 0; who < WHO; who++) {
        size_t flagged = 0;
        for (size_t i = 0; i < n->count; i++) {
            if (!n->flagged[i][who])
                continue;
            flagged++;
            printf("%-20s %-40s %-16s %+.1f %%\n", t->nights[n->night], t->series[n->series[i]].name,
                   who_name(who), 100 * change_of(t, n, i));
        }
        sum->flagged[who] += flagged;
        sum->alarms[who] += flagged > 0;
    }
}

static int print_flagged(struct table *t, struct tonight *n, struct err *err)
{
    struct tally sum = {0};
    printf("%-20s %-40s %-16s %s\n", "night", "series", "slower by", "change against the last ten nights");
    for (n->night = 0; n->night < t->n_nights; n->night++) {
        gather(t, n);
        if (n->count == 0)
            continue;
        if (by_rules(t, n, err) != 0 || by_judge(t, n, err) != 0)
            return -1;
        print_night(t, n, &sum);
    }
    printf("\n%zu series, %zu nights, %zu cells judged\n%-16s %15s %15s\n", t->n_series, sum.nights,
           sum.cells, "rule", "cells flagged", "nights flagged");
    for (size_t who = 0; who < WHO; who++)
        printf("%-16s %15zu %15zu\n", who_name(who), sum.flagged[who], sum.alarms[who]);
    return 0;
}

static void print_points(const struct table *t, const struct series *s, struct otava_point *points)
{
    const struct changes_options o = changes_defaults();
    const struct otava_options oo = otava_defaults();
    const double *x = t->medians + (s->points - t->points);
    struct changes c;
    changes_find(x, s->count, &o, &c);
    for (size_t i = 0; i < c.count; i++)
        printf("%-20s %-40s %-16s %+.1f %%\n", t->nights[s->points[c.items[i].at].night], s->name, "judge",
               100 * (c.items[i].ratio - 1));
    changes_release(&c);
    size_t n = otava_find(x, s->count, &oo, points);
    for (size_t i = 0; i < n; i++)
        printf("%-20s %-40s %-16s %+.1f %%\n", t->nights[s->points[points[i].at].night], s->name, "Otava",
               100 * (points[i].after / points[i].before - 1));
}

static void print_changes(const struct table *t)
{
    AUTO_FREE struct otava_point *points = xcalloc(t->n_rows, sizeof *points);
    printf("\n%-20s %-40s %-16s %s\n", "change begins", "series", "found by", "change");
    for (size_t i = 0; i < t->n_series; i++)
        print_points(t, &t->series[i], points);
}

int csv_nights_print(const char *path, bool more_is_better, struct err *err)
{
    struct table t = {0};
    struct tonight n = {0};
    int rc = table_load(path, more_is_better, &t, err);
    if (rc == 0) {
        n.series = calloc(t.n_series, sizeof *n.series);
        n.flagged = calloc(t.n_series, sizeof *n.flagged);
        rc = n.series && n.flagged ? print_flagged(&t, &n, err) : no_memory(err);
    }
    if (rc == 0)
        print_changes(&t);
    free(n.series);
    free(n.flagged);
    table_release(&t);
    return rc;
}
