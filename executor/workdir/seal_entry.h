/* seal_entry: one line of a seal: what stat() said of a file, and the hash of what was in it; of a link, the
 * hash of its text, and what stat() said of the file that it leads to, if that is outside of the folder: a
 * file of the folder has its own line.
 */
#pragma once

#include "common/base/fs.h"
#include "common/base/sha256.h"

#include <stdbool.h>
#include <time.h>

enum { SEAL_FILE = 'f', SEAL_LINK = 'l' };

struct seal_entry {
    char kind;
    long long size; /* -1: there is no such file; of a link: nor one outside */
    struct timespec written, changed;
    char sha256[SHA256_HEX_LEN + 1]; /* "-": too large, or not readable */
    const char *name;
};

/* Files and links, but for what Python writes by the way, and names with a line break, which no list can
 * have.
 */
bool seal_entry_counts(const struct fs_entry *e);
/* root: the folder's real path. */
void seal_entry_take(struct seal_entry *out, const struct fs_entry *e, const char *root);
void seal_entry_print(const struct seal_entry *s, struct buf *out);
/* line: without its end; name points into it. */
bool seal_entry_parse(struct seal_entry *out, const char *line);

/* The error may be gone at the next look: it says nothing of what could not be read. */
bool seal_error_passes(int error);
/* 1: the entry is what it was when it was sealed; 0: it is not; -1 with errno: it cannot be read for now. */
int seal_entry_holds(const struct seal_entry *s, const struct fs_entry *e);
