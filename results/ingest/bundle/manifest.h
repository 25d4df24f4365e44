/* manifest: the files of a bundle, each verified against manifest.json when it is read.
 *
 * A bundle with a manifest is closed: only files that the manifest lists can be read, their hashes must
 * match, and manifest_check_rest() ensures that the folder contains no others. A bundle without one is a run
 * that is not finished; its files are not verified. The folder is untrusted: names must be plain relative
 * paths. Errors: ERR_INPUT with the file and its place in the manifest. The owner calls manifest_release(),
 * also after an error.
 */
#pragma once

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
    struct json_arena kept; /* root, and the values of manifest_keep() */
    struct json_arena last; /* the value of the last manifest_load() */
};

int manifest_open(struct manifest *m, const char *dir, struct err *err);
void manifest_release(struct manifest *m);
bool manifest_is_closed(const struct manifest *m);

/* How many files the executor left out of the bundle; example: the first of them, with the reason. */
size_t manifest_left_out(const struct manifest *m, char *example, size_t cap);

/* The hash that the manifest has for the file; "" where there is none, or no manifest. */
const char *manifest_hash_of(const struct manifest *m, const char *path);

/* Appends the file's bytes to out. 1, 0 if the bundle has no such file, or -1. */
int manifest_read(struct manifest *m, const char *path, size_t max, struct buf *out, struct err *err);
/* The same as JSON. full: char[FS_PATH_MAX], the path for messages. *out is NULL unless 1 is returned; it is
 * valid until the next manifest_load(), or, with manifest_keep(), until manifest_release(). */
int manifest_load(struct manifest *m, const char *path, const json_t **out, char *full, struct err *err);
int manifest_keep(struct manifest *m, const char *path, const json_t **out, char *full, struct err *err);

/* For a closed bundle: verifies the files not read yet, and that the folder contains no others. */
int manifest_check_rest(struct manifest *m, struct err *err);

/* Verifies a whole folder. run_id: the run that it must be of, or NULL for any. */
int manifest_verify(const char *dir, const char *run_id, struct err *err);
