#include "results/judge/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Along a plan's axes, a letter is any name: "b64" may be a block, and "h100" a GPU. The points of a kernel
 * plan have all dimensions. */
static bool has_letters(const struct run_variant *v)
{
    return !*v->axes || strstr(v->axes, "\"head_dim\":") != NULL;
}

/* The number that follows one of these names in a shape such as "b4h1" or "batch4_heads1". */
static double dimension(const struct run_variant *v, char letter, const char *word)
{
    for (const char *shape = v->shape; *shape;) {
        shape += strspn(shape, "_");
        size_t name = strcspn(shape, "0123456789"), digits = strspn(shape + name, "0123456789");
        bool is_word = name == strlen(word) && strncmp(shape, word, name) == 0;
        if (digits > 0 && digits < 10 && (is_word || (name == 1 && *shape == letter && has_letters(v))))
            return (double)strtoul(shape + name, NULL, 10);
        shape += name + digits;
    }
    return (double)NAN;
}

static double printed_or(double printed, double in_shape)
{
    return isnan(printed) ? in_shape : printed;
}

static bool is_counted(const struct run_test *t)
{
    return t->status == STATUS_OK && !t->warmup;
}

struct run_work work_of(const struct run_data *run, const struct cell *c)
{
    const struct run_variant *v = &run->variants[c->variant];
    struct run_work w = RUN_WORK_UNKNOWN;
    size_t i = c->first;
    while (i < c->first + c->count && !is_counted(&run->tests[i]))
        i++;
    if (i < c->first + c->count)
        w = run->tests[i].work;
    w.batch = printed_or(w.batch, dimension(v, 'b', "batch"));
    w.heads = printed_or(w.heads, dimension(v, 'h', "heads"));
    w.head_dim = printed_or(w.head_dim, dimension(v, 'd', "head_dim"));
    return w;
}

static bool differ(double a, double b)
{
    return isfinite(a) && isfinite(b) && a != b;
}

/* The length is the context's, which programs round to their tiles. */
static bool other_shape(const struct run_work *x, const struct run_work *y)
{
    return differ(x->batch, y->batch) || differ(x->heads, y->heads) || differ(x->kv_heads, y->kv_heads) ||
           differ(x->head_dim, y->head_dim);
}

bool work_varies(const struct run_data *run, const struct cell *c)
{
    const struct run_work *first = NULL;
    for (size_t i = c->first; i < c->first + c->count; i++) {
        const struct run_work *w = &run->tests[i].work;
        if (!is_counted(&run->tests[i]))
            continue;
        if (!first)
            first = w;
        if (other_shape(first, w) || differ(first->seq, w->seq))
            return true;
    }
    return false;
}

bool work_differs(const struct run_data *a_run, const struct cell *a, const struct run_data *b_run,
                  const struct cell *b)
{
    if (!a || !b)
        return false;
    const struct run_work x = work_of(a_run, a), y = work_of(b_run, b);
    return work_varies(a_run, a) || work_varies(b_run, b) || other_shape(&x, &y);
}

bool work_changed(const struct run_data *a_run, const struct cell *a, const struct run_data *b_run,
                  const struct cell *b)
{
    bool mixed = a && b && work_varies(a_run, a) && work_varies(b_run, b);
    return !mixed && work_differs(a_run, a, b_run, b);
}
