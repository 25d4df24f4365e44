/* trial: simulated nights judged by the project's judge and by simple rules, and what came of it.
 *
 * Shared by the unit test, which asserts, and by scripts/bench/judging, which prints. A trial judges the
 * newest night of a struct simulated.
 */
#pragma once

#include "results/judge/compare.h"
#include "tests/simulation/rules.h"
#include "tests/simulation/simulated.h"

/* What the newest night is compared with. */
enum against_what {
    AGAINST_NIGHTS, /* the nights before it */
    AGAINST_LAST,   /* a run alone */
    AGAINST_BOTH,   /* a run, which may be a stored baseline, and the nights before */
    AGAINST_COUNT
};

const char *against_name(enum against_what a);

/* base: the night of that run; used unless AGAINST_NIGHTS. The caller releases the comparison. */
struct comparison trial_compare(const struct simulated *n, enum against_what a, size_t base);

/* Which cells are called slower: suspects count, too, since the rules beside the judge alarm on the first
 * night. */
void trial_judge(const struct comparison *c, bool slower[SIMULATED_CELLS]);
void trial_rule(struct simulated *n, enum rule r, bool slower[SIMULATED_CELLS]);

/* Over many nights, half of them with one slower cell. */
struct score {
    int still, alarms;  /* nights without a change; those of them with a cell that is called slower */
    int findings;       /* nights without a change that end with exit status 4, for whatever reason */
    int planted, found; /* cells */
    int flagged;        /* cells, of all nights */
};

void score_add(struct score *s, const bool slower[SIMULATED_CELLS], size_t planted);
/* planted: when nothing is. */
#define NO_CELL SIZE_MAX
double score_alarms(const struct score *s); /* share of the still nights */
double score_precision(const struct score *s);
double score_recall(const struct score *s);
double score_f1(const struct score *s);
