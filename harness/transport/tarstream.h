/* tarstream: a tree as a stream of tar bytes, the same bytes for the same contents on any machine and day, so
 * that their SHA-256 is the tree's address; and the reverse, from a node that may be hostile.
 *
 * Writing: paths in byte order, no times, no owners, modes 0755/0644 by the x bit, links only when they are
 * relative and stay inside the tree. Reading: regular files and folders only, plain relative names, within
 * limits, 0600/0700, never through a link. Knows nothing of transports; the callbacks have their shapes.
 */
#ifndef KERNSWEEP_HARNESS_TRANSPORT_TARSTREAM_H
#define KERNSWEEP_HARNESS_TRANSPORT_TARSTREAM_H

#include "common/base/err.h"
#include "common/base/sha256.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tar_limits {
    uint64_t total_bytes; /* contents of all files; 0: the default, 4 GiB */
    uint64_t file_bytes;  /* one file; 0: the default, 2 GiB */
    size_t entries;       /* files and folders; 0: the default, 200000 */
};

/* given (or NULL) with the defaults in place of zeros. */
struct tar_limits tar_limits_fill(const struct tar_limits *given);

struct tar_tree {
    const char *root;
    const char *const *include; /* NULL-terminated paths under root, or NULL for all of it */
    const char *const *skip;    /* NULL-terminated names left out wherever they appear; ".git" always is */
    struct tar_limits limits;
};

struct tar_writer;

/* Lists the tree (not its contents); `tree` may go afterwards. */
int tar_writer_open(struct tar_writer **out, const struct tar_tree *tree, struct err *err);
void tar_writer_close(struct tar_writer *w);
/* transport_read_fn; arg: struct tar_writer *. */
ssize_t tar_writer_read(void *arg, void *buf, size_t cap, struct err *err);
/* Bytes of contents that the listing found. */
uint64_t tar_writer_content_bytes(const struct tar_writer *w);

/* The address of a tree: hex is char[SHA256_HEX_LEN + 1], the hash of the stream; size (of the stream) may be
 * NULL. */
int tar_tree_hash(const struct tar_tree *tree, char *hex, uint64_t *size, struct err *err);

struct tar_extractor;

/* Extracts below dir, which is made (0700) and must be empty, as the bytes come. Unless
 * tar_extractor_finish() succeeds, closing removes it.
 */
int tar_extractor_open(struct tar_extractor **out, const char *dir, const struct tar_limits *limits,
                       struct err *err);
/* transport_write_fn; arg: struct tar_extractor *. */
int tar_extractor_write(void *arg, const char *data, size_t len, struct err *err);
/* Call after the last byte; fails on a truncated or refused stream. */
int tar_extractor_finish(struct tar_extractor *x, struct err *err);
void tar_extractor_close(struct tar_extractor *x);

#endif
