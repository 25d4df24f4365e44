/* variant: one build of the workload, as a plan describes it and a job carries it: its commands, environment,
 * gates and patches, all of them checked. Arrays are owned, strings borrowed from the JSON.
 */
#ifndef KERNSWEEP_COMMON_CONTRACT_VARIANT_H
#define KERNSWEEP_COMMON_CONTRACT_VARIANT_H

#include "common/contract/env.h"
#include "common/contract/gate.h"
#include "common/contract/patch.h"
#include "common/contract/shape.h"

struct variant {
    const json_t *json; /* as it was read */
    const char *name;
    const char *attn_impl; /* "" is not checked */
    const char *build_as;  /* whose build it is: its own name, or one that several share */
    struct shape shape;    /* of a kernel plan's job */
    struct command *build;
    size_t build_count;
    struct command run;
    struct env env;
    struct gate *gate;
    size_t gate_count;
    struct patch *patch; /* of the source tree, in this order */
    size_t patch_count;
};

/* What the document around a variant says about it. */
struct variant_context {
    enum document in;
    const struct secret_names *secrets;
    bool sources; /* there is a tree that patches could change */
    bool shapes;  /* placeholders of a shape have a value */
};

extern const struct key variant_keys[];

/* v must be zeroed; variant_release() frees it in any case. */
int variant_read(struct variant *v, const struct json_at *at, const struct variant_context *c,
                 struct err *err);
void variant_release(struct variant *v);

/* The place of the one that is called so; false when there is none. */
bool variant_find(const struct variant *v, size_t count, const char *name, size_t *place);

/* Patches of a plan or of a variant; they may be absent. *out is the caller's to free(), in any case. */
int patches_read(struct patch **out, size_t *count, const struct json_at *at, const struct variant_context *c,
                 struct err *err);
/* The placeholders of tests or gates that have a value. */
unsigned variant_placeholders(const struct variant_context *c, unsigned all);

#endif
