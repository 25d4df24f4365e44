/* unpack: decompression of what compilers compress device code with: Zstandard frames (RFC 8878) and LZ4
 * blocks. The executor is one static program without dependencies on the node, so it has decoders of its own:
 * small, bounded, and slow. Checksums are not verified: what is decoded is hashed, not run.
 */
#ifndef KERNSWEEP_EXECUTOR_CODE_UNPACK_H
#define KERNSWEEP_EXECUTOR_CODE_UNPACK_H

#include "executor/code/span.h"

enum { UNPACKED_MAX = 512 << 20 };

/* What was decoded so far. The owner frees data. */
struct unpacked {
    uint8_t *data;
    size_t len, cap, max;
};

/* Room for len bytes behind the others; false beyond max, or without memory. */
bool unpacked_room(struct unpacked *u, size_t len);
bool unpacked_add(struct unpacked *u, const uint8_t *data, size_t len);
/* Repeats what lies `back` bytes before the end; the two may overlap. */
bool unpacked_copy(struct unpacked *u, size_t back, size_t len);

/* max: the size that the container says, at most UNPACKED_MAX. False for what is malformed; u->data is the
 * caller's in any case. */
bool unpack_zstd(struct span packed, size_t max, struct unpacked *u);
bool unpack_lz4(struct span packed, size_t max, struct unpacked *u);

#endif
