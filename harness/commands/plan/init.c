/* kernsweep init: writes a first plan for a program, from its command line and a sample of its output. */
#include "common/base/environment.h"
#include "common/base/run.h"
#include "common/base/text.h"
#include "common/contract/node_name.h"
#include "harness/commands/base/ask.h"
#include "harness/commands/base/cmd.h"
#include "harness/commands/base/words.h"
#include "harness/commands/plan/init_command.h"
#include "harness/plan/document.h"
#include "harness/plan/plan.h"
#include "harness/session/installed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 200, OUTPUT_MAX = 1 << 20, PLAN_TEXT_MAX = 1 << 20 };
static const double sample_deadline_s = 120;

struct init_args {
    const char *node, *build, *run, *primary, *contexts, *sample, *output;
    bool yes, force;
};

struct init {
    struct cmd_env *env;
    const struct init_args *args;
    struct asker asker;
    struct init_command command;
    char node[ANSWER_MAX], build[ANSWER_MAX], contexts[ANSWER_MAX];
    char output[FS_PATH_MAX], schema[FS_PATH_MAX];
    struct buf sample;
    struct proposal proposal;
    struct draft draft;
    char ticket[LIMIT_TICKET + 1];
};

static int choose_output(struct init *in, struct err *err)
{
    const struct init_args *a = in->args;
    const char *file = a->output ? a->output : "kernsweep.jsonc";
    if (strlen(file) >= sizeof in->output || !plan_document_is_named(file))
        return err_set(err, ERR_INPUT, "--output: expected a file named *.json, *.jsonc, *.yaml or *.yml");
    snprintf(in->output, sizeof in->output, "%s", file);
    return !a->force && fs_exists(file)
               ? err_set(err, ERR_INPUT, "%.200s exists: choose another name with --output, or --force", file)
               : fs_check_output(file, err);
}

static int split_command(struct init *in, const char *text, struct err *err)
{
    if (!words_need_shell(text))
        return words_split(text, &in->command.words, err);
    strvec_pushl(&in->command.words, "sh", "-c", text, NULL);
    in->command.shell = true;
    return 0;
}

static int find_command(struct init *in, const char **words, size_t n, struct err *err)
{
    char answer[ANSWER_MAX];
    if (n > 0 && in->args->run)
        return err_set(err, ERR_INPUT, "init: give the command after -- or with --run, not both");
    for (size_t i = 0; i < n; i++)
        strvec_push(&in->command.words, words[i]);
    if (n > 0)
        return 0;
    if (in->args->run)
        return split_command(in, in->args->run, err);
    if (!in->asker.on)
        return err_set(err, ERR_INPUT, "init: give the command: kernsweep init -- ./a.out --n 4096");
    if (ask_text(&in->asker, "Command to measure, as you run it by hand", "", answer, err) != 0)
        return -1;
    return split_command(in, answer, err);
}

static int find_place(struct init *in, struct err *err)
{
    const struct init_args *a = in->args;
    snprintf(in->node, sizeof in->node, "%s", a->node ? a->node : "local");
    snprintf(in->build, sizeof in->build, "%s", a->build ? a->build : "");
    if (!a->node && ask_text(&in->asker, "Node that runs it: local, an ssh alias or user@host", "local",
                             in->node, err) != 0)
        return -1;
    if (!node_name_is_valid(in->node))
        return err_set(err, ERR_INPUT, "init: --node: expected " NODE_NAME_EXPECTED ", found \"%.80s\"",
                       in->node);
    if (!a->build &&
        ask_text(&in->asker, "Command that builds it, run in a copy of this folder (empty: none)", "",
                 in->build, err) != 0)
        return -1;
    in->command.local = strcmp(in->node, "local") == 0;
    if (!getcwd(in->command.here, sizeof in->command.here))
        return err_set_errno(err, ERR_STORAGE, errno, "the current folder");
    in->command.build = *in->build ? in->build : NULL;
    return 0;
}

static bool has_placeholder(const struct init *in)
{
    for (size_t i = 0; i < in->command.words.n; i++)
        if (strstr(in->command.words.v[i], "{context"))
            return true;
    return false;
}

/* Parses a list such as "1024, 2048"; NULL with err. */
static json_t *read_contexts(const char *text, struct err *err)
{
    json_t *list = json_array();
    for (const char *s = text; *s;) {
        char *end;
        long long n = strtoll(s, &end, 10);
        if (end == s || n < 1 || n > LIMIT_CONTEXT || (*end && !strchr(", ", *end))) {
            err_set(err, ERR_INPUT, "expected sizes separated by commas, such as 1024,2048, found \"%.80s\"",
                    text);
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, json_integer(n));
        s = end + strspn(end, ", ");
    }
    return list;
}

static int find_sizes(struct init *in, struct err *err)
{
    struct init_command *c = &in->command;
    long long size = 1024;
    char usual[32], question[ANSWER_MAX];
    c->sized = has_placeholder(in);
    if (!c->sized &&
        !propose_size((const char *const *)c->words.v, c->words.n, &c->word, &c->before, &size)) {
        in->draft.contexts = json_pack("[i]", 1);
        return 0;
    }
    snprintf(usual, sizeof usual, "%lld", size);
    snprintf(question, sizeof question,
             c->sized ? "Sizes to measure, for {context}"
                      : "Sizes to measure in place of \"%.200s\" (none: leave it)",
             c->word > 0 ? c->words.v[c->word] : "");
    snprintf(in->contexts, sizeof in->contexts, "%s", in->args->contexts ? in->args->contexts : usual);
    if (!in->args->contexts && ask_text(&in->asker, question, usual, in->contexts, err) != 0)
        return -1;
    if (strcmp(in->contexts, "none") == 0) {
        c->word = 0;
        snprintf(in->contexts, sizeof in->contexts, "1");
    }
    in->draft.contexts = read_contexts(in->contexts, err);
    return in->draft.contexts ? 0 : -1;
}

static int run_here(struct init *in, struct err *err)
{
    AUTO(strvec_release) struct strvec argv = {0}, env = {0};
    struct run_result result;
    environment_copy(&env); /* it is the user's own command, whatever its name */
    long long size = json_integer_value(json_array_get(in->draft.contexts, 0));
    if (in->command.word > 0) /* the command contains its own size */
        size = 1;
    init_command_here(&in->command, size, &argv);
    const struct run run = {.argv = strvec_argv(&argv),
                            .env = strvec_argv(&env),
                            .on_stdout = run_collect,
                            .on_stdout_arg = &in->sample,
                            .on_stderr = run_collect,
                            .on_stderr_arg = &in->sample,
                            .end_group = true,
                            .deadline_s = sample_deadline_s,
                            .grace_s = 1,
                            .interrupted = in->env->interrupted};
    if (run_program(&run, &result, err) != 0)
        return -1;
    if (!result.exited)
        fprintf(stderr, "note: the command failed here (signal %s): what it printed is used all the same\n",
                result.signal);
    else if (result.exit_code != 0)
        fprintf(stderr,
                "note: the command failed here (exit code %d): what it printed is used all the same\n",
                result.exit_code);
    return 0;
}

static int find_sample(struct init *in, struct err *err)
{
    bool run;
    if (in->args->sample)
        return fs_read_file(in->args->sample, OUTPUT_MAX, &in->sample, err);
    if (in->command.build || !in->command.local) {
        fprintf(
            stderr,
            "note: no sample of the output: the wall time will be compared; with a saved output, --sample "
            "FILE proposes what to read from it\n");
        return 0;
    }
    if (ask_yes(&in->asker, "Run it once here, to see what it prints?", true, &run, err) != 0)
        return -1;
    struct err why = {0};
    if (run && run_here(in, &why) != 0) {
        if (why.kind == ERR_INTERRUPTED) {
            *err = why;
            return -1;
        }
        fprintf(stderr, "note: it could not be run here: %s\n", why.msg);
    }
    return 0;
}

static void note_of(const struct proposed *one, const struct proposed *before)
{
    if (one->total)
        fprintf(stderr,
                "note: line %zu: %s: the line says that it is the time of several iterations together\n",
                one->line, one->name);
    if (one->again && !(before && before->again && before->line == one->line))
        fprintf(stderr, "note: line %zu: %s: of the lines that look like this one, only the last counts\n",
                one->line, one->name);
}

static void print_proposal(const struct proposal *p, bool sampled)
{
    if (p->kind == PROPOSE_WALL && sampled)
        fputs("No number with a unit was recognised in the output: the wall time will be compared.\n",
              stderr);
    if (p->count > 0)
        fputs("Found in the output:\n", stderr);
    for (size_t i = 0; i < p->count; i++) {
        const struct proposed *one = &p->item[i];
        fprintf(stderr, "  %zu  %-20s %.10g %s  (%s is better)\n", i + 1, one->name, one->value,
                *one->unit ? one->unit : "(unit unknown)", one->more ? "more" : "less");
    }
    for (size_t i = 0; i < p->count; i++)
        note_of(&p->item[i], i > 0 ? &p->item[i - 1] : NULL);
    for (size_t i = 0; i < p->n_left; i++)
        fprintf(stderr, "note: line %zu: \"%s\": %s: left out\n", p->left[i].line, p->left[i].label,
                p->left[i].why);
    if (p->too_many > 0)
        fprintf(stderr,
                "note: %zu more numbers with units were found: left out, as a plan has at most %d metrics\n",
                p->too_many, PROPOSED_MAX);
}

static int choose_primary(struct init *in, struct err *err)
{
    struct proposal *p = &in->proposal;
    const char *wanted = in->args->primary;
    int number;
    for (size_t i = 0; wanted && i < p->count; i++)
        if (strcmp(p->item[i].name, wanted) == 0) {
            p->primary = i;
            return 0;
        }
    if (wanted)
        return err_set(err, ERR_INPUT, "--primary: no number called \"%.40s\" was found in the output",
                       wanted);
    if (p->count < 2 || p->primary == p->count)
        return 0;
    if (!in->asker.on)
        fprintf(stderr, "Runs are judged by %s; --primary NAME chooses another.\n", p->item[p->primary].name);
    if (ask_number(&in->asker, "Which one decides whether a run is better?", (int)p->primary + 1,
                   (int)p->count, &number, err) != 0)
        return -1;
    p->primary = (size_t)number - 1;
    return 0;
}

/* Appends at most `most` of the characters that a name may contain. */
static void append_name(char *out, const char *from, size_t most)
{
    size_t n = strlen(out), end = n + most < LIMIT_TICKET ? n + most : LIMIT_TICKET;
    for (const char *s = from; *s && n < end; s++) {
        bool fits = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
                    *s == '_' || (n > 0 && (*s == '.' || *s == '-'));
        if (fits)
            out[n++] = *s;
    }
    out[n] = '\0';
}

/* The folder's name is included, as programs of the same name in different folders are different series. */
static void name_ticket(struct init *in)
{
    const char *program = in->command.words.v[0], *slash = strrchr(program, '/');
    char folder[PATH_MAX], name[LIMIT_TICKET + 1] = "";
    append_name(name, slash ? slash + 1 : program, LIMIT_TICKET / 2 - 1);
    const char *last = getcwd(folder, sizeof folder) ? strrchr(folder, '/') : NULL;
    if (last)
        append_name(in->ticket, last + 1, LIMIT_TICKET - strlen(name) - 1);
    if (*in->ticket && *name && strcmp(in->ticket, name) != 0) {
        append_name(in->ticket, "-", 1);
        append_name(in->ticket, name, LIMIT_TICKET);
    } else if (!*in->ticket)
        append_name(in->ticket, name, LIMIT_TICKET);
    if (!text_is_name(in->ticket))
        snprintf(in->ticket, sizeof in->ticket, "sweep");
}

static void find_schema(struct init *in)
{
    static const char *const places[] = {"../share/kernsweep/schemas/plan.schema.json",
                                         "../schemas/plan.schema.json", NULL};
    struct err ignored = {0};
    char found[FS_PATH_MAX];
    bool there;
    if (installed_find(places, found, &there, &ignored) != 0 || !there)
        return;
    char *path = realpath(found, NULL);
    if (path)
        snprintf(in->schema, sizeof in->schema, "%s", path);
    in->draft.schema = path ? in->schema : NULL;
    free(path);
}

static int write_new(const struct init *in, const struct buf *text, struct err *err)
{
    if (in->args->force)
        return fs_write_output(in->output, buf_str(text), err);
    int fd = open(in->output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return err_set_errno(err, errno == EEXIST ? ERR_INPUT : ERR_STORAGE, errno, "%.200s", in->output);
    int rc = fs_write_all(fd, buf_str(text), text->len);
    int why = errno;
    if (close(fd) != 0 || rc != 0)
        return err_set_errno(err, ERR_STORAGE, why, "%.200s", in->output);
    return 0;
}

static int write_plan(struct init *in, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = PLAN_TEXT_MAX};
    struct plan check;
    if (plan_take(&check, draft_encode(&in->draft), in->output, err) != 0)
        return -1;
    plan_release(&check);
    return draft_write(&in->draft, plan_document_is_yaml(in->output), in->output, &text, err) != 0
               ? -1
               : write_new(in, &text, err);
}

static int make(struct init *in, const char **words, size_t n, struct err *err)
{
    if (choose_output(in, err) != 0 || find_command(in, words, n, err) != 0 || find_place(in, err) != 0 ||
        find_sizes(in, err) != 0 || find_sample(in, err) != 0)
        return -1;
    propose_from_output(&in->proposal, buf_str(&in->sample), in->sample.len, &in->command.words);
    print_proposal(&in->proposal, in->sample.len > 0);
    if (choose_primary(in, err) != 0 ||
        init_command_encode(&in->command, !strchr(in->output, '/'), &in->draft, err) != 0)
        return -1;
    name_ticket(in);
    find_schema(in);
    in->draft.ticket = in->ticket;
    in->draft.node = in->node;
    in->draft.repetitions = 5;
    in->draft.timeout_s = 300;
    in->draft.proposal = &in->proposal;
    return write_plan(in, err);
}

static int report_written(const struct init *in)
{
    if (in->env->json)
        return cmd_print_json(
            json_pack("{s:s, s:s, s:s}", "file", in->output, "ticket", in->ticket, "node", in->node));
    printf("wrote %s; next:\n  kernsweep validate %s\n  kernsweep run %s --smoke\n  kernsweep run %s\n",
           in->output, in->output, in->output, in->output);
    return EXIT_DONE;
}

static void release(struct init *in)
{
    strvec_release(&in->command.words);
    buf_release(&in->sample);
    json_decref((json_t *)in->draft.contexts);
    json_decref((json_t *)in->draft.run);
    json_decref((json_t *)in->draft.build);
    json_decref((json_t *)in->draft.include);
    free(in);
}

static int init(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct init_args *a = args;
    struct init *in = xcalloc(1, sizeof *in);
    in->env = env;
    in->args = a;
    in->asker = (struct asker){.on = !a->yes && isatty(STDIN_FILENO), .interrupted = env->interrupted};
    buf_init(&in->sample, OUTPUT_MAX);
    int rc = make(in, words->v, words->n, err);
    if (rc == 0)
        rc = report_written(in);
    release(in);
    return rc;
}

#define AT(member) ARG_AT(struct init_args, member)

static const struct arg options[] = {
    {"--node", "NODE", AT(node), "where it runs: local (default), an ssh alias or [user@]host[:port]"},
    {"--build", "COMMAND", AT(build), "command that builds it, run in a copy of this folder"},
    {"--run", "COMMAND", AT(run), "the command, instead of words after --"},
    {"--contexts", "LIST", AT(contexts), "sizes to measure: 1024,2048"},
    {"--sample", "FILE", AT(sample), "output of the command, instead of running it once"},
    {"--primary", "NAME", AT(primary), "the number in the output by which runs are judged"},
    {"-o,--output", "FILE", AT(output), "the plan's file (default kernsweep.jsonc; *.yaml for YAML)"},
    {"--force", NULL, AT(force), "replace the file if it exists"},
    {"-y,--yes", NULL, AT(yes), "ask nothing: take what is proposed"},
};

const struct cmd cmd_init = {
    .name = "init",
    .summary = "write a first plan for a program, from its command and its output",
    .usage = "[options] [-- COMMAND...]",
    .about = "Writes a first plan for a program, with comments. Looks at a sample of its output and proposes "
             "what to read from it; asks on a terminal.",
    .options = ARG_TABLE(struct init_args, options),
    .max_words = WORDS_MAX,
    .run = init,
};
