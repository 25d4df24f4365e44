/* revision: what a run records of git work trees as they come, and that it says nothing where it cannot know.
 * Repositories are made here, by git itself.
 */
#include "tests/unit/support.h"

#include "common/base/clock.h"
#include "common/base/run.h"
#include "harness/git/revision.h"

static const double patience_s = 60;

/* Runs git in a folder of the scratch; the first line of its output goes to out. */
static void git_line(const char *dir, const char *const *args, char *out, size_t size)
{
    const char *argv[24] = {"git",
                            "-c",
                            "user.name=An Author",
                            "-c",
                            "user.email=author@example.org",
                            "-c",
                            "init.defaultBranch=main",
                            "-c",
                            "protocol.file.allow=always",
                            "-C",
                            in_scratch(dir)};
    size_t n = 11;
    struct run_result res;
    struct err err = {0};
    AUTO(buf_release) struct buf text = {.max = 1 << 20};
    for (; *args && n < COUNT(argv) - 1; args++)
        argv[n++] = *args;
    assert_ok(run_capture(argv, NULL, patience_s, &text, &res, &err), &err);
    if (!res.exited || res.exit_code != 0)
        fail_msg("git: %s", res.stderr_text);
    snprintf(out, size, "%.*s", (int)strcspn(buf_str(&text), "\n"), buf_str(&text));
}

#define git(dir, ...)                                                                                        \
    do {                                                                                                     \
        char ignored_[8];                                                                                    \
        git_line(dir, (const char *const[]){__VA_ARGS__, NULL}, ignored_, sizeof ignored_);                  \
    } while (0)

static void commit(const char *dir, const char *file, const char *text, const char *subject)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    put(path, text);
    git(dir, "add", "-A");
    git(dir, "commit", "-q", "-m", subject);
}

static void make_repository(const char *dir)
{
    struct err err = {0};
    assert_ok(fs_mkdir_p(in_scratch(dir), 0700, &err), &err);
    git(dir, "init", "-q", ".");
}

static json_t *describe_sent(const char *dir, const char *const *include)
{
    struct err err = {0};
    json_t *found;
    assert_ok(revision_describe(in_scratch(dir), include, patience_s, &found, &err), &err);
    return found;
}

static json_t *describe(const char *dir)
{
    return describe_sent(dir, NULL);
}

static const char *text_at(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static size_t log_length(const json_t *o)
{
    return json_array_size(json_object_get(o, "log"));
}

static void assert_id(const char *dir, const char *revision, const char *want)
{
    char id[80];
    git_line(dir, (const char *const[]){"rev-parse", revision, NULL}, id, sizeof id);
    assert_string_equal(id, want);
}

static void assert_files(json_t *r, const char *const *want)
{
    const json_t *files = json_object_get(r, "dirty_files");
    size_t n = 0;
    for (; want[n]; n++)
        assert_string_equal(json_string_value(json_array_get(files, n)), want[n]);
    assert_int_equal(json_array_size(files), n);
    assert_int_equal(json_integer_value(json_object_get(r, "dirty_count")), n);
    assert_int_equal(json_is_true(json_object_get(r, "dirty")), n > 0);
    json_decref(r);
}

TEST(a_commit_is_described_with_its_history)
{
    make_repository("plain");
    commit("plain", "a.c", "1", "first");
    commit("plain", "a.c", "2", "second *bold* \033[31mred");
    json_t *r = describe("plain");
    const json_t *log = json_object_get(r, "log"), *head = json_array_get(log, 0),
                 *root = json_array_get(log, 1);
    assert_id("plain", "HEAD", text_at(r, "commit"));
    assert_string_equal(text_at(r, "branch"), "main");
    assert_string_equal(text_at(r, "subject"), "second *bold* \\x1b[31mred");
    assert_string_equal(text_at(r, "authored_at"), text_at(head, "authored_at"));
    assert_int_equal(strlen(text_at(r, "authored_at")), CLOCK_ISO_LEN);
    assert_int_equal(json_array_size(log), 2);
    assert_string_equal(text_at(head, "id"), text_at(r, "commit"));
    assert_string_equal(text_at(head, "author"), "An Author");
    assert_string_equal(json_string_value(json_array_get(json_object_get(head, "parents"), 0)),
                        text_at(root, "id"));
    assert_int_equal(json_array_size(json_object_get(root, "parents")), 0);
    assert_files(r, (const char *const[]){NULL});
}

TEST(a_merge_has_both_parents)
{
    make_repository("merge");
    commit("merge", "a", "1", "first");
    git("merge", "checkout", "-q", "-b", "side");
    commit("merge", "b", "1", "on the side");
    git("merge", "checkout", "-q", "main");
    commit("merge", "c", "1", "on main");
    git("merge", "merge", "-q", "--no-edit", "side");
    json_t *r = describe("merge");
    assert_int_equal(
        json_array_size(json_object_get(json_array_get(json_object_get(r, "log"), 0), "parents")), 2);
    assert_int_equal(log_length(r), 4);
    json_decref(r);
}

TEST(only_files_that_are_sent_make_it_dirty)
{
    make_repository("dirty");
    put("dirty/.gitignore", "*.o\n");
    put("dirty/other/b.c", "1");
    commit("dirty", "src/a.c", "1", "first");
    put("dirty/other/b.c", "changed");
    put("dirty/src/a.o", "ignored");
    put("dirty/src/build/x", "never sent");
    assert_files(describe("dirty/src"), (const char *const[]){NULL});
    put("dirty/src/a.c", "changed");
    put("dirty/src/sub dir/new.c", "untracked");
    assert_files(describe("dirty/src"), (const char *const[]){"a.c", "sub dir/new.c", NULL});
    assert_files(describe_sent("dirty", (const char *const[]){"other", NULL}),
                 (const char *const[]){"other/b.c", NULL});
    assert_files(describe_sent("dirty/src", (const char *const[]){"sub dir/", NULL}),
                 (const char *const[]){"sub dir/new.c", NULL});
    assert_files(describe_sent("dirty/src", (const char *const[]){"sub", NULL}), (const char *const[]){NULL});
    assert_int_equal(unlink(in_scratch("dirty/src/a.c")), 0);
    assert_files(describe_sent("dirty/src", (const char *const[]){"a.c", NULL}),
                 (const char *const[]){"a.c", NULL});
}

TEST(a_detached_head_has_no_branch)
{
    make_repository("detached");
    commit("detached", "a", "1", "first");
    git("detached", "checkout", "-q", "--detach");
    json_t *r = describe("detached");
    assert_string_equal(text_at(r, "branch"), "");
    assert_string_equal(text_at(r, "subject"), "first");
    json_decref(r);
}

TEST(nothing_is_said_without_a_commit_of_the_folder)
{
    put("none/a", "1");
    assert_null(describe("none"));
    make_repository("empty");
    assert_null(describe("empty"));
    make_repository("outer");
    commit("outer", "a", "1", "first");
    put("outer/.gitignore", "scratch\n");
    put("outer/scratch/a", "of another project");
    assert_null(describe("outer/scratch"));
}

TEST(a_shallow_clone_hides_where_it_was_cut)
{
    char url[FS_PATH_MAX];
    make_repository("deep");
    commit("deep", "a", "1", "first");
    commit("deep", "a", "2", "second");
    commit("deep", "a", "3", "third");
    snprintf(url, sizeof url, "file://%s", in_scratch("deep"));
    git("deep", "clone", "-q", "--depth", "2", url, in_scratch("shallow"));
    json_t *r = describe("shallow");
    assert_string_equal(text_at(r, "subject"), "third");
    assert_int_equal(log_length(r), 1);
    json_decref(r);
    git("deep", "clone", "-q", "--depth", "1", url, in_scratch("shallowest"));
    r = describe("shallowest");
    assert_string_equal(text_at(r, "subject"), "third");
    assert_int_equal(log_length(r), 0);
    json_decref(r);
}

TEST(a_submodule_is_a_repository_of_its_own)
{
    make_repository("library");
    commit("library", "lib.c", "1", "the library");
    make_repository("user");
    commit("user", "a", "1", "the user");
    git("user", "submodule", "--quiet", "add", in_scratch("library"), "lib");
    git("user", "commit", "-q", "-m", "with the library");
    json_t *r = describe("user/lib");
    assert_string_equal(text_at(r, "subject"), "the library");
    assert_files(r, (const char *const[]){NULL});
    put("user/lib/lib.c", "changed");
    assert_files(describe("user"), (const char *const[]){"lib", NULL});
}

TEST(a_repository_that_git_refuses_is_an_error)
{
    struct err err = {0};
    json_t *r;
    make_repository("foreign");
    commit("foreign", "a", "1", "first");
    setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1", 1);
    int rc = revision_describe(in_scratch("foreign"), NULL, patience_s, &r, &err);
    unsetenv("GIT_TEST_ASSUME_DIFFERENT_OWNER");
    assert_err(rc, &err, ERR_INPUT, "dubious ownership");
    assert_null(r);
}

TEST(another_repository_in_the_environment_does_not_count)
{
    make_repository("mine");
    commit("mine", "a", "1", "mine");
    make_repository("hook");
    commit("hook", "a", "1", "of the hook");
    setenv("GIT_DIR", in_scratch("hook/.git"), 1);
    json_t *r = describe("mine");
    unsetenv("GIT_DIR");
    assert_string_equal(text_at(r, "subject"), "mine");
    json_decref(r);
}

TEST(a_git_that_hangs_is_left_after_a_while)
{
    struct err err = {0};
    char path[FS_PATH_MAX];
    const char *before = getenv("PATH");
    json_t *r;
    make_repository("slow");
    commit("slow", "a", "1", "first");
    chmod(put("bin/git", "#!/bin/sh\nsleep 300\n"), 0755);
    snprintf(path, sizeof path, "%s:%s", in_scratch("bin"), before);
    char *kept = strdup(before);
    setenv("PATH", path, 1);
    double began = clock_mono_s();
    int rc = revision_describe(in_scratch("slow"), NULL, 0.3, &r, &err);
    setenv("PATH", kept, 1);
    free(kept);
    assert_int_equal(rc, -1);
    assert_null(r);
    assert_true(clock_mono_s() - began < 100);
}

TEST(a_long_history_is_cut)
{
    char id[80], date[32];
    make_repository("long");
    commit("long", "a", "1", "first");
    git_line("long", (const char *const[]){"rev-parse", "HEAD", NULL}, id, sizeof id);
    struct buf stream;
    buf_init(&stream, 1 << 20);
    buf_puts(&stream, "reset refs/heads/main\nfrom ");
    buf_printf(&stream, "%s\n", id);
    for (int i = 0; i < REVISION_LOG_MAX + 20; i++) {
        snprintf(date, sizeof date, "%d +0000", 2000000000 + i);
        buf_printf(&stream, "commit refs/heads/main\nauthor a <a@b> %s\ncommitter a <a@b> %s\ndata 1\nx\n",
                   date, date);
    }
    const char *argv[] = {"git", "-C", in_scratch("long"), "fast-import", "--quiet", "--force", NULL};
    struct run_result res;
    struct err err = {0};
    assert_ok(run_capture(argv, &stream, patience_s, NULL, &res, &err), &err);
    assert_int_equal(res.exit_code, 0);
    buf_release(&stream);
    json_t *r = describe("long");
    assert_int_equal(log_length(r), REVISION_LOG_MAX);
    json_decref(r);
}

TEST(a_named_commit_is_clean_and_on_no_branch)
{
    struct err err = {0};
    json_t *r;
    char id[80];
    make_repository("named");
    commit("named", "a", "1", "first");
    git_line("named", (const char *const[]){"rev-parse", "HEAD", NULL}, id, sizeof id);
    commit("named", "a", "2", "second");
    put("named/a", "changed");
    assert_ok(revision_describe_commit(in_scratch("named"), id, patience_s, &r, &err), &err);
    assert_string_equal(text_at(r, "commit"), id);
    assert_string_equal(text_at(r, "subject"), "first");
    assert_string_equal(text_at(r, "branch"), "");
    assert_int_equal(log_length(r), 1);
    assert_files(r, (const char *const[]){NULL});
}

GROUP(scratch_make, scratch_remove);
