/* The command table of `kernsweep`, its entry point, and the flag set by the signal handler. */
#include "common/base/json_arena.h"
#include "common/base/text.h"
#include "common/base/trace.h"
#include "harness/commands/base/cmd.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static const struct cmd commands[] = {
    {"run", cmd_run, "run a plan's variants and contexts on a node"},
    {"attach", cmd_attach, "resume following a run, then pull, store and report it"},
    {"status", cmd_status, "runs on a node and their progress"},
    {"watch", cmd_watch, "follow a run full-screen: matrix, running test, memory, log"},
    {"cancel", cmd_cancel, "cancel a run on its node"},
    {"pull", cmd_pull, "fetch the files that a run has written so far"},
    {"init", cmd_init, "write a first plan for a program, from its command and its output"},
    {"validate", cmd_validate, "check a plan: every error at once, and what it finds in a sample of output"},
    {"check", cmd_check, "check whether a node is fit for a run"},
    {"nodes", cmd_nodes, "nodes trust HOST: verify and store a host key"},
    {"ingest", cmd_ingest, "store bundles in the results database"},
    {"import", cmd_import, "store the results of other tools"},
    {"runs", cmd_runs, "list, remove or reject stored runs"},
    {"show", cmd_show, "show one stored run, test by test"},
    {"open", cmd_open, "open a report, or the index of nightly runs, in the browser"},
    {"logs", cmd_logs, "print the output of a test, or the log of a build or gate"},
    {"compare", cmd_compare, "compare two runs, or a run and a baseline, cell by cell"},
    {"best", cmd_best, "the best point of each variant and context, and how sure that is"},
    {"history", cmd_history, "show one cell over all stored runs, and when it changed"},
    {"noise", cmd_noise, "measure how much runs of identical builds vary on a node"},
    {"ab", cmd_ab, "measure two builds in turns: commits, folders, runs or toolchains"},
    {"bench", cmd_bench, "measure commands against each other on a node, without a plan"},
    {"bisect", cmd_bisect, "find the commit that made a cell slower"},
    {"baseline", cmd_baseline, "manage the runs that others are compared with"},
    {"report", cmd_report, "write a report of a stored run"},
    {"nightly", cmd_nightly, "scheduled run: start or resume, compare, report, notify, prune"},
    {"export", cmd_export, "export stored tests as CSV or JSON, or the store as SQL"},
    {"sql", cmd_sql, "query the store in SQL"},
    {"db", cmd_db, "check, back up, compact or locate the store"},
    {"diff", cmd_diff, "compare the machine code of a variant in two runs, kernel by kernel"},
    {"resources", cmd_resources, "show registers, memory and instructions of compiled kernels"},
    {"gguf", cmd_gguf, "show a model's metadata, or change a number in it"},
    {"version", cmd_version, "print the version"},
    {"complete", cmd_complete, NULL},
};

/* Options that a command has no use for. It accepts them all the same, so that a script may give every
 * command the same ones, but its help does not list them. */
static const char *const of_store[] = {"--db", NULL};
static const char *const of_nodes[] = {"-F,--ssh-config", "--transport", "-v,--verbose", NULL};
static const char *const of_both[] = {"--db", "-F,--ssh-config", "--transport", "-v,--verbose", NULL};

static const struct {
    const char *command;
    const char *const *options;
} unlisted[] = {
    {"nodes", of_store},  {"ingest", of_nodes},   {"import", of_nodes},   {"runs", of_nodes},
    {"show", of_nodes},   {"compare", of_nodes},  {"history", of_nodes},  {"baseline", of_nodes},
    {"report", of_nodes}, {"export", of_nodes},   {"sql", of_nodes},      {"db", of_nodes},
    {"diff", of_nodes},   {"complete", of_nodes}, {"resources", of_both}, {"gguf", of_both},
    {"version", of_both}, {"best", of_nodes},     {"open", of_nodes},
};

static const char *const *unlisted_of(const char *command)
{
    for (size_t i = 0; i < sizeof unlisted / sizeof *unlisted; i++)
        if (strcmp(unlisted[i].command, command) == 0)
            return unlisted[i].options;
    return NULL;
}

int cmd_version(struct cmd_env *env, int argc, char **argv)
{
    struct args spec = {
        .command = "version", .usage = "[--json]", .about = "Prints the version of kernsweep."};
    struct err err = {0};
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, NULL, &n, &err);
    if (rc != 0)
        return rc == 1 ? EXIT_DONE : cmd_fail(&err);
    if (env->json)
        return cmd_print_json(json_pack("{s:s}", "version", KERNSWEEP_VERSION));
    puts("kernsweep " KERNSWEEP_VERSION);
    return EXIT_DONE;
}

static void help(FILE *out)
{
    fputs("kernsweep: nightly performance regression testing for GPU kernels, over ssh\n\n", out);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (commands[i].about)
            fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].about);
    fputs(
        "\nRun kernsweep help COMMAND for its options. Exit codes: 0 success, 1 a test or gate failed, 2 "
        "usage\n"
        "error or bad input, 3 blocked, 4 regression, 5 local storage or internal error, 130 interrupted.\n",
        out);
}

static void catch_signals(void)
{
    struct sigaction stop = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&stop.sa_mask);
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* write() fails, and that is told */
}

static void start_trace(void)
{
    const char *file = getenv("KERNSWEEP_TRACE");
    struct err err = {0};
    if (file && *file && trace_open(file, &err) != 0)
        fprintf(stderr, "kernsweep: warning: KERNSWEEP_TRACE: %s\n", err.msg);
}

/* Whether all that was printed has arrived. A reader that left, as in `| head`, is no error. */
static int check_output(int rc)
{
    struct stat st;
    bool failed = fflush(stdout) != 0 || ferror(stdout);
    if (!failed || rc != EXIT_DONE || fstat(STDOUT_FILENO, &st) != 0 || S_ISFIFO(st.st_mode) ||
        S_ISSOCK(st.st_mode))
        return rc;
    fputs("kernsweep: stdout could not be written: what was printed is not complete\n", stderr);
    return EXIT_LOCAL;
}

static int unknown_command(const char *word)
{
    const char *known[sizeof commands / sizeof *commands + 1] = {"help"};
    size_t n = 1;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (commands[i].about)
            known[n++] = commands[i].name;
    const char *meant = text_nearest(word, known, n);
    fprintf(stderr, "kernsweep: unknown command \"%.40s\": %s%s%s`kernsweep help` lists all\n", word,
            meant ? "did you mean \"" : "", meant ? meant : "", meant ? "\"? " : "");
    return EXIT_USAGE;
}

static int command(struct cmd_env *env, int argc, char **argv)
{
    const char *name = strcmp(argv[0], "--version") == 0 ? "version" : argv[0];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, name) != 0)
            continue;
        env->unlisted = unlisted_of(name);
        return check_output(commands[i].fn(env, argc, argv));
    }
    return unknown_command(argv[0]);
}

int main(int argc, char **argv)
{
    struct cmd_env env = {.argc = argc, .argv = argv, .interrupted = &interrupted};
    catch_signals();
    json_arena_install();
    start_trace();
    if (argc == 3 && strcmp(argv[1], "help") == 0 && strcmp(argv[2], "help") != 0) {
        char *words[] = {argv[2], (char *)"--help", NULL};
        return command(&env, 2, words);
    }
    if (argc < 2 || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0) {
        help(argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_USAGE : check_output(EXIT_DONE);
    }
    return command(&env, argc - 1, argv + 1);
}
