/* build: what a B3.89 executor left of each variant's build, beside the folders of the tests:
 * <variant>_gate.log of its no-spill gate, and <variant>_resources.txt with the registers and the scratch
 * memory of its kernels. The text is untrusted; what is not understood is ignored. The owner calls
 * b3_builds_release().
 */
#pragma once

#include "results/ingest/draft/draft.h"

struct b3_build {
    char variant[RUN_NAME_MAX];
    bool gated; /* its gate came to a verdict */
    bool passed;
    char reason[RUN_REASON_MAX]; /* of the verdict */
    double vgprs;                /* the maximum over its kernels; NaN if not reported, as scratch_bytes */
    double scratch_bytes;
};

struct b3_builds {
    struct b3_build *items;
    size_t count;
    size_t cap;
};

void b3_builds_release(struct b3_builds *b);

bool b3_builds_may_be_in(const char *rel);
int b3_builds_read(struct b3_builds *b, const char *rel, const char *full, struct err *err);
/* Called after the tests and the log were read; adds a variant whose gate failed if it has no test. */
int b3_builds_apply(const struct b3_builds *b, struct draft *d, struct err *err);
