/* seal: the record of a finished folder's files. */
#include "executor/workdir/seal.h"

#include "common/base/fs.h"
#include "common/base/sha256.h"

#include "tests/unit/support.h"

#include <fcntl.h>
#include <sys/resource.h>

static char dir[64] = "/tmp/kernsweep-seal-XXXXXX";
static char why[SEAL_REASON_MAX];

static void put_in_dir(const char *name, const char *text)
{
    char path[FS_PATH_MAX], parent[FS_PATH_MAX];
    assert_int_equal(fs_join(path, NULL, dir, name), 0);
    fs_parent(path, parent);
    assert_int_equal(fs_mkdir_p(parent, 0700, NULL), 0);
    assert_int_equal(fs_write_file(path, text, strlen(text), 0600, NULL), 0);
}

static const char *seal(void)
{
    static char path[FS_PATH_MAX];
    assert_int_equal(fs_join(path, NULL, dir, ".mark"), 0);
    return path;
}

static int look_at(enum seal_scope scope)
{
    struct err err = {0};
    return seal_check(dir, seal(), scope, why, &err);
}

static int look(void)
{
    return look_at(SEAL_LISTED);
}

static int make(void **state)
{
    struct err err = {0};
    (void)state;
    snprintf(dir + strlen(dir) - 6, 7, "XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    put_in_dir("prog", "#!/bin/sh\n");
    put_in_dir("lib/name with blanks", "x");
    put_in_dir(" first", "x");
    return seal_write(dir, seal(), ".mark", &err);
}

static int clean(void **state)
{
    (void)state;
    return fs_remove_tree(dir, NULL);
}

TEST_BETWEEN(an_untouched_folder_is_intact, make, clean)
{
    assert_int_equal(look(), 1);
    assert_string_equal(why, "");
}

TEST_BETWEEN(files_that_are_added_do_not_matter, make, clean)
{
    put_in_dir("lib/cache", "x");
    assert_int_equal(look(), 1);
}

TEST_BETWEEN(a_changed_file_is_named, make, clean)
{
    put_in_dir("lib/name with blanks", "y"); /* of the same size */
    assert_int_equal(look(), 0);
    assert_string_equal(why, "lib/name with blanks has changed");
}

TEST_BETWEEN(a_change_that_hides_behind_old_times_is_named, make, clean)
{
    char path[FS_PATH_MAX];
    struct stat st;
    assert_int_equal(fs_join(path, NULL, dir, "prog"), 0);
    assert_int_equal(stat(path, &st), 0);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "X", 1, 2), 1);
    close(fd);
    const struct timespec times[] = {st.st_atim, st.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(look(), 0);
    assert_string_equal(why, "prog has changed");
}

TEST_BETWEEN(other_times_of_the_same_contents_do_not_matter, make, clean)
{
    char path[FS_PATH_MAX], second[FS_PATH_MAX];
    assert_int_equal(fs_join(path, NULL, dir, "prog"), 0);
    assert_int_equal(fs_join(second, NULL, dir, "second name"), 0);
    assert_int_equal(link(path, second), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
    assert_int_equal(chmod(path, 0500), 0);
    assert_int_equal(look(), 1);
}

TEST_BETWEEN(in_a_whole_folder_what_is_added_is_named, make, clean)
{
    static const char *const names[] = {"a first", "lib/a", "lib/z", "prog2", "z/last"};
    put_in_dir(".mark", ""); /* the seal lies elsewhere */
    char path[FS_PATH_MAX], at[FS_PATH_MAX];
    struct err err = {0};
    snprintf(path, sizeof path, "%.4000s.seal", dir);
    assert_int_equal(seal_write(dir, path, NULL, &err), 0);
    put_in_dir("lib/__pycache__/x.pyc", "x");
    assert_int_equal(seal_check(dir, path, SEAL_WHOLE, why, &err), 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char want[64];
        put_in_dir(names[i], "x");
        snprintf(want, sizeof want, "%s was added", names[i]);
        assert_int_equal(seal_check(dir, path, SEAL_WHOLE, why, &err), 0);
        assert_string_equal(why, want);
        assert_int_equal(fs_join(at, NULL, dir, names[i]), 0);
        assert_int_equal(unlink(at), 0);
    }
    assert_int_equal(seal_check(dir, path, SEAL_WHOLE, why, &err), 1);
    assert_int_equal(unlink(path), 0);
}

TEST_BETWEEN(a_seal_of_an_older_executor_is_none, make, clean)
{
    static const char list[] = "10 1.000000000 prog\n";
    char hex[SHA256_HEX_LEN + 1], text[256];
    sha256_of(list, strlen(list), hex);
    snprintf(text, sizeof text, "%ssha256 %s\n", list, hex);
    put_in_dir(".mark", text);
    assert_int_equal(look(), 0);
    assert_string_equal(why, "");
}

static void put_link(const char *target, const char *name)
{
    char path[FS_PATH_MAX];
    assert_int_equal(fs_join(path, NULL, dir, name), 0);
    unlink(path);
    assert_int_equal(symlink(target, path), 0);
}

static int seal_anew(void)
{
    struct err err = {0};
    return seal_write(dir, seal(), ".mark", &err);
}

TEST_BETWEEN(a_link_that_leads_elsewhere_is_named, make, clean)
{
    put_link("prog", "link");
    put_link("nowhere", "lib/dangling");
    assert_int_equal(seal_anew(), 0);
    assert_int_equal(look_at(SEAL_WHOLE), 0); /* the seal itself */
    assert_string_equal(why, ".mark was added");
    assert_int_equal(look(), 1);
    put_link("prog", "link"); /* another link with the same text */
    assert_int_equal(look(), 1);
    put_link("elsewhere", "lib/dangling");
    assert_int_equal(look(), 0);
    assert_string_equal(why, "lib/dangling has changed");
    put_link("nowhere", "lib/dangling");
    put_link("lib/name with blanks", "link");
    assert_int_equal(look(), 0);
    assert_string_equal(why, "link has changed");
}

TEST_BETWEEN(links_are_not_files, make, clean)
{
    char path[FS_PATH_MAX], moved[FS_PATH_MAX];
    put_link("prog", "link");
    assert_int_equal(seal_anew(), 0);
    assert_int_equal(fs_join(path, NULL, dir, "link"), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(look(), 0);
    assert_string_equal(why, "link is gone");
    put_in_dir("link", "#!/bin/sh\n");
    assert_int_equal(look(), 0);
    assert_string_equal(why, "link has changed");
    put_link("prog", "link");
    assert_int_equal(fs_join(path, NULL, dir, "lib"), 0); /* a folder that has moved, and a link to it */
    assert_int_equal(fs_join(moved, NULL, dir, "moved"), 0);
    assert_int_equal(rename(path, moved), 0);
    put_link("moved", "lib");
    assert_int_equal(look(), 0);
    assert_string_equal(why, "lib/name with blanks is gone");
}

/* Its times of change are also those of the links that others make. */
TEST_BETWEEN(a_file_outside_that_a_link_leads_to_counts, make, clean)
{
    char target[FS_PATH_MAX], second[FS_PATH_MAX];
    struct err err = {0};
    snprintf(target, sizeof target, "%.4000s.outside", dir);
    snprintf(second, sizeof second, "%.4000s.second", dir);
    assert_int_equal(fs_write_file(target, "one", 3, 0600, &err), 0);
    put_link(target, "link");
    assert_int_equal(seal_anew(), 0);
    assert_int_equal(link(target, second), 0);
    assert_int_equal(look(), 1);
    assert_int_equal(fs_write_file(target, "three", 5, 0600, &err), 0);
    assert_int_equal(look(), 0);
    assert_string_equal(why, "link has changed");
    assert_int_equal(unlink(target), 0);
    assert_int_equal(look(), 0);
    assert_int_equal(unlink(second), 0);
}

TEST_BETWEEN(a_file_that_is_gone_is_named, make, clean)
{
    char path[FS_PATH_MAX];
    assert_int_equal(fs_join(path, NULL, dir, "prog"), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(look(), 0);
    assert_string_equal(why, "prog is gone");
}

TEST_BETWEEN(a_folder_without_a_seal_has_no_reason, make, clean)
{
    char path[FS_PATH_MAX];
    assert_int_equal(fs_join(path, NULL, dir, ".mark"), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(look(), 0);
    assert_string_equal(why, "");
}

TEST_BETWEEN(a_damaged_seal_is_none, make, clean)
{
    static const char *const texts[] = {"", "sha256 ", "1 2 prog\nsha256 0000\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put_in_dir(".mark", texts[i]);
        assert_int_equal(look(), 0);
        assert_string_equal(why, "the seal is damaged");
    }
}

/* The limit below which `room` descriptors are free. Whoever started the test may have left some of its own
 * open. */
static rlim_t limit_for(int room)
{
    int taken = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(taken >= 0);
    rlim_t limit = room > 0 ? limit_for(room - 1) : (rlim_t)taken;
    close(taken);
    return limit;
}

/* Looks with so many free descriptors: a number that is reached for a moment. */
static int look_with(int room)
{
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = limit_for(room);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    int rc = look();
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    return rc;
}

TEST_BETWEEN(what_cannot_be_read_for_now_has_not_changed, make, clean)
{
    static const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    char path[FS_PATH_MAX];
    assert_int_equal(fs_join(path, NULL, dir, "lib/name with blanks"), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0); /* so that it is read */
    assert_int_equal(look_with(0), -1);                       /* the seal */
    assert_int_equal(look_with(1), -1);                       /* the folder below */
    assert_string_equal(why, "lib/ could not be read (Too many open files)");
    assert_int_equal(look_with(2), -1); /* the file */
    assert_string_equal(why, "lib/name with blanks could not be read (Too many open files)");
    assert_int_equal(look_with(3), 1);
    put_in_dir("prog", "other");
    assert_int_equal(look_with(2), 0);
}
