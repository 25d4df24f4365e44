#include "results/judge/search/bisect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PAIRS_SPARE = 4, FAILED_ROUNDS_MAX = 2 };

static const char *const mark_names[BISECT_MARK_COUNT] = {"open", "good", "bad", "skipped"};
static const char *const basis_names[BISECT_BASIS_COUNT] = {"nothing", "given", "turns",    "code",
                                                            "build",   "tests", "undecided"};
static const char *const outcome_names[BISECT_OUTCOME_COUNT] = {"found", "range", "not_reproducible",
                                                                "undecided", "stopped"};

static bool find_name(const char *const *names, int count, const char *name, int *out)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) {
            *out = i;
            return true;
        }
    return false;
}

const char *bisect_mark_name(enum bisect_mark m)
{
    return mark_names[m];
}

bool bisect_mark_from_name(const char *name, enum bisect_mark *out)
{
    int i = 0;
    bool found = find_name(mark_names, BISECT_MARK_COUNT, name, &i);
    *out = (enum bisect_mark)i;
    return found;
}

const char *bisect_basis_name(enum bisect_basis b)
{
    return basis_names[b];
}

bool bisect_basis_from_name(const char *name, enum bisect_basis *out)
{
    int i = 0;
    bool found = find_name(basis_names, BISECT_BASIS_COUNT, name, &i);
    *out = (enum bisect_basis)i;
    return found;
}

const char *bisect_outcome_name(enum bisect_outcome o)
{
    return outcome_names[o];
}

static void make_line(struct bisect_commit *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (items[i].n_parents > 0)
            return;
    for (size_t i = 1; i < count; i++) {
        items[i].parents[0] = i - 1;
        items[i].n_parents = 1;
    }
}

void bisect_init(struct bisect_search *s, struct bisect_commit *items, size_t count, int rounds_max)
{
    *s = (struct bisect_search){.items = items,
                                .count = count,
                                .by_code = true,
                                .rounds_max = rounds_max,
                                .pairs_max = (int)(2 * log2((double)(count - 1))) + PAIRS_SPARE};
    make_line(items, count);
    items[0].mark = BISECT_GOOD;
    items[0].basis = BISECT_BY_USER;
}

static struct bisect_step end_with(enum bisect_outcome outcome, size_t first, size_t last)
{
    return (struct bisect_step){.task = BISECT_END, .outcome = outcome, .first = first, .last = last};
}

static struct bisect_step do_next(enum bisect_task task, size_t commit)
{
    return (struct bisect_step){.task = task, .commit = commit};
}

static bool same_code(const struct bisect_search *s, size_t a, size_t b)
{
    return s->by_code && *s->items[a].code && strcmp(s->items[a].code, s->items[b].code) == 0;
}

/* Whether a commit whose tests failed may be measured again: not after so many rounds that it would go on
 * failing. The rounds of the good end are those of the bad end. */
static bool may_recover(const struct bisect_search *s, size_t commit)
{
    const struct bisect_commit *c = &s->items[commit > 0 ? commit : s->count - 1];
    return s->items[commit].basis == BISECT_BY_TESTS && c->rounds < FAILED_ROUNDS_MAX &&
           c->rounds < s->rounds_max;
}

static bool is_unusable(const struct bisect_search *s, size_t end)
{
    enum bisect_basis basis = s->items[end].basis;
    return basis == BISECT_BY_BUILD || (basis == BISECT_BY_TESTS && !may_recover(s, end));
}

/* The ends come first: without a difference between them there is nothing to find. */
static struct bisect_step prove_ends(const struct bisect_search *s)
{
    size_t bad = s->count - 1;
    const struct bisect_commit *bad_end = &s->items[bad];
    if (!s->items[0].built)
        return do_next(BISECT_BUILD, 0);
    if (is_unusable(s, 0))
        return end_with(BISECT_STOPPED, 0, 0);
    if (!bad_end->built)
        return do_next(BISECT_BUILD, bad);
    if (is_unusable(s, bad))
        return end_with(BISECT_STOPPED, bad, bad);
    if (bad_end->basis == BISECT_BY_UNDECIDED)
        return end_with(BISECT_UNDECIDED, bad, bad);
    /* Equal device code proves nothing here: the host's code may have changed. */
    if (bad_end->mark == BISECT_GOOD || (same_code(s, 0, bad) && !bad_end->of_device))
        return end_with(BISECT_NOT_REPRODUCIBLE, bad, bad);
    return do_next(BISECT_MEASURE, bad);
}

/* Adds the ancestors of the commits in set to it. Parents come before their children. */
static void add_ancestors(const struct bisect_search *s, bool *set)
{
    for (size_t i = s->count; i-- > 1;)
        for (size_t p = 0; set[i] && p < s->items[i].n_parents; p++)
            set[s->items[i].parents[p]] = true;
}

/* Whether the commit descends from a good one: the good end, or one that was measured. */
static bool is_after_good(const struct bisect_search *s, size_t commit)
{
    bool set[BISECT_COMMITS_MAX] = {false};
    set[commit] = true;
    add_ancestors(s, set);
    for (size_t i = 0; i <= commit; i++)
        if (set[i] &&
            (s->items[i].mark == BISECT_GOOD || (s->items[i].n_parents == 0 && !s->items[i].forked)))
            return true;
    return false;
}

/* The identity of device code does not cover the host's code, so what is concluded from it is a guess. */
static bool is_guess(const struct bisect_commit *c)
{
    return c->basis == BISECT_BY_CODE && c->of_device;
}

/* Every bad commit after a good one descends from those found later, so the first is the one reached so
 * far. */
static size_t oldest_bad(const struct bisect_search *s, bool guesses)
{
    for (size_t i = 1; i < s->count; i++)
        if (s->items[i].mark == BISECT_BAD && (guesses || !is_guess(&s->items[i])) && is_after_good(s, i))
            return i;
    return s->count - 1;
}

static size_t find_suspects(const struct bisect_search *s, bool guesses, bool *out)
{
    bool cleared[BISECT_COMMITS_MAX] = {false};
    size_t bad = oldest_bad(s, guesses), n = 0;
    memset(out, 0, BISECT_COMMITS_MAX * sizeof *out);
    out[bad] = true;
    add_ancestors(s, out);
    for (size_t i = 0; i < bad; i++)
        cleared[i] = s->items[i].mark == BISECT_GOOD && (guesses || !is_guess(&s->items[i]));
    add_ancestors(s, cleared);
    for (size_t i = 0; i < s->count; i++) {
        out[i] = out[i] && !cleared[i];
        n += out[i];
    }
    return n;
}

size_t bisect_suspects(const struct bisect_search *s, bool out[static BISECT_COMMITS_MAX])
{
    return find_suspects(s, false, out);
}

size_t bisect_good_before(const struct bisect_search *s, size_t commit)
{
    bool set[BISECT_COMMITS_MAX] = {false};
    set[commit] = true;
    add_ancestors(s, set);
    for (size_t i = commit; i-- > 1;)
        if (set[i] && s->items[i].mark == BISECT_GOOD)
            return i;
    return 0;
}

/* A commit after a bad one, on a branch that left before the good end, is as slow and proves nothing. */
static bool is_moot(const struct bisect_search *s, size_t commit)
{
    bool set[BISECT_COMMITS_MAX] = {false}, bad = false;
    set[commit] = true;
    add_ancestors(s, set);
    for (size_t i = 1; i < commit; i++)
        bad = bad || (set[i] && s->items[i].mark == BISECT_BAD);
    return bad && !is_after_good(s, commit);
}

/* How many suspects a good commit would clear. */
static size_t count_cleared(const struct bisect_search *s, const bool *suspects, size_t commit)
{
    bool set[BISECT_COMMITS_MAX] = {false};
    size_t n = 0;
    set[commit] = true;
    add_ancestors(s, set);
    for (size_t i = 0; i <= commit; i++)
        n += set[i] && suspects[i];
    return n;
}

/* The open suspect (failed: the one whose tests failed and may recover) that halves all suspects best; the
 * bad commit if there is none. */
static size_t choose_of(const struct bisect_search *s, const bool *suspects, size_t n, size_t bad,
                        bool failed)
{
    size_t best = bad, most = 0;
    for (size_t i = 1; i < bad; i++) {
        bool listed = failed ? may_recover(s, i) : s->items[i].mark == BISECT_OPEN;
        if (!suspects[i] || !listed || is_moot(s, i))
            continue;
        size_t cleared = count_cleared(s, suspects, i), left = n - cleared;
        size_t fewer = cleared < left ? cleared : left;
        if (best == bad || fewer > most) {
            best = i;
            most = fewer;
        }
    }
    return best;
}

/* Failed commits come last: most go on failing, and often they do not matter any more. */
static size_t choose(const struct bisect_search *s, const bool *suspects, size_t n, size_t bad)
{
    size_t open = choose_of(s, suspects, n, bad, false);
    return open != bad ? open : choose_of(s, suspects, n, bad, true);
}

static struct bisect_step end_with_suspects(const struct bisect_search *s)
{
    bool suspects[BISECT_COMMITS_MAX];
    size_t first = 0, n = bisect_suspects(s, suspects);
    while (!suspects[first])
        first++;
    struct bisect_step step = end_with(n == 1 ? BISECT_FOUND : BISECT_RANGE, first, oldest_bad(s, false));
    step.suspects = n;
    return step;
}

/* A guess that the answer would rest on: the bad commit, or a good parent of a suspect. 0: none. */
static size_t find_guess(const struct bisect_search *s, const bool *suspects, size_t bad)
{
    if (is_guess(&s->items[bad]))
        return bad;
    for (size_t i = bad; i > 0; i--)
        for (size_t p = 0; suspects[i] && p < s->items[i].n_parents; p++) {
            size_t parent = s->items[i].parents[p];
            if (s->items[parent].mark == BISECT_GOOD && is_guess(&s->items[parent]))
                return parent;
        }
    return 0;
}

struct bisect_step bisect_next(const struct bisect_search *s)
{
    bool suspects[BISECT_COMMITS_MAX];
    if (s->items[s->count - 1].mark != BISECT_BAD)
        return prove_ends(s);
    size_t bad = oldest_bad(s, true), n = find_suspects(s, true, suspects);
    size_t next = choose(s, suspects, n, bad);
    if (next != bad && !s->items[next].built)
        return do_next(BISECT_BUILD, next);
    if (next == bad)
        next = find_guess(s, suspects, bad);
    if (next == 0 || s->pairs >= s->pairs_max)
        return end_with_suspects(s);
    return do_next(BISECT_MEASURE, next);
}

static void set_mark(struct bisect_commit *c, enum bisect_mark mark, enum bisect_basis basis)
{
    c->mark = mark;
    c->basis = basis;
    c->reason[0] = '\0';
}

static bool is_decided(const struct bisect_commit *c)
{
    return c->mark == BISECT_GOOD || c->mark == BISECT_BAD || c->basis == BISECT_BY_UNDECIDED;
}

/* The same machine code is as fast, or as hard to decide. */
static void take_decided(struct bisect_search *s, size_t commit)
{
    for (size_t i = 0; i < s->count; i++) {
        if (i == commit || !is_decided(&s->items[i]) || !same_code(s, i, commit))
            continue;
        set_mark(&s->items[commit], s->items[i].mark, BISECT_BY_CODE);
        s->items[commit].same_as = i;
        return;
    }
}

void bisect_built(struct bisect_search *s, size_t commit, const char *code, const char *reason)
{
    struct bisect_commit *c = &s->items[commit];
    c->built = true;
    snprintf(c->code, sizeof c->code, "%s", code);
    if (reason) {
        set_mark(c, BISECT_SKIPPED, BISECT_BY_BUILD);
        snprintf(c->reason, sizeof c->reason, "%s", reason);
    } else if (commit > 0 && commit < s->count - 1)
        take_decided(s, commit);
}

/* Two builds of the same device code differ in speed, so it proves nothing from now on. */
static void drop_guesses(struct bisect_search *s)
{
    s->by_code = false;
    for (size_t i = 1; i < s->count; i++)
        if (is_guess(&s->items[i]))
            set_mark(&s->items[i], BISECT_OPEN, BISECT_BY_NOTHING);
}

static size_t take_measured(struct bisect_search *s, size_t commit, struct delta *d)
{
    struct bisect_commit *c = &s->items[commit];
    enum bisect_mark mark = bisect_weigh(s, commit, d);
    bool is_end = commit == s->count - 1;
    if (is_end)
        set_mark(&s->items[0], BISECT_GOOD, BISECT_BY_USER);
    if (is_end && d->base.n == 0 && d->reason != REASON_APART) {
        set_mark(&s->items[0], BISECT_GOOD, BISECT_BY_TESTS);
        return 0;
    }
    if (d->now.n == 0 && d->base.n > 0)
        set_mark(c, BISECT_SKIPPED, BISECT_BY_TESTS);
    else if (mark != BISECT_OPEN)
        set_mark(c, mark, BISECT_BY_TURNS);
    else if (c->rounds >= s->rounds_max)
        set_mark(c, BISECT_SKIPPED, BISECT_BY_UNDECIDED);
    else if (c->basis == BISECT_BY_TESTS) /* it failed before */
        set_mark(c, BISECT_OPEN, BISECT_BY_NOTHING);
    return commit;
}

size_t bisect_measured(struct bisect_search *s, size_t commit, struct delta *d)
{
    struct bisect_commit *c = &s->items[commit];
    const struct bisect_commit before = *c;
    s->pairs++;
    c->rounds++;
    size_t said = take_measured(s, commit, d);
    if (is_guess(&before) && c->mark != before.mark && c->mark != BISECT_SKIPPED)
        drop_guesses(s);
    return said;
}

void bisect_narrowed(struct bisect_search *s, const char *good_code, const char *bad_code)
{
    struct bisect_commit *good = &s->items[0], *bad = &s->items[s->count - 1];
    snprintf(good->code, sizeof good->code, "%s", good_code);
    snprintf(bad->code, sizeof bad->code, "%s", bad_code);
    if (same_code(s, 0, s->count - 1))
        drop_guesses(s);
}
