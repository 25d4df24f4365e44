#include "results/store/commit_range.h"

#include "common/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What lies between two commits. */
struct commit_between {
    size_t *commits; /* reachable from `to` and not from `from`, `to` first, breadth first; owned */
    size_t count;
    bool ancestor; /* `from` can be reached from `to` */
    bool
        complete; /* no search ended where more may be unknown: the above is all, and `ancestor` is certain */
    bool has_base; /* the two histories have one best common ancestor */
    size_t base;
};

static void graph_release(struct commit_graph *g)
{
    free(g->nodes);
    free(g->slots);
    *g = (struct commit_graph){0};
}

static void between_release(struct commit_between *b)
{
    free(b->commits);
    *b = (struct commit_between){0};
}

/* The slot of the id, or the free one where it belongs. */
static size_t *find_slot(struct commit_graph *g, const char *id)
{
    uint64_t h = 14695981039346656037U; /* FNV-1a */
    for (const char *p = id; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211U;
    for (size_t i = h % g->n_slots;; i = (i + 1) % g->n_slots)
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): a slot that is taken has a node
        if (g->slots[i] == 0 || strcmp(g->nodes[g->slots[i] - 1].id, id) == 0)
            return &g->slots[i];
}

/* Keeps the table at most half full. */
static void grow_slots(struct commit_graph *g)
{
    if (2 * (g->count + 1) <= g->n_slots)
        return;
    g->n_slots = g->n_slots ? 2 * g->n_slots : 1024;
    free(g->slots);
    g->slots = xcalloc(g->n_slots, sizeof *g->slots);
    for (size_t i = 0; i < g->count; i++)
        *find_slot(g, g->nodes[i].id) = i + 1;
}

/* The index of the commit, which is added if it is new. */
static size_t graph_node(struct commit_graph *g, const char *id)
{
    grow_slots(g);
    size_t *slot = find_slot(g, id);
    if (*slot == 0) {
        ALLOC_GROW(g->nodes, g->count + 1, g->cap);
        struct commit_node *n = &g->nodes[g->count];
        *n = (struct commit_node){0};
        snprintf(n->id, sizeof n->id, "%s", id);
        *slot = ++g->count;
    }
    return *slot - 1;
}

/* parents: ids, separated by spaces. What is known already stays. */
static void graph_add(struct commit_graph *g, const char *id, const char *parents)
{
    size_t at = graph_node(g, id), parent[COMMIT_PARENTS_MAX], n = 0;
    for (const char *p = parents; *p && n < COMMIT_PARENTS_MAX;) {
        char one[COMMIT_ID_MAX] = "";
        size_t len = strcspn(p, " ");
        memcpy(one, p, len < sizeof one ? len : sizeof one - 1);
        parent[n++] = graph_node(g, one);
        p += len + strspn(p + len, " ");
    }
    struct commit_node *node = &g->nodes[at];
    if (!node->known) {
        memcpy(node->parents, parent, n * sizeof *parent);
        node->n_parents = n;
        node->known = true;
    }
}

/* Commits still to be visited, each at most once. */
struct queue {
    size_t *items;
    size_t count;
};

static void visit(struct queue *q, size_t commit, bool *mark)
{
    if (*mark)
        return;
    *mark = true;
    q->items[q->count++] = commit;
}

/* Marks the history of `from`. Returns whether it is known down to its beginning. */
static bool mark_from(struct commit_graph *g, size_t from, struct queue *q)
{
    bool complete = true;
    visit(q, from, &g->nodes[from].of_from);
    for (size_t i = 0; i < q->count; i++) {
        const struct commit_node *n = &g->nodes[q->items[i]];
        complete = complete && n->known;
        for (size_t p = 0; p < n->n_parents; p++)
            visit(q, n->parents[p], &g->nodes[n->parents[p]].of_from);
    }
    return complete;
}

/* Stops at the history of `from`, whose places are marked but not listed. A branch that ends at its first
 * commit without meeting what is known of `from` may be in the unknown rest of it. */
static void list_to(struct commit_graph *g, size_t from, size_t to, bool from_complete,
                    struct commit_between *out)
{
    struct queue q = {.items = out->commits};
    out->complete = true;
    g->nodes[to].of_to = true;
    if (!g->nodes[to].of_from)
        q.items[q.count++] = to;
    for (size_t i = 0; i < q.count; i++) {
        const struct commit_node *n = &g->nodes[q.items[i]];
        out->complete = out->complete && n->known && (n->n_parents > 0 || from_complete);
        for (size_t p = 0; p < n->n_parents; p++) {
            struct commit_node *parent = &g->nodes[n->parents[p]];
            if (parent->of_from)
                parent->of_to = true;
            else
                visit(&q, n->parents[p], &parent->of_to);
        }
    }
    out->count = q.count;
    out->ancestor = g->nodes[from].of_to;
}

/* Marks the ancestors of a place where the histories met. */
static void pass(struct commit_graph *g, size_t met, struct queue *q)
{
    q->count = 0;
    q->items[q->count++] = met;
    for (size_t i = 0; i < q->count; i++) {
        const struct commit_node *n = &g->nodes[q->items[i]];
        for (size_t p = 0; p < n->n_parents; p++)
            visit(q, n->parents[p], &g->nodes[n->parents[p]].passed);
    }
}

static bool met(const struct commit_node *n)
{
    return n->of_from && n->of_to;
}

/* The base is the one place where the histories met that is not an ancestor of another such place. */
static void find_base(struct commit_graph *g, struct queue *q, struct commit_between *out)
{
    size_t found = 0;
    for (size_t i = 0; i < g->count; i++)
        if (met(&g->nodes[i]) && !g->nodes[i].passed)
            pass(g, i, q);
    for (size_t i = 0; i < g->count; i++)
        if (met(&g->nodes[i]) && !g->nodes[i].passed) {
            out->base = i;
            found++;
        }
    out->has_base = found == 1;
}

static void graph_between(struct commit_graph *g, size_t from, size_t to, struct commit_between *out)
{
    AUTO_FREE size_t *items = xcalloc(g->count + 1, sizeof *items);
    struct queue q = {.items = items};
    *out = (struct commit_between){.commits = xcalloc(g->count + 1, sizeof *out->commits)};
    for (size_t i = 0; i < g->count; i++)
        g->nodes[i].of_from = g->nodes[i].of_to = g->nodes[i].passed = false;
    bool from_complete = mark_from(g, from, &q);
    list_to(g, from, to, from_complete, out);
    find_base(g, &q, out);
}

const char *range_kind_name(enum range_kind k)
{
    static const char *const names[RANGE_KIND_COUNT] = {
        [RANGE_NONE] = "unknown", [RANGE_SAME] = "same",   [RANGE_ON] = "forward",
        [RANGE_BACK] = "back",    [RANGE_APART] = "apart", [RANGE_OPEN] = "open"};
    return names[k];
}

void commit_log_release(struct commit_log *l)
{
    graph_release(&l->graph);
}

static int look_up(struct commit_log *l, size_t at, struct err *err)
{
    struct commit found;
    l->graph.nodes[at].asked = true;
    int rc = commit_load(l->store, l->graph.nodes[at].id, &found, err);
    if (rc > 0)
        graph_add(&l->graph, found.id, found.parents);
    return rc < 0 ? -1 : 0;
}

/* Reads the commits that can be reached from one, except those read before. */
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
    size_t from = graph_node(&l->graph, out->from.commit), to = graph_node(&l->graph, out->to.commit);
    if (read_from(l, to, err) != 0 || read_from(l, from, err) != 0)
        return -1;
    AUTO(between_release) struct commit_between between = {0};
    graph_between(&l->graph, from, to, &between);
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
