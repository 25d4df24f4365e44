/* run_rows: how a row of table `run` becomes a struct run_info; for the modules of results/ only. */
#ifndef KERNSWEEP_RESULTS_STORE_RUN_ROWS_H
#define KERNSWEEP_RESULTS_STORE_RUN_ROWS_H

#include "results/store/run_data.h"

/* "SELECT ... FROM run r ": a WHERE on r may follow. */
#define RUN_SELECT                                                                                           \
    "SELECT r.id, r.run_id, r.ticket, r.tag, r.date, r.node, r.mode, r.origin, r.status, r.plan_sha256,"     \
    " r.source_sha256, r.content_sha256, r.started_at, r.ended_at, r.bundle, r.wall_s,"                      \
    " (SELECT count(*) FROM test WHERE run_id = r.id) AS total,"                                             \
    " (SELECT count(*) FROM test WHERE run_id = r.id AND status = 'OK') AS ok,"                              \
    " (SELECT count(*) FROM test WHERE run_id = r.id AND status = 'SKIPPED') AS skipped FROM run r "

int run_info_read(struct store *s, struct sql_stmt *stmt, struct run_info *out, struct err *err);

#endif
