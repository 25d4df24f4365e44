#include "executor/run/eta.h"

#include <stdlib.h>

static size_t find_cell(const struct eta *eta, const struct job_test *t)
{
    size_t i = 0;
    while (i < eta->count && (eta->cell[i].variant != t->variant || eta->cell[i].context != t->context))
        i++;
    return i;
}

int eta_init(struct eta *eta, const struct job *job, struct err *err)
{
    *eta = (struct eta){.cell = calloc(job->test_count + 1, sizeof *eta->cell),
                        .cell_of = calloc(job->test_count + 1, sizeof *eta->cell_of)};
    if (!eta->cell || !eta->cell_of) {
        eta_release(eta);
        return err_set(err, ERR_INTERNAL, "no memory for the estimates");
    }
    for (size_t i = 0; i < job->test_count; i++) {
        const struct job_test *t = &job->test[i];
        size_t c = find_cell(eta, t);
        if (c == eta->count)
            eta->cell[eta->count++] =
                (struct eta_cell){.variant = t->variant, .context = t->context, .timeout_s = t->timeout_s};
        eta->cell[c].left++;
        eta->cell_of[i] = c;
    }
    return 0;
}

void eta_release(struct eta *eta)
{
    free(eta->cell);
    free(eta->cell_of);
    *eta = (struct eta){.count = 0};
}

void eta_finished(struct eta *eta, size_t test, double wall_s)
{
    struct eta_cell *c = &eta->cell[eta->cell_of[test]];
    c->left -= c->left > 0;
    c->done++;
    c->wall_s += wall_s;
}

void eta_dropped(struct eta *eta, size_t test)
{
    struct eta_cell *c = &eta->cell[eta->cell_of[test]];
    c->left -= c->left > 0;
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

double eta_left(const struct eta *eta, double elapsed_s)
{
    struct totals all = sum_cells(eta, 0);
    double sum = 0;
    if (all.done == 0)
        return -1;
    for (size_t i = 0; i < eta->count; i++) {
        if (eta->cell[i].left > 0)
            sum += expected_s(eta, &eta->cell[i], &all) * (double)eta->cell[i].left;
    }
    return sum > elapsed_s ? sum - elapsed_s : 0;
}
