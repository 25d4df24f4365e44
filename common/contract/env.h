/* env: environment variables of a plan, job or variant, and which of them are secrets. Values are templates
 * (see subst), except those of secrets, which are passed on unchanged. Arrays are owned, strings borrowed.
 */
#pragma once

#include "common/contract/keys.h"

/* Whether s can name an environment variable. */
bool env_is_name(const char *s);

struct secret_names {
    const char **name;
    size_t count;
};

struct env {
    const char **name;
    const char **value;
    size_t count;
};

/* at: "secrets" of a plan or job, which may be absent. s must be zeroed; call secret_names_release() even
 * after a failure. */
int secret_names_read(struct secret_names *s, const struct json_at *at, struct err *err);
void secret_names_release(struct secret_names *s);
bool secret_names_have(const struct secret_names *s, const char *name);

/* at: "env", which may be absent. In a plan, secrets must be long enough to be redacted; in a job they may be
 * redacted already. allowed: placeholders that have a value. env must be zeroed; call env_release() even
 * after a failure. */
int env_read(struct env *env, const struct json_at *at, enum document in, const struct secret_names *secrets,
             unsigned allowed, struct err *err);
void env_release(struct env *env);
