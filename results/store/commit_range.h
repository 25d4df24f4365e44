/* commit_range: the commits between the sources of two runs, from those that stored runs know of.
 *
 * Says only what is certain: where the stored history ends, the answer is that there are more. Errors:
 * ERR_STORAGE.
 */
#pragma once

#include "results/store/revision.h"

enum {
    RANGE_LISTED_MAX = 20,
    RANGE_SEARCHED_MAX = 5000, /* commits that are looked at from each end */
    COMMIT_SHORT = 7,          /* digits of an id that people read */
};

enum range_kind {
    RANGE_NONE,  /* the commit of one of the two is not known */
    RANGE_SAME,  /* the same commit */
    RANGE_ON,    /* `from` is an ancestor of `to` */
    RANGE_BACK,  /* `to` is an ancestor of `from` */
    RANGE_APART, /* neither */
    RANGE_OPEN,  /* the stored history ends before it can be said */
    RANGE_KIND_COUNT
};

struct listed_commit {
    char id[COMMIT_ID_MAX];
    char subject[RUN_SUBJECT_MAX];
    char author[RUN_NAME_MAX];
    char authored_at[CLOCK_ISO_LEN + 1];
};

struct commit_range {
    enum range_kind kind;
    struct run_revision from, to;
    size_t count;             /* commits of `to` that `from` does not have, as far as known */
    bool exact;               /* those are all */
    char base[COMMIT_ID_MAX]; /* RANGE_APART: their best common ancestor; "" if not known, or not one */
    struct listed_commit listed[RANGE_LISTED_MAX]; /* the first of them, the newest first */
    size_t n_listed;
};

const char *range_kind_name(enum range_kind k);

/* Commits with their parents, as far as they are known; a parent that was never added is a place where
 * knowledge ends. */
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

/* The commits of a store, read as they are asked for; one log serves several ranges. */
struct commit_log {
    struct store *store;
    struct commit_graph graph;
};

void commit_log_release(struct commit_log *l);

int commit_range_find(struct commit_log *l, const struct run_revision *from, const struct run_revision *to,
                      struct commit_range *out, struct err *err);
/* Finds a single range. */
int commit_range_load(struct store *s, const struct run_revision *from, const struct run_revision *to,
                      struct commit_range *out, struct err *err);
