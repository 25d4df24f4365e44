/* moved: a run that is stored already is ingested from another folder than the recorded one.
 *
 * The recorded folder is what reports, logs and listings are read from. As long as it is there and does not
 * name another run, it stays recorded: the other one may be a copy. Errors: ERR_STORAGE.
 */
#ifndef KERNSWEEP_RESULTS_INGEST_MOVED_H
#define KERNSWEEP_RESULTS_INGEST_MOVED_H

#include "results/ingest/draft/commit.h"

/* Records dir as the folder of the run `out` if the recorded one has it no longer, and notes that in out. */
int ingest_moved(struct store *s, const char *dir, struct ingest_result *out, struct err *err);

#endif
