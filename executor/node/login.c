#include "executor/node/login.h"

#include "common/base/alloc.h"
#include "common/base/environment.h"
#include "common/base/sha256.h"
#include "common/contract/env.h"
#include "common/contract/test_variable.h"

#include <stdio.h>
#include <string.h>

enum { VARIABLES_MAX = 64, WHOLE_MAX = 200, CUT = 150, HASH = 12 };

static json_t *shown(const char *name, const char *value)
{
    char hash[SHA256_HEX_LEN + 1], text[WHOLE_MAX + 1];
    if (test_variable_is_private(name))
        return json_string("***");
    json_t *whole = strlen(value) <= WHOLE_MAX ? json_string(value) : NULL;
    if (whole)
        return whole;
    sha256_of(value, strlen(value), hash);
    snprintf(text, sizeof text, "%.*s... (SHA-256 %.*s)", CUT, value, HASH, hash);
    json_t *cut = json_string(text);
    return cut ? cut : json_string(hash); /* it is not UTF-8 */
}

json_t *login_variables(void)
{
    AUTO(strvec_release) struct strvec env = {0};
    json_t *out = json_object();
    environment_for_workload(&env);
    for (size_t i = 0; i < env.n && json_object_size(out) < VARIABLES_MAX; i++) {
        AUTO_FREE char *name = xstrdup(env.v[i]);
        char *equals = strchr(name, '=');
        if (!equals)
            continue;
        *equals = '\0';
        if (env_is_name(name) && test_variable_matters(name))
            json_object_set_new(out, name, shown(name, equals + 1));
    }
    return out;
}
