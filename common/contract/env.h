/* env: environment variables of a plan, a job or a variant, and which of them are secrets. Values are
 * templates (see subst), but for those of secrets, which are passed on as they are. Arrays are owned, strings
 * borrowed.
 */
#ifndef KERNSWEEP_COMMON_CONTRACT_ENV_H
#define KERNSWEEP_COMMON_CONTRACT_ENV_H

#include "common/contract/keys.h"

struct secret_names {
    const char **name;
    size_t count;
};

struct env {
    const char **name;
    const char **value;
    size_t count;
};

/* A plan or a job's "secrets", which may be absent. s must be zeroed; secret_names_release() frees it in any
 * case. */
int secret_names_read(struct secret_names *s, const struct json_at *at, struct err *err);
void secret_names_release(struct secret_names *s);
bool secret_names_have(const struct secret_names *s, const char *name);

/* An "env", which may be absent. In a plan a secret must be long enough to be hidden; a job's values may be
 * hidden already. allowed: placeholders with a value. env must be zeroed; env_release() frees it in any case.
 */
int env_read(struct env *env, const struct json_at *at, enum document in, const struct secret_names *secrets,
             unsigned allowed, struct err *err);
void env_release(struct env *env);

#endif
