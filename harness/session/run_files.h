/* run_files: the logs of a run, in a local bundle or on the node while the run is live.
 *
 * Lists the logs, chooses the one that a command line means, and reads it. Choosing is pure. Places borrow
 * what they point to. Errors: ERR_INPUT for a log that does not exist (the message lists those that do),
 * ERR_NODE, ERR_STORAGE.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/strvec.h"
#include "harness/session/remote.h"

/* Where the files are: a bundle's folder, or a run on a node. The other one is NULL. */
struct run_place {
    const char *bundle;
    struct remote *remote;
    const char *run_id; /* on the node */
};

enum run_log { RUN_LOG_OUTPUT, RUN_LOG_DIAG, RUN_LOG_BUILD, RUN_LOG_GATE, RUN_LOG_COUNT };

/* What the command line asks for. context, repetition: NULL where not given. */
struct run_log_query {
    enum run_log log;
    const char *variant, *context, *repetition;
};

struct run_log_choice {
    char path[FS_PATH_MAX]; /* below the run's folder */
    bool growing;           /* its process has not ended yet */
    long repetition;        /* 0 for the log of a build or gate */
    long repetitions;       /* number of the cell's repetitions that have logs */
};

/* Appends the paths of all logs of the run. */
int run_files_list(const struct run_place *place, struct strvec *paths, struct err *err);
/* The default context is the only one; the default repetition is the first failed one, otherwise the
 * first. */
int run_files_choose(const struct strvec *paths, const struct run_log_query *query,
                     struct run_log_choice *out, struct err *err);
/* Appends the bytes of the file from this offset on. */
int run_files_read(const struct run_place *place, const char *path, size_t offset, struct buf *out,
                   struct err *err);
