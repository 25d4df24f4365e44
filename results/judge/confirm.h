/* confirm: whether a suspect is still slower when it and the base's build are measured alternately (A B B A).
 *
 * The first comparison names the suspects; whoever drives the node measures their cells again with both
 * builds, in one session, and hands the runs over; confirm_judge() then changes the verdict of every suspect
 * that does not stand. Between turns no night lies, so the practical threshold is enough. Pure, as compare.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_CONFIRM_H
#define KERNSWEEP_RESULTS_JUDGE_CONFIRM_H

#include "results/judge/compare.h"

struct suspect {
    char variant[RUN_NAME_MAX];
    int context;
};

struct suspect_list {
    struct suspect *items;
    size_t count;
};

/* Cells of the primary metric that are called regressed. */
int confirm_suspects(const struct comparison *c, struct suspect_list *out, struct err *err);
void suspect_list_release(struct suspect_list *l);

/* base, now: the runs of each side in the order they were made; all repetitions of a side are pooled. Sets
 * `confirmation` of each suspect: one that is refuted becomes noisy; one that could not be measured again, or
 * whose base has become as slow, stays regressed and says so. */
int confirm_judge(struct comparison *c, const struct run_data *const *base, size_t n_base,
                  const struct run_data *const *now, size_t n_now, const struct compare_options *options,
                  struct err *err);

/* What confirming found of one suspect, as it is stored. */
struct confirm_record {
    char variant[RUN_NAME_MAX];
    int context;
    enum confirmation confirmation;
    char reason[COMPARE_REASON_MAX];
};

struct confirm_records {
    struct confirm_record *items;
    size_t count;
};

/* Gives stored records to a comparison of the same two runs that was made anew. */
void confirm_apply(const struct confirm_records *l, struct comparison *c);
void confirm_records_release(struct confirm_records *l);

#endif
