/* diff_listing: the unified diff of a kernel's machine code in two bundles, where their plans kept listings
 * (<variant>/listings.txt). The `diff` of the system compares them: it is everywhere, and better than what
 * would be written here.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"

enum { DIFF_LISTING_MAX = 1 << 20, DIFF_LISTINGS_BYTES_MAX = 16 << 20 };

/* What a bundle kept of a variant; the owner calls buf_release(). False: nothing, or it is gone. */
bool diff_listing_load(const char *bundle, const char *variant, struct buf *out);

/* Appends the diff of one kernel, at most DIFF_LISTING_MAX bytes (a last line says so). Nothing where one of
 * the two has no listing of it. ERR_STORAGE if diff cannot be run. */
int diff_listing(const struct buf *before, const struct buf *now, const char *kernel, struct buf *out,
                 struct err *err);
