#include "common/base/environment.h"

#include "common/base/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void environment_copy(struct strvec *env)
{
    strvec_push_all(env, (const char *const *)environ);
}

void environment_for_workload(struct strvec *env)
{
    for (char **e = environ; e && *e; e++) {
        if (strncmp(*e, "SSH_", 4) != 0 && strncmp(*e, "KERNSWEEP_", 10) != 0)
            strvec_push(env, *e);
    }
}

static char **find_entry(const struct strvec *env, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < env->n; i++) {
        if (strncmp(env->v[i], name, len) == 0 && env->v[i][len] == '=')
            return &env->v[i];
    }
    return NULL;
}

void environment_set(struct strvec *env, const char *name, const char *value)
{
    char **old = find_entry(env, name);
    if (!old) {
        strvec_pushf(env, "%s=%s", name, value);
        return;
    }
    char *pair = xasprintf("%s=%s", name, value);
    free(*old);
    *old = pair;
}

const char *environment_get(const struct strvec *env, const char *name)
{
    char **pair = find_entry(env, name);
    return pair ? *pair + strlen(name) + 1 : NULL;
}
