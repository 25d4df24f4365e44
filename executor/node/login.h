/* login: what the login, sshd or a scheduler set of the environment that tests get (node.json's "login"). */
#pragma once

#include <jansson.h>

/* The variables that matter to tests (common/contract/test_variable.h), as an object of strings; values of
 * private ones are "***", long ones are cut and end in a hash of the whole. The caller owns the result. */
json_t *login_variables(void);
