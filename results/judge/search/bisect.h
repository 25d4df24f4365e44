/* bisect: searches commits, of which the first is good and the last bad, for the one that made a cell slower.
 * They may lie on branches that were merged: a good commit clears its ancestors and no others; a bad one
 * blames its ancestors only if it descends from a good one, since a branch that is older than the good end
 * may have been slow from the start.
 *
 * Says what to do next (build a commit, or measure it alternating with the good end) and takes the outcome.
 * The whole state is in the marks of the commits, so an interrupted search goes on from them. Knows no git,
 * node or store. The caller owns the array of commits.
 */
#pragma once

#include "results/judge/verdict.h"

enum { BISECT_COMMITS_MAX = 4098, BISECT_PARENTS_MAX = 16, BISECT_REASON_MAX = 512 };

enum bisect_mark { BISECT_OPEN, BISECT_GOOD, BISECT_BAD, BISECT_SKIPPED, BISECT_MARK_COUNT };

/* What a mark rests on. */
enum bisect_basis {
    BISECT_BY_NOTHING,
    BISECT_BY_USER,      /* the good end */
    BISECT_BY_TURNS,     /* measured alternating with the good end */
    BISECT_BY_CODE,      /* its code identity is that of a commit that is decided */
    BISECT_BY_BUILD,     /* skipped: it does not build, or fails a gate */
    BISECT_BY_TESTS,     /* skipped: its tests fail, or do not measure what the ends differ in. After one
                            round of it, it may be measured again */
    BISECT_BY_UNDECIDED, /* skipped: the rounds were used up */
    BISECT_BASIS_COUNT
};

struct bisect_commit {
    char id[COMMIT_ID_MAX];
    size_t parents[BISECT_PARENTS_MAX]; /* their places, before its own */
    size_t n_parents;                   /* that are searched too */
    bool forked;                        /* without parents: its branch left before the good end */
    enum bisect_mark mark;
    enum bisect_basis basis;
    bool built;
    char code[SHA256_HEX_LEN + 1];  /* code identity of the cell's variant; "" when unknown */
    bool of_device;                 /* it is of device code: the host's may differ nevertheless */
    int rounds;                     /* of measuring */
    size_t same_as;                 /* BISECT_BY_CODE: the commit that has the same code */
    char reason[BISECT_REASON_MAX]; /* of the mark, for people: the caller's, emptied by a new mark */
};

struct bisect_search {
    struct bisect_commit *items; /* oldest first; [0] is the good end, the last one the bad end */
    size_t count;                /* 2 to BISECT_COMMITS_MAX */
    bool by_code;         /* equal code identities need no measuring, except of what decides the answer */
    int rounds_max;       /* for one commit */
    int pairs, pairs_max; /* rounds measured so far, and at most */
};

enum bisect_task { BISECT_BUILD, BISECT_MEASURE, BISECT_END };

enum bisect_outcome {
    BISECT_FOUND,            /* one commit */
    BISECT_RANGE,            /* the shortest range that could be found */
    BISECT_NOT_REPRODUCIBLE, /* the ends do not differ */
    BISECT_UNDECIDED,        /* the rounds did not tell whether the ends differ */
    BISECT_STOPPED,          /* an end cannot be built, or its tests fail */
    BISECT_OUTCOME_COUNT
};

struct bisect_step {
    enum bisect_task task;
    size_t commit;               /* to build or to measure */
    enum bisect_outcome outcome; /* at the end */
    size_t first, last;          /* the answer, when FOUND or RANGE: the suspects (see below) among these */
    size_t suspects;             /* how many they are */
};

const char *bisect_mark_name(enum bisect_mark m);
bool bisect_mark_from_name(const char *name, enum bisect_mark *out);
const char *bisect_basis_name(enum bisect_basis b);
bool bisect_basis_from_name(const char *name, enum bisect_basis *out);
const char *bisect_outcome_name(enum bisect_outcome o);

/* items: only the ids and the parents are set; without any parents they are a line. The bound on pairs of
 * builds is 2 log2(commits) + 4. */
void bisect_init(struct bisect_search *s, struct bisect_commit *items, size_t count, int rounds_max);

struct bisect_step bisect_next(const struct bisect_search *s);

/* Marks each commit that may be the culprit: the bad commit that the search has reached and its ancestors,
 * except those of good commits. Returns their number; the last of them is that bad commit. */
size_t bisect_suspects(const struct bisect_search *s, bool out[static BISECT_COMMITS_MAX]);
/* The newest good ancestor of a commit. */
size_t bisect_good_before(const struct bisect_search *s, size_t commit);

/* code: "" when unknown. reason: why it cannot be measured; NULL: it can. */
void bisect_built(struct bisect_search *s, size_t commit, const char *code, const char *reason);
/* d: the commit's delta to the good end, over all rounds so far; sets what it lacks. Returns the commit that
 * it concerns: the good end, if that is what could not be measured. */
size_t bisect_measured(struct bisect_search *s, size_t commit, struct delta *d);

/* The mark that a verdict on the commit proves, or BISECT_OPEN. If the verdict would suffice elsewhere,
 * d->doubts.lack says what it lacks here. */
enum bisect_mark bisect_weigh(const struct bisect_search *s, size_t commit, struct delta *d);

/* Chooses among the cells of both ends, at least one: the clearest of the slower ones. If none is slower, an
 * undecided one, else one that was measured at both ends, so that a variant that only one end has does not
 * end the search. */
size_t bisect_clearest(const struct delta *cells, size_t count);

/* Called when the cell to follow is known, with the code identities of its variant at the ends. If they are
 * equal, the search goes on without identities. */
void bisect_narrowed(struct bisect_search *s, const char *good_code, const char *bad_code);

/* Among several cells of the ends some look slower by chance: those whose evidence does not suffice for that
 * many become inconclusive. So does a single one if it does not suffice for a search. */
void bisect_doubt(struct delta *cells, size_t count);

/* The options that decide whether the ends differ: stricter than o, for everything rests on it. */
struct compare_options bisect_end_options(const struct compare_options *o);
/* The options that decide a step: a commit is bad when more than half of the ends' change is there,
 * however small. ends: their delta. */
struct compare_options bisect_options(const struct compare_options *o, const struct delta *ends);
