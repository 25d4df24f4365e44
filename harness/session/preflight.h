/* preflight: judges from a node's facts (node.json) whether it is fit for a run, and suggests remedies.
 *
 * Pure: takes the facts and the needs of the run, returns findings in a fixed order. All text is already safe
 * for a terminal.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_PREFLIGHT_H
#define KERNSWEEP_HARNESS_SESSION_PREFLIGHT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum preflight_level { PREFLIGHT_OK, PREFLIGHT_WARNING, PREFLIGHT_BLOCKER };

enum { PREFLIGHT_MAX = 64, PREFLIGHT_TEXT_MAX = 240 };

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
    bool hipcc, nvcc;        /* the plan's builds name this compiler */
    double clock_offset_s;   /* node minus here; NaN: not measured */
    double clock_error_s;    /* half the round-trip time of the measurement */
};

/* The findings of this level or worse as an array; the caller json_decref()s. */
json_t *preflight_encode(const struct preflight *p, enum preflight_level from);

/* Adds one. subject: static; remedy: "" when the level is OK. */
void preflight_add(struct preflight *p, enum preflight_level level, const char *subject, const char *remedy,
                   const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void preflight_check(struct preflight *out, const json_t *node, const struct preflight_needs *needs);
const char *preflight_level_name(enum preflight_level l);

#endif
