/* sha256: SHA-256 (from nettle) as 64 lower-case hex digits. */
#pragma once

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
/* Includes the terminating NUL, so that "a" "b" and "ab" differ. NULL counts as "". */
void sha256_add_text(struct sha256 *h, const char *text);
/* out: char[SHA256_HEX_LEN + 1] */
void sha256_end(struct sha256 *h, char *out);

void sha256_of(const void *data, size_t len, char *out);
/* Fails for a file of more than max bytes. size may be NULL. */
int sha256_of_file(const char *path, size_t max, char *out, size_t *size, struct err *err);
/* Does the same for rel below an open folder; path is for messages. */
int sha256_of_file_at(int dirfd, const char *rel, const char *path, size_t max, char *out, size_t *size,
                      struct err *err);
bool sha256_is_hex(const char *s);
