/* lead: where to look for the cause of a regressed cell, and what says so. Each lead rests on stored data
 * alone: how the cell was confirmed, whether its code changed, and which recorded facts differ. Pure; no
 * words.
 */
#pragma once

#include "reports/model/model.h"

/* Whether the code of a variant is that of the base, by the strongest evidence that both runs have. */
enum code_state {
    CODE_UNKNOWN,
    CODE_SAME,
    CODE_CHANGED,
};

/* What the state of the code is known by. */
enum code_evidence {
    BY_NOTHING,
    BY_DEVICE_CODE,
    BY_BUILD,   /* the files that the build made */
    BY_SOURCES, /* the source tree; for CODE_SAME, the plan too */
};

struct code_change {
    enum code_state state;
    enum code_evidence by;
};

/* Lower ones are listed first. */
enum lead {
    LEAD_CODE_CONFIRMED, /* slower than the base's build in one session */
    LEAD_SAME_CONFIRMED, /* the same, though the code is the same */
    LEAD_NODE_CONFIRMED, /* the base's build is as slow in one session */
    LEAD_UNDECIDED,      /* both were measured in one session, which did not tell */
    LEAD_PLAN,           /* the plan builds or runs it otherwise than the base's */
    LEAD_CODE,           /* the code differs and no other recorded fact */
    LEAD_NODE,           /* the code is the same and recorded facts differ */
    LEAD_FACTS,          /* recorded facts differ; whether the code does is unknown */
    LEAD_EITHER,         /* both differ */
    LEAD_NEITHER,        /* nothing recorded differs */
    LEAD_UNKNOWN_CODE,   /* no fact differs; whether the code does is unknown */
    LEAD_SOURCELESS,     /* as one of the last three, but a run has no sources to measure again */
    LEAD_UNRECORDED,     /* one of the runs recorded nothing */
    LEAD_NIGHTS, /* judged by earlier nights, or by a base of several builds: facts of the base tell little */
    LEAD_COUNT
};

struct code_change lead_code(const struct report_model *m, const char *variant);
/* Whether it is a finding that it is slower than expected, by itself, whatever the cause turned out to be. */
bool lead_is_wanted(const struct delta *d);
/* Whether it was measured again, with an outcome: nothing is left to repeat. */
bool lead_is_settled(const struct delta *d);
/* Whether measuring both builds alternately can tell what caused the loss that all cells share. */
bool lead_may_be_confirmed(const struct comparison *c);
/* Whether both runs have the sources from which their builds could be made again. */
bool lead_has_sources(const struct report_model *m);
/* d: a cell of m->comparison for which lead_is_wanted() is true. */
enum lead lead_of(const struct report_model *m, const struct delta *d);
/* Facts of the comparison that do not concern the code: indexes into comparison->facts, at most `most`;
 * returns how many there are. */
size_t lead_facts(const struct report_model *m, size_t *index, size_t most);
