/* sha256: content addresses, computed by the nettle library, as 64 lower-case hex digits.
 * Knows nothing of what is hashed or why.
 */
#ifndef KERNSWEEP_COMMON_BASE_SHA256_H
#define KERNSWEEP_COMMON_BASE_SHA256_H

#include "common/base/err.h"

#include <nettle/sha2.h>
#include <stdbool.h>
#include <stddef.h>

enum { SHA256_HEX_LEN = 64 };

struct sha256 {
    struct sha256_ctx ctx;
};

void sha256_begin(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t len);
/* out: char[SHA256_HEX_LEN + 1] */
void sha256_end(struct sha256 *h, char *out);

void sha256_of(const void *data, size_t len, char *out);
/* Streams the file; a file of more than max bytes is refused. size may be NULL. */
int sha256_of_file(const char *path, size_t max, char *out, size_t *size, struct err *err);
/* The same for rel below an open folder; messages name path. */
int sha256_of_file_at(int dirfd, const char *rel, const char *path, size_t max, char *out, size_t *size,
                      struct err *err);
bool sha256_is_hex(const char *s);

#endif
