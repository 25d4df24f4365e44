/* git_files: what of a folder belongs to its sources. */
#include "tests/unit/support.h"

#include "common/base/run.h"
#include "harness/git/files.h"

static void sh(const char *command)
{
    char line[2 * FS_PATH_MAX];
    struct run_result res;
    struct err err = {0};
    snprintf(line, sizeof line,
             "set -e; cd '%s'; export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=A "
             "GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=a@example.org "
             "GIT_CONFIG_KEY_2=protocol.file.allow GIT_CONFIG_VALUE_2=always; { %s; } >/dev/null 2>&1",
             scratch, command);
    const char *const argv[] = {"sh", "-c", line, NULL};
    assert_ok(run_capture(argv, NULL, 60, NULL, &res, &err), &err);
    if (!res.exited || res.exit_code != 0)
        fail_msg("failed: %s", command);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct git_file *)a)->path, ((const struct git_file *)b)->path);
}

/* want: "path path- ...", with a dash for those that are not as the commit has them. */
static void lists(const char *dir, const char *const *include, const char *want)
{
    struct git_files files;
    struct err err = {0};
    char text[2000] = "";
    if (git_files_list(in_scratch(dir), include, &files, &err) != 1)
        fail_msg("not listed: %s", err.msg);
    qsort(files.items, files.count, sizeof *files.items, by_path);
    for (size_t i = 0; i < files.count; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s%s", at > 0 ? " " : "", files.items[i].path,
                 files.items[i].settled ? "" : "-");
    }
    assert_string_equal(text, want);
    git_files_release(&files);
}

#define INCLUDE(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(ignored_files_are_left_out_unless_named)
{
    sh("mkdir -p repo/src/sub && cd repo && git init -q . && printf '*.o\\nout/\\nprog\\n' >.gitignore");
    sh("cd repo && echo 1 >src/a.c && echo 1 >src/sub/b.c && git add . && git commit -q -m one");
    sh("cd repo && touch src/a.o src/prog && mkdir src/out && touch src/out/x src/out/y");
    lists("repo/src", NULL, "a.c sub/b.c");
    lists("repo", NULL, ".gitignore src/a.c src/sub/b.c");
    lists("repo/src", INCLUDE("a.c", "prog"), "a.c prog-");
    lists("repo/src", INCLUDE("out", "sub"), "out- sub/b.c");
    lists("repo/src", INCLUDE("out/x"), "out/x-");
    lists("repo/src", INCLUDE("."), "a.c sub/b.c");
    sh("cd repo && echo 2 >src/a.c && touch 'src/new file'");
    lists("repo/src", NULL, "a.c- new file- sub/b.c");
    sh("cd repo && git add . && rm src/sub/b.c");
    lists("repo/src", NULL, "a.c- new file-");
}

TEST(own_folders_are_left_out_and_tracked_builds_are_sent)
{
    sh("mkdir -p own/build own/artifacts_remote/x own/nightly_reports && cd own && git init -q . && echo 1 "
       ">build/Makefile && git add . && git commit -q -m one");
    sh("cd own && touch build/made artifacts_remote/x/plan.json nightly_reports/index.html");
    lists("own", NULL, "build/Makefile");
    lists("own", INCLUDE("build"), "build/Makefile build/made-");
}

TEST(repositories_within_are_listed_by_their_own_rules)
{
    sh("mkdir library && cd library && git init -q . && echo '*.a' >.gitignore && echo 1 >l.c && git add . "
       "&& "
       "git commit -q -m one");
    sh("mkdir with && cd with && git init -q . && git submodule --quiet add ../library lib && git commit -q "
       "-m "
       "one && git clone -q ../library loose && touch lib/l.a loose/l.a lib/new.c");
    lists("with", NULL, ".gitmodules lib/.gitignore lib/l.c lib/new.c- loose/.gitignore loose/l.c");
    lists("with", INCLUDE("lib"), "lib/.gitignore lib/l.c lib/new.c-");
}

static void unlisted(const char *dir)
{
    struct git_files files;
    struct err err = {0};
    assert_int_equal(git_files_list(in_scratch(dir), NULL, &files, &err), 0);
    git_files_release(&files);
}

TEST(a_folder_that_git_does_not_know_is_not_listed)
{
    sh("mkdir -p plain home/work && echo 1 >plain/a && echo 1 >home/work/a && cd home && git init -q . && "
       "echo "
       "'*' >.gitignore");
    unlisted("plain");
    unlisted("home/work");
}

GROUP(scratch_make, scratch_remove);
