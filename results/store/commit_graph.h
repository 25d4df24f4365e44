/* commit_graph: commits with their parents, and what lies between two of them.
 *
 * Commits are added as far as they are known; a parent that was never added is a place where knowledge ends,
 * and answers say so. Pure. The owner calls commit_graph_release().
 */
#ifndef KERNSWEEP_RESULTS_STORE_COMMIT_GRAPH_H
#define KERNSWEEP_RESULTS_STORE_COMMIT_GRAPH_H

#include "results/store/revision.h"

struct commit_node {
    char id[COMMIT_ID_MAX];
    bool known;   /* its parents are */
    bool asked;   /* for the caller: it was looked up */
    bool of_from; /* marks of the search: the commit is an ancestor of `from`, or `from` itself, */
    bool of_to;   /* it can be reached from `to` without passing one of those, */
    bool passed;  /* it is an ancestor of another place where the two histories met */
    size_t parents[COMMIT_PARENTS_MAX];
    size_t n_parents;
};

struct commit_graph {
    struct commit_node *nodes;
    size_t count, cap;
    size_t *slots; /* of a hash table: indices into nodes, plus 1; 0: free */
    size_t n_slots;
};

struct commit_between {
    size_t *commits; /* reachable from `to` and not from `from`, `to` first, breadth first; owned */
    size_t count;
    bool ancestor; /* `from` can be reached from `to` */
    bool
        complete; /* no search ended where more may be unknown: the above is all, and `ancestor` is certain */
    bool has_base; /* the two histories have one best common ancestor */
    size_t base;
};

/* Index of the commit, which is made if it is new. */
size_t commit_graph_node(struct commit_graph *g, const char *id);
/* parents: ids, separated by spaces. What is known already stays. */
void commit_graph_add(struct commit_graph *g, const char *id, const char *parents);
void commit_graph_between(struct commit_graph *g, size_t from, size_t to, struct commit_between *out);

void commit_graph_release(struct commit_graph *g);
void commit_between_release(struct commit_between *b);

#endif
