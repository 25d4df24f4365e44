/* ssh_policy: which options of a user's configuration libssh2 does not follow. */
#include "common/base/alloc.h"
#include "harness/ssh/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char defaults[] =
    "hostname h\nciphers a,b\nmacs m\nipqos lowdelay throughput\nhashknownhosts no\n";

static void check(const char *wanted, const char *expected)
{
    AUTO(buf_release) struct buf out = {.max = 1024};
    ssh_config_unserved(wanted, defaults, &out);
    assert_string_equal(buf_str(&out), expected);
}

static void equal_settings_are_served(void **state)
{
    (void)state;
    check(defaults, "");
    check("macs m\nciphers a,b\n", "");
    check("", "");
}

static void settings_that_config_reads_are_served(void **state)
{
    (void)state;
    check("hostname other\nhashknownhosts yes\naddressfamily inet\n", "");
}

static void other_settings_are_named(void **state)
{
    (void)state;
    check("ciphers a\nmacs m\n", "Ciphers");
    check("ciphers a,b,c\nipqos none", "Ciphers, IPQoS");
    check("bindaddress 192.0.2.1\n", "BindAddress");
}

static void a_name_that_only_begins_alike_is_another(void **state)
{
    (void)state;
    check("ciphersuite x\nmacs2 y\n", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_settings_are_served),
        cmocka_unit_test(settings_that_config_reads_are_served),
        cmocka_unit_test(other_settings_are_named),
        cmocka_unit_test(a_name_that_only_begins_alike_is_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
