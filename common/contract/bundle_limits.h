/* bundle_limits: how large a bundle may be. The executor leaves out what would exceed it and names it in the
 * manifest; whoever receives a bundle refuses more. What kernsweep itself writes for the largest legal plan
 * fits.
 */
#pragma once

#include "common/contract/proto.h"

#include <stdint.h>

enum {
    BUNDLE_TEST_FILES = 4,            /* that kernsweep writes for each test */
    BUNDLE_FOREIGN_FILES_MAX = 50000, /* that tests and builds leave */
    BUNDLE_FILES_MAX = BUNDLE_TEST_FILES * LIMIT_TESTS + 20000 + BUNDLE_FOREIGN_FILES_MAX,
    BUNDLE_PATH_MAX = 512,     /* bytes of a path in the bundle */
    BUNDLE_LEFT_OUT_MAX = 100, /* named in the manifest; the others are counted */
};

#define BUNDLE_FILE_BYTES_MAX ((int64_t)1 << 30)
#define BUNDLE_FOREIGN_BYTES_MAX ((int64_t)1 << 30)
#define BUNDLE_BYTES_MAX ((int64_t)4 << 30)
/* Kept free of logs and samples, for the records. */
#define BUNDLE_RECORD_BYTES ((int64_t)1 << 29)
