#include "executor/code/disassembly_loops.h"

#include "common/base/alloc.h"

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

static int by_addr(const void *x, const void *y)
{
    const struct disassembly_step *a = x, *b = y;
    return (a->addr > b->addr) - (a->addr < b->addr);
}

/* Returns the index of the instruction that a branch goes to; count where there is none. */
static size_t target_of(const struct disassembly_step *branch, const struct disassembly_step *step,
                        size_t count)
{
    const struct disassembly_step wanted = {.addr = branch->target};
    const struct disassembly_step *found =
        branch->has_target ? bsearch(&wanted, step, count, sizeof wanted, by_addr) : NULL;
    return found ? (size_t)(found - step) : count;
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
        size_t first = target_of(&step[i], step, count);
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

/* Sums up to each instruction are kept, so that counting a loop takes two look-ups. */
static void count_loops(const struct disassembly_step *step, size_t count, struct loops *l)
{
    AUTO_FREE uint32_t *matrix = xcalloc(count + 1, sizeof *matrix);
    AUTO_FREE uint32_t *vector = xcalloc(count + 1, sizeof *vector);
    for (size_t i = 0; i < count; i++) {
        enum instruction_class c = step[i].class;
        matrix[i + 1] = matrix[i] + (c == INSTRUCTION_MATRIX);
        vector[i + 1] = vector[i] + (c == INSTRUCTION_VECTOR || c == INSTRUCTION_TRANSCENDENTAL);
    }
    for (size_t i = 0; i < l->count; i++) {
        struct loop *x = &l->item[i];
        x->matrix = matrix[x->last + 1] - matrix[x->first];
        x->vector = vector[x->last + 1] - vector[x->first];
    }
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
    count_loops(step, count, &loops);
    const struct loop *hot = hottest(&loops);
    if (hot)
        count_range(step, hot->first, hot->last, hot_loop);
}

static int by_number(const void *x, const void *y)
{
    const size_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

/* Returns the places that branches go to, sorted; the caller frees it. */
static size_t *find_labels(const struct disassembly_step *step, size_t count, size_t *out_count)
{
    size_t *place = xcalloc(count + 1, sizeof *place), n = 0, distinct = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = target_of(&step[i], step, count);
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
    size_t labels, next = 0;
    AUTO_FREE size_t *label = find_labels(step, count, &labels);
    for (size_t i = 0; i < count; i++) {
        if (next < labels && label[next] == i)
            buf_printf(out, "L%zu:\n", ++next);
        list_step(&step[i], text, label, labels, target_of(&step[i], step, count), out);
    }
    return buf_ok(out);
}
