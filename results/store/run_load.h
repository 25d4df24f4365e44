/* run_load: loads a stored run into memory. Errors: ERR_STORAGE, or ERR_INPUT if the run no longer exists. */
#pragma once

#include "results/store/revision.h"
#include "results/store/run_data.h"
#include "results/store/sql.h"

/* On error *out is empty and may be released. */
int run_data_load(struct store *s, int64_t key, struct run_data *out, struct err *err);
/* Loads the run's info and facts only. */
int run_facts_load(struct store *s, int64_t key, struct run_data *out, struct err *err);

/* For modules that select runs themselves; a WHERE on r may follow. */
#define RUN_SELECT                                                                                           \
    "SELECT r.id, r.run_id, r.ticket, r.tag, r.date, r.node, r.mode, r.origin, r.status, r.plan_sha256,"     \
    " r.source_sha256, r.content_sha256, r.purpose, r.rejected_why, r.started_at, r.ended_at, r.bundle, "    \
    "r.sweep, r.wall_s, r.without_result, " REVISION_COLUMNS ","                                             \
    " (SELECT count(*) FROM test WHERE run_id = r.id) AS tests,"                                             \
    " (SELECT count(*) FROM test WHERE run_id = r.id AND status <> 'OK') AS not_ok,"                         \
    " (SELECT count(*) FROM test WHERE run_id = r.id AND status <> 'OK' AND status IN ('SKIPPED', "          \
    "'CANCELLED'))"                                                                                          \
    " AS skipped"                                                                                            \
    " FROM run r" REVISION_JOIN

/* The column "status". run_id: for the error. */
int run_status_read(struct store *s, struct sql_stmt *stmt, const char *run_id, enum run_status *out,
                    struct err *err);
int run_info_read(struct store *s, struct sql_stmt *stmt, struct run_info *out, struct err *err);
