#include "harness/plan/changed_tests.h"

#include "common/base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* A cell as the job has it. */
struct place {
    const struct changed_hint *hint; /* NULL: none */
    const char *variant;
    int64_t context;
    size_t column, row; /* of its variant and context, by their first tests */
    size_t round;       /* which of its variant's cells it is, if each variant begins at another context */
};

struct places {
    struct place *item;
    size_t count, columns, rows;
};

static const struct changed_hint *find_hint(const struct changed_hints *h, const char *variant,
                                            int64_t context)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->item[i].context == context && strcmp(h->item[i].variant, variant) == 0)
            return &h->item[i];
    return NULL;
}

static void add_place(struct places *p, const json_t *test, const struct changed_hints *hints)
{
    const char *variant = json_string_value(json_object_get(test, "variant"));
    int64_t context = json_integer_value(json_object_get(test, "context"));
    size_t column = p->columns, row = p->rows;
    for (size_t i = 0; i < p->count; i++) {
        bool same_variant = strcmp(p->item[i].variant, variant) == 0;
        if (same_variant && p->item[i].context == context)
            return;
        column = same_variant ? p->item[i].column : column;
        row = p->item[i].context == context ? p->item[i].row : row;
    }
    p->columns += column == p->columns;
    p->rows += row == p->rows;
    p->item[p->count++] = (struct place){.hint = find_hint(hints, variant, context),
                                         .variant = variant,
                                         .context = context,
                                         .column = column,
                                         .row = row};
}

static int by_turn(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (!x->hint || !y->hint)
        return !x->hint - !y->hint;
    if (x->hint->since != y->hint->since)
        return x->hint->since > y->hint->since ? -1 : 1;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static struct places find_places(const json_t *tests, const struct changed_hints *hints)
{
    struct places p = {.item = xcalloc(json_array_size(tests) + 1, sizeof *p.item)};
    size_t i;
    const json_t *test;
    json_array_foreach(tests, i, test) add_place(&p, test, hints);
    for (i = 0; i < p.count; i++)
        p.item[i].round = (p.item[i].row + p.rows - p.item[i].column % p.rows) % p.rows;
    return p;
}

static void mark_cell(json_t *tests, const struct place *p, size_t turn)
{
    size_t i;
    json_t *test;
    json_array_foreach(tests, i, test)
    {
        if (json_integer_value(json_object_get(test, "context")) != p->context ||
            strcmp(json_string_value(json_object_get(test, "variant")), p->variant) != 0)
            continue;
        json_object_set_new(test, "unless", json_string(p->hint->fingerprint));
        json_object_set_new(test, "measured", json_string(p->hint->measured));
        json_object_set_new(test, "turn", json_integer((json_int_t)turn));
    }
}

void changed_tests_hint(json_t *tests, const struct changed_hints *hints)
{
    struct places p = find_places(tests, hints);
    qsort(p.item, p.count, sizeof *p.item, by_turn);
    for (size_t i = 0; i < p.count && p.item[i].hint; i++)
        mark_cell(tests, &p.item[i], i);
    free(p.item);
}

int64_t changed_tests_controls(const json_t *tests, const struct changed_hints *hints)
{
    struct places p = find_places(tests, hints);
    int64_t cells = (int64_t)p.count, turns = (cells + hints->nights - 1) / hints->nights;
    free(p.item);
    return turns > CHANGED_CONTROLS_MIN ? turns : CHANGED_CONTROLS_MIN;
}
