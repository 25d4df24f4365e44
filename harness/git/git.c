#include "harness/git/git.h"

#include "common/base/alloc.h"
#include "common/base/run.h"
#include "common/base/strvec.h"
#include "common/base/text.h"

#include <string.h>
#include <unistd.h>

static const char *const options[] = {"git",
                                      "--no-pager",
                                      "--no-optional-locks",
                                      "--no-replace-objects",
                                      "--literal-pathspecs",
                                      "-c",
                                      "core.fsmonitor=false",
                                      "-c",
                                      "core.hooksPath=/dev/null",
                                      "-C"};

/* Variables of the caller that would lead git to another repository or change the meaning of paths. */
static const char *const dropped[] = {"GIT_DIR",
                                      "GIT_WORK_TREE",
                                      "GIT_COMMON_DIR",
                                      "GIT_INDEX_FILE",
                                      "GIT_OBJECT_DIRECTORY",
                                      "GIT_ALTERNATE_OBJECT_DIRECTORIES",
                                      "GIT_NAMESPACE",
                                      "GIT_PREFIX",
                                      "GIT_SHALLOW_FILE",
                                      "GIT_GRAFT_FILE",
                                      "GIT_GLOB_PATHSPECS",
                                      "GIT_NOGLOB_PATHSPECS",
                                      "GIT_ICASE_PATHSPECS",
                                      "LC_ALL",
                                      "GIT_TERMINAL_PROMPT"};

enum { OPTIONS = sizeof options / sizeof *options, ARGV_MAX = OPTIONS + 1 + GIT_ARGS_MAX + 1 };

static int make_argv(const char *dir, const char *const *args, const char **argv, struct err *err)
{
    size_t n = OPTIONS;
    memcpy(argv, options, sizeof options);
    argv[n++] = dir;
    for (; *args; args++) {
        if (n + 1 >= ARGV_MAX)
            return err_set(err, ERR_INTERNAL, "git: more than %d arguments", GIT_ARGS_MAX);
        argv[n++] = *args;
    }
    argv[n] = NULL;
    return 0;
}

static bool is_dropped(const char *entry)
{
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
        size_t len = strlen(dropped[i]);
        if (strncmp(entry, dropped[i], len) == 0 && entry[len] == '=')
            return true;
    }
    return false;
}

static void make_env(struct strvec *env)
{
    for (char **e = environ; e && *e; e++)
        if (!is_dropped(*e))
            strvec_push(env, *e);
    strvec_pushl(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", NULL);
}

static int fail(const char *dir, const char *command, const struct run_result *res, struct err *err)
{
    char why[256];
    text_printable_fixed(why, sizeof why, res->stderr_text, res->stderr_len);
    return err_set(err, ERR_INPUT, "%s: git %s: %s", dir, command, *why ? why : "failed without a message");
}

int git_output_within(const char *dir, const char *const *args, double deadline_s, struct buf *out,
                      struct err *err)
{
    const char *argv[ARGV_MAX];
    AUTO(strvec_release) struct strvec env = {0};
    struct run_result res;
    if (make_argv(dir, args, argv, err) != 0)
        return -1;
    make_env(&env);
    struct run run = {.argv = argv,
                      .env = strvec_argv(&env),
                      .on_stdout = run_collect,
                      .on_stdout_arg = out,
                      .end_group = true,
                      .deadline_s = deadline_s};
    if (run_program(&run, &res, err) != 0)
        return err_wrap(err, "%s: git %s", dir, args[0]);
    return res.exited && res.exit_code == 0 ? 0 : fail(dir, args[0], &res, err);
}

int git_output(const char *dir, const char *const *args, struct buf *out, struct err *err)
{
    return git_output_within(dir, args, GIT_DEADLINE_S, out, err);
}

bool git_is_id(const char *s, size_t len)
{
    return (len == 40 || len == 64) && strspn(s, "0123456789abcdef") >= len;
}

bool git_has_work_tree(const char *dir)
{
    static const char *const args[] = {"rev-parse", "--is-inside-work-tree", NULL};
    struct err err = {0};
    AUTO(buf_release) struct buf out = {.max = 64};
    return git_output(dir, args, &out, &err) == 0 && strcmp(buf_str(&out), "true\n") == 0;
}
