/* variant: one build of the workload in a plan or job: its commands, environment, gates and patches, all
 * validated. Arrays are owned, strings borrowed from the JSON.
 */
#pragma once

#include "common/contract/container.h"
#include "common/contract/env.h"
#include "common/contract/gate.h"
#include "common/contract/patch.h"
#include "common/contract/shape.h"

struct variant {
    const json_t *json; /* borrowed */
    const char *name;
    const char *attn_impl; /* "": not checked */
    const char *cwd;       /* that its tests start in, absolute or below the home folder; "": their own */
    const char *build_as;  /* name of its build, which several variants may share */
    bool in_tree;          /* its sources may be written to by its builds and tests, and are shared */
    bool ignore_failure;   /* any exit code is a success */
    bool alone;            /* none of the run's tests runs beside its tests */
    struct shape shape;    /* in kernel plans */
    struct command *build;
    size_t build_count;
    struct command run;
    struct command prepare;     /* before each test; no words: none */
    struct command cleanup;     /* once, after the run's last test; no words: none */
    struct container container; /* in which it is built, gated and tested */
    struct env env;
    struct env test_env; /* of gates and tests only, in a job: builds do not depend on it */
    struct gate *gate;
    size_t gate_count;
    struct patch *patch; /* applied to the source tree in this order */
    size_t patch_count;
};

/* What a variant depends on in the rest of the document. */
struct variant_context {
    enum document in;
    const struct secret_names *secrets;
    bool sources; /* there is a source tree to patch */
    bool shapes;  /* the placeholders of a shape have values */
};

extern const struct key variant_keys[];

/* v must be zeroed; call variant_release() even after a failure. */
int variant_read(struct variant *v, const struct json_at *at, const struct variant_context *c,
                 struct err *err);
void variant_release(struct variant *v);

/* *place: its index. */
bool variant_find(const struct variant *v, size_t count, const char *name, size_t *place);

/* at: "patches" of a plan or variant, which may be absent. The caller free()s *out even after a failure. */
int patches_read(struct patch **out, size_t *count, const struct json_at *at, const struct variant_context *c,
                 struct err *err);
/* all: placeholders for tests or gates; returns those that have a value. */
unsigned variant_placeholders(const struct variant_context *c, unsigned all);
