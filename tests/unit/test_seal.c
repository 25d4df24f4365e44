/* seal: the record of a finished folder's files. */
#include "executor/workdir/seal.h"

#include "common/base/fs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/kernsweep-seal-XXXXXX";
static char why[SEAL_REASON_MAX];

static void put(const char *name, const char *text)
{
    char path[FS_PATH_MAX], parent[FS_PATH_MAX];
    assert_int_equal(fs_join(path, NULL, dir, name), 0);
    fs_parent(path, parent);
    assert_int_equal(fs_mkdir_p(parent, 0700, NULL), 0);
    assert_int_equal(fs_write_file(path, text, strlen(text), 0600, NULL), 0);
}

static int look(void)
{
    struct err err = {0};
    return seal_check(dir, ".mark", why, &err);
}

static int make(void **state)
{
    struct err err = {0};
    (void)state;
    snprintf(dir + strlen(dir) - 6, 7, "XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    put("prog", "#!/bin/sh\n");
    put("lib/name with blanks", "x");
    return seal_write(dir, ".mark", &err);
}

static int clean(void **state)
{
    (void)state;
    return fs_remove_tree(dir, NULL);
}

static void an_untouched_folder_is_intact(void **state)
{
    (void)state;
    assert_int_equal(look(), 1);
    assert_string_equal(why, "");
}

static void files_that_are_added_do_not_matter(void **state)
{
    (void)state;
    put("lib/cache", "x");
    assert_int_equal(look(), 1);
}

static void a_changed_file_is_named(void **state)
{
    (void)state;
    put("lib/name with blanks", "y"); /* of the same size */
    assert_int_equal(look(), 0);
    assert_string_equal(why, "lib/name with blanks has changed");
}

static void a_file_that_is_gone_is_named(void **state)
{
    char path[FS_PATH_MAX];
    (void)state;
    assert_int_equal(fs_join(path, NULL, dir, "prog"), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(look(), 0);
    assert_string_equal(why, "prog is gone");
}

static void a_folder_without_a_seal_has_no_reason(void **state)
{
    char path[FS_PATH_MAX];
    (void)state;
    assert_int_equal(fs_join(path, NULL, dir, ".mark"), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(look(), 0);
    assert_string_equal(why, "");
}

static void a_damaged_seal_is_none(void **state)
{
    static const char *const texts[] = {"", "sha256 ", "1 2 prog\nsha256 0000\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put(".mark", texts[i]);
        assert_int_equal(look(), 0);
        assert_string_equal(why, ".mark is damaged");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_untouched_folder_is_intact, make, clean),
        cmocka_unit_test_setup_teardown(files_that_are_added_do_not_matter, make, clean),
        cmocka_unit_test_setup_teardown(a_changed_file_is_named, make, clean),
        cmocka_unit_test_setup_teardown(a_file_that_is_gone_is_named, make, clean),
        cmocka_unit_test_setup_teardown(a_folder_without_a_seal_has_no_reason, make, clean),
        cmocka_unit_test_setup_teardown(a_damaged_seal_is_none, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
