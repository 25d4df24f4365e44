/* openssh_folder: a connection's folder, and those that killed commands left. */
#include "tests/unit/support.h"

#include "harness/ssh/openssh_client.h"

#include "common/base/fs.h"

#include <sys/wait.h>
#include <unistd.h>

static struct temporary folder;

static int set_up(void **state)
{
    unsetenv("XDG_RUNTIME_DIR");
    setenv("TMPDIR", "/tmp", 1); /* a socket's path is short */
    return scratch_make(state) == 0 ? setenv("TMPDIR", scratch, 1) : -1;
}

static int tear_down(void **state)
{
    temporary_release(&folder);
    return scratch_remove(state);
}

static void make(void)
{
    struct err err = {0};
    assert_ok(openssh_folder_make(&folder, &err), &err);
}

TEST_BETWEEN(a_folder_is_private_and_below_tmpdir, set_up, tear_down)
{
    struct stat st;
    make();
    assert_memory_equal(folder.path, scratch, strlen(scratch));
    assert_int_equal(stat(folder.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

/* A connection removes its socket only after its command was killed, so the folder's time says nothing. */
TEST_BETWEEN(what_a_killed_command_left_goes_at_once, set_up, tear_down)
{
    char left[FS_PATH_MAX];
    pid_t pid = fork();
    if (pid == 0) {
        make();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    snprintf(left, sizeof left, "%s/kernsweep-ssh.tmp.%ld", scratch, (long)pid);
    assert_true(fs_is_dir(left));
    make();
    assert_false(fs_exists(left));
    assert_true(fs_is_dir(folder.path));
}

TEST_BETWEEN(a_path_too_long_for_a_socket_is_passed_over, set_up, tear_down)
{
    char deep[FS_PATH_MAX];
    struct err err = {0};
    snprintf(deep, sizeof deep, "%s/%060d", scratch, 0);
    assert_ok(fs_mkdir_p(deep, 0700, &err), &err);
    setenv("TMPDIR", deep, 1);
    make();
    assert_memory_equal(folder.path, "/tmp/kernsweep-ssh.tmp.", strlen("/tmp/kernsweep-ssh.tmp."));
}
