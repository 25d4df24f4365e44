/* subst: placeholders in commands and environment values: {src} {build} {out} {variant} {attn_impl}
 * {run_id} {repetition} {context} {context+N}, and in kernel plans the shape: {batch} {heads} {kv_heads}
 * {head_dim} {dtype} {causal}, where the last is "--causal" or "--no-causal".
 *
 * A placeholder is '{', lower-case letters and '_', '}', and for the context optionally "+N". "{{" is
 * a literal '{'. Text that looks like a placeholder but is none ({Context}, {context*2}, {v3}) is an error,
 * since a program that got it literally would run with the wrong arguments; every other brace, and "${", is
 * literal, so that JSON, awk and shell text pass through. Which placeholders have a value depends on the
 * command (a build has no context); using any other is an error.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdint.h>

enum subst_key {
    SUBST_SRC,
    SUBST_BUILD,
    SUBST_OUT,
    SUBST_VARIANT,
    SUBST_ATTN_IMPL,
    SUBST_RUN_ID,
    SUBST_REPETITION,
    SUBST_CONTEXT,
    SUBST_BATCH, /* first dimension of a shape */
    SUBST_HEADS,
    SUBST_KV_HEADS,
    SUBST_HEAD_DIM,
    SUBST_DTYPE,
    SUBST_CAUSAL, /* last dimension of a shape */
    SUBST_COUNT
};

#define SUBST_BIT(key) (1u << (key))
/* What each kind of command may use. Builds are cached, so they must not depend on the run. */
#define SUBST_FOR_BUILD                                                                                      \
    (SUBST_BIT(SUBST_SRC) | SUBST_BIT(SUBST_BUILD) | SUBST_BIT(SUBST_VARIANT) | SUBST_BIT(SUBST_ATTN_IMPL))
#define SUBST_FOR_SHAPE (SUBST_BIT(SUBST_COUNT) - SUBST_BIT(SUBST_BATCH))
#define SUBST_FOR_GATE (SUBST_FOR_BUILD | SUBST_BIT(SUBST_OUT) | SUBST_BIT(SUBST_RUN_ID) | SUBST_FOR_SHAPE)
#define SUBST_FOR_TEST (SUBST_BIT(SUBST_COUNT) - 1)
/* Instead of a set: the text is not a template; its braces are literal. */
#define SUBST_LITERAL SUBST_BIT(31)

struct subst {
    const char *text[SUBST_COUNT]; /* NULL: no value; repetition and context are below */
    int64_t context;               /* 0: no value */
    int64_t repetition;            /* 0: no value */
};

/* Returns the name between the braces. */
const char *subst_name(enum subst_key key);
/* Sets *used to the placeholders in the template; an unknown one is an error. */
int subst_scan(const char *template, unsigned *used, struct err *err);
int subst_expand(const char *template, const struct subst *values, struct buf *out, struct err *err);
