/* The list of the commands of `kernsweep`, what parses the command line for all of them, and the flag set by
 * the signal handler. */
#include "common/base/run.h"
#include "common/base/text.h"
#include "common/base/trace.h"
#include "harness/commands/base/cmd.h"

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

static int version(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    (void)args;
    (void)words;
    (void)err;
    if (env->json)
        return cmd_print_json(json_pack("{s:s}", "version", KERNSWEEP_VERSION));
    puts("kernsweep " KERNSWEEP_VERSION);
    return EXIT_DONE;
}

static const struct cmd cmd_version = {
    .name = "version",
    .summary = "print the version",
    .usage = "[--json]",
    .about = "Prints the version of kernsweep.",
    .unlisted = CMD_STORE_OPTIONS | CMD_NODE_OPTIONS,
    .run = version,
};

extern const struct cmd cmd_run, cmd_attach, cmd_status, cmd_watch, cmd_cancel, cmd_pull, cmd_init,
    cmd_validate, cmd_check, cmd_nodes, cmd_ingest, cmd_import, cmd_runs, cmd_show, cmd_open, cmd_logs,
    cmd_compare, cmd_best, cmd_history, cmd_noise, cmd_ab, cmd_bench, cmd_bisect, cmd_baseline, cmd_accept,
    cmd_note, cmd_report, cmd_nightly, cmd_export, cmd_sql, cmd_db, cmd_diff, cmd_resources, cmd_gguf,
    cmd_complete;

/* In the order of the help. */
static const struct cmd *const commands[] = {
    &cmd_run,     &cmd_attach,   &cmd_status,    &cmd_watch,   &cmd_cancel,  &cmd_pull,
    &cmd_init,    &cmd_validate, &cmd_check,     &cmd_nodes,   &cmd_ingest,  &cmd_import,
    &cmd_runs,    &cmd_show,     &cmd_open,      &cmd_logs,    &cmd_compare, &cmd_best,
    &cmd_history, &cmd_noise,    &cmd_ab,        &cmd_bench,   &cmd_bisect,  &cmd_baseline,
    &cmd_accept,  &cmd_note,     &cmd_report,    &cmd_nightly, &cmd_export,  &cmd_sql,
    &cmd_db,      &cmd_diff,     &cmd_resources, &cmd_gguf,    &cmd_version, &cmd_complete};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void help(FILE *out)
{
    fputs("kernsweep: nightly performance regression testing for GPU kernels, over ssh\n\n", out);
    for (size_t i = 0; i < COMMANDS; i++)
        if (commands[i]->summary)
            fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nRun kernsweep help COMMAND for its options. Exit codes: 0 success, 1 a test or gate failed,\n"
          "2 usage error or bad input, 3 blocked, 4 regression, 5 local storage or internal error,\n"
          "6 undecided (ab), 130 interrupted.\n",
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
    fputs("kernsweep: cannot write to stdout: the output is incomplete\n", stderr);
    return EXIT_LOCAL;
}

static int unknown_command(const char *word)
{
    const char *known[COMMANDS + 1] = {"help"};
    size_t n = 1;
    for (size_t i = 0; i < COMMANDS; i++)
        if (commands[i]->summary)
            known[n++] = commands[i]->name;
    const char *meant = text_nearest(word, known, n);
    fprintf(stderr, "kernsweep: unknown command \"%.40s\": %s%s%s`kernsweep help` lists all\n", word,
            meant ? "did you mean \"" : "", meant ? meant : "", meant ? "\"? " : "");
    return EXIT_USAGE;
}

static int command(struct cmd_env *env, int argc, char **argv)
{
    const char *name = strcmp(argv[0], "--version") == 0 ? "version" : argv[0];
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return check_output(cmd_call(commands[i], env, argc, argv));
    return unknown_command(argv[0]);
}

int main(int argc, char **argv)
{
    struct cmd_env env = {.argc = argc, .argv = argv, .interrupted = &interrupted};
    catch_signals();
    run_heed(&interrupted);
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
