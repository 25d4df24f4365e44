/* contain: which containment a node has, from what it shows; systemd and the kernel's folders are played by
 * files. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/contract/size.h"
#include "executor/process/contain.h"
#include "executor/process/engine.h"
#include "executor/process/remains.h"
#include "executor/workdir/sysfile.h"

#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

static struct layout layout;
static char host_paths[4][FS_PATH_MAX];
static const struct scope_host host = {
    .systemd = host_paths[0], .linger = host_paths[1], .runtime = host_paths[2], .busctl = host_paths[3]};

/* The mounts of a node; %s are the scratch folder. */
static void put_mounts(const char *format)
{
    char text[4 * FS_PATH_MAX];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, scratch, scratch, scratch);
#pragma GCC diagnostic pop
    put("proc/self/mountinfo", text);
}

static const char *const v2_mount = "31 24 0:27 / %s/cg rw - cgroup2 cgroup2 rw,nsdelegate\n";
static const char *const hybrid_mounts =
    "31 24 0:27 / %s/cg rw - cgroup2 cgroup2 rw\n"
    "32 24 0:28 / %s/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
    "33 24 0:29 / %s/pids rw - cgroup cgroup rw,pids\n";

/* A folder as the kernel would show it. */
static void put_group(const char *folder)
{
    char path[256];
    const char *const files[] = {"cgroup.procs", "cgroup.subtree_control", "cgroup.controllers"};
    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        put(path, i == 2 ? "cpu memory pids\n" : "");
    }
}

static int begin(void **state)
{
    static const char *const names[] = {"host/systemd", "host/linger", "host/user", "host/busctl"};
    (void)state;
    fs_remove_tree(in_scratch("cg"), NULL);
    fs_remove_tree(in_scratch("host"), NULL);
    fs_remove_tree(in_scratch("work"), NULL);
    snprintf(layout.proc, sizeof layout.proc, "%s/proc", scratch);
    snprintf(layout.sysfs, sizeof layout.sysfs, "%s/sys", scratch);
    snprintf(layout.workdir, sizeof layout.workdir, "%s/work", scratch);
    for (size_t i = 0; i < COUNT(host_paths); i++)
        snprintf(host_paths[i], sizeof host_paths[i], "%s", in_scratch(names[i]));
    return 0;
}

static void assert_look(const char *kind, const char *hierarchy, bool memory)
{
    json_auto_t *look = contain_look(&layout, &host);
    assert_string_equal(json_text(look, "kind"), kind);
    assert_string_equal(json_text(look, "hierarchy"), hierarchy);
    assert_int_equal(json_is_true(json_object_get(look, "memory")), memory);
}

TEST_BETWEEN(its_own_folder_is_found_in_version_2, begin, NULL)
{
    struct hierarchy h;
    put_mounts(v2_mount);
    put("proc/self/cgroup", "0::/user.slice/a b.scope\n");
    hierarchy_read(&h, &layout);
    assert_string_equal(h.own, "");
    put_group("cg/user.slice/a b.scope");
    hierarchy_read(&h, &layout);
    assert_string_equal(h.own, in_scratch("cg/user.slice/a b.scope"));
    assert_string_equal(hierarchy_name(&h), "v2");
    assert_look("cgroup", "v2", true);
}

TEST_BETWEEN(a_mount_that_shows_a_part_is_followed, begin, NULL)
{
    struct hierarchy h;
    put_mounts("31 24 0:27 /docker/1 %s/cg rw - cgroup2 cgroup2 rw\n");
    put("proc/self/cgroup", "0::/docker/1/job\n");
    put_group("cg/job");
    hierarchy_read(&h, &layout);
    assert_string_equal(h.own, in_scratch("cg/job"));
    put("proc/self/cgroup", "0::/docker/2/job\n");
    hierarchy_read(&h, &layout);
    assert_string_equal(h.own, "");
    put("proc/self/cgroup", "0::/docker/1/../../job\n");
    hierarchy_read(&h, &layout);
    assert_string_equal(h.own, "");
}

TEST_BETWEEN(a_hybrid_node_is_told_from_one_of_version_1, begin, NULL)
{
    struct hierarchy h;
    put_group("cg");
    put_group("memory/x");
    put_group("pids");
    put_mounts(hybrid_mounts);
    put("proc/self/cgroup", "4:memory:/x\n8:pids:/\n0::/\n");
    hierarchy_read(&h, &layout);
    assert_string_equal(h.v1_memory, in_scratch("memory/x"));
    assert_string_equal(h.v1_pids, in_scratch("pids"));
    assert_string_equal(hierarchy_name(&h), "hybrid");
    put_mounts("32 24 0:28 / %s/memory rw - cgroup cgroup rw,memory\n");
    assert_look("group", "v1", false);
}

TEST_BETWEEN(nothing_is_made_of_damaged_mounts, begin, NULL)
{
    put_group("cg");
    put("proc/self/cgroup", "0::/\nx\n:\n::\n");
    put("proc/self/mountinfo",
        "\n - \n1 2 3\n31 24 0:27 / /x\\040y rw - cgroup2 cgroup2 rw\n - cgroup2 cgroup2 rw\n");
    assert_look("group", "none", false);
}

/* systemd, which moves whoever asks into a scope. */
static void put_systemd(const char *script)
{
    char text[8 * FS_PATH_MAX];
    fs_mkdir_p(host.systemd, 0700, NULL);
    fs_mkdir_p(host.linger, 0700, NULL);
    fs_mkdir_p(host.runtime, 0700, NULL);
    snprintf(text, sizeof text, "#!/bin/sh\nprintf '%%s ' \"$@\" >%s\n%s\n", in_scratch("host/asked"),
             script);
    put("host/busctl", text);
    chmod(host.busctl, 0700);
}

/* Not delegated: as root everything is writable, but only what systemd marked is ours. */
static void put_session(void)
{
    put_mounts(v2_mount);
    put("proc/self/cgroup", "0::/session.scope\n");
    put_group("cg/session.scope");
    if (geteuid() != 0)
        chmod(in_scratch("cg/session.scope"), 0500);
}

static void user_lingers(void)
{
    char path[300];
    const struct passwd *user = getpwuid(geteuid());
    assert_non_null(user);
    snprintf(path, sizeof path, "host/linger/%s", user->pw_name);
    put(path, "");
}

TEST_BETWEEN(systemd_is_asked_for_a_scope, begin, NULL)
{
    struct contain c;
    struct err err = {0};
    char script[4 * FS_PATH_MAX], asked[4096];
    const struct contain_run none = {.name = "run-1", .recorded = true};
    put_session();
    put_group("cg/k.scope");
    snprintf(script, sizeof script, "echo 0::/k.scope >%s", in_scratch("proc/self/cgroup"));
    put_systemd(script);
    user_lingers();
    assert_look("scope", "v2", true);
    assert_int_equal(contain_open(&c, &layout, &host, &none, &err), 1);
    assert_int_equal(c.kind, CONTAINED_SCOPE);
    assert_non_null(strstr(c.place.base, "/cg/k.scope/kernsweep-run-1-"));
    assert_true(sysfile_line(scratch, "host/asked", asked, sizeof asked));
    snprintf(script, sizeof script, "kernsweep-run-1-%ld.scope fail 3 Delegate b true PIDs au 1 %ld",
             (long)getpid(), (long)getpid());
    assert_non_null(strstr(asked, script));
    contain_close(&c);
}

TEST_BETWEEN(without_a_scope_the_node_says_why, begin, NULL)
{
    struct contain c;
    struct err err = {0};
    const struct contain_run none = {.name = "run-1", .recorded = true},
                             some = {.name = "run-1", .recorded = true, .limits = {.memory_bytes = 1 << 30}};
    if (geteuid() == 0)
        return; /* root is left with the folder that it can write */
    put_session();
    put_systemd("exit 0");
    assert_int_equal(contain_open(&c, &layout, &host, &none, &err), 1);
    assert_int_equal(c.kind, CONTAINED_GROUP);
    assert_non_null(strstr(c.why, "ends with the last session"));
    contain_close(&c);
    assert_int_equal(contain_open(&c, &layout, &host, &some, &err), 0);
    assert_non_null(strstr(c.why, "cannot enforce limits.memory"));
    contain_close(&c);
}

TEST_BETWEEN(a_scope_that_systemd_refuses_is_no_scope, begin, NULL)
{
    struct hierarchy after;
    char why[SCOPE_WHY_MAX];
    put_session();
    put_systemd("echo no such bus >&2; exit 1");
    user_lingers();
    assert_false(scope_enter(&host, &layout, "x", &after, why));
    assert_non_null(strstr(why, "no such bus"));
}

/* The next executor must not remove what a damaged record names. */
TEST_BETWEEN(a_damaged_record_removes_nothing, begin, NULL)
{
    struct contain c = {.record = ""};
    struct err err = {0};
    size_t left;
    put("precious/kernsweep-x/file", "x");
    put_group("cg/other");
    snprintf(c.at.own, sizeof c.at.own, "%s", in_scratch("cg"));
    put_group("cg");
    assert_ok(remains_note(&c.at, &layout, "kernsweep-y", c.record, &err), &err);
    AUTO_FREE char *damaged =
        xasprintf("%s\n%s\n/\n\nkernsweep-z\n%s/kernsweep-a/../other\n", in_scratch("precious/kernsweep-x"),
                  in_scratch("cg/other"), in_scratch("cg"));
    assert_ok(fs_write_file(c.record, damaged, strlen(damaged), 0600, &err), &err);
    assert_int_equal(remains_clear(&layout, 0.1, &left), 0);
    assert_int_equal(left, 0);
    assert_true(fs_exists(in_scratch("precious/kernsweep-x/file")) &&
                fs_exists(in_scratch("cg/other/cgroup.procs")));
    assert_false(fs_exists(in_scratch("work/contained")));
}

/* Exit code 0: as it should be. */
static _Noreturn void look_at_own_group(const struct contain_group *g, bool inside)
{
    char text[4096];
    bool read =
        contain_group_enter(g, inside) == 0 && sysfile_read("/proc/self", "cgroup", text, sizeof text);
    _exit(read && strstr(text, strrchr(g->folder[0], '/')) ? 0 : 1);
}

static _Noreturn void look_and_exit(void *arg, bool inside)
{
    look_at_own_group(arg, inside);
}

static _Noreturn void count_and_exit(void *arg, bool inside)
{
    ++*(int *)arg;
    _exit(inside ? 1 : 0);
}

/* The parent goes on where it was, with what the child left in memory. */
TEST(a_child_borrows_the_memory_of_its_parent)
{
    const struct contain_group off = CONTAIN_GROUP_OFF, *const groups[] = {&off, NULL};
    volatile int count = 0;
    for (int i = 0; i < 2; i++) {
        int status = -1;
        pid_t pid = contain_group_spawn(groups[i], count_and_exit, (void *)&count);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    assert_true(count == 2 || count == 0); /* 0: a copy, as under sanitizers */
}

TEST(a_child_is_in_its_group_however_it_got_there)
{
    static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    struct contain_group g = CONTAIN_GROUP_OFF;
    char name[64];
    snprintf(name, sizeof name, "kernsweep-unit-%d", (int)getpid());
    for (size_t i = 0; i < COUNT(roots) && !g.on; i++) {
        struct contain_place place = {.memory = ""};
        struct err err = {0};
        snprintf(place.base, sizeof place.base, "%s", roots[i]);
        assert_ok(contain_group_open(&g, &place, name, NULL, &err), &err);
    }
    if (!g.on)
        skip(); /* no folder of version 2 may be written to */
    for (int way = 0; way < 3; way++) {
        int status;
        bool inside = false;
        pid_t pid = way == 2   ? contain_group_spawn(&g, look_and_exit, &g)
                    : way == 1 ? contain_group_fork(&g, &inside)
                               : fork();
        if (pid == 0)
            look_at_own_group(&g, inside);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    assert_true(contain_group_close(&g));
}

TEST(a_group_that_is_off_forks_as_usual)
{
    const struct contain_group off = CONTAIN_GROUP_OFF;
    bool inside = true;
    int status;
    pid_t pid = contain_group_fork(&off, &inside);
    if (pid == 0)
        _exit(inside ? 1 : contain_group_enter(&off, inside));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

TEST(sizes_are_read_as_people_write_them)
{
    int64_t bytes = 0;
    assert_true(size_parse("32G", &bytes) && bytes == 32LL << 30);
    assert_true(size_parse("512M", &bytes) && bytes == 512LL << 20);
    assert_true(size_parse("1048576", &bytes) && bytes == 1 << 20);
    const char *const bad[] = {
        "", "G", "1GB", "1.5G", "-1G", " 1G", "1g", "9999999999999999", "999999999999999T"};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(size_parse(bad[i], &bytes));
    assert_true(size_is_memory("1M") && size_is_memory("64T"));
    assert_false(size_is_memory("1023K") || size_is_memory("65T"));
}

static char program[] = "prog";
static char *const program_argv[] = {program, NULL};
static const struct container image = {.on = true, .image = "img"};

static void assert_words(const struct engine_run *r, const char *const *wanted)
{
    AUTO(strvec_release) struct strvec out = {.v = NULL};
    struct err err = {0};
    char all[4096] = "";
    assert_ok(engine_run_argv(r, program_argv, &out, &err), &err);
    for (size_t i = 0; i < out.n; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s ", out.v[i]);
    for (; *wanted; wanted++)
        if (!strstr(all, *wanted))
            fail_msg("no \"%s\" in: %s", *wanted, all);
}

TEST(each_engine_is_told_of_the_gpus_in_its_own_words)
{
    struct strvec env = {.v = NULL};
    struct engine_run r = {
        .container = &image, .name = "n", .mark = "m", .run_id = "r", .cwd = "/w", .env = &env};
    r.uuid[0] = "GPU-1";
    r.uuid[1] = "GPU-2";
    r.engine = ENGINE_DOCKER;
    assert_words(&r, (const char *const[]){"--gpus \"device=GPU-1,GPU-2\" ", " img prog ", NULL});
    r.engine = ENGINE_PODMAN;
    assert_words(&r,
                 (const char *const[]){"--device nvidia.com/gpu=GPU-1 --device nvidia.com/gpu=GPU-2 ", NULL});
    r.engine = ENGINE_APPTAINER;
    assert_words(&r, (const char *const[]){"apptainer exec --pwd /w --nv img prog ", NULL});
    r.uuid[0] = NULL;
    r.device[0] = "/dev/kfd";
    r.device[1] = "/dev/dri/renderD129";
    r.group[r.group_count++] = 44;
    r.group[r.group_count++] = 105;
    assert_words(&r, (const char *const[]){"--rocm img", NULL});
    r.engine = ENGINE_PODMAN;
    assert_words(&r, (const char *const[]){"--device /dev/kfd --device /dev/dri/renderD129 ",
                                           "--group-add 44 --group-add 105 ", NULL});
}

TEST(the_environment_goes_by_name_and_only_what_is_new)
{
    AUTO(strvec_release) struct strvec env = {.v = NULL};
    AUTO(strvec_release) struct strvec out = {.v = NULL};
    struct err err = {0};
    setenv("KERNSWEEP_SAME", "x", 1);
    strvec_pushl(&env, "KERNSWEEP_SAME=x", "PATH=/x", "HOME=/x", "NEW=secret value", NULL);
    struct engine_run r = {.engine = ENGINE_DOCKER,
                           .container = &image,
                           .name = "n",
                           .mark = "m",
                           .run_id = "r",
                           .cwd = "/w",
                           .env = &env};
    assert_ok(engine_run_argv(&r, program_argv, &out, &err), &err);
    size_t passed = 0;
    for (size_t i = 0; i < out.n; i++) {
        passed += strcmp(out.v[i], "--env") == 0;
        assert_null(strstr(out.v[i], "secret value"));
    }
    assert_int_equal(passed, 1);
    r.folder[0] = "/a:b";
    assert_int_equal(engine_run_argv(&r, program_argv, &out, &err), -1);
}

GROUP(scratch_make, scratch_remove);
