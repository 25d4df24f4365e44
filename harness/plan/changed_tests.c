#include "harness/plan/changed_tests.h"

#include "common/base/alloc.h"
#include "harness/plan/cell_numbers.h"

#include <stdlib.h>
#include <string.h>

/* A cell as the job has it. */
struct place {
    const struct changed_hint *hint; /* NULL: none */
    const struct gpu_hint *known;    /* NULL: it was never measured */
    size_t column, row;              /* of its variant and context, by their first tests */
    size_t round; /* which of its variant's cells it is, if each variant begins at another context */
    size_t turn;
};

struct places {
    struct place *item;
    size_t count;
    size_t *of_test; /* by test */
};

/* Numbers them in the order in which they first occur. */
static size_t number_in(json_t *seen, const char *variant, int64_t context, size_t next)
{
    size_t number = cell_number(seen, variant, context);
    if (number != SIZE_MAX)
        return number;
    cell_number_set(seen, variant, context, next);
    return next;
}

static struct places find_places(const json_t *tests)
{
    json_auto_t *cells = cell_numbers(), *variants = cell_numbers(), *contexts = cell_numbers();
    size_t i, n = json_array_size(tests) + 1;
    const json_t *test;
    struct places p = {.item = xcalloc(n, sizeof *p.item), .of_test = xcalloc(n, sizeof *p.of_test)};
    json_array_foreach(tests, i, test)
    {
        const char *variant = json_string_value(json_object_get(test, "variant"));
        int64_t context = json_integer_value(json_object_get(test, "context"));
        p.of_test[i] = number_in(cells, variant, context, p.count);
        if (p.of_test[i] == p.count)
            p.item[p.count++] =
                (struct place){.column = number_in(variants, variant, 0, json_object_size(variants)),
                               .row = number_in(contexts, "", context, json_object_size(contexts))};
    }
    for (i = 0; i < p.count; i++) {
        size_t rows = json_object_size(contexts);
        p.item[i].round = (p.item[i].row + rows - p.item[i].column % rows) % rows;
    }
    return p;
}

static void find_hints(struct places *p, const json_t *tests, const struct changed_hints *changed,
                       const struct gpu_hints *known)
{
    json_auto_t *hints = cell_numbers(), *last = cell_numbers();
    size_t i;
    const json_t *test;
    for (i = 0; i < changed->count; i++)
        cell_number_set(hints, changed->item[i].variant, changed->item[i].context, i);
    for (i = 0; i < known->count; i++)
        cell_number_set(last, known->item[i].variant, known->item[i].context, i);
    json_array_foreach(tests, i, test)
    {
        size_t hint = cell_number_of_test(hints, test), place = cell_number_of_test(last, test);
        p->item[p->of_test[i]].hint = hint < changed->count ? &changed->item[hint] : NULL;
        p->item[p->of_test[i]].known =
            place < known->count && clock_is_day(known->item[place].measured) ? &known->item[place] : NULL;
    }
}

static int64_t age(const struct place *p)
{
    return p->known ? p->known->since : INT64_MAX;
}

static int by_turn(const void *a, const void *b)
{
    const struct place *x = *(const struct place *const *)a, *y = *(const struct place *const *)b;
    if (age(x) != age(y))
        return age(x) > age(y) ? -1 : 1;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static void take_turns(struct places *p)
{
    AUTO_FREE struct place **order = xcalloc(p->count + 1, sizeof *order);
    for (size_t i = 0; i < p->count; i++)
        order[i] = &p->item[i];
    qsort(order, p->count, sizeof *order, by_turn);
    for (size_t i = 0; i < p->count; i++)
        order[i]->turn = i;
}

static void mark(json_t *test, const struct place *p)
{
    json_object_set_new(test, "turn", json_integer((json_int_t)p->turn));
    if (!p->known)
        return;
    json_object_set_new(test, "measured", json_string(p->known->measured));
    if (p->hint)
        json_object_set_new(test, "unless", json_string(p->hint->fingerprint));
    if (p->hint && p->hint->open)
        json_object_set_new(test, "open", json_true());
}

/* An even share of the cells in each of the nights, and all that have waited for as long. */
static size_t count_turns(const struct places *p, int64_t nights)
{
    size_t turns = p->count / (size_t)nights;
    for (size_t i = 0; i < p->count; i++)
        if (p->item[i].known && p->item[i].known->since + 1 >= nights && p->item[i].turn >= turns)
            turns = p->item[i].turn + 1;
    return turns > 0 ? turns : 1;
}

void changed_tests(json_t *job, const struct changed_hints *changed, const struct gpu_hints *known)
{
    json_t *tests = json_object_get(job, "tests"), *test;
    struct places p = find_places(tests);
    size_t i;
    find_hints(&p, tests, changed, known);
    take_turns(&p);
    json_array_foreach(tests, i, test) mark(test, &p.item[p.of_test[i]]);
    json_object_set_new(job, "controls", json_integer((json_int_t)count_turns(&p, changed->nights)));
    free(p.item);
    free(p.of_test);
}
