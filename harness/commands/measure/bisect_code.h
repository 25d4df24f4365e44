/* bisect_code: how the machine code of a search's answer differs from that of the good commit before it:
 * per kernel, the resources and instruction counts that changed, taken from the runs that built the two
 * commits.
 */
#pragma once

#include "harness/session/bisect_state.h"
#include "reports/render/table.h"

enum { BISECT_KERNEL_MAX = 200 };

struct bisect_code_row {
    char kernel[BISECT_KERNEL_MAX]; /* printable */
    char what[64];                  /* "resources.vgprs"; "new", "gone" or "machine code" without numbers */
    int64_t before, after;          /* KERNEL_FACT_UNKNOWN where unknown */
};

struct bisect_code {
    size_t before; /* index of the good commit */
    struct bisect_code_row *rows;
    size_t count, cap;
};

/* *out stays empty without an answer, without device code, or if the runs are no longer stored. The owner
 * calls bisect_code_release(). */
void bisect_code_load(const struct bisect_state *b, struct store *s, struct bisect_code *out);
void bisect_code_release(struct bisect_code *c);

void bisect_code_table(const struct bisect_code *c, struct table *t);
json_t *bisect_code_encode(const struct bisect_code *c);
