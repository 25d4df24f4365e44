/* tarstream: writes a tree as a reproducible tar stream, whose SHA-256 identifies the tree, and extracts tar
 * streams from untrusted nodes.
 *
 * Writing: paths in byte order, no owners, modes 0755/0644 by the x bit, links only if they are relative and
 * stay inside the tree. Of times only the order is kept, which is what `make` goes by: the oldest file has
 * time 0, the next one 1. Reading: only regular files and folders with plain relative names,
 * within limits, modes 0600/0700, never through a link. The callbacks fit struct transport_cmd.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tar_limits {
    uint64_t total_bytes; /* contents of all files; 0: the default, 4 GiB */
    uint64_t file_bytes;  /* one file; 0: the default, 2 GiB */
    size_t entries;       /* files and folders; 0: the default, enough for a bundle */
};

/* Replaces zeros by the defaults; given may be NULL. */
struct tar_limits tar_limits_fill(const struct tar_limits *given);

struct tar_tree {
    const char *root;
    const char *const *include; /* NULL-terminated paths under root, or NULL for all of it */
    const char *const *settled; /* further files, whose times count only against those of include */
    bool timeless;              /* all files have the same time */
    const char *store;          /* not sent, nor what SQLite has beside it; may be NULL */
    const char *const *skip;    /* NULL-terminated names to skip at any depth; ".git" is always skipped */
    struct tar_limits limits;
};

struct tar_writer;

/* Lists the tree without reading contents. `tree` is not needed afterwards. */
int tar_writer_open(struct tar_writer **out, const struct tar_tree *tree, struct err *err);
void tar_writer_close(struct tar_writer *w);
/* transport_read_fn; arg: struct tar_writer *. */
ssize_t tar_writer_read(void *arg, void *buf, size_t cap, struct err *err);

/* The hash and size of the stream. hex: char[SHA256_HEX_LEN + 1]; size may be NULL. */
int tar_tree_hash(const struct tar_tree *tree, char *hex, uint64_t *size, struct err *err);

struct tar_extractor;

/* Extracts the stream into dir as it arrives. dir is created (0700) and must be empty; closing removes it
 * unless tar_extractor_finish() succeeded. */
int tar_extractor_open(struct tar_extractor **out, const char *dir, const struct tar_limits *limits,
                       struct err *err);
/* transport_write_fn; arg: struct tar_extractor *. */
int tar_extractor_write(void *arg, const char *data, size_t len, struct err *err);
/* The number of bytes received so far, from which an interrupted transfer continues. */
uint64_t tar_extractor_received(const struct tar_extractor *x);
/* Call after the last byte; fails for a truncated or rejected stream. */
int tar_extractor_finish(struct tar_extractor *x, struct err *err);
void tar_extractor_close(struct tar_extractor *x);
