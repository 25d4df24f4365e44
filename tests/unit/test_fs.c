/* fs: no partial files, nothing outside the tree, limits are enforced. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/run.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { CHILD_SKIP = 77 };

/* Names of everything in a folder, sorted, separated by spaces. */
static const char *listing(const char *name)
{
    static char text[4096];
    char command[FS_PATH_MAX * 2];
    const char *const argv[] = {"sh", "-c", command, NULL};
    AUTO(buf_release) struct buf out = {.max = sizeof text - 1};
    struct run_result ended;
    struct err err = {0};
    snprintf(command, sizeof command, "cd '%s' && find . -mindepth 1 | sort | tr '\\n' ' '",
             in_scratch(name));
    assert_ok(run_capture(argv, NULL, 60, &out, &ended, &err), &err);
    snprintf(text, sizeof text, "%s", buf_str(&out));
    return text;
}

/* Runs fn in a child process, so that it can set resource limits; the exit status is its result. */
static int in_child(int (*fn)(const char *), const char *arg)
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(fn(arg));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(join_puts_one_slash)
{
    struct err err = {0};
    char out[FS_PATH_MAX], longest[FS_PATH_MAX + 1];
    assert_ok(fs_join(out, &err, "a", "b"), &err);
    assert_string_equal(out, "a/b");
    assert_ok(fs_join(out, &err, "a/", "b"), &err);
    assert_string_equal(out, "a/b");
    assert_ok(fs_join(out, &err, "/", "b"), &err);
    assert_string_equal(out, "/b");
    assert_ok(fs_join(out, &err, "", "b"), &err);
    assert_string_equal(out, "b");
    memset(longest, 'x', sizeof longest);
    longest[FS_PATH_MAX - 3] = '\0';
    assert_ok(fs_join(out, &err, "a", longest), &err);
    assert_int_equal(strlen(out), FS_PATH_MAX - 1);
    longest[FS_PATH_MAX - 3] = 'x';
    longest[FS_PATH_MAX - 2] = '\0';
    assert_err(fs_join(out, &err, "a", longest), &err, ERR_INPUT, "too long");
}

TEST(read_obeys_its_maximum)
{
    struct err err = {0};
    AUTO(buf_release) struct buf b = {.max = 100};
    const char *path = put_bytes("read/f",
                                 "12\0"
                                 "45",
                                 5);
    assert_ok(fs_read_file(path, 5, &b, &err), &err);
    assert_int_equal(b.len, 5);
    assert_memory_equal(b.data,
                        "12\0"
                        "45",
                        6);
    buf_clear(&b);
    assert_err(fs_read_file(path, 4, &b, &err), &err, ERR_INPUT, path, "4 bytes");
    buf_clear(&b);
    assert_ok(fs_read_file(put("read/empty", ""), 0, &b, &err), &err);
    assert_int_equal(b.len, 0);
}

TEST(read_takes_regular_files_only)
{
    struct err err = {0};
    AUTO(buf_release) struct buf b = {.max = 100};
    assert_err(fs_read_file(in_scratch("none"), 9, &b, &err), &err, ERR_INPUT, "none", "No such file");
    assert_err(fs_read_file(scratch, 9, &b, &err), &err, ERR_INPUT, "not a regular file");
    assert_err(fs_read_file("/dev/zero", 9, &b, &err), &err, ERR_INPUT, "not a regular file");
    const char *fifo = in_scratch("fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_err(fs_read_file(fifo, 9, &b, &err), &err, ERR_INPUT,
               "not a regular file"); /* and does not block */
    unlink(fifo);
}

TEST(read_below_takes_no_link)
{
    struct err err = {0};
    AUTO(buf_release) struct buf text = {.max = 100};
    mode_t mode = 0;
    put("below/in/file", "text");
    put("beside/file", "outside");
    assert_int_equal(chmod(in_scratch("below/in/file"), 0640), 0);
    assert_int_equal(symlink("../beside", in_scratch("below/away")), 0);
    assert_int_equal(symlink("in/file", in_scratch("below/link")), 0);
    assert_ok(fs_read_below(in_scratch("below"), "in/file", 100, &text, &mode, &err), &err);
    assert_string_equal(buf_str(&text), "text");
    assert_int_equal(mode, 0640);
    static const struct {
        const char *rel, *says;
    } bad[] = {{"away/file", "symbolic link"},   {"link", "symbolic link"},
               {"in/file/x", "symbolic link"},   {"in", "regular file"},
               {"../beside/file", "plain path"}, {"/etc/passwd", "plain path"},
               {"in/nothing", "No such file"},   {"", "plain path"}};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_err(fs_read_below(in_scratch("below"), bad[i].rel, 100, &text, NULL, &err), &err, ERR_INPUT,
                   bad[i].says);
    assert_err(fs_read_below(in_scratch("below"), "in/file", 3, &text, NULL, &err), &err, ERR_INPUT,
               "larger than");
}

TEST(write_replaces_whole)
{
    struct err err = {0};
    struct stat before, after;
    const char *path = put("write/f", "old");
    assert_int_equal(stat(path, &before), 0);
    assert_ok(fs_write_file(path, "new text", 8, 0640, &err), &err);
    assert_int_equal(stat(path, &after), 0);
    assert_file("write/f", "new text");
    assert_int_not_equal(before.st_ino, after.st_ino);
    assert_int_equal(after.st_mode & 07777, 0640);
    assert_ok(fs_write_file(path, "", 0, 0600, &err), &err);
    assert_file("write/f", "");
    assert_string_equal(listing("write"), "./f ");
}

TEST(write_does_not_follow_links)
{
    struct err err = {0};
    char tmp[FS_PATH_MAX];
    put("follow/target", "keep");
    assert_int_equal(symlink("target", in_scratch("follow/link")), 0);
    assert_ok(fs_write_file(in_scratch("follow/link"), "new", 3, 0600, &err), &err);
    assert_file("follow/target", "keep");
    assert_file("follow/link", "new");
    snprintf(tmp, sizeof tmp, "%s.tmp.%ld", in_scratch("follow/f"), (long)getpid());
    assert_int_equal(symlink("target", tmp), 0);
    assert_err(fs_write_file(in_scratch("follow/f"), "new", 3, 0600, &err), &err, ERR_STORAGE,
               "cannot create");
    assert_file("follow/target", "keep");
}

TEST(write_says_where_it_cannot)
{
    struct err err = {0};
    put("where/file", "x");
    assert_err(fs_write_file(in_scratch("where/none/f"), "x", 1, 0600, &err), &err, ERR_STORAGE,
               "where/none/f", "No such file");
    assert_err(fs_write_file(in_scratch("where/file/f"), "x", 1, 0600, &err), &err, ERR_STORAGE,
               "Not a directory");
    char longest[2 * FS_PATH_MAX];
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    assert_err(fs_write_file(longest, "x", 1, 0600, &err), &err, ERR_INPUT, "too long");
}

TEST(failing_rename_leaves_what_was_there)
{
    struct err err = {0};
    put("rename/dir/inner", "keep");
    assert_err(fs_write_file(in_scratch("rename/dir"), "x", 1, 0600, &err), &err, ERR_STORAGE, "rename/dir",
               "cannot write");
    assert_file("rename/dir/inner", "keep");
    assert_string_equal(listing("rename"), "./dir ./dir/inner ");
    assert_err(fs_rename(in_scratch("rename/none"), in_scratch("rename/x"), &err), &err, ERR_STORAGE,
               "rename/none");
}

static int write_past_the_limit(const char *path)
{
    const struct rlimit limit = {4096, 4096};
    struct err err = {0};
    static char big[100000];
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return CHILD_SKIP;
    int rc = fs_write_file(path, big, sizeof big, 0600, &err);
    return rc == -1 && err.kind == ERR_STORAGE && strstr(err.msg, path) && strstr(err.msg, "too large") ? 0
                                                                                                        : 1;
}

TEST(interrupted_write_leaves_the_old_file)
{
    const char *path = put("limit/f", "old");
    int rc = in_child(write_past_the_limit, path);
    if (rc == CHILD_SKIP)
        skip();
    assert_int_equal(rc, 0);
    assert_file("limit/f", "old");
    assert_string_equal(listing("limit"), "./f ");
}

static bool put_line(const char *path, const char *fmt, unsigned id)
{
    char line[64];
    int fd = open(path, O_WRONLY | O_CLOEXEC), n = snprintf(line, sizeof line, fmt, id);
    bool ok = fd >= 0 && write(fd, line, (size_t)n) == n;
    close(fd);
    return ok;
}

static bool may_mount(void)
{
    unsigned uid = getuid(), gid = getgid();
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put_line("/proc/self/setgroups", "deny", 0) &&
           put_line("/proc/self/uid_map", "0 %u 1", uid) && put_line("/proc/self/gid_map", "0 %u 1", gid);
}

/* Mounts a 64 KiB file system on dir, in a private mount namespace. */
static bool mount_small_disk(const char *dir)
{
    return may_mount() && mount("none", dir, "tmpfs", 0, "size=64k") == 0;
}

static int remove_above_a_mount(const char *dir)
{
    char tree[FS_PATH_MAX], at[FS_PATH_MAX], precious[FS_PATH_MAX];
    struct err err = {0};
    if (fs_join(tree, &err, dir, "tree") != 0 || fs_join(at, &err, tree, "at") != 0 ||
        fs_join(precious, &err, dir, "precious") != 0)
        return 1;
    if (!may_mount() || mount(precious, at, NULL, MS_BIND, NULL) != 0)
        return CHILD_SKIP;
    if (fs_remove_tree(tree, &err) != -1 || !strstr(err.msg, tree))
        return 2;
    return fs_join(at, &err, precious, "file") == 0 && fs_exists(at) ? 0 : 3;
}

/* Of the same device, so that only the mount tells. */
TEST(what_is_mounted_in_a_tree_is_not_removed)
{
    struct err err = {0};
    put("mounted/precious/file", "x");
    assert_ok(fs_mkdir_p(in_scratch("mounted/tree/at"), 0700, &err), &err);
    int rc = in_child(remove_above_a_mount, in_scratch("mounted"));
    if (rc == CHILD_SKIP)
        skip(); /* this user cannot create mount namespaces */
    assert_int_equal(rc, 0);
}

static int write_to_a_full_disk(const char *dir)
{
    static char big[256 << 10];
    struct err err = {0};
    struct buf text;
    char path[FS_PATH_MAX];
    if (!mount_small_disk(dir))
        return CHILD_SKIP;
    buf_init(&text, 100);
    if (fs_join(path, &err, dir, "f") != 0 || fs_write_file(path, "old", 3, 0600, &err) != 0)
        return 1;
    if (fs_write_file(path, big, sizeof big, 0600, &err) != -1 || err.kind != ERR_STORAGE ||
        !strstr(err.msg, path) || !strstr(err.msg, "No space left"))
        return 2;
    if (fs_read_file(path, 100, &text, &err) != 0 || strcmp(buf_str(&text), "old") != 0)
        return 3;
    buf_release(&text);
    snprintf(path, sizeof path, "%s/f.tmp.%ld", dir, (long)getpid());
    return fs_exists(path) ? 4 : 0;
}

TEST(full_disk_leaves_the_old_file)
{
    struct err err = {0};
    const char *dir = in_scratch("full");
    assert_ok(fs_mkdir_p(dir, 0700, &err), &err);
    int rc = in_child(write_to_a_full_disk, dir);
    if (rc == CHILD_SKIP)
        skip(); /* this user cannot create mount namespaces */
    assert_int_equal(rc, 0);
}

TEST(write_all_reports_errors)
{
    int fds[2], full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(full >= 0);
    assert_int_equal(fs_write_all(full, "x", 1), -1);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(fs_write_all(full, "", 0), 0);
    close(full);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    assert_int_equal(fs_write_all(fds[1], "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    close(fds[1]);
}

TEST(mkdir_p_makes_parents)
{
    struct err err = {0};
    struct stat st;
    assert_ok(fs_mkdir_p(in_scratch("m/a/b//c/"), 0700, &err), &err);
    assert_ok(fs_mkdir_p(in_scratch("m/a"), 0755, &err), &err);
    assert_int_equal(stat(in_scratch("m/a/b"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_ok(fs_mkdir_p("/", 0700, &err), &err);
    put("m/file", "x");
    assert_err(fs_mkdir_p(in_scratch("m/file"), 0700, &err), &err, ERR_STORAGE, "not a folder");
    assert_err(fs_mkdir_p(in_scratch("m/file/d"), 0700, &err), &err, ERR_STORAGE, "m/file");
    assert_err(fs_mkdir_p("", 0700, &err), &err, ERR_INPUT, "empty");
}

/* Makes depth folders "d" in each other below name; false when the path grows too long. */
static void make_deep(const char *name, int depth)
{
    struct err err = {0};
    AUTO(buf_release) struct buf path = {.max = FS_PATH_MAX - 1};
    buf_puts(&path, in_scratch(name));
    for (int i = 0; i < depth; i++)
        buf_puts(&path, "/d");
    assert_ok(fs_mkdir_p(buf_str(&path), 0700, &err), &err);
}

static int count_file(const char *rel, const char *full, void *arg, struct err *err)
{
    (void)rel, (void)full, (void)err;
    ++*(int *)arg;
    return 0;
}

TEST(depth_is_bounded)
{
    struct err err = {0};
    int files = 0;
    make_deep("deep", 60);
    assert_ok(fs_walk(in_scratch("deep"), false, count_file, &files, &err), &err);
    assert_ok(fs_remove_tree(in_scratch("deep"), &err), &err);
    make_deep("deeper", 200);
    assert_err(fs_walk(in_scratch("deeper"), false, count_file, &files, &err), &err, ERR_INPUT, "nested");
    assert_int_equal(files, 0);
    assert_ok(fs_remove_tree(in_scratch("deeper"), &err), &err);
}

static int note_file(const char *rel, const char *full, void *arg, struct err *err)
{
    struct buf *seen = arg;
    (void)err;
    assert_true(fs_exists(full));
    buf_printf(seen, "%s ", rel);
    return 0;
}

static int stop_at_b(const char *rel, const char *full, void *arg, struct err *err)
{
    note_file(rel, full, arg, err);
    return strcmp(rel, "b") == 0 ? err_set(err, ERR_INPUT, "stop at %s", rel) : 0;
}

/* '-' and '.' sort before '/', so other entries may come before a folder's files. */
TEST(walk_is_in_byte_order_of_paths)
{
    static const char *const names[] = {"walk/b",  "walk/a/z", "walk/a/b/c", "walk/a-b",      "walk/a.txt",
                                        "walk/a0", "walk/B",   "walk/a/b-",  "walk/\xc3\xa9", "walk/.hidden"};
    struct err err = {0};
    AUTO(buf_release) struct buf seen = {.max = 1000};
    for (size_t i = 0; i < COUNT(names); i++)
        put(names[i], "");
    assert_ok(fs_mkdir_p(in_scratch("walk/empty"), 0700, &err), &err);
    assert_ok(fs_walk(in_scratch("walk"), false, note_file, &seen, &err), &err);
    assert_string_equal(buf_str(&seen), ".hidden B a-b a.txt a/b- a/b/c a/z a0 b \xc3\xa9 ");
    buf_clear(&seen);
    assert_err(fs_walk(in_scratch("walk"), false, stop_at_b, &seen, &err), &err, ERR_INPUT, "stop at b");
    assert_string_equal(buf_str(&seen), ".hidden B a-b a.txt a/b- a/b/c a/z a0 b ");
    assert_err(fs_walk(in_scratch("walk-none"), false, note_file, &seen, &err), &err, ERR_STORAGE,
               "walk-none");
}

static int check_order(const struct fs_entry *e, void *arg, struct err *err)
{
    char *before = arg;
    (void)err;
    if (strcmp(before, e->relpath) >= 0)
        fail_msg("%s comes before %s", before, e->relpath);
    snprintf(before, FS_PATH_MAX, "%s", e->relpath);
    return 0;
}

/* Seals are compared with a walk by this order. A link to a folder is no folder. */
TEST(entries_are_in_the_order_of_strcmp)
{
    static const char *const files[] = {
        "order/a/b",     "order/a/b.c", "order/a/b-c/d", "order/a/b!/c", "order/a.b", "order/a-b",
        "order/a b/c",   "order/a0",    "order/a\x01/b", "order/a\xff",  "order/A/b", "order/\xc3\xa9/b",
        "order/a.b.c/d", "order/l.b",   "order/l/b",     "order/m.b",    "order/m0",  "order/n"};
    char before[FS_PATH_MAX] = "";
    struct err err = {0};
    for (size_t i = 0; i < COUNT(files); i++)
        put(files[i], "");
    assert_int_equal(symlink("a", in_scratch("order/m")), 0);
    assert_int_equal(symlink("../a", in_scratch("order/a/b-c/a")), 0);
    assert_ok(fs_walk_entries(in_scratch("order"), check_order, NULL, before, &err), &err);
    assert_string_equal(before, "\xc3\xa9/b");
}

/* More than one getdents64() returns at once. */
TEST(walk_sees_all_of_a_large_folder)
{
    struct err err = {0};
    enum { FILES = 700 };
    int files = 0;
    assert_ok(fs_mkdir_p(in_scratch("large"), 0700, &err), &err);
    for (int i = 0; i < FILES; i++) {
        char name[128];
        snprintf(name, sizeof name, "large/%04d_%090d", i, i);
        int fd = open(in_scratch(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    assert_ok(fs_walk(in_scratch("large"), false, count_file, &files, &err), &err);
    assert_int_equal(files, FILES);
}

TEST(walk_refuses_or_skips_what_is_no_file)
{
    struct err err = {0};
    AUTO(buf_release) struct buf seen = {.max = 1000};
    put("special/a", "");
    put("elsewhere/secret", "");
    assert_int_equal(symlink("../elsewhere", in_scratch("special/link")), 0);
    assert_err(fs_walk(in_scratch("special"), false, note_file, &seen, &err), &err, ERR_INPUT,
               "special/link");
    buf_clear(&seen);
    assert_ok(fs_walk(in_scratch("special"), true, note_file, &seen, &err), &err);
    assert_string_equal(buf_str(&seen), "a ");
    unlink(in_scratch("special/link"));
    assert_int_equal(mkfifo(in_scratch("special/fifo"), 0600), 0);
    assert_err(fs_walk(in_scratch("special"), false, note_file, &seen, &err), &err, ERR_INPUT,
               "special/fifo");
}

TEST(a_dangling_link_exists_and_is_no_folder)
{
    put("there/file", "");
    assert_int_equal(symlink("file", in_scratch("there/link")), 0);
    assert_int_equal(symlink("nowhere", in_scratch("there/dangling")), 0);
    assert_true(fs_exists(in_scratch("there/file")) && !fs_is_dir(in_scratch("there/file")));
    assert_true(fs_exists(in_scratch("there")) && fs_is_dir(in_scratch("there")));
    assert_true(fs_exists(in_scratch("there/dangling")));
    assert_false(fs_exists(in_scratch("there/none")) || fs_is_dir(in_scratch("there/none")));
}

TEST(safe_relpath_refuses_paths_that_leave)
{
    static const char *const good[] = {"a", "a/b", "a/b/c.json", "...", "a..b", ".hidden", "a/.b",
                                       "-", "a b", "\xc3\xa9",   "a'b", "a$b",  "..a/b..", "~"};
    static const char *const bad[] = {"",    ".",     "..",   "/",    "/a",     "a/",        "a//b", "./a",
                                      "a/.", "a/./b", "../a", "a/..", "a/../b", "a/../../b", "//",   "a\\b",
                                      "\\",  "a\nb",  "a\tb", "\033", "a\x7f",  "\r"};
    for (size_t i = 0; i < COUNT(good); i++)
        if (!fs_safe_relpath(good[i]))
            fail_msg("\"%s\" is safe", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        if (fs_safe_relpath(bad[i]))
            fail_msg("\"%s\" is not safe", bad[i]);
    char longest[FS_PATH_MAX + 1];
    memset(longest, 'x', sizeof longest);
    longest[FS_PATH_MAX] = '\0';
    assert_false(fs_safe_relpath(longest));
    longest[FS_PATH_MAX - 1] = '\0';
    assert_true(fs_safe_relpath(longest));
}

GROUP(scratch_make, scratch_remove);
