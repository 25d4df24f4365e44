/* code_graph: the functions of one code object and which of them refer to which, so that the hash of a kernel
 * covers all that it calls. The parts of a function (its instructions, its resources) may be added in any
 * order. The owner calls code_graph_release().
 */
#pragma once

#include "executor/code/code_set.h"

struct code_node {
    const char *name; /* borrowed from the file */
    bool kernel, visited;
    bool dynamic; /* its stack is not known: it calls through pointers, or, as its file says, itself */
    bool bounded; /* its file says that its stack is known */
    bool taken;   /* its address is in the data */
    bool referred;
    bool pointers;  /* it calls through pointers itself; set when finished, as the next */
    bool candidate; /* such a call may be of it */
    char own[SHA256_HEX_LEN + 1], nameless[SHA256_HEX_LEN + 1]; /* the latter without its name */
    struct kernel_facts facts; /* of a kernel; whoever reads the file fills them */
};

/* A part that holds the function's name counts for the hash with the name only; in the other one, another
 * part stands for it. */
enum code_part_use { CODE_PART_ALWAYS, CODE_PART_NAMED, CODE_PART_NAMELESS };

struct code_part {
    size_t node;
    enum code_part_use use;
    char sha256[SHA256_HEX_LEN + 1];
};

struct code_edge {
    size_t from, to;
};

struct code_graph {
    struct code_node *node;
    struct code_part *part;
    struct code_edge *edge;
    size_t nodes, parts, edges;
    size_t node_cap, part_cap, edge_cap;
    size_t *stack;        /* of one walk; nodes long */
    char gpu[TARGET_MAX]; /* that the object is for */
};

void code_graph_init(struct code_graph *g);
void code_graph_release(struct code_graph *g);
/* Adds a function. The name stays the file's; the node's index is the number of earlier calls. */
void code_graph_node(struct code_graph *g, const char *name, bool kernel);
/* Ends h and adds it to the node as a part. */
void code_graph_part(struct code_graph *g, size_t node, enum code_part_use use, struct sha256 *h);
void code_graph_edge(struct code_graph *g, size_t from, size_t to);
/* Adds every kernel, and every other function, to the set. What calls through pointers may call every
 * function that nothing refers to, or only data. Where calls make a kernel's stack or spills unknown, its
 * facts say so. */
void code_graph_finish(struct code_graph *g, struct code_set *set);
