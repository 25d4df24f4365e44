/* strvec and environment: lists are NULL-terminated, own their strings, and are never truncated. */
#include "common/base/alloc.h"
#include "common/base/environment.h"
#include "common/base/strvec.h"
#include "tests/unit/support.h"

#include <stdlib.h>
#include <string.h>

TEST(a_list_is_null_terminated_from_the_start)
{
    struct strvec s = {0};
    assert_null(strvec_argv(&s)[0]);
    strvec_pushl(&s, "a", "b", NULL);
    strvec_pushf(&s, "-p%d", 22);
    strvec_take(&s, strdup("own"));
    const char *const more[] = {"x", "y", NULL};
    strvec_push_all(&s, more);
    strvec_push_all(&s, NULL);
    assert_int_equal(s.n, 6);
    assert_string_equal(s.v[2], "-p22");
    assert_string_equal(strvec_argv(&s)[5], "y");
    assert_null(s.v[6]);
    strvec_release(&s);
    assert_null(strvec_argv(&s)[0]);
}

TEST(a_long_list_keeps_every_word)
{
    AUTO(strvec_release) struct strvec s = {0};
    for (int i = 0; i < 1000; i++)
        strvec_pushf(&s, "%d", i);
    assert_int_equal(s.n, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(strtol(s.v[i], NULL, 10), i);
    assert_null(s.v[1000]);
}

TEST(an_environment_variable_is_replaced_in_place)
{
    AUTO(strvec_release) struct strvec env = {0};
    strvec_pushl(&env, "AB=1", "A=2", NULL);
    environment_set(&env, "A", "3");
    environment_set(&env, "B", "");
    assert_int_equal(env.n, 3);
    assert_string_equal(environment_get(&env, "A"), "3");
    assert_string_equal(environment_get(&env, "AB"), "1");
    assert_string_equal(environment_get(&env, "B"), "");
    assert_null(environment_get(&env, "C"));
}

TEST(a_workload_sees_nothing_of_the_connection)
{
    AUTO(strvec_release) struct strvec all = {0}, env = {0};
    setenv("SSH_AUTH_SOCK", "/x", 1);
    setenv("KERNSWEEP_DB", "/y", 1);
    setenv("PLAIN_VARIABLE", "z", 1);
    environment_copy(&all);
    environment_for_workload(&env);
    assert_string_equal(environment_get(&all, "SSH_AUTH_SOCK"), "/x");
    assert_null(environment_get(&env, "SSH_AUTH_SOCK"));
    assert_null(environment_get(&env, "KERNSWEEP_DB"));
    assert_string_equal(environment_get(&env, "PLAIN_VARIABLE"), "z");
    strvec_release(&env);
}
