#include "harness/git/git.h"

#include "common/base/run.h"
#include "common/base/text.h"

#include <string.h>

/* The options of every call. */
static const char *const options[] = {"git",
                                      "--no-pager",
                                      "--no-optional-locks",
                                      "-c",
                                      "core.fsmonitor=false",
                                      "-c",
                                      "core.hooksPath=/dev/null",
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

int git_output(const char *dir, const char *const *args, struct buf *out, struct err *err)
{
    const char *argv[ARGV_MAX];
    struct run_result res;
    if (make_argv(dir, args, argv, err) != 0)
        return -1;
    if (run_capture(argv, NULL, GIT_DEADLINE_S, out, &res, err) != 0)
        return err_wrap(err, "%s: git %s", dir, args[0]);
    return res.exited && res.exit_code == 0 ? 0 : fail(dir, args[0], &res, err);
}

bool git_has_work_tree(const char *dir)
{
    static const char *const args[] = {"rev-parse", "--is-inside-work-tree", NULL};
    struct err err = {0};
    struct buf out;
    buf_init(&out, 64);
    bool has = git_output(dir, args, &out, &err) == 0 && strcmp(buf_str(&out), "true\n") == 0;
    buf_release(&out);
    return has;
}
