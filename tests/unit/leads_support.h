/* A report on v3, which is slower than in the base, and what else a comparison may have found of it. */
#pragma once

#include "results/query/find_run.h"
#include "tests/unit/advice_support.h"
struct side {
    const char *source, *plan, *driver; /* "" : not recorded */
    const char *code;                   /* code identity of the variant, or "" */
    double prefill_s;
};

static inline void set_hash(char *out, const char *of)
{
    if (*of)
        sha256_of(of, strlen(of), out);
}

static inline int64_t store_side(struct store *s, int night, const struct side *side)
{
    struct err err = {0};
    struct draft d;
    draft_night(&d, night);
    set_hash(d.info.source_sha256, side->source);
    set_hash(d.info.plan_sha256, side->plan);
    if (*side->driver)
        assert_ok(draft_add_fact(&d, "driver", side->driver, &err), &err);
    draft_shot(&d, "v3", 4096, 1, side->prefill_s);
    set_hash(d.variants[0].code_sha256, side->code);
    d.variants[0].code_of_device = *side->code;
    return must_store(s, &d);
}

/* As confirm_judge() does. */
static inline void confirm(struct comparison *c, struct delta *d, enum confirmation how)
{
    d->confirmation = how;
    if (how != CONFIRM_NODE)
        return;
    d->verdict = VERDICT_NOISY;
    c->verdicts[VERDICT_REGRESSED]--;
    c->verdicts[VERDICT_NOISY]++;
    c->node_cells++;
}

/* What a report advises when v3 is slower than in the base, and how confirming ended. edit: what else the
 * comparison found; may be NULL. */
static inline char *advice_beside(const char *db, struct side before, struct side now, enum confirmation how,
                                  void (*edit)(struct comparison *c))
{
    struct store s = open_store(db);
    struct report_request req = report_defaults();
    struct run_data run;
    struct against against;
    struct comparison c;
    struct err err = {0};
    int64_t base = store_side(&s, 1, &before);
    store_side(&s, 2, &now);
    assert_ok(store_load_run(&s, "latest", &run, &err), &err);
    assert_ok(against_run(&s, &run, base, &req.compare, &against, &err), &err);
    assert_ok(against_compare(&against, &run, &c, &err), &err);
    assert_int_equal(c.verdicts[VERDICT_REGRESSED], 1);
    for (size_t i = 0; i < c.count; i++)
        if (c.deltas[i].verdict == VERDICT_REGRESSED)
            confirm(&c, &c.deltas[i], how);
    if (edit)
        edit(&c);
    req.held_against = &against;
    req.comparison = &c;
    char *text = render(&s, req);
    comparison_release(&c);
    against_release(&against);
    run_data_release(&run);
    store_close(&s);
    return text;
}

static inline char *advice(const char *db, struct side before, struct side now, enum confirmation how)
{
    return advice_beside(db, before, now, how, NULL);
}
