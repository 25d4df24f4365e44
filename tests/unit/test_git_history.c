/* git_history and git_tree, on a repository that the test makes. */
#include "common/base/run.h"

#include "harness/git/git.h"
#include "harness/git/git_history.h"
#include "harness/git/tree.h"
#include "tests/unit/support.h"

#include <sys/wait.h>

static char repo[FS_PATH_MAX], sub[FS_PATH_MAX];

/* Ends the test program if the command fails: nothing can be tested without the repository. */
static void sh(const char *command)
{
    char line[2 * FS_PATH_MAX];
    struct run_result res;
    struct err err = {0};
    snprintf(line, sizeof line, "cd '%s' && { %s; } >/dev/null 2>&1", repo, command);
    const char *const argv[] = {"sh", "-c", line, NULL};
    if (run_capture(argv, NULL, 60, NULL, &res, &err) != 0 || !res.exited || res.exit_code != 0) {
        fprintf(stderr, "failed: %s\n", command);
        exit(1);
    }
}

static int make_repository(void **state)
{
    if (scratch_make(state) != 0)
        return -1;
    snprintf(repo, sizeof repo, "%s/repo", scratch);
    snprintf(sub, sizeof sub, "%s/repo/sub", scratch);
    mkdir(repo, 0700);
    sh("git init -q -b main . && git config user.name A && git config user.email a@example.org");
    sh("mkdir sub && echo 1 >sub/f && echo x >other && git add . && git commit -q -m 'one'");
    sh("echo 2 >sub/f && GIT_AUTHOR_DATE='2026-02-14T00:30:00+02:00' git commit -q -a -m 'two: \"quoted\"' "
       "&& git tag -a -m t two");
    sh("git checkout -q -b side HEAD~1 && echo y >other && git commit -q -a -m 'on the side'");
    sh("git checkout -q main && git merge -q --no-ff -m 'merge' side");
    sh("echo 3 >sub/f && chmod +x sub/f && git commit -q -a -m 'three' && git tag -- weird");
    sh("printf 'version https://git-lfs.github.com/spec/v1\\n' >sub/large && git add . && git commit -q -m "
       "'a pointer'");
    return 0;
}

TEST(a_revision_is_named)
{
    struct git_commit c;
    struct err err = {0};
    assert_int_equal(git_commit_find(sub, "two", &c, &err), 0); /* a tag with a message of its own */
    assert_int_equal(strlen(c.id), 40);
    assert_string_equal(c.subject, "two: \"quoted\"");
    assert_string_equal(c.authored_at, "2026-02-13T22:30:00.000Z"); /* not the author's zone */
}

TEST(an_option_is_no_revision)
{
    static const char *const words[] = {"--all", "-1", "nowhere", "", "HEAD..main", "HEAD:sub"};
    struct git_commit c;
    for (size_t i = 0; i < COUNT(words); i++) {
        struct err err = {0};
        assert_int_equal(git_commit_find(repo, words[i], &c, &err), -1);
        assert_int_equal(err.kind, ERR_INPUT);
    }
}

static void expect_subjects(const struct git_range *range, const char *to, const char *const *subjects,
                            size_t n)
{
    struct git_commits l;
    struct err err = {0};
    assert_int_equal(git_commits_between(sub, "main~3", to, range, &l, &err), 0);
    assert_int_equal(l.count, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(l.items[i].subject, subjects[i]);
    git_commits_release(&l);
}

TEST(a_range_is_listed)
{
    const struct git_range all = {0}, first = {.first_parent = true}, path = {.path = "f"};
    /* main~3 is "two": the first parents of main are the pointer, three, the merge, two. */
    expect_subjects(&first, "main", (const char *const[]){"merge", "three", "a pointer"}, 3);
    expect_subjects(&all, "main", (const char *const[]){"on the side", "merge", "three", "a pointer"}, 4);
    expect_subjects(&path, "main", (const char *const[]){"three", "a pointer"}, 2); /* the end stays */
}

/* Of a merge both parents, as far as the range has them. */
TEST(a_range_knows_its_parents)
{
    const struct git_range all = {0}, first = {.first_parent = true};
    struct git_commits l;
    struct err err = {0};
    sh("git checkout -q -b left main && echo l >sub/l && git add . && git commit -q -m l");
    sh("git checkout -q -b right main && echo r >sub/r && git add . && git commit -q -m r");
    sh("git merge -q --no-ff -m both left && git tag both && git checkout -q main");
    assert_int_equal(git_commits_between(sub, "main", "both", &all, &l, &err), 0);
    assert_int_equal(l.count, 3);
    assert_int_equal(l.items[0].n_parents + l.items[1].n_parents, 0);
    assert_int_equal(l.items[2].n_parents, 2);
    assert_int_equal(l.items[2].parents[0] + l.items[2].parents[1], 1);
    git_commits_release(&l);
    assert_int_equal(git_commits_between(sub, "main", "both", &first, &l, &err), 0);
    assert_int_equal(l.count, 2);
    assert_int_equal(l.items[1].n_parents, 1);
    git_commits_release(&l);
}

/* By first parents, the range begins beside its lower end, until a commit merges that. */
TEST(a_range_knows_what_merged_its_lower_end)
{
    const struct git_range first = {.first_parent = true};
    struct git_commits l;
    struct err err = {0};
    assert_int_equal(git_commits_between(sub, "side", "main", &first, &l, &err), 0);
    assert_int_equal(l.count, 4);
    assert_string_equal(l.items[1].subject, "merge");
    for (size_t i = 0; i < l.count; i++)
        assert_int_equal(l.items[i].after_first, i == 1);
    git_commits_release(&l);
}

TEST(a_shallow_clone_is_named)
{
    struct git_commit c;
    struct err err = {0};
    sh("git clone -q --depth 1 \"file://$PWD\" ../shallow");
    assert_int_equal(git_commit_find(in_scratch("shallow"), "two", &c, &err), -1);
    assert_non_null(strstr(err.msg, "fetch --unshallow"));
    err = (struct err){0};
    assert_int_equal(git_commit_find(repo, "nowhere", &c, &err), -1);
    assert_null(strstr(err.msg, "shallow"));
}

/* Both ends are there, but not the branch that was merged between them. */
TEST(a_range_that_a_shallow_clone_cuts_is_refused)
{
    const struct git_range all = {0}, first = {.first_parent = true};
    struct git_commits l;
    struct err err = {0};
    sh("mkdir ../merged && cd ../merged && git init -q -b main . && git config user.name A && git config "
       "user.email "
       "a@example.org && for i in 1 2 3; do echo $i >f; git add f; git commit -q -m $i; done && git checkout "
       "-q -b "
       "side HEAD~2 && for i in 1 2 3 4 5 6; do echo $i >g; git add g; git commit -q -m side$i; done && git "
       "checkout "
       "-q main && git merge -q --no-ff -m merge side && git clone -q --depth 4 \"file://$PWD\" ../cut");
    assert_err(git_commits_between(in_scratch("cut"), "HEAD~1", "HEAD", &all, &l, &err), &err, ERR_INPUT,
               "the clone is shallow, and cut at");
    assert_ok(git_commits_between(in_scratch("cut"), "HEAD~1", "HEAD", &first, &l, &err), &err);
    git_commits_release(&l);
    assert_ok(git_commits_between(in_scratch("merged"), "HEAD~1", "HEAD", &all, &l, &err), &err);
    assert_int_equal(l.count, 7);
    git_commits_release(&l);
}

TEST(a_work_tree_is_found_or_told_why_not)
{
    struct err err = {0};
    assert_int_equal(git_work_tree(sub, &err), 1);
    assert_int_equal(git_work_tree(scratch, &err), 0);
    setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1", 1);
    int rc = git_work_tree(sub, &err);
    unsetenv("GIT_TEST_ASSUME_DIFFERENT_OWNER");
    assert_err(rc, &err, ERR_INPUT, "dubious ownership");
}

/* The user's settings make git log print more than the format says. */
TEST(settings_of_log_do_not_count)
{
    const struct git_range all = {0};
    struct git_commits l;
    struct err err = {0};
    sh("printf '#!/bin/sh\necho noise >&2; echo noise; exit 1\n' >../gpg && chmod +x ../gpg");
    sh("git config log.showSignature true && git config gpg.program \"$PWD/../gpg\"");
    sh("git checkout -q -b signed main && { git cat-file commit main | sed '/^committer/a gpgsig -----BEGIN "
       "PGP SIGNATURE-----\\n x\\n -----END PGP SIGNATURE-----'"
       " >../signed; } && git update-ref refs/heads/signed $(git hash-object -t commit -w ../signed)");
    int rc = git_commits_between(sub, "main~1", "signed", &all, &l, &err);
    sh("git config --unset log.showSignature && git checkout -q -f main");
    if (rc != 0)
        fail_msg("%s", err.msg);
    assert_int_equal(l.count, 1);
    git_commits_release(&l);
}

TEST(a_range_needs_an_ancestor)
{
    const struct git_range all = {0};
    struct git_commits l;
    struct err err = {0};
    assert_int_equal(git_commits_between(repo, "main", "side", &all, &l, &err), -1);
    assert_non_null(strstr(err.msg, "is not an ancestor"));
}

TEST(the_tree_of_a_commit_is_exported)
{
    struct git_commit c;
    struct git_tree t;
    struct stat st;
    char path[FS_PATH_MAX + 8];
    struct err err = {0};
    assert_int_equal(git_commit_find(sub, "weird", &c, &err), 0);
    assert_int_equal(git_tree_export(sub, c.id, scratch, &t, &err), 0);
    snprintf(path, sizeof path, "%s/f", t.dir);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_mode & S_IXUSR);
    snprintf(path, sizeof path, "%s/other", t.dir);
    assert_false(fs_exists(path)); /* it lies outside of the source folder */
    assert_string_equal(t.missing, "");
    snprintf(path, sizeof path, "%s", t.dir);
    git_tree_release(&t);
    assert_false(fs_exists(path));
}

/* Those of Git LFS, most of the time. */
TEST(filters_of_the_folders_above_apply)
{
    struct git_commit c;
    struct git_tree t;
    char path[FS_PATH_MAX + 8];
    struct buf text;
    struct err err = {0};
    sh("git config filter.upper.smudge 'tr a-z A-Z' && git config filter.upper.clean 'tr A-Z a-z'");
    sh("git checkout -q -b filtered main && echo '*.up filter=upper' >.gitattributes && mkdir -p sub/er");
    sh("echo hello >sub/er/a.up && git add . && git commit -q -m filtered && git tag filtered-tag && git "
       "checkout -q main");
    assert_int_equal(git_commit_find(sub, "filtered-tag", &c, &err), 0);
    assert_int_equal(git_tree_export(sub, c.id, scratch, &t, &err), 0);
    snprintf(path, sizeof path, "%s/er/a.up", t.dir);
    buf_init(&text, 64);
    assert_int_equal(fs_read_file(path, 64, &text, &err), 0);
    assert_string_equal(buf_str(&text), "HELLO\n");
    buf_release(&text);
    git_tree_release(&t);
}

static void exported(const char *revision, const char *name, const char *want)
{
    struct git_commit c;
    struct git_tree t;
    char path[FS_PATH_MAX + 32];
    AUTO(buf_release) struct buf text = {.max = 200};
    struct err err = {0};
    assert_ok(git_commit_find(sub, revision, &c, &err), &err);
    assert_ok(git_tree_export(sub, c.id, scratch, &t, &err), &err);
    snprintf(path, sizeof path, "%s/%s", t.dir, name);
    assert_ok(fs_read_file(path, 200, &text, &err), &err);
    assert_string_equal(buf_str(&text), want);
    git_tree_release(&t);
}

/* `git archive` would leave out the first, rewrite the second, and take the third from today's attributes. */
TEST(a_tree_is_what_a_checkout_has)
{
    sh("git checkout -q -b attributes main");
    sh("printf 'bench export-ignore\nid export-subst\nlines eol=crlf\n' >sub/.gitattributes");
    sh("echo b >sub/bench && printf '$Format:%%H$\n' >sub/id && echo l >sub/lines && git add . && git commit "
       "-q "
       "-m attributes && git tag attributes-tag && git checkout -q main && echo 'lines eol=lf' "
       ">sub/.gitattributes");
    exported("attributes-tag", "bench", "b\n");
    exported("attributes-tag", "id", "$Format:%H$\n");
    exported("attributes-tag", "lines", "l\r\n");
    sh("rm sub/.gitattributes");
}

TEST(settings_of_programs_do_not_change_a_tree)
{
    sh("printf 'f\n' >\"$PWD/../sparse\" && git config core.sparseCheckout true && mkdir -p .git/info && "
       "echo "
       "other >.git/info/sparse-checkout");
    setenv("TAR_OPTIONS", "--exclude=f", 1);
    setenv("GIT_ATTR_SOURCE", "main", 1);
    exported("weird", "f", "3\n");
    unsetenv("TAR_OPTIONS");
    unsetenv("GIT_ATTR_SOURCE");
    sh("git config --unset core.sparseCheckout && rm .git/info/sparse-checkout");
}

TEST(a_relative_folder_takes_a_tree)
{
    struct git_commit c;
    struct git_tree t;
    struct err err = {0};
    char was[FS_PATH_MAX];
    assert_non_null(getcwd(was, sizeof was));
    assert_int_equal(chdir(scratch), 0);
    assert_ok(git_commit_find(sub, "weird", &c, &err), &err);
    assert_ok(git_tree_export(sub, c.id, "relative/trees", &t, &err), &err);
    assert_int_equal(t.dir[0], '/');
    git_tree_release(&t);
    assert_false(fs_exists("relative/trees"));
    assert_int_equal(chdir(was), 0);
}

TEST(trees_of_killed_commands_go_with_the_next)
{
    struct git_commit c;
    struct git_tree t;
    struct err err = {0};
    char under[FS_PATH_MAX], left[FS_PATH_MAX + 32];
    int status;
    snprintf(under, sizeof under, "%s", in_scratch("swept"));
    assert_ok(git_commit_find(sub, "weird", &c, &err), &err);
    pid_t pid = fork();
    if (pid == 0)
        _exit(git_tree_export(sub, c.id, under, &t, &err) != 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    snprintf(left, sizeof left, "%s/tree.tmp.%ld", under, (long)pid);
    assert_true(fs_exists(left));
    assert_ok(git_tree_export(sub, c.id, under, &t, &err), &err);
    assert_false(fs_exists(left));
    git_tree_release(&t);
    assert_false(fs_exists(under));
}

TEST(what_a_tree_lacks_is_said)
{
    struct git_commit c;
    struct git_tree t;
    struct err err = {0};
    assert_int_equal(git_commit_find(sub, "main", &c, &err), 0);
    assert_int_equal(git_tree_export(sub, c.id, scratch, &t, &err), 0);
    assert_non_null(strstr(t.missing, "large"));
    git_tree_release(&t);
}

GROUP(make_repository, scratch_remove);
