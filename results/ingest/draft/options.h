/* options: how the folder of a run is to be read. */
#ifndef KERNSWEEP_RESULTS_INGEST_DRAFT_OPTIONS_H
#define KERNSWEEP_RESULTS_INGEST_DRAFT_OPTIONS_H

#include <stdbool.h>

struct ingest_options {
    const char *node;   /* of folders that do not name theirs (B3.89); NULL: "unknown" */
    const char *date;   /* 2026-02-12: of folders whose path has no date */
    const char *ticket; /* of folders whose files name none (B3.89); overrides what they name */
    int warmup;         /* B3.89: the first repetitions of each cell that are not counted; one always is */
    bool skip_samples;  /* do not store telemetry */
    bool replace;       /* replace a stored run that was read in another way */
};

#endif
