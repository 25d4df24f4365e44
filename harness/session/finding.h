/* finding: one result of checking a node: a level, a subject, a sentence and a remedy. All text is safe
 * for a terminal.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

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

/* The findings of this level or worse as an array; the caller json_decref()s. */
json_t *preflight_encode(const struct preflight *p, enum preflight_level from);

/* Adds one. subject: static; remedy: "" when the level is OK. */
void preflight_add(struct preflight *p, enum preflight_level level, const char *subject, const char *remedy,
                   const char *fmt, ...) __attribute__((format(printf, 5, 6)));
const char *preflight_level_name(enum preflight_level l);
