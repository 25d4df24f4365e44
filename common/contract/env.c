#include "common/contract/env.h"

#include "common/base/alloc.h"
#include "common/contract/command.h"
#include "common/contract/proto.h"

#include <stdlib.h>
#include <string.h>

bool env_is_name(const char *s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t len = strlen(s);
    return len > 0 && len <= LIMIT_NAME_OF_ENV && !(s[0] >= '0' && s[0] <= '9') && strspn(s, letters) == len;
}

int secret_names_read(struct secret_names *s, const struct json_at *at, struct err *err)
{
    size_t n = json_array_size(at->value);
    if (!at->value)
        return 0;
    if (!json_is_array(at->value))
        return json_expected(at, "an array of names of environment variables", err);
    if (n > LIMIT_SECRETS)
        return json_fail(at, err, "expected at most %d names of environment variables, found %zu",
                         LIMIT_SECRETS, n);
    s->name = xcalloc(n, sizeof *s->name);
    for (size_t i = 0; i < n; i++) {
        struct json_at name = json_element(at, i);
        if (!json_is_string(name.value))
            return json_expected(&name, "the name of an environment variable", err);
        if (!env_is_name(json_string_value(name.value)))
            return json_fail(&name, err, "expected the name of an environment variable, found \"%.80s\"",
                             json_string_value(name.value));
        s->name[s->count++] = json_string_value(name.value);
    }
    return 0;
}

void secret_names_release(struct secret_names *s)
{
    free(s->name);
    *s = (struct secret_names){0};
}

bool secret_names_have(const struct secret_names *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->name[i], name) == 0)
            return true;
    return false;
}

static int check_secret(const struct json_at *at, enum document in, struct err *err)
{
    size_t len = json_string_length(at->value);
    if (len <= LIMIT_ARG_BYTES && (in == IN_JOB || len == 0 || len >= LIMIT_SECRET_MIN))
        return 0;
    return json_fail(at, err, "expected an empty value or %d to %d bytes, as it is a secret, found %zu",
                     LIMIT_SECRET_MIN, LIMIT_ARG_BYTES, len);
}

static int check_item(const struct json_at *item, const char *name, enum document in,
                      const struct secret_names *secrets, unsigned allowed, struct err *err)
{
    if (!env_is_name(name))
        return json_fail(item, err, "\"%.80s\" is not a valid name of an environment variable", name);
    if (!secret_names_have(secrets, name))
        return command_check_word(item, allowed, err);
    return json_is_string(item->value) ? check_secret(item, in, err)
                                       : json_fail(item, err, "expected a string, as every value");
}

int env_read(struct env *env, const struct json_at *at, enum document in, const struct secret_names *secrets,
             unsigned allowed, struct err *err)
{
    size_t n = json_object_size(at->value);
    const char *name;
    json_t *value;
    if (!at->value)
        return 0;
    if (!json_is_object(at->value))
        return json_expected(at, "an object of environment variables", err);
    if (n > LIMIT_ENV)
        return json_fail(at, err, "expected at most %d environment variables, found %zu", LIMIT_ENV, n);
    env->name = xcalloc(n + 1, sizeof *env->name);
    env->value = xcalloc(n + 1, sizeof *env->value);
    int rc = 0;
    json_object_foreach(json_iterable(at->value), name, value)
    {
        struct json_at item = json_member(at, name);
        if (check_item(&item, name, in, secrets, allowed, err) == 0) {
            env->name[env->count] = name;
            env->value[env->count++] = json_string_value(value);
        } else {
            rc = -1;
        }
    }
    return rc;
}

void env_release(struct env *env)
{
    free(env->name);
    free(env->value);
    *env = (struct env){0};
}
