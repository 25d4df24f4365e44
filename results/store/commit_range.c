#include "results/store/commit_range.h"

#include "common/base/alloc.h"

#include <string.h>

const char *range_kind_name(enum range_kind k)
{
    static const char *const names[RANGE_KIND_COUNT] = {
        [RANGE_NONE] = "unknown", [RANGE_SAME] = "same",   [RANGE_ON] = "forward",
        [RANGE_BACK] = "back",    [RANGE_APART] = "apart", [RANGE_OPEN] = "open"};
    return names[k];
}

void commit_log_release(struct commit_log *l)
{
    commit_graph_release(&l->graph);
}

static int look_up(struct commit_log *l, size_t at, struct err *err)
{
    struct commit found;
    l->graph.nodes[at].asked = true;
    int rc = commit_load(l->store, l->graph.nodes[at].id, &found, err);
    if (rc > 0)
        commit_graph_add(&l->graph, found.id, found.parents);
    return rc < 0 ? -1 : 0;
}

/* Reads the commits that can be reached from one, but for those read before. */
static int read_from(struct commit_log *l, size_t start, struct err *err)
{
    AUTO_FREE size_t *queue = xcalloc(RANGE_SEARCHED_MAX, sizeof *queue);
    size_t n = 0;
    queue[n++] = start;
    for (size_t i = 0; i < n; i++) {
        if (l->graph.nodes[queue[i]].asked)
            continue;
        if (look_up(l, queue[i], err) != 0)
            return -1;
        const struct commit_node *node = &l->graph.nodes[queue[i]];
        for (size_t p = 0; p < node->n_parents && n < RANGE_SEARCHED_MAX; p++)
            if (!l->graph.nodes[node->parents[p]].asked)
                queue[n++] = node->parents[p];
    }
    return 0;
}

static enum range_kind kind_of(const struct commit_graph *g, size_t to, const struct commit_between *b)
{
    if (b->ancestor)
        return RANGE_ON;
    if (g->nodes[to].of_from)
        return RANGE_BACK;
    return b->complete ? RANGE_APART : RANGE_OPEN;
}

static int list_commit(struct commit_log *l, const char *id, struct commit_range *out, struct err *err)
{
    struct commit c = {0};
    struct listed_commit *to = &out->listed[out->n_listed++];
    if (commit_load(l->store, id, &c, err) < 0)
        return -1;
    memcpy(to->id, c.id, sizeof to->id);
    memcpy(to->subject, c.subject, sizeof to->subject);
    memcpy(to->author, c.author, sizeof to->author);
    memcpy(to->authored_at, c.authored_at, sizeof to->authored_at);
    return 0;
}

static int fill(struct commit_log *l, size_t to, const struct commit_between *b, struct commit_range *out,
                struct err *err)
{
    out->kind = kind_of(&l->graph, to, b);
    out->exact = b->complete;
    if (out->kind == RANGE_APART && b->has_base)
        memcpy(out->base, l->graph.nodes[b->base].id, sizeof out->base);
    for (size_t i = 0; i < b->count; i++) {
        const struct commit_node *n = &l->graph.nodes[b->commits[i]];
        if (!n->known)
            continue;
        out->count++;
        if (out->n_listed < RANGE_LISTED_MAX && list_commit(l, n->id, out, err) != 0)
            return -1;
    }
    return 0;
}

static int search(struct commit_log *l, struct commit_range *out, struct err *err)
{
    size_t from = commit_graph_node(&l->graph, out->from.commit),
           to = commit_graph_node(&l->graph, out->to.commit);
    if (read_from(l, to, err) != 0 || read_from(l, from, err) != 0)
        return -1;
    AUTO(commit_between_release) struct commit_between between = {0};
    commit_graph_between(&l->graph, from, to, &between);
    return fill(l, to, &between, out, err);
}

int commit_range_find(struct commit_log *l, const struct run_revision *from, const struct run_revision *to,
                      struct commit_range *out, struct err *err)
{
    *out = (struct commit_range){.from = *from, .to = *to};
    if (!*from->commit || !*to->commit)
        return 0;
    if (strcmp(from->commit, to->commit) != 0)
        return search(l, out, err);
    out->kind = RANGE_SAME;
    out->exact = true;
    return 0;
}

int commit_range_load(struct store *s, const struct run_revision *from, const struct run_revision *to,
                      struct commit_range *out, struct err *err)
{
    AUTO(commit_log_release) struct commit_log log = {.store = s};
    return commit_range_find(&log, from, to, out, err);
}
