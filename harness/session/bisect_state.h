/* bisect_state: a search for the commit that made a cell slower, as it is kept in the store, so that it
 * survives whatever interrupts it. Before and after every step the whole of it is written in one transaction.
 *
 * Decides nothing (results/judge/search/bisect.h) and measures nothing (bisect.h). The owner calls
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
    double ratio; /* of the ends of the night; NaN when not known */
};

/* What was asked for. "" in a text: not given. */
struct bisect_request {
    char plan[FS_PATH_MAX];               /* absolute */
    char plan_sha256[SHA256_HEX_LEN + 1]; /* of what it says */
    char node[RUN_NODE_MAX];
    char artifacts[FS_PATH_MAX]; /* absolute */
    char variants[BISECT_LIST_MAX], contexts[BISECT_LIST_MAX];
    char path[FS_PATH_MAX];
    bool first_parent, force;
    int rounds;
    struct bisect_wanted wanted[BISECT_CELLS_MAX]; /* of all these, only these; 0: all of the plan's */
    size_t n_wanted;
    /* The ends of the night, of a search between others that asks whether the commit which one of the wider
     * searches found explains further cells (bisect_request.h). */
    bool later; /* of what another search leaves */
    char night_good[COMMIT_ID_MAX], night_bad[COMMIT_ID_MAX];
};

/* What is kept of a commit beside its mark. */
struct bisect_entry {
    struct git_commit git;
    int64_t build; /* the store's row of the run that built it; 0: none */
    struct turns_made made;
    double ratio; /* to the good end; NaN when not measured */
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
    struct bisect_commit *commits; /* of search */
    struct bisect_entry *entries;  /* beside them */
    size_t count;
    struct bisect_search search;
    struct bisect_cell cells[BISECT_CELLS_MAX]; /* the first is the one that is followed */
    size_t n_cells;                             /* 0 until the ends are proven */
    size_t unlisted; /* of the answer: commits that may be it as well, and were not searched (request.path) */
    bool followed;   /* the search of what it leaves is stored (bisect_request.h) */
    bool busy;       /* a step has begun and not ended */
    struct bisect_step step; /* that step; once ended_at is set, the answer */
};

/* A new search over the commits, of which the first is the good end. Takes the array over, also on failure.
 */
int bisect_state_init(struct bisect_state *b, struct git_commits *commits, int rounds, struct err *err);
void bisect_state_release(struct bisect_state *b);
/* Whether the search has ended with a commit or a range. */
bool bisect_state_answered(const struct bisect_state *b);

int bisect_state_save(const struct bisect_state *b, struct store *s, struct err *err);
/* A search that is stored under the word; see bisect_row_load(). */
int bisect_state_load(struct bisect_state *b, struct store *s, const char *word, bool exact, bool *found,
                      struct err *err);

/* As it is stored, and printed by --json. */
json_t *bisect_state_encode(const struct bisect_state *b);
int bisect_state_decode(struct bisect_state *b, const struct json_at *at, struct err *err);
