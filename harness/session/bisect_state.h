/* bisect_state: a search for the commit that made a cell slower, as stored. It is written in one
 * transaction before and after every step, so it survives any interruption.
 *
 * Decides nothing (results/judge/search/bisect.h) and measures nothing (bisect_steps.h). The owner calls
 * bisect_state_release().
 */
#pragma once

#include "harness/git/git_history.h"
#include "harness/session/turns.h"
#include "results/judge/search/bisect.h"
#include "results/store/bisect_row.h"

#include <jansson.h>

enum { BISECT_LIST_MAX = 1024, BISECT_CELLS_MAX = 64 };

/* A cell that a night found slower. */
struct bisect_wanted {
    char variant[RUN_NAME_MAX];
    int context;
    double ratio; /* between the ends of the night; NaN when unknown */
};

/* What was asked for. "" in a text: not given. */
struct bisect_request {
    char plan[FS_PATH_MAX];               /* absolute */
    char plan_sha256[SHA256_HEX_LEN + 1]; /* of the plan's contents */
    char node[RUN_NODE_MAX];
    char artifacts[FS_PATH_MAX]; /* absolute */
    char variants[BISECT_LIST_MAX], contexts[BISECT_LIST_MAX];
    char path[FS_PATH_MAX];
    bool first_parent, force;
    int rounds;
    struct bisect_wanted wanted[BISECT_CELLS_MAX]; /* only these of the plan's cells; 0: all */
    size_t n_wanted;
    /* In a check (bisect_request.h), the ends of the night whose search found the commit; otherwise "". */
    bool later; /* it searches for what another search left */
    char night_good[COMMIT_ID_MAX], night_bad[COMMIT_ID_MAX];
};

/* What is kept about a commit in addition to its mark. */
struct bisect_entry {
    struct git_commit git;
    int64_t build; /* store key of the run that built it; 0: none */
    struct turns_made made;
    double ratio; /* relative to the good end; NaN when not measured */
    double base_median, median;
};

/* A cell that is slower at the bad end. */
struct bisect_cell {
    char variant[RUN_NAME_MAX];
    int context;
    double ratio, base_median, median;
    char metric[RUN_NAME_MAX], unit[32];
};

struct bisect_state {
    char name[BISECT_NAME_MAX], ticket[RUN_NAME_MAX], node[RUN_NODE_MAX];
    char gpu[RUN_FACT_MAX];
    char started_at[CLOCK_ISO_LEN + 1], ended_at[CLOCK_ISO_LEN + 1];
    struct bisect_request request;
    struct bisect_commit *commits; /* borrowed by search */
    struct bisect_entry *entries;  /* parallel to commits */
    size_t count;
    struct bisect_search search;
    struct bisect_cell cells[BISECT_CELLS_MAX]; /* the first is the one that is followed */
    size_t n_cells;                             /* 0 until the ends are proven */
    size_t unlisted;         /* with request.path: commits that may be the answer but were not searched */
    bool followed;           /* the search for what this one leaves is stored */
    bool busy;               /* a step has begun and not ended */
    struct bisect_step step; /* the current step; the answer once ended_at is set */
};

/* Begins a search over the commits, the first of which is the good end. Takes ownership, also on failure. */
int bisect_state_init(struct bisect_state *b, struct git_commits *commits, int rounds, struct err *err);
void bisect_state_release(struct bisect_state *b);
/* Whether the search has ended with a commit or a range. */
bool bisect_state_answered(const struct bisect_state *b);

/* The entry of this cell among those that are slower at the bad end, or NULL. */
const struct bisect_cell *bisect_find_cell(const struct bisect_state *b, const struct bisect_wanted *w);

/* Whether the search only checks if a commit that was already found explains further cells. */
bool bisect_is_check(const struct bisect_state *b);

/* Sets out[i] if an ended search has found the commit or range for b->request.wanted[i]. */
void bisect_explained(const struct bisect_state *b, bool out[static BISECT_CELLS_MAX]);

int bisect_state_save(const struct bisect_state *b, struct store *s, struct err *err);
/* Loads the search stored under this word; see bisect_row_load(). */
int bisect_state_load(struct bisect_state *b, struct store *s, const char *word, bool exact, bool *found,
                      struct err *err);

/* The stored form, which --json prints too. */
json_t *bisect_state_encode(const struct bisect_state *b);
int bisect_state_decode(struct bisect_state *b, const struct json_at *at, struct err *err);
