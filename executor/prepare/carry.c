#include "executor/prepare/carry.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "executor/prepare/fingerprint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Why a cell is measured, the strongest reason first. */
enum reason { REASON_ALWAYS, REASON_CONTROL, REASON_CHANGED, REASON_OPEN, REASON_TURN, REASON_NOT };

struct cell {
    size_t first; /* of its tests */
    enum reason reason;
    bool same;         /* its fingerprint is the one that it had */
    bool begun;        /* by an earlier executor */
    bool unknown;      /* how long a test of it takes */
    double expected_s; /* all of its tests */
    enum carry carry;
};

struct cells {
    struct cell *item; /* by eta.cell_of */
    size_t count;
    struct cell **order; /* by reason and turn */
};

static void cells_release(struct cells *c)
{
    free(c->item);
    free(c->order);
}

static int find_fingerprints(struct suite *s, struct err *err)
{
    AUTO_FREE struct fingerprint *common = xcalloc(s->job.variant_count, sizeof *common);
    struct fingerprint own;
    size_t cells = 0; /* numbered by their first tests */
    for (size_t v = 0; v < s->job.variant_count; v++)
        if (fingerprint_variant(s, v, &common[v], err) != 0)
            return -1;
    for (size_t i = 0; i < s->job.test_count; i++) {
        const struct fingerprint *c = &common[s->job.test[i].variant], *found = c;
        if (s->eta.cell_of[i] != cells)
            continue;
        cells++;
        if (c->sha256[0] && fingerprint_cell(s, i, c, &own, err) != 0)
            return -1;
        if (c->sha256[0])
            found = &own;
        memcpy(s->test[i].fingerprint, found->sha256, sizeof found->sha256);
        free(s->test[i].changing);
        s->test[i].changing = found->sha256[0] ? NULL : xstrdup(found->why);
    }
    return 0;
}

static struct cells find_cells(const struct suite *s)
{
    struct cells c = {.item = xcalloc(s->eta.count + 1, sizeof *c.item),
                      .count = s->eta.count,
                      .order = xcalloc(s->eta.count + 1, sizeof *c.order)};
    for (size_t i = s->job.test_count; i-- > 0;) {
        const struct job_test *t = &s->job.test[i];
        const struct test_state *state = &s->test[i];
        struct cell *own = &c.item[s->eta.cell_of[i]];
        own->first = i;
        own->begun = own->begun || state->final || state->attempts > 0 || state->in_flight;
        own->unknown = own->unknown || t->expected_s <= 0;
        own->expected_s += t->expected_s;
    }
    return c;
}

static enum reason reason_of(const struct suite *s, struct cell *c)
{
    const struct job_test *t = &s->job.test[c->first];
    const char *fingerprint = s->test[c->first].fingerprint;
    c->same = t->unless && *fingerprint && strcmp(t->unless, fingerprint) == 0;
    return t->smoke ? REASON_ALWAYS : !c->same ? REASON_CHANGED : t->open ? REASON_OPEN : REASON_NOT;
}

static int by_reason(const void *a, const void *b, void *arg)
{
    const struct suite *s = arg;
    const struct cell *x = *(const struct cell *const *)a, *y = *(const struct cell *const *)b;
    int64_t m = s->job.test[x->first].turn, n = s->job.test[y->first].turn;
    if (x->reason != y->reason)
        return x->reason < y->reason ? -1 : 1;
    return m != n ? (m > n) - (m < n) : (x->first > y->first) - (x->first < y->first);
}

static void sort_cells(struct suite *s, struct cells *c)
{
    for (size_t i = 0; i < c->count; i++)
        c->order[i] = &c->item[i];
    qsort_r(c->order, c->count, sizeof *c->order, by_reason, s);
}

/* Those that did not change come last, by turn: the first of them are controls. A cell that is measured
 * anyway has its turn, too. */
static void find_reasons(struct suite *s, struct cells *c)
{
    int controls = 0;
    for (size_t i = 0; i < c->count; i++)
        c->item[i].reason = reason_of(s, &c->item[i]);
    sort_cells(s, c);
    for (size_t i = 0; i < c->count; i++) {
        if (c->order[i]->reason != REASON_NOT)
            continue;
        if (controls++ < CONTROLS_MIN)
            c->order[i]->reason = REASON_CONTROL;
        else if (s->job.test[c->order[i]->first].turn < s->job.controls)
            c->order[i]->reason = REASON_TURN;
    }
    for (size_t i = 0; i < c->count; i++)
        if (c->item[i].begun)
            c->item[i].reason = REASON_ALWAYS;
    sort_cells(s, c);
}

struct spent {
    double known_s;
    size_t unknown, over; /* cells: of unknown duration; left out */
};

static struct spent spend(const struct suite *s, struct cells *c)
{
    struct spent spent = {.known_s = 0};
    double budget_s = s->job.budget_s > 0 ? s->job.budget_s * (double)s->lanes.count : INFINITY;
    for (size_t i = 0; i < c->count; i++) {
        struct cell *own = c->order[i];
        bool over =
            own->reason > REASON_CONTROL && !own->unknown && spent.known_s + own->expected_s > budget_s;
        own->carry = own->reason == REASON_NOT ? CARRY_UNCHANGED : over ? CARRY_BUDGET : CARRY_NOT;
        spent.over += own->carry == CARRY_BUDGET;
        if (own->carry == CARRY_NOT) {
            spent.unknown += own->unknown;
            spent.known_s += own->unknown ? 0 : own->expected_s;
        }
    }
    return spent;
}

static void leave_out(struct suite *s, const struct cells *c)
{
    for (size_t i = 0; i < s->job.test_count; i++) {
        enum carry carry = c->item[s->eta.cell_of[i]].carry;
        if (carry == CARRY_NOT || s->test[i].needless)
            continue;
        s->test[i].needless = true;
        s->test[i].carry = carry;
        s->needless++;
        eta_dropped(&s->eta, i);
    }
}

static int tell_carried(struct suite *s, const struct cells *c, struct err *err)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += c->item[i].carry == CARRY_UNCHANGED;
    return count == 0
               ? 0
               : suite_note(
                     s, err,
                     "carried: %zu cell%s would run exactly what %s when last measured, and %s not measured",
                     count, text_plural((long long)count), count == 1 ? "it ran" : "they ran",
                     count == 1 ? "is" : "are");
}

static int tell_spent(struct suite *s, const struct spent *spent, struct err *err)
{
    char unknown[96] = "";
    if (s->job.budget_s <= 0)
        return 0;
    if (spent->unknown > 0)
        snprintf(unknown, sizeof unknown, ", and %zu cell%s of unknown duration", spent->unknown,
                 text_plural((long long)spent->unknown));
    return suite_note(s, err, "budget: tests of %.0f s are expected within %.0f s%s; %zu cell%s left out",
                      spent->known_s / (double)s->lanes.count, s->job.budget_s, unknown, spent->over,
                      spent->over == 1 ? " is" : "s are");
}

int carry_cells(struct suite *s, struct err *err)
{
    if (s->job.controls == 0 || s->loop.stop)
        return 0;
    if (find_fingerprints(s, err) != 0)
        return -1;
    AUTO(cells_release) struct cells cells = find_cells(s);
    find_reasons(s, &cells);
    const struct spent spent = spend(s, &cells);
    leave_out(s, &cells);
    return tell_carried(s, &cells, err) != 0 ? -1 : tell_spent(s, &spent, err);
}

static json_t *encode_cell(const struct suite *s, size_t test)
{
    const struct job_test *t = &s->job.test[test];
    const struct test_state *state = &s->test[test];
    bool known = state->fingerprint[0];
    /* What an earlier executor measured may have had another one. */
    bool lasting = known && (state->carry || !s->past.resumed);
    json_t *out = json_pack("{s:s, s:I, s:s?, s:s*}", "variant", s->job.variant[t->variant].name,
                            "context_len", (json_int_t)t->context, "fingerprint",
                            lasting ? state->fingerprint : NULL, "changing", state->changing);
    if (state->carry)
        json_object_set_new(out, "carried", t->measured ? json_string(t->measured) : json_null());
    if (state->carry == CARRY_BUDGET)
        json_object_set_new(out, "left_out", json_string("budget"));
    return out;
}

json_t *carry_encode(const struct suite *s)
{
    json_t *out = s->job.controls > 0 ? json_array() : NULL;
    for (size_t i = 0, cells = 0; out && i < s->job.test_count; i++)
        if (s->eta.cell_of[i] == cells) {
            json_array_append_new(out, encode_cell(s, i));
            cells++;
        }
    return out;
}
