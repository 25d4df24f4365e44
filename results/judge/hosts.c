#include "results/judge/hosts.h"

#include "results/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The smallest number of cells with which the sign test can be significant: 2 / 2^6 = 0.03. */
enum { SIGN_TEST_MIN = 6 };

static const char *const names[HOST_SPEED_COUNT] = {
    [HOST_ALIKE] = "alike", [HOST_SLOW] = "slow", [HOST_FAST] = "fast", [HOST_UNKNOWN] = "unknown"};

const char *host_speed_name(enum host_speed s)
{
    return names[s];
}

static bool test_counts(const struct run_test *t, enum metric m)
{
    return *t->host && !t->warmup && t->status == STATUS_OK && t->value[m] > 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct host_standing *)a)->host, ((const struct host_standing *)b)->host);
}

static size_t list_hosts(const struct run_data *run, enum metric m, struct host_standing *out)
{
    size_t n = 0;
    for (size_t i = 0; i < run->n_tests; i++) {
        size_t k = 0;
        if (!test_counts(&run->tests[i], m))
            continue;
        while (k < n && strcmp(out[k].host, run->tests[i].host) != 0)
            k++;
        if (k == n) {
            out[n] = (struct host_standing){.ratio = NAN, .p = NAN, .speed = HOST_UNKNOWN};
            snprintf(out[n++].host, sizeof out->host, "%s", run->tests[i].host);
        }
        out[k].tests++;
    }
    if (n)
        qsort(out, n, sizeof *out, by_name);
    return n;
}

/* The median of the machine's values in the cell; NaN if it ran none. room: scratch space for a cell's
 * values. */
static double median_of(const struct run_data *run, const struct cell *c, enum metric m, const char *host,
                        double *room)
{
    size_t n = 0;
    for (size_t i = c->first; i < c->first + c->count; i++)
        if (test_counts(&run->tests[i], m) && strcmp(run->tests[i].host, host) == 0)
            room[n++] = run->tests[i].value[m];
    return stats_median(room, n);
}

/* The two-sided p of `heads` in n tosses of a fair coin. */
static double sign_test(int heads, int n)
{
    int least = heads < n - heads ? heads : n - heads;
    double tail = 0;
    for (int k = 0; k <= least; k++)
        tail += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * M_LN2);
    return fmin(1, 2 * tail);
}

struct measuring {
    const struct run_data *run;
    enum metric metric;
    struct host_standing *hosts;
    size_t n_hosts;
    double *values;  /* scratch space for a cell */
    double *medians; /* per machine, in the current cell; NaN if it ran none of it */
    double *present; /* the medians that are not NaN */
    double *ratios;  /* n_cells for each machine, the first `cells` of them set */
    int *apart;      /* per machine: cells in which its median differs from that of all machines */
};

/* Each machine is compared with the median of all machines: one slow machine does not move it, as it would
 * move the median of the others. */
static void measure_cell(struct measuring *x, const struct cell *c)
{
    size_t n = 0;
    bool lower = metric_info(x->metric)->better == METRIC_LESS;
    for (size_t k = 0; k < x->n_hosts; k++) {
        x->medians[k] = median_of(x->run, c, x->metric, x->hosts[k].host, x->values);
        if (!isnan(x->medians[k]))
            x->present[n++] = x->medians[k];
    }
    double middle = stats_median(x->present, n);
    for (size_t k = 0; n > 1 && k < x->n_hosts; k++) {
        struct host_standing *h = &x->hosts[k];
        double own = x->medians[k];
        if (isnan(own))
            continue;
        x->ratios[k * x->run->n_cells + (size_t)h->cells++] = own / middle;
        x->apart[k] += own < middle || own > middle;
        h->worse += lower ? own > middle : own < middle;
    }
}

static int measure_hosts(struct measuring *x, struct err *err)
{
    size_t hosts = x->n_hosts, cells = x->run->n_cells;
    x->values = malloc((x->run->n_tests + 2 * hosts + hosts * cells + 1) * sizeof *x->values);
    x->apart = calloc(hosts + 1, sizeof *x->apart);
    if (!x->values || !x->apart)
        return err_set(err, ERR_INTERNAL, "no memory for the machines of the run");
    x->medians = x->values + x->run->n_tests;
    x->present = x->medians + hosts;
    x->ratios = x->present + hosts;
    for (size_t i = 0; i < cells; i++)
        measure_cell(x, &x->run->cells[i]);
    for (size_t k = 0; k < hosts; k++) {
        struct host_standing *h = &x->hosts[k];
        h->ratio = stats_median(x->ratios + k * cells, (size_t)h->cells);
        if (h->cells)
            h->p = sign_test(h->worse, x->apart[k]);
    }
    return 0;
}

static void judge_host(struct host_standing *h, const struct compare_options *o, enum metric m)
{
    if (h->cells == 0)
        return;
    double loss = metric_info(m)->better == METRIC_LESS ? h->ratio - 1 : 1 - h->ratio;
    bool testable = h->cells >= SIGN_TEST_MIN;
    bool one_sided = h->worse == 0 || h->worse == h->cells;
    bool beyond =
        testable ? fabs(loss) > o->practical && h->p <= o->fdr : fabs(loss) > o->regression && one_sided;
    h->speed = !beyond ? HOST_ALIKE : loss > 0 ? HOST_SLOW : HOST_FAST;
}

static int adjust(struct host_standing *hosts, size_t n, struct err *err)
{
    double *p = calloc(2 * n + 1, sizeof *p);
    if (!p)
        return err_set(err, ERR_INTERNAL, "no memory for %zu machines", n);
    for (size_t i = 0; i < n; i++)
        p[i] = hosts[i].p;
    stats_benjamini_hochberg(p, n, p + n);
    for (size_t i = 0; i < n; i++)
        hosts[i].p = p[n + i];
    free(p);
    return 0;
}

int hosts_compare(const struct run_data *run, enum metric m, const struct compare_options *options,
                  struct host_standing **out, size_t *count, struct err *err)
{
    struct measuring x = {.run = run, .metric = m};
    *count = 0;
    *out = calloc(run->n_tests + 1, sizeof **out);
    if (!*out)
        return err_set(err, ERR_INTERNAL, "no memory for the machines of the run");
    x.hosts = *out;
    x.n_hosts = *count = list_hosts(run, m, *out);
    int rc = measure_hosts(&x, err) != 0 || adjust(*out, *count, err) != 0 ? -1 : 0;
    for (size_t i = 0; rc == 0 && i < *count; i++)
        judge_host(&(*out)[i], options, m);
    free(x.values);
    free(x.apart);
    if (rc != 0) {
        free(*out);
        *out = NULL;
    }
    return rc;
}
