/* commit: stores a draft, completely or not at all, unless its run is stored already. A complete run never
 * changes; an incomplete one may have continued.
 */
#pragma once

#include "results/ingest/draft/draft.h"

enum ingest_effect {
    INGEST_STORED,
    INGEST_ALREADY,  /* was stored before, with the same contents */
    INGEST_REPLACED, /* the run stored before was not complete, or was read in another way */
};

/* "stored", "already stored", "replaced the one stored before" */
const char *ingest_effect_name(enum ingest_effect effect);

struct ingest_result {
    enum ingest_effect effect;
    int64_t key;
    char run_id[RUN_ID_MAX];
    int tests;
    int warnings;                 /* problems that do not prevent storing */
    char warning[RUN_REASON_MAX]; /* the first of them */
    char note[RUN_REASON_MAX];    /* nothing is wrong, but the user should know; or "" */
};

/* 0 if the run is to be stored, 1 if it is stored (fills out), -1 if it is stored with different contents or
 * with another reading. replace: another reading is to be stored. */
int ingest_known(struct store *s, const struct run_info *info, bool replace, struct ingest_result *out,
                 struct err *err);

/* Stores it in one transaction. */
int ingest_draft(struct store *s, struct draft *d, struct ingest_result *out, struct err *err);
/* The same inside the caller's transaction; a run that fails leaves nothing in it. SQLite may roll the whole
 * transaction back on a disk error: check sqlite3_get_autocommit(). */
int ingest_draft_within(struct store *s, struct draft *d, struct ingest_result *out, struct err *err);

/* Called when a run that is stored already was ingested from dir. If the recorded folder no longer has the
 * run, dir is recorded instead, with a note in out, since reports, logs and listings are read from there. A
 * recorded folder that is there and does not name another run stays recorded: dir may be a copy. */
int ingest_moved(struct store *s, const char *dir, struct ingest_result *out, struct err *err);
