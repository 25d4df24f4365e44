#include "harness/session/bisect_follow.h"

#include "harness/session/bisect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Each word once: the values of --variant and --point. */
static bool add_word(char *list, size_t cap, const char *word)
{
    size_t len = strlen(list), n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at++)
        if ((at == list || at[-1] == ',') && (at[n] == ',' || at[n] == '\0'))
            return true;
    return snprintf(list + len, cap - len, "%s%s", len ? "," : "", word) < (int)(cap - len);
}

void bisect_request_cells(struct bisect_request *r)
{
    char context[16];
    bool fits = true;
    r->variants[0] = r->contexts[0] = '\0';
    for (size_t i = 0; i < r->n_wanted; i++) {
        snprintf(context, sizeof context, "%d", r->wanted[i].context);
        fits = fits && add_word(r->variants, sizeof r->variants, r->wanted[i].variant) &&
               add_word(r->contexts, sizeof r->contexts, context);
    }
    if (!fits)
        r->variants[0] = r->contexts[0] = '\0'; /* too many to name: the plan is not narrowed */
}

bool bisect_is_check(const struct bisect_state *b)
{
    return *b->request.night_good;
}

const struct bisect_cell *bisect_find_cell(const struct bisect_state *b, const struct bisect_wanted *w)
{
    for (size_t i = 0; i < b->n_cells; i++)
        if (b->cells[i].context == w->context && strcmp(b->cells[i].variant, w->variant) == 0)
            return &b->cells[i];
    return NULL;
}

/* More than half of the change between the ends of the night, as in every step of a search. */
static bool is_most_of(const struct bisect_cell *c, const struct bisect_wanted *w)
{
    double share = log(c->ratio) / log(w->ratio);
    return !isfinite(share) || share > 0.5;
}

void bisect_explained(const struct bisect_state *b, bool out[static BISECT_CELLS_MAX])
{
    memset(out, 0, BISECT_CELLS_MAX * sizeof *out);
    for (size_t i = 0; bisect_state_answered(b) && i < b->request.n_wanted; i++) {
        const struct bisect_cell *c = bisect_find_cell(b, &b->request.wanted[i]);
        /* between two commits there is no other cause */
        bool known = c && (c == &b->cells[0] || b->count == 2);
        out[i] = known && (!bisect_is_check(b) || is_most_of(c, &b->request.wanted[i]));
    }
}

size_t bisect_left(const struct bisect_state *b, bool out[static BISECT_CELLS_MAX])
{
    bool explained[BISECT_CELLS_MAX], any = false;
    size_t n = 0;
    bisect_explained(b, explained);
    for (size_t i = 0; i < b->request.n_wanted; i++)
        any = any || explained[i];
    /* each search of a whole night has fewer cells than the one before it */
    bool goes_on = *b->ended_at && (any || bisect_is_check(b));
    for (size_t i = 0; i < BISECT_CELLS_MAX; i++) {
        out[i] = goes_on && i < b->request.n_wanted && !explained[i];
        n += out[i];
    }
    return n;
}

/* What the ends of the night differ by, which a check asks for half of. */
static void want(struct bisect_request *r, const struct bisect_state *b, size_t place)
{
    struct bisect_wanted *w = &r->wanted[r->n_wanted++];
    const struct bisect_cell *c = bisect_find_cell(b, &b->request.wanted[place]);
    *w = b->request.wanted[place];
    if (!bisect_is_check(b))
        w->ratio = c ? c->ratio : (double)NAN;
}

int bisect_follow_prepare(const struct bisect_state *b, struct bisect_state *next, bool *found,
                          struct err *err)
{
    bool left[BISECT_CELLS_MAX];
    const struct bisect_request *r = &b->request;
    const char *good = b->commits[0].id, *bad = b->commits[b->count - 1].id;
    *found = bisect_left(b, left) > 0;
    if (!*found)
        return 0;
    *next = (struct bisect_state){.request = *r};
    struct bisect_request *n = &next->request;
    n->n_wanted = 0;
    n->later = true;
    for (size_t i = 0; i < r->n_wanted; i++)
        if (left[i])
            want(n, b, i);
    bisect_request_cells(n);
    n->night_good[0] = n->night_bad[0] = '\0';
    if (bisect_is_check(b)) {
        good = r->night_good;
        bad = r->night_bad;
    } else if (b->step.outcome == BISECT_FOUND && b->count > 2) {
        memcpy(n->night_good, good, sizeof n->night_good);
        memcpy(n->night_bad, bad, sizeof n->night_bad);
        good = b->commits[bisect_good_before(&b->search, b->step.last)].id;
        bad = b->commits[b->step.last].id;
    }
    return bisect_prepare(next, good, bad, err);
}
