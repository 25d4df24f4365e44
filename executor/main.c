/* kernsweep-executor: the part of kernsweep that runs on the GPU node. A table of commands; each is given its
 * parsed options and prints its result here. Never interactive. */
#include "common/base/alloc.h"
#include "common/base/args.h"
#include "common/base/json.h"
#include "common/base/regex.h"
#include "common/base/symbol.h"
#include "common/contract/proto.h"
#include "executor/code/build_identity.h"
#include "executor/code/disasm.h"
#include "executor/commands/commands.h"
#include "executor/commands/detach.h"
#include "executor/node/facts.h"
#include "executor/node/toolchain.h"
#include "executor/workdir/cache.h"
#include "executor/workdir/layout.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROTOCOL = 1, OUTPUT_MAX = LIMIT_JSON_BYTES, EXIT_ABSENT = 1 };
static const double stage_idle_s = 120; /* whoever sends gives up after 60 s and begins again */

struct options {
    const char *workdir, *run, *sha256, *sysfs, *proc, *model, *offset, *array, *days, *path, *kernel;
    bool help;
};

struct context {
    struct options options;
    int64_t offset, array, days;
    struct layout layout;
};

struct command {
    const char *name;
    int (*fn)(const struct context *c, struct err *err); /* exit code, or -1 with err */
    bool needs_run, needs_sha256;
    const char *help;
};

static int print_text(const char *data, size_t len, struct err *err)
{
    if (fs_write_all(STDOUT_FILENO, data, len) == 0)
        return EXIT_DONE;
    return err_set_errno(err, ERR_NODE, errno, "cannot write to stdout");
}

/* Takes value; NULL: err says why there is none. */
static int print_json(json_t *value, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = OUTPUT_MAX};
    json_auto_t *taken = value;
    if (!taken || json_encode(taken, &text, err) != 0)
        return -1;
    buf_putc(&text, '\n');
    return print_text(buf_str(&text), text.len, err);
}

static int cmd_version(const struct context *c, struct err *err)
{
    (void)c;
    return print_json(json_pack("{s:s, s:i}", "version", KERNSWEEP_VERSION, "protocol", PROTOCOL), err);
}

static json_t *probe(const struct context *c, struct err *err)
{
    struct loop loop;
    struct nvml nvml;
    if (loop_open(&loop, err) != 0)
        return NULL;
    nvml_open(&nvml, &c->layout);
    json_t *node = node_probe(&c->layout, &loop, &nvml, c->options.model, err);
    if (node)
        json_object_set_new(node, "engines", engines_probe(&c->layout));
    nvml_close(&nvml);
    loop_close(&loop);
    return node;
}

static int cmd_probe(const struct context *c, struct err *err)
{
    return print_json(probe(c, err), err);
}

static int cmd_code(const struct context *c, struct err *err)
{
    AUTO(code_release) struct code code = {.kernel = NULL};
    if (!c->options.path)
        return err_set(err, ERR_INPUT, "needs --path PATH");
    if (build_identity_of(c->options.path, NULL, NULL, NULL, &code, err) != 0)
        return -1;
    return print_json(code_encode(&code), err);
}

static bool is_wanted(void *arg, const char *kernel)
{
    struct regex *wanted = arg;
    struct err ignored = {.kind = ERR_NONE};
    const struct symbol_title title = symbol_title(kernel);
    return !wanted->code || regex_match(wanted, kernel, strlen(kernel), 0, &ignored) == 1 ||
           regex_match(wanted, title.s, strlen(title.s), 0, &ignored) == 1;
}

static json_t *list_kernels(struct code_set *set, struct regex *wanted, size_t late)
{
    AUTO(code_release) struct code code = {.kernel = NULL};
    json_t *kernels = json_array();
    for (size_t i = 0; i < set->count; i++)
        if (set->item[i].kind == CODE_ITEM_KERNEL && !is_wanted(wanted, set->item[i].name))
            set->item[i].kind = CODE_ITEM_FUNCTION;
    code_kernels(set, &code);
    for (size_t i = 0; i < code.kernels; i++)
        json_array_append_new(kernels, code_kernel_encode(&code.kernel[i]));
    return json_pack("{s:o, s:i, s:i}", "kernels", kernels, "kernels_omitted", (int)code.omitted, "late",
                     (int)late);
}

/* What is known of each kernel in a compiled file, whoever built it: registers, scratch memory, spills and
 * LDS from the file, instructions by class and the hot loop where the machine has a disassembler. A library
 * has hundreds of objects; only those with a kernel that is asked for are disassembled, and not for long. */
static int cmd_resources(const struct context *c, struct err *err)
{
    enum { ALL_S = 5, WANTED_S = 60 };
    AUTO(disasm_release) struct disasm disasm = {.seen = NULL};
    AUTO(code_set_release) struct code_set set = {.item = NULL};
    AUTO(regex_release) struct regex wanted = {.code = NULL};
    if (!c->options.path)
        return err_set(err, ERR_INPUT, "needs --path FILE");
    if (c->options.kernel && regex_compile(&wanted, c->options.kernel, err) != 0)
        return err_wrap(err, "--kernel");
    disasm_init(&disasm, 0, c->options.kernel ? WANTED_S : ALL_S);
    disasm.wants = is_wanted;
    disasm.arg = &wanted;
    if (build_identity_scan(c->options.path, &disasm.hook, &set, err) != 0)
        return -1;
    bool device = code_set_has_device(&set);
    json_t *out = list_kernels(&set, &wanted, disasm.late);
    json_object_set_new(out, "device_code", json_boolean(device));
    return print_json(out, err);
}

static int cmd_stage(const struct context *c, struct err *err)
{
    char path[FS_PATH_MAX];
    if (stage(&c->layout, c->options.sha256, STDIN_FILENO, stage_idle_s, path, err) != 0)
        return -1;
    return print_json(json_pack("{s:s}", "path", path), err);
}

static int cmd_has(const struct context *c, struct err *err)
{
    bool has;
    if (stage_has(&c->layout, c->options.sha256, &has, err) != 0)
        return -1;
    return has ? EXIT_DONE : EXIT_ABSENT;
}

static int cmd_submit(const struct context *c, struct err *err)
{
    AUTO(buf_release) struct buf out = {.max = OUTPUT_MAX};
    return submit(&c->layout, STDIN_FILENO, &out, err) != 0 ? -1 : print_text(buf_str(&out), out.len, err);
}

static int cmd_supervise(const struct context *c, struct err *err)
{
    return detach_foreground(&c->layout, c->options.run, err);
}

static int cmd_resume(const struct context *c, struct err *err)
{
    return detach_again(&c->layout, c->options.run, err);
}

static int cmd_follow(const struct context *c, struct err *err)
{
    int rc = follow(&c->layout, c->options.run, c->offset, STDOUT_FILENO, err);
    if (rc == FOLLOW_DEAD)
        fprintf(stderr, "kernsweep-executor: follow: %s\n", err->msg);
    return rc;
}

static int cmd_status(const struct context *c, struct err *err)
{
    return print_json(status_report(&c->layout, c->options.run, err), err);
}

static int cmd_cancel(const struct context *c, struct err *err)
{
    if (cancel(&c->layout, c->options.run, err) != 0)
        return -1;
    return print_json(status_report(&c->layout, c->options.run, err), err);
}

static int cmd_forget(const struct context *c, struct err *err)
{
    char dir[FS_PATH_MAX], manifest[FS_PATH_MAX];
    if (layout_run(&c->layout, dir, c->options.run, err) != 0 ||
        fs_join(manifest, err, dir, RUN_MANIFEST) != 0)
        return -1;
    if (fs_is_dir(dir) && !fs_exists(manifest))
        return err_set(err, ERR_INPUT, "%s: the run is not closed; cancel it first", dir);
    if (layout_discard(c->layout.runs, c->options.run, err) != 0)
        return -1;
    return print_json(json_pack("{s:s}", "run_id", c->options.run), err);
}

static int cmd_prune(const struct context *c, struct err *err)
{
    json_t *answer;
    if (c->days < 1)
        return err_set(err, ERR_INPUT, "prune: --days N is needed");
    return cache_prune(&c->layout, c->days, &answer, err) != 0 ? -1 : print_json(answer, err);
}

static int cmd_pack(const struct context *c, struct err *err)
{
    return pack(&c->layout, c->options.run, (uint64_t)c->offset, STDOUT_FILENO, err);
}

static int cmd_task(const struct context *c, struct err *err)
{
    return task_run(&c->layout, c->options.run, (int)c->array, err);
}

static const struct command commands[] = {
    {"version", cmd_version, false, false, "print the version and the protocol's number"},
    {"probe", cmd_probe, false, false, "print the node's facts (node.json), and those of a GGUF file"},
    {"code", cmd_code, false, false, "print the code identity of a build's folder, or of a file, --path"},
    {"resources", cmd_resources, false, false,
     "print registers, memory and instructions of each kernel in the file --path"},
    {"stage", cmd_stage, false, true, "store a source tree, a tar stream on stdin, under its hash"},
    {"has", cmd_has, false, true, "exit 0 if the source tree is stored, 1 if not"},
    {"submit", cmd_submit, false, false, "start or resume the run on stdin: {\"plan\": ..., \"job\": ...}"},
    {"supervise", cmd_supervise, true, false, "supervise a run in the foreground (what submit detaches)"},
    {"resume", cmd_resume, true, false, "detach a supervisor of a submitted run again, unless it has one"},
    {"task", cmd_task, true, false,
     "supervise one task of the run's array job --array, inside a scheduler's job"},
    {"follow", cmd_follow, true, false, "copy the run's events to stdout, from --offset on, as they arrive"},
    {"status", cmd_status, false, false, "print all runs, or one"},
    {"cancel", cmd_cancel, true, false, "stop the run, close it as CANCELLED, print its status"},
    {"forget", cmd_forget, true, false, "remove a closed run's folder"},
    {"prune", cmd_prune, false, false, "remove sources and builds unused for --days that no run refers to"},
    {"pack", cmd_pack, true, false, "write the run's bundle to stdout, a tar stream"},
};

#define AT(member) ARG_AT(struct options, member)

/* All commands take the same options, so that callers need not know more. */
static const struct arg option_list[] = {
    {"--workdir", "DIR", AT(workdir),
     "kernsweep's folder, relative to the home folder; default ~/.kernsweep"},
    {"--run", "ID", AT(run), "the run"},
    {"--offset", "N", AT(offset), "follow: where to start in the journal, pack: in the stream; in bytes"},
    {"--array", "N", AT(array), "task: the number of its array job"},
    {"--days", "N", AT(days), "prune: how long something must have been unused"},
    {"--sha256", "HEX", AT(sha256), "stage, has: the source tree"},
    {"--sysfs", "ROOT", AT(sysfs), "in place of /sys"},
    {"--proc", "ROOT", AT(proc), "in place of /proc"},
    {"--model", "FILE", AT(model), "probe: a GGUF file to describe"},
    {"--path", "PATH", AT(path), "code, resources: what to read"},
    {"--kernel", "REGEX", AT(kernel), "resources: only kernels whose name matches"},
    {"-h,--help", NULL, AT(help), "this text"},
};
static const struct arg_table options = ARG_TABLE(struct options, option_list);

static void usage(FILE *out)
{
    fprintf(out, "usage: kernsweep-executor COMMAND [OPTION...]\n\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fputc('\n', out);
    args_help_options(&options, out);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

/* text: the option's value, NULL when it was not given. */
static int parse_number(const char *option, const char *text, int64_t max, int64_t *out, struct err *err)
{
    char *end;
    if (!text)
        return 0;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (errno == 0 && *text && *end == '\0' && *out >= 0 && *out <= max)
        return 0;
    return err_set(err, ERR_INPUT, "%s %.40s: expected a number", option, text);
}

static int parse_options(const struct command *cmd, int argc, char **argv, struct context *c, struct err *err)
{
    struct options *o = &c->options;
    const struct args spec = {.program = "kernsweep-executor",
                              .command = cmd->name,
                              .usage = "[OPTION...]",
                              .about = cmd->help,
                              .own = options,
                              .into = o};
    size_t n;
    if (args_parse(&spec, argc, argv, NULL, &n, err) != 0)
        return -1;
    if (o->help)
        args_help(&spec, stdout);
    return parse_number("--offset", o->offset, INT64_MAX, &c->offset, err) != 0 ||
                   parse_number("--array", o->array, INT32_MAX, &c->array, err) != 0 ||
                   parse_number("--days", o->days, INT32_MAX, &c->days, err) != 0
               ? -1
               : 0;
}

static int run_command(const struct command *cmd, int argc, char **argv, struct err *err)
{
    struct context c = {.offset = 0};
    const struct options *o = &c.options;
    if (parse_options(cmd, argc, argv, &c, err) != 0)
        return -1;
    if (o->help)
        return EXIT_DONE;
    if (cmd->needs_run && !o->run)
        return err_set(err, ERR_INPUT, "%s: needs --run ID", cmd->name);
    if (cmd->needs_sha256 && !o->sha256)
        return err_set(err, ERR_INPUT, "%s: needs --sha256 HEX", cmd->name);
    int rc = layout_init(&c.layout, o->workdir, o->sysfs, o->proc, err);
    if (rc == 0)
        rc = cmd->fn(&c, err);
    return rc < 0 ? err_wrap(err, "%s", cmd->name) : rc;
}

int main(int argc, char **argv)
{
    struct err err = {.kind = ERR_NONE};
    const struct command *cmd = argc > 1 ? find_command(argv[1]) : NULL;
    umask(077);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write() */
    if (!cmd) {
        bool asked = argc > 1 && (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0);
        usage(asked ? stdout : stderr);
        return asked ? EXIT_DONE : EXIT_USAGE;
    }
    int rc = run_command(cmd, argc - 1, argv + 1, &err);
    if (rc >= 0)
        return rc;
    fprintf(stderr, "kernsweep-executor: %s\n", err.msg);
    return (int)exit_code_of(&err);
}
