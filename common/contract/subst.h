/* subst: the placeholders of commands and environment values: {src} {build} {out} {variant} {attn_impl}
 * {run_id} {repetition} {context} {context+N}, and in kernel plans the shape: {batch} {heads} {kv_heads}
 * {head_dim} {dtype} {causal}, where the last is "--causal" or "--no-causal".
 *
 * A placeholder is '{', lower-case letters and '_', optionally +N, '}'. "{{" is a literal '{'; any other
 * brace stands for itself, so that JSON and shell text pass through. Which placeholders have a value depends
 * on the command (a build has no context); using another one is an error.
 */
#ifndef KERNSWEEP_COMMON_CONTRACT_SUBST_H
#define KERNSWEEP_COMMON_CONTRACT_SUBST_H

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
    SUBST_BATCH, /* the first of a shape */
    SUBST_HEADS,
    SUBST_KV_HEADS,
    SUBST_HEAD_DIM,
    SUBST_DTYPE,
    SUBST_CAUSAL, /* the last of a shape */
    SUBST_COUNT
};

#define SUBST_BIT(key) (1u << (key))
/* What each kind of command may use. A build must not depend on the run: its result is cached. */
#define SUBST_FOR_BUILD                                                                                      \
    (SUBST_BIT(SUBST_SRC) | SUBST_BIT(SUBST_BUILD) | SUBST_BIT(SUBST_VARIANT) | SUBST_BIT(SUBST_ATTN_IMPL))
#define SUBST_FOR_SHAPE (SUBST_BIT(SUBST_COUNT) - SUBST_BIT(SUBST_BATCH))
#define SUBST_FOR_GATE (SUBST_FOR_BUILD | SUBST_BIT(SUBST_OUT) | SUBST_BIT(SUBST_RUN_ID) | SUBST_FOR_SHAPE)
#define SUBST_FOR_TEST (SUBST_BIT(SUBST_COUNT) - 1)
/* In place of a set: the text is no template, its braces stand for themselves. */
#define SUBST_LITERAL SUBST_BIT(31)

struct subst {
    const char *text[SUBST_COUNT]; /* NULL: not available; repetition and context are numbers below */
    int64_t context;               /* 0: not available */
    int64_t repetition;            /* 0: not available */
};

/* The name between the braces. */
const char *subst_name(enum subst_key key);
/* Sets *used to the placeholders of the template; an unknown one is an error. */
int subst_scan(const char *template, unsigned *used, struct err *err);
/* Appends the expanded template to out. */
int subst_expand(const char *template, const struct subst *values, struct buf *out, struct err *err);

#endif
