/* fs_remove: whole trees go, however deep or locked, and nothing beside them. */
#include "tests/unit/support.h"

#include "common/base/fs.h"

#include <sys/wait.h>

enum { CHILD_SKIP = 77 };

TEST(remove_tree_stays_inside)
{
    struct err err = {0};
    put("outside/keep", "keep");
    put("tree/a/b/file", "x");
    assert_int_equal(symlink("../../outside", in_scratch("tree/a/link")), 0);
    assert_int_equal(symlink("../outside/keep", in_scratch("tree/file-link")), 0);
    assert_int_equal(symlink("..", in_scratch("tree/up")), 0);
    assert_int_equal(symlink("nowhere", in_scratch("tree/dangling")), 0);
    assert_int_equal(mkfifo(in_scratch("tree/fifo"), 0600), 0);
    assert_ok(fs_remove_tree(in_scratch("tree"), &err), &err);
    assert_false(fs_exists(in_scratch("tree")));
    assert_file("outside/keep", "keep");

    assert_int_equal(symlink("outside", in_scratch("root-link")), 0);
    assert_ok(fs_remove_tree(in_scratch("root-link"), &err), &err);
    assert_false(fs_exists(in_scratch("root-link")));
    assert_file("outside/keep", "keep");
    assert_ok(fs_remove_tree(in_scratch("never-was"), &err), &err);
    assert_ok(fs_remove_tree(put("single", "x"), &err), &err);
    assert_false(fs_exists(in_scratch("single")));
}

/* Folders in each other below name, deeper than any path is long. */
static void make_deepest(const char *name, int depth)
{
    struct err err = {0};
    assert_ok(fs_mkdir_p(in_scratch(name), 0700, &err), &err);
    assert_int_equal(chdir(in_scratch(name)), 0);
    for (int i = 0; i < depth; i++) {
        assert_int_equal(mkdir("d", 0700), 0);
        assert_int_equal(mkdir("e", 0700), 0);
        assert_int_equal(chdir("d"), 0);
    }
    assert_int_equal(chdir("/"), 0);
}

TEST(the_deepest_tree_is_removed)
{
    struct err err = {0};
    make_deepest("deepest", 2500);
    assert_ok(fs_remove_tree(in_scratch("deepest"), &err), &err);
    assert_false(fs_exists(in_scratch("deepest")));
}

static void remove_read_only_tree(void)
{
    struct err err = {0};
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        _exit(CHILD_SKIP);
    if (fs_mkdir_p("locked/a/b", 0700, &err) != 0 ||
        fs_write_file("locked/a/b/file", "x", 1, 0400, &err) != 0 || chmod("locked/a/b", 0555) != 0 ||
        chmod("locked/a", 0000) != 0)
        _exit(1);
    _exit(fs_remove_tree("locked", &err) == 0 && !fs_exists("locked") ? 0 : 2);
}

TEST(a_tree_whose_folders_are_read_only_is_removed)
{
    struct err err = {0};
    int status = 0;
    assert_ok(fs_mkdir_p(in_scratch("of-a-user"), 0777, &err), &err);
    assert_int_equal(chmod(in_scratch("of-a-user"), 0777), 0);
    assert_int_equal(chdir(in_scratch("of-a-user")), 0);
    pid_t pid = fork();
    if (pid == 0)
        remove_read_only_tree();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(chdir("/"), 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CHILD_SKIP)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

GROUP(scratch_make, scratch_remove);
