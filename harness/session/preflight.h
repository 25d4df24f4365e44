/* preflight: what a node's facts (node.json) mean for a run: fit, fit with a warning, or unfit, and what to
 * do.
 *
 * Pure: takes the facts and what the run needs, gives findings in a fixed order. The texts hold foreign words
 * and are printable already. Knows nothing of transports.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_PREFLIGHT_H
#define KERNSWEEP_HARNESS_SESSION_PREFLIGHT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum preflight_level { PREFLIGHT_OK, PREFLIGHT_WARNING, PREFLIGHT_BLOCKER };

enum { PREFLIGHT_MAX = 32, PREFLIGHT_TEXT_MAX = 240 };

struct finding {
    enum preflight_level level;
    const char *subject; /* static: "disk" */
    char text[PREFLIGHT_TEXT_MAX];
    char remedy[PREFLIGHT_TEXT_MAX]; /* "" when OK */
};

struct preflight {
    struct finding findings[PREFLIGHT_MAX];
    size_t count;
    enum preflight_level worst;
};

struct preflight_needs {
    int64_t largest_context; /* tokens; 0: unknown */
    double clock_offset_s;   /* node minus here; NaN: not measured */
    double clock_error_s;    /* half of the round trip it was measured with */
};

/* Array of the findings of this level or worse; the caller json_decref()s. */
json_t *preflight_encode(const struct preflight *p, enum preflight_level from);

void preflight_check(struct preflight *out, const json_t *node, const struct preflight_needs *needs);
const char *preflight_level_name(enum preflight_level l);

#endif
