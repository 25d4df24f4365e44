/* layout: paths on the node: <workdir>/{bin,src,build,runs}, the files of a run, the folder where all users
 * of a machine leave what concerns its GPUs (locks, records of settings to be put back), and the roots of
 * sysfs and procfs (which tests replace by fake trees). Only builds paths, except where it says so. Names
 * from outside are validated here once more.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/fs.h"
#include "common/base/json.h"

struct layout {
    char workdir[FS_PATH_MAX]; /* absolute */
    char runs[FS_PATH_MAX];    /* the parent of run folders: <workdir>/runs, except in a scheduler's task */
    char sysfs[FS_PATH_MAX];   /* normally /sys */
    char proc[FS_PATH_MAX];    /* normally /proc; node facts only, never for supervising processes */
};

/* workdir NULL: $HOME/.kernsweep; a relative one starts at $HOME. sysfs and proc NULL:
 * $KERNSWEEP_FAKE_ROOT/sys and /proc below it when that is set, else the real ones. */
int layout_init(struct layout *l, const char *workdir, const char *sysfs, const char *proc, struct err *err);

/* Gives the path itself when it is absolute, else $HOME/path. out: char[FS_PATH_MAX]. */
int layout_from_home(char *out, const char *path, struct err *err);
/* Gives <workdir>/<kind>/<name>; name must be a plain name. out: char[FS_PATH_MAX]. */
int layout_entry(const struct layout *l, char *out, const char *kind, const char *name, struct err *err);
int layout_run(const struct layout *l, char *out, const char *run_id, struct err *err);
/* Gives <runs>/<run_id>/<file>. */
int layout_run_file(const struct layout *l, char *out, const char *run_id, const char *file, struct err *err);
/* Gives <workdir>/<kind>, created (0700) when it is not there. */
int layout_make(const struct layout *l, char *out, const char *kind, struct err *err);

/* Removes <dir>/<name>, which is renamed away atomically, then deleted. A crash in between leaves a hidden
 * folder that the next call removes. */
int layout_discard(const char *dir, const char *name, struct err *err);

/* Files of a run that are not part of the bundle start with a dot. */
#define NODE_LOCK "gpu.lock" /* of the workdir: one run at a time builds and measures */
#define RUN_LOCK ".lock"
#define RUN_JOB_PRIVATE ".job.json" /* with the values of secrets; removed when the run is closed */
#define RUN_CANCEL ".cancel"        /* the user cancelled the run */
#define RUN_ARRAYS ".arrays"        /* array jobs of a scheduler and what they wrote; see array_job.h */
#define RUN_RESERVE ".reserve"      /* space for RUN_ERROR on a full disk */
#define RUN_ERROR ".error"          /* why the last supervisor ended without closing the run; one line */
#define RUN_PLAN "plan.json"
#define RUN_JOB "job.json"
#define RUN_NODE "node.json"
#define RUN_EVENTS "events.jsonl"
#define RUN_SUMMARY "summary.json"
#define RUN_MANIFEST "manifest.json"
#define RUN_LOG "executor.log"
/* Loads a JSON file of a run's folder; NULL if it cannot be read. The caller json_decref()s. */
json_t *layout_load(const char *run_dir, const char *name);

/* Returns the same folder for every user. Anybody may write to it, and a restart empties it. */
const char *machine_folder(const struct layout *l);
/* Gives kernsweep-gpu-NAME.KIND in that folder. path: char[FS_PATH_MAX]. */
int machine_gpu_file(const struct layout *l, const char *name, const char *kind, char *path, struct err *err);
