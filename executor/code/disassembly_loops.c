#include "executor/code/disassembly_loops.h"

#include <stdlib.h>
#include <string.h>

/* Instructions first to last. */
struct loop {
    size_t first, last;
    int64_t matrix, vector;
};

struct loops {
    struct loop item[DISASSEMBLY_LOOPS_MAX];
    size_t count;
};

/* The index of the instruction at an address; count where there is none. */
static size_t step_at(const struct disassembly_step *step, size_t count, uint64_t addr)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (step[middle].addr < addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && step[low].addr == addr ? low : count;
}

/* Two branches to one place are one loop. */
static void add_loop(struct loops *l, size_t first, size_t last)
{
    for (size_t i = 0; i < l->count; i++) {
        if (l->item[i].first == first) {
            l->item[i].last = last > l->item[i].last ? last : l->item[i].last;
            return;
        }
    }
    if (l->count < DISASSEMBLY_LOOPS_MAX)
        l->item[l->count++] = (struct loop){.first = first, .last = last};
}

static void find_loops(const struct disassembly_step *step, size_t count, struct loops *out)
{
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t first = step[i].has_target && step[i].target <= step[i].addr
                           ? step_at(step, count, step[i].target)
                           : count;
        if (first < i)
            add_loop(out, first, i);
    }
}

static void count_range(const struct disassembly_step *step, size_t first, size_t last, int64_t *out)
{
    memset(out, 0, INSTRUCTION_CLASSES * sizeof *out);
    for (size_t i = first; i <= last; i++)
        out[step[i].class]++;
}

/* Whether another loop lies within it; only those with products of matrices count if `matrix`. */
static bool has_inner(const struct loops *l, const struct loop *outer, bool matrix)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct loop *in = &l->item[i];
        if (in != outer && in->first >= outer->first && in->last <= outer->last && (!matrix || in->matrix))
            return true;
    }
    return false;
}

static const struct loop *hottest(const struct loops *l)
{
    const struct loop *best = NULL;
    bool matrix = false;
    for (size_t i = 0; i < l->count; i++)
        matrix = matrix || l->item[i].matrix;
    for (size_t i = 0; i < l->count; i++) {
        const struct loop *x = &l->item[i];
        if ((matrix && !x->matrix) || has_inner(l, x, matrix))
            continue;
        if (!best || x->matrix > best->matrix || (x->matrix == best->matrix && x->vector > best->vector))
            best = x;
    }
    return best;
}

/* Sums up to each instruction, so that a loop costs nothing to count. */
static bool count_loops(const struct disassembly_step *step, size_t count, struct loops *l)
{
    uint32_t *matrix = calloc(count + 1, sizeof *matrix), *vector = calloc(count + 1, sizeof *vector);
    if (matrix && vector) {
        for (size_t i = 0; i < count; i++) {
            matrix[i + 1] = matrix[i] + (step[i].class == INSTRUCTION_MATRIX);
            vector[i + 1] = vector[i] + (step[i].class == INSTRUCTION_VECTOR ||
                                         step[i].class == INSTRUCTION_TRANSCENDENTAL);
        }
        for (size_t i = 0; i < l->count; i++) {
            struct loop *x = &l->item[i];
            x->matrix = matrix[x->last + 1] - matrix[x->first];
            x->vector = vector[x->last + 1] - vector[x->first];
        }
    }
    bool good = matrix && vector;
    free(matrix);
    free(vector);
    return good;
}

void disassembly_count(const struct disassembly_step *step, size_t count, int64_t *all, int64_t *hot_loop)
{
    struct loops loops;
    for (int i = 0; i < INSTRUCTION_CLASSES; i++)
        all[i] = hot_loop[i] = KERNEL_FACT_UNKNOWN;
    if (count == 0)
        return;
    count_range(step, 0, count - 1, all);
    find_loops(step, count, &loops);
    const struct loop *hot = count_loops(step, count, &loops) ? hottest(&loops) : NULL;
    if (hot)
        count_range(step, hot->first, hot->last, hot_loop);
}

static int by_number(const void *x, const void *y)
{
    const size_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

/* The places that branches go to, sorted; the caller frees it. NULL: no memory. */
static size_t *find_labels(const struct disassembly_step *step, size_t count, size_t *out_count)
{
    size_t *place = calloc(count + 1, sizeof *place), n = 0, distinct = 0;
    for (size_t i = 0; place && i < count; i++) {
        size_t at = step[i].has_target ? step_at(step, count, step[i].target) : count;
        if (at < count)
            place[n++] = at;
    }
    if (n)
        qsort(place, n, sizeof *place, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || place[i] != place[i - 1])
            place[distinct++] = place[i];
    *out_count = distinct;
    return place;
}

static void list_step(const struct disassembly_step *s, const char *text, const size_t *label, size_t labels,
                      size_t target, struct buf *out)
{
    const size_t *found = labels ? bsearch(&target, label, labels, sizeof *label, by_number) : NULL;
    text += s->text;
    if (s->has_target && found) {
        buf_puts(out, "  ");
        buf_add(out, text, s->label);
        buf_printf(out, "L%zu%s\n", (size_t)(found - label) + 1, text + s->label + s->label_len);
        return;
    }
    buf_printf(out, "  %s\n", text);
}

bool disassembly_list(const struct disassembly_step *step, size_t count, const char *text, struct buf *out)
{
    size_t labels, next = 0, *label = find_labels(step, count, &labels);
    if (!label)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (next < labels && label[next] == i)
            buf_printf(out, "L%zu:\n", ++next);
        list_step(&step[i], text, label, labels,
                  step[i].has_target ? step_at(step, count, step[i].target) : count, out);
    }
    free(label);
    return buf_ok(out);
}
