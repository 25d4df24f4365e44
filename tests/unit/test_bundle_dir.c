/* bundle_dir: reserves the first free name, also with concurrent callers. */
#include "tests/unit/support.h"

#include "harness/session/bundle_dir.h"

#include <sys/wait.h>
#include <unistd.h>

#define DATE "2026-02-14"

/* Reserves and asserts the folder's name below artifacts/DATE. */
static void assert_reserves(const char *artifacts, const char *ticket, const char *tag, const char *name)
{
    char out[FS_PATH_MAX];
    struct err err = {0};
    struct stat st;
    assert_ok(bundle_dir_reserve(out, artifacts, DATE, ticket, tag, &err), &err);
    assert_true(out[0] == '/');
    assert_string_equal(strrchr(out, '/') + 1, name);
    assert_int_equal(stat(out, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(st.st_mode & 07777, 0700);
}

TEST(names_are_numbered)
{
    const char *a = in_scratch("numbered");
    assert_reserves(a, "b3_90", "", "b3_90");
    assert_reserves(a, "b3_90", "", "b3_90_2");
    assert_reserves(a, "b3_90", "", "b3_90_3");
    assert_reserves(a, "b3_90", "fix", "b3_90_fix");
    assert_reserves(a, "b3_90", "fix", "b3_90_fix_2");
    assert_true(fs_is_dir(in_scratch("numbered/" DATE "/b3_90_fix_2")));
}

TEST(what_is_taken_is_left_alone)
{
    const char *a = in_scratch("taken");
    put("taken/" DATE "/t", "a file");
    put("taken/" DATE "/t_2/perf.json", "a bundle");
    assert_int_equal(symlink("nowhere", in_scratch("taken/" DATE "/t_3")), 0);
    put("taken/" DATE "/t_5/x", "");
    assert_reserves(a, "t", "", "t_4"); /* the first free one */
    assert_reserves(a, "t", "", "t_6");
    assert_file("taken/" DATE "/t", "a file");
    assert_file("taken/" DATE "/t_2/perf.json", "a bundle");
}

TEST(answer_is_absolute)
{
    struct err err = {0};
    char out[FS_PATH_MAX];
    assert_ok(fs_mkdir_p(in_scratch("cwd/real"), 0700, &err), &err);
    assert_int_equal(chdir(in_scratch("cwd")), 0);
    assert_ok(bundle_dir_reserve(out, "a/b", DATE, "t", "", &err), &err);
    assert_string_equal(out, in_scratch("cwd/a/b/" DATE "/t"));
    assert_int_equal(symlink("real", "link"), 0);
    assert_ok(bundle_dir_reserve(out, "link/", DATE, "t", "", &err), &err);
    assert_string_equal(out, in_scratch("cwd/real/" DATE "/t"));
    assert_int_equal(chdir("/"), 0);
}

TEST(failure_names_the_folder)
{
    struct err err = {0};
    char out[FS_PATH_MAX], longest[FS_PATH_MAX];
    put("file", "");
    assert_err(bundle_dir_reserve(out, in_scratch("file"), DATE, "t", "", &err), &err, ERR_STORAGE, "file");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(bundle_dir_reserve(out, longest, DATE, "t", "", &err), -1);
    assert_err(bundle_dir_reserve(out, "/proc/none", DATE, "t", "", &err), &err, ERR_STORAGE, "/proc/none");
}

TEST(parallel_runs_get_folders_of_their_own)
{
    enum { PROCESSES = 8, EACH = 5 };
    char name[64];
    for (int p = 0; p < PROCESSES; p++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid > 0)
            continue;
        for (int i = 0; i < EACH; i++) {
            char out[FS_PATH_MAX], mine[FS_PATH_MAX + 8];
            if (bundle_dir_reserve(out, in_scratch("parallel"), DATE, "t", "", NULL) != 0)
                _exit(1);
            snprintf(mine, sizeof mine, "%s/mine", out);
            if (mkdir(mine, 0700) != 0) /* another process got the same one */
                _exit(2);
        }
        _exit(0);
    }
    for (int p = 0, status; p < PROCESSES; p++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    for (int i = 2; i <= PROCESSES * EACH; i++) {
        snprintf(name, sizeof name, "parallel/" DATE "/t_%d/mine", i);
        assert_true(fs_is_dir(in_scratch(name)));
    }
    assert_true(fs_is_dir(in_scratch("parallel/" DATE "/t/mine")));
}

struct seen {
    int calls, firsts;
    int stop_at; /* 0: never */
};

static bool count_busy(void *arg, bool first)
{
    struct seen *seen = arg;
    seen->calls++;
    seen->firsts += first;
    return seen->calls == seen->stop_at;
}

/* One descriptor holds the lock and another waits: these locks also exclude the same process. */
TEST(one_at_a_time_brings_a_bundle_home)
{
    struct err err = {0};
    struct seen seen = {.calls = 0};
    const char *dir = in_scratch("locked/bundle");
    int mine, other;
    assert_ok(bundle_dir_lock(&mine, dir, 1, count_busy, &seen, &err), &err);
    assert_true(mine >= 0 && seen.calls == 0 && fs_is_dir(dir));
    assert_err(bundle_dir_lock(&other, dir, 0, count_busy, &seen, &err), &err, ERR_STORAGE, dir);
    assert_true(other == -1 && seen.calls == 1 && seen.firsts == 1);
    seen = (struct seen){.stop_at = 2};
    assert_err(bundle_dir_lock(&other, dir, 1000, count_busy, &seen, &err), &err, ERR_INTERRUPTED,
               "interrupted");
    assert_true(other == -1 && seen.calls == 2 && seen.firsts == 1);
    close(mine);
    assert_ok(bundle_dir_lock(&other, dir, 1, count_busy, &seen, &err), &err);
    assert_true(other >= 0 && seen.calls == 2);
    close(other);
}

GROUP(scratch_make, scratch_remove);
