/* aside: the executor makes way for the groups of its tests, by the kernel's own rule: a control group that
 * gives controllers to groups below has no processes. Skipped where the kernel gives us no controller. */
#include "tests/unit/support.h"

#include "executor/process/aside.h"
#include "executor/process/contain_group.h"
#include "executor/process/hierarchy.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* A process that waits to be killed. */
static pid_t start_helper(void)
{
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    return pid;
}

static bool stands_in(pid_t pid, const char *folder)
{
    char path[64], line[FS_PATH_MAX];
    bool found = false;
    size_t len = strlen(folder);
    snprintf(path, sizeof path, "/proc/%ld/cgroup", (long)pid);
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        size_t n = strcspn(line, "\n");
        found = strncmp(line, "0::", 3) == 0 && n >= len && strncmp(line + n - len, folder, len) == 0;
    }
    if (f)
        fclose(f);
    return found;
}

/* In the part of an executor: what it cannot do, by number. */
static int move_aside_and_back(const char *folder, const char *word, pid_t helper)
{
    char stand[FS_PATH_MAX], pid[32];
    struct err err = {0};
    snprintf(pid, sizeof pid, "%ld", (long)helper);
    if (hierarchy_write(folder, "cgroup.procs", "0") != 0 ||
        hierarchy_write(folder, "cgroup.procs", pid) != 0)
        return 1;
    if (hierarchy_write(folder, "cgroup.subtree_control", word) != EBUSY)
        return 2;
    if (aside_enter(stand, folder, helper, &err) != 0)
        return 3;
    if (hierarchy_write(folder, "cgroup.subtree_control", word) != 0)
        return 4;
    char off[64];
    snprintf(off, sizeof off, "-%s", word + 1);
    hierarchy_write(folder, "cgroup.subtree_control", off);
    aside_leave(stand, folder);
    if (fs_exists(stand))
        return 5;
    return stands_in(helper, strrchr(folder, '/')) && stands_in(getpid(), strrchr(folder, '/')) ? 0 : 6;
}

/* A controller that groups below `own` can have, as "+name"; false where the kernel gives us none. */
static bool find_controller(const char *own, char *word, size_t size)
{
    static const char *const names[] = {"memory", "pids", "hugetlb", "cpu", "io"};
    for (size_t i = 0; hierarchy_is_ours(own) && i < COUNT(names); i++) {
        snprintf(word, size, "+%s", names[i]);
        if (hierarchy_lists(own, "cgroup.controllers", names[i]) &&
            hierarchy_write(own, "cgroup.subtree_control", word) == 0)
            return true;
    }
    return false;
}

TEST(the_helper_moves_aside_with_the_executor)
{
    struct hierarchy h;
    const struct layout real = {.proc = "/proc"};
    char folder[FS_PATH_MAX], word[32], off[64];
    struct err err = {0};
    int status = 0;
    hierarchy_read(&h, &real);
    if (!find_controller(h.own, word, sizeof word))
        skip();
    assert_ok(hierarchy_make(folder, h.own, "kernsweep-unit-aside", &err), &err);
    pid_t helper = start_helper(), executor = fork();
    if (executor == 0)
        _exit(move_aside_and_back(folder, word, helper));
    assert_int_equal(waitpid(executor, &status, 0), executor);
    kill(helper, SIGKILL);
    waitpid(helper, NULL, 0);
    assert_true(contain_folder_remove(folder, 1));
    snprintf(off, sizeof off, "-%s", word + 1);
    hierarchy_write(h.own, "cgroup.subtree_control", off);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

enum { MANY = 600 };

/* That the kernel lists last; 0: none. */
static pid_t last_process(const char *folder)
{
    char path[FS_PATH_MAX], line[32];
    pid_t last = 0;
    FILE *f = fs_join(path, NULL, folder, "cgroup.procs") == 0 ? fopen(path, "r") : NULL;
    while (f && fgets(line, sizeof line, f))
        last = (pid_t)strtol(line, NULL, 10);
    if (f)
        fclose(f);
    return last;
}

static int move_many(const char *folder, const pid_t *pid)
{
    char stand[FS_PATH_MAX], text[32];
    struct err err = {0};
    pid_t helper = last_process(folder);
    if (aside_enter(stand, folder, helper, &err) != 0)
        return 1;
    if (!stands_in(helper, strrchr(stand, '/')))
        return 2;
    for (size_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "%ld", (long)pid[i]);
        if (hierarchy_write(stand, "cgroup.procs", text) != 0)
            return 3;
    }
    aside_leave(stand, folder);
    return fs_exists(stand) ? 4 : 0;
}

static void start_many(pid_t *pid, const char *folder)
{
    char text[32];
    for (size_t i = 0; i < MANY; i++) {
        pid[i] = start_helper();
        assert_true(pid[i] > 0);
        snprintf(text, sizeof text, "%ld", (long)pid[i]);
        assert_int_equal(hierarchy_write(folder, "cgroup.procs", text), 0);
    }
}

TEST(all_of_many_processes_are_moved)
{
    struct hierarchy h;
    const struct layout real = {.proc = "/proc"};
    char folder[FS_PATH_MAX];
    pid_t pid[MANY];
    struct err err = {0};
    int status = 0;
    hierarchy_read(&h, &real);
    if (!hierarchy_is_ours(h.own))
        skip();
    assert_ok(hierarchy_make(folder, h.own, "kernsweep-unit-many", &err), &err);
    start_many(pid, folder);
    pid_t executor = fork();
    if (executor == 0)
        _exit(move_many(folder, pid));
    assert_int_equal(waitpid(executor, &status, 0), executor);
    for (size_t i = 0; i < MANY; i++)
        kill(pid[i], SIGKILL);
    for (size_t i = 0; i < MANY; i++)
        waitpid(pid[i], NULL, 0);
    assert_true(contain_folder_remove(folder, 1));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}
