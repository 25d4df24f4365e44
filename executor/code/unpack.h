/* unpack: decodes what compilers compress device code with: Zstandard frames (RFC 8878, libzstd), zlib
 * streams (RFC 1950) and LZ4 blocks. The input is untrusted: no more is decoded than its container says, and
 * UNPACKED_MAX at most.
 */
#pragma once

#include "executor/code/span.h"

enum { UNPACKED_MAX = 512 << 20 };

/* max: the size that the container says, at most UNPACKED_MAX. The caller frees the result; its length is
 * *len. Returns NULL for what is malformed, or larger. */
typedef uint8_t *unpack_fn(struct span packed, size_t max, size_t *len);
unpack_fn unpack_zstd, unpack_zlib, unpack_lz4;
