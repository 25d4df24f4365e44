#include "harness/session/bisect_request.h"

#include "common/base/alloc.h"
#include "harness/git/git.h"
#include "harness/session/cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *given(const char *text)
{
    return *text ? text : NULL;
}

static int keep_wanted(struct plan *p, const struct bisect_request *r, struct err *err)
{
    AUTO(suspect_list_release) struct suspect_list cells = {.items = NULL};
    for (size_t i = 0; i < r->n_wanted; i++)
        cells_add(&cells, r->wanted[i].variant, r->wanted[i].context);
    return cells.count > 0 ? cells_keep(p, &cells, err) : 0;
}

int bisect_load_plan(struct plan *p, const struct bisect_request *r, struct err *err)
{
    const struct overrides o = {
        .variants = given(r->variants), .contexts = given(r->contexts), .node = given(r->node)};
    if (plan_load(p, r->plan, err) != 0 || overrides_apply(&o, p, err) != 0 || keep_wanted(p, r, err) != 0 ||
        plan_one_node(p, err) != 0)
        return -1;
    int known = p->source.dir ? git_work_tree(p->source.dir, err) : 0;
    if (known == 0)
        return err_set(err, ERR_INPUT,
                       "%s: its source.dir is in no git work tree, so there are no commits to search",
                       r->plan);
    return known == 1 ? 0 : -1;
}

/* The same words name the same search as long as the plan is unchanged, so one wanted cell gives the same
 * name as --variant and --point would. */
static void name_search(struct bisect_state *b, const struct git_commit *good, const struct git_commit *bad)
{
    char sha[SHA256_HEX_LEN + 1], number[32];
    const struct bisect_request *r = &b->request;
    bool one = r->n_wanted == 1;
    snprintf(number, sizeof number, "%d", r->wanted[0].context);
    const char *const texts[] = {r->plan,
                                 r->plan_sha256,
                                 b->node,
                                 one ? r->wanted[0].variant : r->variants,
                                 one ? number : r->contexts,
                                 r->path,
                                 good->id,
                                 bad->id};
    struct sha256 h;
    sha256_begin(&h);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        sha256_add_text(&h, texts[i]);
    snprintf(number, sizeof number, "%d %d", r->first_parent, r->force);
    sha256_add_text(&h, number);
    for (size_t i = 0; !one && i < r->n_wanted; i++) {
        snprintf(number, sizeof number, "%d", r->wanted[i].context);
        sha256_add_text(&h, r->wanted[i].variant);
        sha256_add_text(&h, number);
    }
    sha256_end(&h, sha);
    snprintf(b->name, sizeof b->name, "%.40s-%.8s-%.8s-%.6s", b->ticket, good->id, bad->id, sha);
}

/* The list starts with the good end, so places move by one, and the first commits get it as their parent. */
static void follow_good(struct git_commit *c)
{
    for (size_t p = 0; p < c->n_parents; p++)
        c->parents[p]++;
    if (c->after_first && c->n_parents < GIT_PARENTS_MAX)
        c->parents[c->n_parents++] = 0;
}

static int list_commits(const char *dir, const struct git_commit *good, const struct git_commit *bad,
                        const struct bisect_request *r, struct git_commits *out, struct err *err)
{
    const struct git_range range = {.first_parent = r->first_parent, .path = given(r->path)};
    AUTO(git_commits_release) struct git_commits after = {.items = NULL};
    if (git_commits_between(dir, good->id, bad->id, &range, &after, err) != 0)
        return -1;
    out->count = after.count + 1;
    out->items = xcalloc(out->count, sizeof *out->items);
    out->items[0] = *good;
    for (size_t i = 1; i < out->count; i++) {
        out->items[i] = after.items[i - 1];
        follow_good(&out->items[i]);
    }
    return 0;
}

static int find_ends(const char *dir, const char *const words[2], struct git_commit ends[2], struct err *err)
{
    if (git_commit_find(dir, words[0], &ends[0], err) != 0 ||
        git_commit_find(dir, words[1], &ends[1], err) != 0)
        return -1;
    return strcmp(ends[0].id, ends[1].id) != 0
               ? 0
               : err_set(err, ERR_INPUT, "--good and --bad are the same commit, %.12s", ends[0].id);
}

int bisect_prepare(struct bisect_state *b, const char *good, const char *bad, struct err *err)
{
    AUTO(plan_release) struct plan p = {0};
    const char *const words[] = {good, bad};
    struct git_commit ends[2];
    struct git_commits all;
    if (bisect_load_plan(&p, &b->request, err) != 0 || find_ends(p.source.dir, words, ends, err) != 0 ||
        list_commits(p.source.dir, &ends[0], &ends[1], &b->request, &all, err) != 0)
        return -1;
    snprintf(b->ticket, sizeof b->ticket, "%s", p.settings.ticket);
    snprintf(b->node, sizeof b->node, "%s", p.node);
    memcpy(b->request.plan_sha256, p.sha256, sizeof b->request.plan_sha256);
    if (b->request.rounds == 0)
        b->request.rounds = (int)p.confirm.rounds;
    name_search(b, &ends[0], &ends[1]);
    clock_iso8601(clock_real_s(), b->started_at);
    if (bisect_state_init(b, &all, b->request.rounds, err) != 0)
        return -1;
    for (size_t i = 1; i < b->count; i++)
        b->commits[i].forked = b->commits[i].n_parents == 0;
    return 0;
}

size_t bisect_left(const struct bisect_state *b, bool out[static BISECT_CELLS_MAX])
{
    bool explained[BISECT_CELLS_MAX], any = false;
    size_t n = 0;
    bisect_explained(b, explained);
    for (size_t i = 0; i < b->request.n_wanted; i++)
        any = any || explained[i];
    /* This ends, because each further search for a whole night has fewer cells than the one before. */
    bool goes_on = *b->ended_at && (any || bisect_is_check(b));
    for (size_t i = 0; i < BISECT_CELLS_MAX; i++) {
        out[i] = goes_on && i < b->request.n_wanted && !explained[i];
        n += out[i];
    }
    return n;
}

/* Keeps the change between the ends of the night, which later checks compare with. */
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
