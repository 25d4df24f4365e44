/* temporary: what killed commands left goes with the next command that sees it; what others hold stays. */
#include "tests/unit/support.h"

#include "common/base/temporary.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns the number of a process that has ended. */
static pid_t ended(void)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

static const char *left_file(const char *name, pid_t pid)
{
    char rel[256];
    snprintf(rel, sizeof rel, "%s.tmp.%ld", name, (long)pid);
    return put(rel, "half");
}

TEST(a_killed_command_leaves_nothing_for_long)
{
    struct err err = {0};
    int ready[2];
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    char path[FS_PATH_MAX];
    snprintf(path, sizeof path, "%s", in_scratch("killed/report.md"));
    assert_ok(fs_mkdir_p(in_scratch("killed"), 0700, &err), &err);
    pid_t pid = fork();
    if (pid == 0) {
        struct temporary file, folder;
        bool made =
            temporary_file(&file, path, 0600, &err) == 0 && temporary_folder(&folder, path, &err) == 0;
        _exit(write(ready[1], made ? "y" : "n", 1) == 1 && pause() == 0);
    }
    char made;
    assert_int_equal(read(ready[0], &made, 1), 1);
    assert_int_equal(made, 'y');
    char file[TEMPORARY_PATH_MAX], folder[TEMPORARY_PATH_MAX + 8];
    snprintf(file, sizeof file, "%s.tmp.%ld", path, (long)pid);
    snprintf(folder, sizeof folder, "%s-2", file);
    assert_ok(fs_write_file(path, "1", 1, 0600, &err), &err);
    assert_true(fs_exists(file)); /* its command is alive */
    assert_true(fs_exists(folder));
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_ok(fs_write_file(path, "2", 1, 0600, &err), &err);
    assert_false(fs_exists(file));
    assert_false(fs_exists(folder));
}

TEST(only_what_was_left_of_the_same_name_goes)
{
    pid_t gone = ended();
    const char *const other[] = {"names/b", "names/a.md", "names/aa", "names/a.tmp.1"};
    char path[sizeof other / sizeof *other][FS_PATH_MAX], own[FS_PATH_MAX], plain[FS_PATH_MAX];
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        snprintf(path[i], sizeof path[i], "%s", left_file(other[i], gone));
    snprintf(own, sizeof own, "%s", left_file("names/a", gone));
    snprintf(plain, sizeof plain, "%s", put("names/a.tmp.x", "mine"));
    temporary_sweep(in_scratch("names"), "a", NULL);
    assert_false(fs_exists(own));
    assert_true(fs_exists(plain));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_true(fs_exists(path[i]));
    temporary_sweep(in_scratch("names"), NULL, NULL);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_false(fs_exists(path[i]));
    assert_true(fs_exists(plain));
}

/* Its process may run on another machine that shares the folder. */
TEST(what_somebody_holds_stays)
{
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    char path[FS_PATH_MAX];
    snprintf(path, sizeof path, "%s", left_file("held/a", ended()));
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    json_t *left = json_array();
    temporary_sweep(in_scratch("held"), NULL, left);
    assert_true(fs_exists(path));
    assert_int_equal(json_array_size(left), 0);
    close(fd);
    temporary_sweep(in_scratch("held"), NULL, left);
    assert_false(fs_exists(path));
    json_decref(left);
}

/* A number is given again, after a restart for one. */
TEST(a_living_process_of_the_same_number_keeps_it_for_an_hour)
{
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    char path[FS_PATH_MAX];
    snprintf(path, sizeof path, "%s", left_file("again/a", getppid()));
    temporary_sweep(in_scratch("again"), NULL, NULL);
    assert_true(fs_exists(path));
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    temporary_sweep(in_scratch("again"), NULL, NULL);
    assert_false(fs_exists(path));
}

TEST(what_belongs_to_another_user_is_told)
{
    if (geteuid() != 0)
        skip();
    const char *path = left_file("others/a", ended());
    json_t *left = json_array();
    assert_int_equal(chown(path, 65534, 65534), 0);
    temporary_sweep(in_scratch("others"), NULL, left);
    assert_true(fs_exists(path));
    assert_int_equal(json_array_size(left), 1);
    assert_string_equal(json_string_value(json_array_get(left, 0)), path);
    json_decref(left);
}

TEST(no_link_is_followed_and_no_special_file_is_opened)
{
    char path[FS_PATH_MAX], name[64];
    struct err err = {0};
    snprintf(name, sizeof name, "special/a.tmp.%ld", (long)ended());
    const char *kept = put("special/kept", "1");
    snprintf(path, sizeof path, "%s", in_scratch(name));
    assert_int_equal(symlink(kept, path), 0);
    temporary_sweep(in_scratch("special"), NULL, NULL);
    assert_true(fs_exists(in_scratch("special/kept")));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    temporary_sweep(in_scratch("special"), NULL, NULL);
    assert_true(fs_exists(path));
    assert_ok(fs_remove_tree(in_scratch("special"), &err), &err);
}

TEST(two_folders_of_one_command_are_apart)
{
    struct err err = {0};
    struct temporary a, b;
    const char *path = in_scratch("two");
    assert_ok(temporary_folder(&a, path, &err), &err);
    assert_ok(temporary_folder(&b, path, &err), &err);
    assert_string_not_equal(a.path, b.path);
    temporary_release(&a);
    assert_true(fs_is_dir(b.path));
    temporary_release(&b);
    temporary_release(&b);
    assert_false(fs_exists(b.path));
}

GROUP(scratch_make, scratch_remove);
