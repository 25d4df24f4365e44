/* build_identity: the code identity of a build: a hash of the device code in the files that it left in its
 * folder, or, where there is none, of these files. It is that of the code that runs, not of the sources:
 * building a source twice, or after a change of comments or of the host's code only, gives the same.
 *
 * The files are untrusted; their number and sizes are bounded. Nothing is executed.
 */
#pragma once

#include "executor/code/code_set.h"
#include "executor/code/scan.h"

enum { IDENTITY_FILES_MAX = 50000 };

/* path: a build's folder, or one file. src: the folder of its sources, NULL: unknown; names of both folders
 * do not count. gpus: whose code counts, NULL or none: all code; if they take none of what is there, all
 * does, and out->others says what it is for. hook: as for scan_device(). The caller owns *out and calls
 * code_release(), also after an error. ERR_INPUT where a bound is exceeded or there is nothing to hash,
 * ERR_STORAGE where a file cannot be read. */
int build_identity_of(const char *path, const char *src, const struct targets *gpus,
                      const struct scan_hook *hook, struct code *out, struct err *err);
/* Adds the device code of one file to the set. hook: as for scan_device(). */
int build_identity_scan(const char *path, const struct scan_hook *hook, struct code_set *set,
                        struct err *err);
