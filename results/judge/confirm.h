/* confirm: whether a suspect is still slower when it and the base's build are measured alternately (A B B A).
 *
 * The first comparison names the suspects; harness/session measures their cells again with both builds in
 * one session; confirm_judge() then changes the verdict of each suspect that is not confirmed. Within one
 * session there is no variation between nights, so the practical threshold suffices. Pure.
 */
#pragma once

#include "results/judge/compare.h"

struct suspect {
    char variant[RUN_NAME_MAX];
    int context;
    char gpu[DELTA_GPU_MAX]; /* that it was measured on, "" if unknown or several */
};

struct suspect_list {
    struct suspect *items;
    size_t count;
};

/* Whether there is anything to measure again. */
bool confirm_is_needed(const struct comparison *c);
/* The regressed cells of the primary metric that the base's plan ran alike, unless the base has no one build;
 * and, if all cells are slower together and nobody knows whether that is the code's, some that tell. */
void confirm_suspects(const struct comparison *c, struct suspect_list *out);
/* Whether the base's build cannot clear the cell: what it lost is judged by the newest nights, which have
 * left the base's level. That this build is as slow is nothing new. */
bool confirm_exceeds_base(const struct delta *d);
/* The outcome that concerns the cell's own verdict. What was measured again only to tell whose a factor is,
 * which its cells share, has none. */
enum confirmation confirm_outcome(const struct delta *d);
/* Whether measuring it again may settle a suspect; else only more nights do. */
bool confirm_may_settle(const struct delta *d);
/* What measuring again can say of the factor that all cells share. */
enum confirm_use {
    CONFIRM_USELESS, /* nothing is unknown, or no cell can tell: there is no base, or no one build of it, or
                        only one run has sources, or the base's plan ran the cells otherwise, or its build
                        is of another level than the newest nights */
    CONFIRM_CAN_TELL,
    CONFIRM_DID_NOT_TELL, /* it was done */
};
enum confirm_use confirm_use_for(const struct comparison *c);
/* The suspects that confirm_judge() left undecided, if measuring them once more may decide. */
void confirm_undecided(const struct comparison *c, struct suspect_list *out);
void suspect_list_release(struct suspect_list *l);

/* base, now: the runs of each side in the order they were made; the repetitions of each side are pooled. Sets
 * `confirmation` of each suspect. A refuted suspect becomes noisy, and so does one whose base's build has
 * become as slow: the node is a finding of its own (node_cells). One that was not measured again, or not
 * conclusively, or that the base's build cannot clear, is undecided and stays regressed: not having been able
 * to tell is no refutation. Where the base's build could not be made again, only a cell that is no longer
 * slow is refuted. If the witnesses find the code guilty of the factor that the cells share, each cell is
 * judged without taking that out of it. */
void confirm_judge(struct comparison *c, const struct run_data *const *base, size_t n_base,
                   const struct run_data *const *now, size_t n_now, const struct compare_options *options);

/* The stored result for one suspect. */
struct confirm_record {
    char variant[RUN_NAME_MAX];
    int context;
    enum confirmation confirmation;
    enum undecided undecided;
    double ratio; /* of both builds measured alternately; 0 if unknown */
};

struct confirm_records {
    struct confirm_record *items;
    size_t count, cap;
};

/* Applies stored records to a new comparison of the same two runs. */
void confirm_apply(const struct confirm_records *l, struct comparison *c);
void confirm_records_release(struct confirm_records *l);
