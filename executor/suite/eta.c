#include "executor/suite/eta.h"

#include "common/base/alloc.h"

#include <stdlib.h>

static size_t find_cell(const struct eta *eta, const struct job_test *t)
{
    size_t i = 0;
    while (i < eta->count && (eta->cell[i].variant != t->variant || eta->cell[i].context != t->context))
        i++;
    return i;
}

static void make_arrays(struct eta *eta, size_t tests)
{
    eta->cell = xcalloc(tests, sizeof *eta->cell);
    eta->cell_of = xcalloc(tests, sizeof *eta->cell_of);
    eta->lane_of = xcalloc(tests, sizeof *eta->lane_of);
    eta->over = xcalloc(tests, sizeof *eta->over);
}

void eta_init(struct eta *eta, const struct job *job)
{
    *eta = (struct eta){.test_count = job->test_count};
    make_arrays(eta, job->test_count);
    for (size_t i = 0; i < job->test_count; i++) {
        const struct job_test *t = &job->test[i];
        size_t c = find_cell(eta, t);
        if (c == eta->count)
            eta->cell[eta->count++] =
                (struct eta_cell){.variant = t->variant,
                                  .context = t->context,
                                  .timeout_s = t->timeout_s,
                                  .alone = job->variant && job->variant[t->variant].alone};
        eta->cell[c].left++;
        eta->cell_of[i] = c;
    }
    eta_spread(eta, 1, eta->lane_of);
}

void eta_release(struct eta *eta)
{
    free(eta->cell);
    free(eta->cell_of);
    free(eta->lane_of);
    free(eta->over);
    free(eta->left_on);
    free(eta->elapsed_s);
    *eta = (struct eta){.count = 0};
}

static size_t *left_on(const struct eta *eta, size_t test)
{
    return &eta->left_on[eta->cell_of[test] * eta->lanes + eta->lane_of[test]];
}

void eta_spread(struct eta *eta, size_t lanes, const size_t *lane_of)
{
    double *elapsed = xcalloc(lanes, sizeof *elapsed);
    for (size_t l = 0; l < lanes && l < eta->lanes; l++)
        elapsed[l] = eta->elapsed_s[l];
    free(eta->left_on);
    free(eta->elapsed_s);
    eta->left_on = xcalloc(eta->count * lanes, sizeof *eta->left_on);
    eta->elapsed_s = elapsed;
    eta->lanes = lanes;
    for (size_t i = 0; i < eta->test_count; i++) {
        eta->lane_of[i] = lane_of[i];
        *left_on(eta, i) += !eta->over[i];
    }
}

void eta_running(struct eta *eta, size_t test, double elapsed_s)
{
    eta->elapsed_s[eta->lane_of[test]] = elapsed_s;
}

void eta_dropped(struct eta *eta, size_t test)
{
    if (eta->over[test])
        return;
    eta->over[test] = true;
    eta->cell[eta->cell_of[test]].left--;
    --*left_on(eta, test);
    eta->elapsed_s[eta->lane_of[test]] = 0;
}

void eta_finished(struct eta *eta, size_t test, double wall_s)
{
    struct eta_cell *c = &eta->cell[eta->cell_of[test]];
    eta_dropped(eta, test);
    c->done++;
    c->wall_s += wall_s;
}

struct totals {
    double wall_s, timeout_s;
    size_t done;
};

static struct totals sum_cells(const struct eta *eta, int64_t context)
{
    struct totals t = {.done = 0};
    for (size_t i = 0; i < eta->count; i++) {
        const struct eta_cell *c = &eta->cell[i];
        if (context && c->context != context)
            continue;
        t.wall_s += c->wall_s;
        t.timeout_s += c->timeout_s * (double)c->done;
        t.done += c->done;
    }
    return t;
}

static double expected_s(const struct eta *eta, const struct eta_cell *c, const struct totals *all)
{
    if (c->done > 0)
        return c->wall_s / (double)c->done;
    struct totals same = sum_cells(eta, c->context);
    if (same.done > 0)
        return same.wall_s / (double)same.done;
    return all->timeout_s > 0 ? c->timeout_s * all->wall_s / all->timeout_s : -1;
}

double eta_test(const struct eta *eta, size_t test)
{
    struct totals all = sum_cells(eta, 0);
    return expected_s(eta, &eta->cell[eta->cell_of[test]], &all);
}

/* Tests that run alone count for every lane, because all lanes wait for them. */
static double left_s(const struct eta *eta, size_t lane, const struct totals *all)
{
    double sum = 0;
    for (size_t i = 0; i < eta->count; i++) {
        const struct eta_cell *c = &eta->cell[i];
        size_t left = c->alone ? c->left : eta->left_on[i * eta->lanes + lane];
        if (left > 0)
            sum += expected_s(eta, c, all) * (double)left;
    }
    return sum;
}

double eta_left(const struct eta *eta)
{
    struct totals all = sum_cells(eta, 0);
    double longest = 0;
    if (all.done == 0)
        return -1;
    for (size_t l = 0; l < eta->lanes; l++) {
        double left = left_s(eta, l, &all) - eta->elapsed_s[l];
        longest = left > longest ? left : longest;
    }
    return longest;
}
