/* diff_listing: the unified diff of a kernel's machine code in two bundles whose plans kept listings
 * (<variant>/listings.txt). It comes from the system's `diff`, which is available everywhere.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"

enum { DIFF_LISTING_MAX = 1 << 20, DIFF_LISTINGS_BYTES_MAX = 16 << 20 };

/* Loads a bundle's listings of a variant; the owner calls buf_release(). Returns false if there are none. */
bool diff_listing_load(const char *bundle, const char *variant, struct buf *out);

/* Appends the diff of one kernel, at most DIFF_LISTING_MAX bytes (a last line says so), or nothing if either
 * side has no listing of it. ERR_STORAGE if diff cannot be run. */
int diff_listing(const struct buf *before, const struct buf *now, const char *kernel, struct buf *out,
                 struct err *err);
