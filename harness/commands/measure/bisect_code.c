#include "harness/commands/measure/bisect_code.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "reports/tables/tables.h"
#include "results/judge/kernel_pairs.h"
#include "results/store/run_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 400 };

struct built {
    struct run_data run;
    struct run_details details;
};

static void add_row(struct bisect_code *c, const struct kernel_pair *p, const char *what,
                    const struct kernel_fact *f)
{
    const char *name = kernel_pair_name(p);
    if (c->count == ROWS_MAX)
        return;
    ALLOC_GROW(c->rows, c->count + 1, c->cap);
    struct bisect_code_row *row = &c->rows[c->count++];
    *row = (struct bisect_code_row){.before = f ? f->before : KERNEL_FACT_UNKNOWN,
                                    .after = f ? f->now : KERNEL_FACT_UNKNOWN};
    text_printable_fixed(row->kernel, sizeof row->kernel, name, strlen(name));
    snprintf(row->what, sizeof row->what, "%s", what);
}

static void add_numbers(struct bisect_code *c, const struct kernel_pair *p)
{
    size_t before = c->count;
    char what[64];
    for (size_t i = 0; i < KERNEL_FACTS; i++) {
        const struct kernel_fact f = kernel_pair_fact(p, i);
        if (f.before == f.now || (f.before <= 0 && f.now <= 0))
            continue;
        snprintf(what, sizeof what, "%s.%s", f.group, f.name);
        add_row(c, p, what, &f);
    }
    if (c->count == before)
        add_row(c, p, "machine code", NULL);
}

static void add_pairs(struct bisect_code *c, const struct kernel_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        const struct kernel_pair *p = &pairs->items[i];
        if (!kernel_pair_differs(p))
            continue;
        if (p->before && p->now)
            add_numbers(c, p);
        else
            add_row(c, p, kernel_state_name(p->state), NULL);
    }
}

static int load_build(struct store *s, int64_t key, struct built *out, struct err *err)
{
    return run_data_load(s, key, &out->run, err) != 0 ? -1 : details_load_kernels(s, key, &out->details, err);
}

static void release_build(struct built *b)
{
    details_release(&b->details);
    run_data_release(&b->run);
}

void bisect_code_load(const struct bisect_state *b, struct store *s, struct bisect_code *out)
{
    AUTO(release_build) struct built before = {.details = {.gates = NULL}};
    AUTO(release_build) struct built now = before;
    AUTO(kernel_pairs_release) struct kernel_pairs pairs = {.items = NULL};
    struct err ignored = {0};
    *out = (struct bisect_code){.rows = NULL};
    if (b->n_cells == 0 || !bisect_state_answered(b))
        return;
    out->before = bisect_good_before(&b->search, b->step.first);
    if (load_build(s, b->entries[out->before].build, &before, &ignored) != 0 ||
        load_build(s, b->entries[b->step.last].build, &now, &ignored) != 0)
        return;
    const char *variant = b->cells[0].variant;
    const struct kernel_side sides[] = {{&before.run, &before.details, variant},
                                        {&now.run, &now.details, variant}};
    kernel_pairs_make(&sides[0], &sides[1], &pairs);
    add_pairs(out, &pairs);
}

void bisect_code_release(struct bisect_code *c)
{
    free(c->rows);
    *c = (struct bisect_code){.rows = NULL};
}

static void add_number(struct table *t, int64_t n)
{
    table_text(t, n == KERNEL_FACT_UNKNOWN ? NUM_NONE : num_int(n).s);
}

void bisect_code_table(const struct bisect_code *c, struct table *t)
{
    table_init(t);
    table_column(t, "Kernel", false);
    table_column(t, "What changed", false);
    table_column(t, "Before", true);
    table_column(t, "After", true);
    for (size_t i = 0; i < c->count; i++) {
        table_code(t, c->rows[i].kernel);
        table_text(t, c->rows[i].what);
        add_number(t, c->rows[i].before);
        add_number(t, c->rows[i].after);
    }
}

static json_t *number(int64_t n)
{
    return n == KERNEL_FACT_UNKNOWN ? json_null() : json_integer(n);
}

json_t *bisect_code_encode(const struct bisect_code *c)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < c->count; i++)
        json_array_append_new(rows, json_pack("{s:s, s:s, s:o, s:o}", "kernel", c->rows[i].kernel, "what",
                                              c->rows[i].what, "before", number(c->rows[i].before), "after",
                                              number(c->rows[i].after)));
    return rows;
}
