#include "harness/session/remote.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/base/strvec.h"
#include "common/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double answer_deadline_s = 60; /* for commands that only answer a query */
static const double transfer_stall_s = 60;  /* maximum time without data during a push or pull */
enum { TRANSFER_LEAST = 32 << 10 };         /* bytes per transfer_stall_s */
static const double follow_stall_s = 15;    /* the executor writes every 2 s */
static const size_t executor_max = 64u << 20;

enum { EXECUTOR_DEAD = 75 };

/* The scripts are constant; variable parts are passed as positional parameters. Each script is one line,
 * because csh, which may be the login shell, rejects a quoted line break. */
static const char hello_script[] =
    "printf 'kernsweep-hello %s ' \"$(uname -sm)\"; "
    "h=; [ ! -f \"$1\" ] || h=$(sha256sum <\"$1\") 2>/dev/null || h=; "
    "if [ -x \"$1\" ] && [ \"${h%% *}\" = \"$2\" ]; then echo have; else echo lack; fi";
static const char install_script[] =
    "set -eu; "
    "umask 077; "
    "d=${1%/*}; "
    "chmod u+rwx \"${d%/*}\" \"$d\" 2>/dev/null || :; " /* a test may have closed them */
    "mkdir -p \"$d\"; "
    "t=$1.tmp.$$; "
    "trap 'rm -f \"$t\"' EXIT; "
    "cat >\"$t\"; "
    "h=$(sha256sum <\"$t\"); "
    "if [ \"${h%% *}\" != \"$2\" ]; then echo \"what arrived has another hash: ${h%% *}\" >&2; exit 65; fi; "
    "chmod 700 \"$t\"; "
    "if ! [ -x \"$t\" ]; then echo \"no program can be started in ${1%/bin/*}, as on a file system mounted "
    "with noexec: give the plan another workdir\" >&2; exit 66; fi; "
    "[ ! -d \"$1\" ] || rm -rf \"$1\"; "
    "mv -f \"$t\" \"$1\"";
static const char last_words_script[] = "tail -n 1 -- \"$1\"";

int remote_init(struct remote *r, struct transport *t, const char *workdir, const char *local,
                struct err *err)
{
    *r = (struct remote){.t = t};
    if (sha256_of_file(local, executor_max, r->executor_sha256, NULL, err) != 0)
        return err_wrap(err, "the executor's binary");
    int n = snprintf(r->workdir, sizeof r->workdir, "%s", workdir);
    int m = snprintf(r->executor, sizeof r->executor, "%s/bin/%s/kernsweep-executor", workdir,
                     r->executor_sha256);
    if (n >= (int)sizeof r->workdir || m >= (int)sizeof r->executor)
        return err_set(err, ERR_INPUT, "workdir: path too long: %.200s", workdir);
    return 0;
}

static int exec_cmd(struct remote *r, const struct transport_cmd *cmd, struct transport_result *res,
                    struct err *err)
{
    int rc = transport_exec(r->t, cmd, res, err);
    r->link_lost = rc != 0 && res->link_lost;
    r->no_program = rc == 0 && res->exited && (res->exit_code == 126 || res->exit_code == 127);
    return rc;
}

/* what: names the command in the error message. */
static int succeed(struct remote *r, const struct transport_cmd *cmd, const char *what, struct err *err)
{
    struct transport_result res;
    return exec_cmd(r, cmd, &res, err) != 0 ? -1 : transport_expect_success(r->t, &res, what, err);
}

/* Output of login scripts would be mistaken for part of every journal and archive. */
static int refuse_noise(struct remote *r, const char *text, size_t len, struct err *err)
{
    char said[96];
    text_printable_fixed(said, sizeof said, text, strnlen(text, len));
    return err_set(err, ERR_NODE,
                   "%s: its login scripts print before every command: \"%s\": make them print to a terminal "
                   "only, for example with `[ -t 1 ] || return` at the top of ~/.bashrc",
                   transport_describe(r->t), said);
}

static int parse_hello(struct remote *r, const char *text, bool *have, struct err *err)
{
    char os[32] = "", arch[32] = "", found[8] = "";
    const char *mark = strstr(text, "kernsweep-hello ");
    if (!mark || sscanf(mark, "kernsweep-hello %31s %31s %7s", os, arch, found) != 3)
        return err_set(err, ERR_NODE, "%s: no POSIX shell answered; it said: %.200s",
                       transport_describe(r->t), text);
    if (mark != text)
        return refuse_noise(r, text, (size_t)(mark - text), err);
    if (strcmp(os, "Linux") != 0 || strcmp(arch, "x86_64") != 0)
        return err_set(err, ERR_NODE, "%s: is %s %s; the executor was built for Linux x86_64",
                       transport_describe(r->t), os, arch);
    *have = strcmp(found, "have") == 0;
    return 0;
}

static int push_executor(struct remote *r, const char *local, struct err *err)
{
    AUTO_CLOSE int fd = open(local, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open", local);
    const char *argv[] = {"sh", "-c", install_script, "sh", r->executor, r->executor_sha256, NULL};
    const struct transport_cmd cmd = {.argv = argv,
                                      .read = transport_read_fd,
                                      .read_arg = &fd,
                                      .stall_s = transfer_stall_s,
                                      .least_bytes = TRANSFER_LEAST};
    return succeed(r, &cmd, "installing the executor", err);
}

int remote_install(struct remote *r, const char *local, struct err *err)
{
    const char *argv[] = {"sh", "-c", hello_script, "sh", r->executor, r->executor_sha256, NULL};
    struct transport_result res;
    AUTO(buf_release) struct buf out = {.max = 1 << 16};
    bool have = false;
    int rc = transport_capture(r->t, argv, answer_deadline_s, &out, &res, err);
    r->link_lost = rc != 0 && res.link_lost;
    if (rc != 0 || parse_hello(r, buf_str(&out), &have, err) != 0)
        return -1;
    return have ? 0 : push_executor(r, local, err);
}

int remote_has(struct remote *r, const char *sha256, bool *have, struct err *err)
{
    const char *argv[] = {r->executor, "has", "--workdir", r->workdir, "--sha256", sha256, NULL};
    const struct transport_cmd cmd = {.argv = argv, .deadline_s = answer_deadline_s};
    struct transport_result res;
    if (exec_cmd(r, &cmd, &res, err) != 0)
        return -1;
    *have = res.exited && res.exit_code == 0;
    if (*have || (res.exited && res.exit_code == 1))
        return 0;
    return transport_expect_success(r->t, &res, "looking for the source tree", err);
}

int remote_stage(struct remote *r, const struct tar_tree *tree, const char *sha256, uint64_t *pushed,
                 struct err *err)
{
    bool have = false;
    *pushed = 0;
    if (remote_has(r, sha256, &have, err) != 0)
        return -1;
    if (have)
        return 0;
    struct tar_writer *w;
    if (tar_writer_open(&w, tree, err) != 0)
        return -1;
    const char *argv[] = {r->executor, "stage", "--workdir", r->workdir, "--sha256", sha256, NULL};
    const struct transport_cmd cmd = {.argv = argv,
                                      .read = tar_writer_read,
                                      .read_arg = w,
                                      .stall_s = transfer_stall_s,
                                      .least_bytes = TRANSFER_LEAST};
    struct transport_result res;
    int rc = exec_cmd(r, &cmd, &res, err);
    if (rc == 0)
        rc = transport_expect_success(r->t, &res, "staging the source tree", err);
    *pushed = res.bytes_sent;
    tar_writer_close(w);
    return rc;
}

static int append_answer(void *arg, const char *data, size_t len, struct err *err)
{
    struct buf *out = arg;
    buf_add(out, data, len);
    return buf_ok(out) ? 0
                       : err_set(err, ERR_NODE, "the executor's answer is longer than %zu bytes", out->max);
}

json_t *remote_call(struct remote *r, const char *command, const char *const *args, const void *input,
                    size_t input_len, double deadline_s, struct err *err)
{
    AUTO(strvec_release) struct strvec argv = {0};
    AUTO(buf_release) struct buf out = {.max = REMOTE_MAX_JSON};
    strvec_pushl(&argv, r->executor, command, "--workdir", r->workdir, NULL);
    strvec_push_all(&argv, args);
    const struct transport_cmd cmd = {.argv = strvec_argv(&argv),
                                      .input = input,
                                      .input_len = input_len,
                                      .on_stdout = append_answer,
                                      .on_stdout_arg = &out,
                                      .deadline_s = deadline_s > 0 ? deadline_s : answer_deadline_s};
    if (succeed(r, &cmd, command, err) != 0)
        return NULL;
    json_t *answer = json_parse(buf_str(&out), out.len, "the executor's answer", err);
    if (!answer)
        err->kind = ERR_NODE;
    return answer;
}

json_t *remote_runs(struct remote *r, const char *run_id, struct err *err)
{
    const char *one[] = {"--run", run_id, NULL};
    return remote_call(r, "status", run_id ? one : NULL, NULL, 0, 0, err);
}

int remote_has_run(struct remote *r, const char *run_id, bool *has, struct err *err)
{
    json_auto_t *runs = remote_runs(r, NULL, err);
    json_t *run;
    size_t i;
    *has = false;
    json_array_foreach(runs, i, run) *has = *has || strcmp(json_text(run, "run_id"), run_id) == 0;
    return runs ? 0 : -1;
}

void remote_last_words(struct remote *r, const char *run_id, char *out, size_t cap)
{
    char log[FS_PATH_MAX + 128];
    const char *argv[] = {"sh", "-c", last_words_script, "sh", log, NULL};
    struct transport_result res;
    struct err ignored = {0};
    AUTO(buf_release) struct buf text = {.max = 1 << 16};
    snprintf(log, sizeof log, "%s/runs/%.64s/executor.log", r->workdir, run_id);
    if (transport_capture(r->t, argv, answer_deadline_s, &text, &res, &ignored) != 0)
        buf_clear(&text);
    size_t len = text.len && text.data[text.len - 1] == '\n' ? text.len - 1 : text.len;
    text_printable_fixed(out, cap, buf_str(&text), len);
}

int remote_follow(struct remote *r, const char *run_id, int64_t offset, transport_write_fn *fn, void *arg,
                  bool *alive, struct err *err)
{
    char from[32];
    snprintf(from, sizeof from, "%lld", (long long)offset);
    const char *argv[] = {r->executor, "follow",   "--workdir", r->workdir, "--run",
                          run_id,      "--offset", from,        NULL};
    const struct transport_cmd cmd = {
        .argv = argv, .on_stdout = fn, .on_stdout_arg = arg, .stall_s = follow_stall_s};
    struct transport_result res;
    *alive = true;
    if (exec_cmd(r, &cmd, &res, err) != 0)
        return -1;
    if (res.exited && res.exit_code == EXECUTOR_DEAD) {
        *alive = false;
        return 0;
    }
    return transport_expect_success(r->t, &res, "following the run", err);
}

int remote_resume(struct remote *r, const char *run_id, struct err *err)
{
    const char *argv[] = {r->executor, "resume", "--workdir", r->workdir, "--run", run_id, NULL};
    const struct transport_cmd cmd = {.argv = argv, .deadline_s = answer_deadline_s};
    return succeed(r, &cmd, "starting the executor again", err);
}

int remote_pack(struct remote *r, const char *run_id, struct tar_extractor *x, struct err *err)
{
    char from[32];
    snprintf(from, sizeof from, "%llu", (unsigned long long)tar_extractor_received(x));
    const char *argv[] = {r->executor, "pack",     "--workdir", r->workdir, "--run",
                          run_id,      "--offset", from,        NULL};
    const struct transport_cmd cmd = {.argv = argv,
                                      .on_stdout = tar_extractor_write,
                                      .on_stdout_arg = x,
                                      .stall_s = transfer_stall_s,
                                      .least_bytes = TRANSFER_LEAST};
    return succeed(r, &cmd, "pulling the artifacts", err);
}

int remote_pull(struct remote *r, const char *run_id, const char *dir, struct err *err)
{
    struct tar_extractor *x;
    if (tar_extractor_open(&x, dir, NULL, err) != 0)
        return -1;
    int rc = remote_pack(r, run_id, x, err);
    if (rc == 0)
        rc = tar_extractor_finish(x, err);
    tar_extractor_close(x);
    return rc;
}
