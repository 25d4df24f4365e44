#include "executor/code/code_graph.h"

#include "common/base/alloc.h"
#include "executor/code/mask.h"

#include <stdlib.h>
#include <string.h>

/* A step is a function visited from a kernel, or an edge followed. */
enum { STEPS_MAX = 20000000 };

void code_graph_init(struct code_graph *g)
{
    *g = (struct code_graph){.node = NULL};
}

void code_graph_release(struct code_graph *g)
{
    free(g->node);
    free(g->part);
    free(g->edge);
    free(g->stack);
    code_graph_init(g);
}

void code_graph_node(struct code_graph *g, const char *name, bool kernel)
{
    ALLOC_GROW(g->node, g->nodes + 1, g->node_cap);
    struct code_node *node = &g->node[g->nodes++];
    *node = (struct code_node){.name = name, .kernel = kernel};
    kernel_facts_init(&node->facts);
}

void code_graph_part(struct code_graph *g, size_t node, enum code_part_use use, struct sha256 *h)
{
    ALLOC_GROW(g->part, g->parts + 1, g->part_cap);
    struct code_part *part = &g->part[g->parts++];
    part->node = node;
    part->use = use;
    sha256_end(h, part->sha256);
}

void code_graph_edge(struct code_graph *g, size_t from, size_t to)
{
    ALLOC_GROW(g->edge, g->edges + 1, g->edge_cap);
    g->edge[g->edges++] = (struct code_edge){from, to};
}

/* Through a pointer, a function may be called whose address is in the data, or that only the host knows. */
static void find_indirect(struct code_graph *g)
{
    for (size_t e = 0; e < g->edges; e++)
        g->node[g->edge[e].to].referred = true;
    for (size_t i = 0; i < g->nodes; i++) {
        struct code_node *node = &g->node[i];
        node->pointers = node->dynamic; /* which recursion, found later, makes others as well */
        node->candidate = !node->kernel && (node->taken || !node->referred);
    }
}

static int by_node(const void *x, const void *y)
{
    const struct code_part *a = x, *b = y;
    return a->node != b->node ? (a->node < b->node ? -1 : 1) : strcmp(a->sha256, b->sha256);
}

static int by_from(const void *x, const void *y)
{
    const struct code_edge *a = x, *b = y;
    return a->from != b->from ? (a->from < b->from ? -1 : 1) : (a->to > b->to) - (a->to < b->to);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Returns the first part of the next node. */
static size_t hash_node(struct code_graph *g, size_t i, size_t part)
{
    struct sha256 named, nameless;
    sha256_begin(&named);
    sha256_begin(&nameless);
    mask_add_name(&named, g->node[i].name);
    for (; part < g->parts && g->part[part].node == i; part++) {
        if (g->part[part].use != CODE_PART_NAMELESS)
            sha256_add_text(&named, g->part[part].sha256);
        if (g->part[part].use != CODE_PART_NAMED)
            sha256_add_text(&nameless, g->part[part].sha256);
    }
    sha256_end(&named, g->node[i].own);
    sha256_end(&nameless, g->node[i].nameless);
    return part;
}

static void hash_nodes(struct code_graph *g)
{
    size_t part = 0;
    if (g->parts)
        qsort(g->part, g->parts, sizeof *g->part, by_node);
    for (size_t i = 0; i < g->nodes; i++)
        part = hash_node(g, i, part);
}

static size_t first_edge(const struct code_graph *g, size_t from)
{
    size_t low = 0, high = g->edges;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (g->edge[middle].from < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t visit_candidates(struct code_graph *g, size_t count)
{
    for (size_t to = 0; to < g->nodes; to++)
        if (g->node[to].candidate && !g->node[to].visited) {
            g->node[to].visited = true;
            g->stack[count++] = to;
        }
    return count;
}

/* Puts all nodes that node i reaches into g->stack; returns how many. */
static size_t reach(struct code_graph *g, size_t i, size_t *steps)
{
    size_t count = 1;
    bool through_pointers = false;
    g->stack[0] = i;
    g->node[i].visited = true;
    for (size_t next = 0; next < count; next++) {
        size_t from = g->stack[next];
        for (size_t e = first_edge(g, from); e < g->edges && g->edge[e].from == from; e++, ++*steps) {
            struct code_node *to = &g->node[g->edge[e].to];
            if (!to->visited)
                g->stack[count++] = g->edge[e].to;
            to->visited = true;
        }
        if (!g->node[from].pointers || through_pointers)
            continue;
        through_pointers = true;
        count = visit_candidates(g, count);
        *steps += g->nodes;
    }
    for (size_t next = 0; next < count; next++)
        g->node[g->stack[next]].visited = false;
    *steps += count;
    return count;
}

/* first: the hash of the function whose callees these are. Alone it is the result; otherwise the hashes of
 * all are sorted, since the order in which they are met is the linker's. */
static void hash_reached(const struct code_graph *g, const char *first, size_t count, char *out)
{
    struct sha256 h;
    if (count == 1) {
        memcpy(out, first, SHA256_HEX_LEN + 1);
        return;
    }
    char(*own)[SHA256_HEX_LEN + 1] = xcalloc(count, sizeof *own);
    for (size_t n = 0; n < count; n++)
        memcpy(own[n], n == 0 ? first : g->node[g->stack[n]].own, sizeof *own);
    qsort(own, count, sizeof *own, by_text);
    sha256_begin(&h);
    sha256_add_text(&h, first);
    for (size_t n = 0; n < count; n++)
        sha256_add_text(&h, own[n]);
    sha256_end(&h, out);
    free(own);
}

/* Whether calls lead from the function back to itself. */
static bool is_recursive(struct code_graph *g, size_t i, size_t *steps)
{
    size_t count = reach(g, i, steps);
    for (size_t n = 0; n < count; n++)
        for (size_t e = first_edge(g, g->stack[n]); e < g->edges && g->edge[e].from == g->stack[n]; e++)
            if (g->edge[e].to == i)
                return true;
    return false;
}

static void find_recursion(struct code_graph *g, size_t *steps)
{
    for (size_t i = 0; i < g->nodes && *steps <= STEPS_MAX; i++)
        if (!g->node[i].kernel && first_edge(g, i) < g->edges && g->edge[first_edge(g, i)].from == i)
            g->node[i].dynamic = g->node[i].dynamic || is_recursive(g, i, steps);
}

static bool is_dynamic(const struct code_graph *g, size_t count)
{
    if (g->node[g->stack[0]].bounded)
        return false;
    for (size_t n = 0; n < count; n++)
        if (g->node[g->stack[n]].dynamic)
            return true;
    return false;
}

/* The functions that a kernel reaches are in g->stack. A compiler states the scratch memory of a kernel with
 * all that it calls, as far as it knows what that is; spills it states of the kernel alone. */
static void complete_facts(const struct code_graph *g, size_t count, struct code_item *kernel)
{
    int64_t *resource = kernel->facts.resource;
    bool dynamic = is_dynamic(g, count);
    if (!dynamic && (count == 1 || resource[KERNEL_SGPR_SPILLS] == KERNEL_FACT_UNKNOWN))
        return;
    kernel->unknown = dynamic ? "it calls functions through pointers, or functions that call themselves"
                              : "it calls functions, whose spills no compiler states";
    resource[KERNEL_SGPR_SPILLS] = KERNEL_FACT_UNKNOWN;
    if (dynamic || resource[KERNEL_SCRATCH_BYTES] != 0)
        resource[KERNEL_VGPR_SPILLS] = KERNEL_FACT_UNKNOWN;
    if (dynamic)
        resource[KERNEL_SCRATCH_BYTES] = KERNEL_FACT_UNKNOWN;
}

static void add_node(struct code_graph *g, size_t i, size_t *steps, struct code_set *set)
{
    char name[MASK_NAME_MAX];
    const struct code_node *node = &g->node[i];
    struct code_item item = {.kind = CODE_ITEM_KERNEL, .facts = node->facts};
    mask_name(node->name, name);
    memcpy(item.gpu, g->gpu, sizeof item.gpu);
    if (!node->kernel) {
        code_set_add(set, CODE_ITEM_FUNCTION, name, node->own);
        return;
    }
    char nameless[SHA256_HEX_LEN + 1];
    size_t count = reach(g, i, steps);
    hash_reached(g, node->own, count, item.sha256);
    hash_reached(g, node->nameless, count, nameless);
    memcpy(item.facts.body, nameless, KERNEL_BODY_LEN);
    complete_facts(g, count, &item);
    code_set_add_kernel(set, name, &item);
}

void code_graph_finish(struct code_graph *g, struct code_set *set)
{
    size_t steps = 0;
    if (g->nodes == 0)
        return;
    g->stack = xcalloc(g->nodes, sizeof *g->stack);
    find_indirect(g);
    if (g->edges)
        qsort(g->edge, g->edges, sizeof *g->edge, by_from);
    hash_nodes(g);
    find_recursion(g, &steps);
    for (size_t i = 0; i < g->nodes && steps <= STEPS_MAX; i++)
        add_node(g, i, &steps, set);
    if (steps > STEPS_MAX)
        code_set_refuse(set, "too many calls between the functions of a code object");
}
