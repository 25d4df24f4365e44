/* manifest: the files of a bundle, each held against manifest.json when it is read.
 *
 * A bundle with a manifest is closed: it gives only files that the manifest names and whose bytes are what
 * the node hashed, and manifest_check_rest() makes sure that the folder holds nothing else. One without is a
 * run that is still open, whose files are taken as they are. The folder is foreign: names must be plain
 * relative paths. Errors: ERR_INPUT naming the file and its place in the manifest. The owner calls
 * manifest_release(), also after an error.
 */
#ifndef KERNSWEEP_RESULTS_INGEST_MANIFEST_H
#define KERNSWEEP_RESULTS_INGEST_MANIFEST_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/fs.h"
#include "common/base/json_arena.h"
#include "common/base/sha256.h"

#include <stdbool.h>
#include <stdint.h>

struct manifest_file {
    const char *path; /* the manifest's JSON owns the strings */
    const char *sha256;
    int64_t size;
    size_t index; /* in the manifest */
    bool checked;
};

struct manifest {
    char dir[FS_PATH_MAX];
    char file[FS_PATH_MAX];          /* manifest.json, for messages */
    char sha256[SHA256_HEX_LEN + 1]; /* of manifest.json; "" while the run is open */
    const char *run_id;              /* NULL while the run is open */
    const json_t *root;
    struct manifest_file *files; /* by path */
    size_t count;
    int fd;                 /* of dir */
    struct json_arena kept; /* root, and what manifest_keep() gave */
    struct json_arena last; /* what manifest_load() gave last */
};

int manifest_open(struct manifest *m, const char *dir, struct err *err);
void manifest_release(struct manifest *m);
bool manifest_is_closed(const struct manifest *m);

/* Appends the file's bytes to out. 1, or 0 when the bundle has no such file, or -1. */
int manifest_read(struct manifest *m, const char *path, size_t max, struct buf *out, struct err *err);
/* The same as JSON; full: char[FS_PATH_MAX], what messages about it name. *out is NULL unless 1 is returned,
 * and holds until the next manifest_load(), or, when it was kept, until manifest_release(). */
int manifest_load(struct manifest *m, const char *path, const json_t **out, char *full, struct err *err);
int manifest_keep(struct manifest *m, const char *path, const json_t **out, char *full, struct err *err);

/* For a closed bundle: verifies the files that were not read yet, and that the folder holds no others. */
int manifest_check_rest(struct manifest *m, struct err *err);

/* All of it at once. run_id: the run that it must be of, or NULL for any. */
int manifest_verify(const char *dir, const char *run_id, struct err *err);

#endif
