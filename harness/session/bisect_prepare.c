/* The first half of bisect.h: from the words of a request to the commits that are searched. */
#include "harness/git/git.h"
#include "harness/session/bisect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *given(const char *text)
{
    return *text ? text : NULL;
}

int bisect_load_plan(struct plan *p, const struct bisect_request *r, struct err *err)
{
    const struct overrides o = {
        .variants = given(r->variants), .contexts = given(r->contexts), .node = given(r->node)};
    if (plan_load(p, r->plan, err) != 0 || overrides_apply(&o, p, err) != 0 || plan_one_node(p, err) != 0)
        return -1;
    return p->source.dir && git_has_work_tree(p->source.dir)
               ? 0
               : err_set(err, ERR_INPUT,
                         "%s: its source.dir is in no git work tree, so there are no commits to search",
                         r->plan);
}

/* The same words always name the same search, as long as the plan says the same. */
static void name_search(struct bisect_state *b, const struct git_commit *good, const struct git_commit *bad)
{
    char sha[SHA256_HEX_LEN + 1], flags[32];
    const struct bisect_request *r = &b->request;
    const char *const texts[] = {r->plan,     r->plan_sha256, b->node,  r->variants,
                                 r->contexts, r->path,        good->id, bad->id};
    struct sha256 h;
    sha256_begin(&h);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        sha256_add_text(&h, texts[i]);
    snprintf(flags, sizeof flags, "%d %d", r->first_parent, r->force);
    sha256_add_text(&h, flags);
    /* a single one is what the variants and the contexts say */
    for (size_t i = 0; r->n_wanted > 1 && i < r->n_wanted; i++) {
        snprintf(flags, sizeof flags, "%d", r->wanted[i].context);
        sha256_add_text(&h, r->wanted[i].variant);
        sha256_add_text(&h, flags);
    }
    sha256_end(&h, sha);
    snprintf(b->name, sizeof b->name, "%.40s-%.8s-%.8s-%.6s", b->ticket, good->id, bad->id, sha);
}

/* Places count the good end, which is the parent of the first commits after it. */
static void follow_good(struct git_commit *c)
{
    for (size_t p = 0; p < c->n_parents; p++)
        c->parents[p]++;
    if (c->after_first && c->n_parents < GIT_PARENTS_MAX)
        c->parents[c->n_parents++] = 0;
}

/* The good end, and the commits after it. */
static int list_commits(const char *dir, const struct git_commit *good, const struct git_commit *bad,
                        const struct bisect_request *r, struct git_commits *out, struct err *err)
{
    const struct git_range range = {.first_parent = r->first_parent, .path = given(r->path)};
    struct git_commits after;
    if (git_commits_between(dir, good->id, bad->id, &range, &after, err) != 0)
        return -1;
    *out =
        (struct git_commits){.items = calloc(after.count + 1, sizeof *out->items), .count = after.count + 1};
    if (out->items) {
        out->items[0] = *good;
        memcpy(out->items + 1, after.items, after.count * sizeof *after.items);
        for (size_t i = 1; i < out->count; i++)
            follow_good(&out->items[i]);
    }
    git_commits_release(&after);
    return out->items ? 0 : err_set(err, ERR_INTERNAL, "no memory for the commits");
}

int bisect_prepare(struct bisect_state *b, const char *good, const char *bad, struct err *err)
{
    struct plan p = {0};
    struct git_commit first, last;
    struct git_commits all;
    int rc = bisect_load_plan(&p, &b->request, err);
    if (rc == 0 && (git_commit_find(p.source.dir, good, &first, err) != 0 ||
                    git_commit_find(p.source.dir, bad, &last, err) != 0))
        rc = -1;
    if (rc == 0 && strcmp(first.id, last.id) == 0)
        rc = err_set(err, ERR_INPUT, "--good and --bad are the same commit, %.12s", first.id);
    if (rc == 0)
        rc = list_commits(p.source.dir, &first, &last, &b->request, &all, err);
    if (rc == 0) {
        snprintf(b->ticket, sizeof b->ticket, "%s", p.settings.ticket);
        snprintf(b->node, sizeof b->node, "%s", p.node);
        memcpy(b->request.plan_sha256, p.sha256, sizeof b->request.plan_sha256);
        if (b->request.rounds == 0)
            b->request.rounds = (int)p.confirm.rounds;
        name_search(b, &first, &last);
        clock_iso8601(clock_real_s(), b->started_at);
        rc = bisect_state_init(b, &all, b->request.rounds, err);
        for (size_t i = 1; rc == 0 && i < b->count; i++)
            b->commits[i].forked = b->commits[i].n_parents == 0;
    }
    plan_release(&p);
    return rc;
}
