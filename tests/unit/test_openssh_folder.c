/* openssh_folder: a connection's folder, and those that killed commands left. */
#include "tests/unit/support.h"

#include "harness/ssh/openssh_client.h"

#include "common/base/fs.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

static char dir[OPENSSH_DIR_MAX];

static void set_age(const char *name, time_t seconds)
{
    const struct timespec then[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    assert_int_equal(utimensat(AT_FDCWD, in_scratch(name), then, AT_SYMLINK_NOFOLLOW), 0);
}

static void leave(const char *name, time_t age_s)
{
    char log[FS_PATH_MAX];
    snprintf(log, sizeof log, "%s/log", name);
    put(log, "x");
    set_age(name, age_s);
}

static int listen_in(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(snprintf(at.sun_path, sizeof at.sun_path, "%s/%s/s", scratch, name) <
                (int)sizeof at.sun_path);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

static int set_up(void **state)
{
    unsetenv("XDG_RUNTIME_DIR");
    setenv("TMPDIR", "/tmp", 1); /* a socket's path is short */
    return scratch_make(state) == 0 ? setenv("TMPDIR", scratch, 1) : -1;
}

static void make(void)
{
    struct err err = {0};
    assert_int_equal(openssh_folder_make(dir, &err), 0);
}

TEST_BETWEEN(a_folder_is_private_and_below_tmpdir, set_up, scratch_remove)
{
    struct stat st;
    make();
    assert_memory_equal(dir, scratch, strlen(scratch));
    assert_int_equal(stat(dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

TEST_BETWEEN(what_a_killed_command_left_goes, set_up, scratch_remove)
{
    leave("kernsweep-ssh.old", 7200);
    make();
    assert_false(fs_exists(in_scratch("kernsweep-ssh.old")));
    assert_true(fs_is_dir(dir));
}

TEST_BETWEEN(a_folder_whose_connection_died_goes_with_its_socket, set_up, scratch_remove)
{
    leave("kernsweep-ssh.dead", 0);
    close(listen_in("kernsweep-ssh.dead"));
    set_age("kernsweep-ssh.dead", 7200);
    make();
    assert_false(fs_exists(in_scratch("kernsweep-ssh.dead")));
}

TEST_BETWEEN(a_connection_in_use_keeps_its_folder, set_up, scratch_remove)
{
    leave("kernsweep-ssh.used", 0);
    int fd = listen_in("kernsweep-ssh.used");
    set_age("kernsweep-ssh.used", 7200);
    make();
    assert_true(fs_is_dir(in_scratch("kernsweep-ssh.used")));
    close(fd);
}

TEST_BETWEEN(a_login_that_goes_on_keeps_its_folder, set_up, scratch_remove)
{
    leave("kernsweep-ssh.young", 600);
    make();
    assert_true(fs_is_dir(in_scratch("kernsweep-ssh.young")));
}

TEST_BETWEEN(other_names_and_links_stay, set_up, scratch_remove)
{
    leave("other", 7200);
    assert_int_equal(symlink(scratch, in_scratch("kernsweep-ssh.link")), 0);
    set_age("kernsweep-ssh.link", 7200);
    make();
    assert_true(fs_is_dir(in_scratch("other")));
    assert_true(fs_exists(in_scratch("kernsweep-ssh.link")));
}
