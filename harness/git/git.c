#include "harness/git/git.h"

#include "common/base/alloc.h"
#include "common/base/environment.h"
#include "common/base/program_env.h"
#include "common/base/run.h"
#include "common/base/strvec.h"
#include "common/base/text.h"

#include <string.h>

static const char *const options[] = {"git",
                                      "--no-pager",
                                      "--no-optional-locks",
                                      "--no-replace-objects",
                                      "--literal-pathspecs",
                                      "-c",
                                      "core.fsmonitor=false",
                                      "-c",
                                      "core.hooksPath=/dev/null",
                                      "-c",
                                      "core.sparseCheckout=false",
                                      "-C"};

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

static int fail(const char *dir, const char *command, const struct run_result *res, struct err *err)
{
    char why[256];
    text_printable_fixed(why, sizeof why, res->stderr_text, res->stderr_len);
    return err_set(err, ERR_INPUT, "%s: git %s: %s", dir, command, *why ? why : "failed without a message");
}

int git_run(const char *dir, const char *const *args, const struct git_call *call, struct buf *out,
            struct err *err)
{
    const char *argv[ARGV_MAX];
    AUTO(strvec_release) struct strvec env = {0};
    struct run_result res;
    if (make_argv(dir, args, argv, err) != 0)
        return -1;
    program_env("git", &env);
    environment_set(&env, "GIT_TERMINAL_PROMPT", "0");
    if (call->index)
        environment_set(&env, "GIT_INDEX_FILE", call->index);
    if (call->work_tree)
        environment_set(&env, "GIT_WORK_TREE", call->work_tree);
    struct run run = {.argv = argv,
                      .env = strvec_argv(&env),
                      .input = call->input ? buf_str(call->input) : NULL,
                      .input_len = call->input ? call->input->len : 0,
                      .on_stdout = run_collect,
                      .on_stdout_arg = out,
                      .end_group = true,
                      .deadline_s = call->deadline_s};
    if (run_program(&run, &res, err) != 0)
        return err_wrap(err, "%s: git %s", dir, args[0]);
    return res.exited && res.exit_code == 0 ? 0 : fail(dir, args[0], &res, err);
}

int git_output_within(const char *dir, const char *const *args, double deadline_s, struct buf *out,
                      struct err *err)
{
    const struct git_call call = {.deadline_s = deadline_s};
    return git_run(dir, args, &call, out, err);
}

int git_output(const char *dir, const char *const *args, struct buf *out, struct err *err)
{
    return git_output_within(dir, args, GIT_DEADLINE_S, out, err);
}

bool git_is_id(const char *s, size_t len)
{
    return (len == 40 || len == 64) && strspn(s, "0123456789abcdef") >= len;
}

int git_work_tree(const char *dir, struct err *err)
{
    static const char *const args[] = {"rev-parse", "--is-inside-work-tree", NULL};
    struct err why = {0};
    AUTO(buf_release) struct buf out = {.max = 64};
    if (!spawn_on_path("git"))
        return err_set(err, ERR_INPUT, "%s: git is not installed", dir);
    if (git_output(dir, args, &out, &why) == 0)
        return strcmp(buf_str(&out), "true\n") == 0;
    if (strstr(why.msg, "not a git repository"))
        return 0;
    if (err)
        *err = why;
    return -1;
}
