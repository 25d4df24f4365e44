/* bisect_row: the stored searches for a slow commit, by name. The body is JSON that
 * harness/session/bisect_state.h writes; here it is text. The owner calls bisect_row_release() and
 * bisect_rows_release(). Errors: ERR_STORAGE, ERR_INPUT for a word that matches no search.
 */
#pragma once

#include "results/store/run_data.h"
#include "results/store/store.h"

enum { BISECT_NAME_MAX = 128, BISECT_OUTCOME_MAX = 24, BISECT_BODY_MAX = 16 << 20 };

struct bisect_row {
    char name[BISECT_NAME_MAX];
    char ticket[RUN_NAME_MAX];
    char node[RUN_NODE_MAX];
    char good[COMMIT_ID_MAX], bad[COMMIT_ID_MAX];
    char started_at[CLOCK_ISO_LEN + 1];
    char ended_at[CLOCK_ISO_LEN + 1]; /* "" while it goes on */
    char outcome[BISECT_OUTCOME_MAX]; /* "" while it goes on */
    char *body;
};

struct bisect_rows {
    struct bisect_row *items; /* newest first, without bodies */
    size_t count;
};

/* Writes the search, replacing what is stored under its name. */
int bisect_row_save(struct store *s, const struct bisect_row *row, struct err *err);
/* word: a name, a unique prefix of one, or "latest". *found is false, without an error, when exact is set and
 * there is none of that name.
 */
int bisect_row_load(struct store *s, const char *word, bool exact, struct bisect_row *out, bool *found,
                    struct err *err);
int bisect_row_remove(struct store *s, const char *name, struct err *err);
int bisect_rows_list(struct store *s, struct bisect_rows *out, struct err *err);
void bisect_row_release(struct bisect_row *row);
void bisect_rows_release(struct bisect_rows *l);
