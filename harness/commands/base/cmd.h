/* cmd: what the commands of `kernsweep` share. Each command has one file, which parses the arguments, calls
 * the layers below and prints; only commands print.
 *
 * A command receives its arguments (argv[0] is its name) and an environment set up by main(), and returns the
 * exit code of the process (common/contract/proto.h). Machine-readable output goes to stdout, messages to
 * stderr.
 */
#ifndef KERNSWEEP_HARNESS_COMMANDS_BASE_CMD_H
#define KERNSWEEP_HARNESS_COMMANDS_BASE_CMD_H

#include "common/base/args.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/fs.h"
#include "common/contract/proto.h"
#include "harness/session/session.h"
#include "results/store/store.h"

#include <jansson.h>
#include <signal.h>

struct cmd_env {
    int argc; /* the whole command line, kept to record how a run was started */
    char **argv;
    const volatile sig_atomic_t *interrupted;
    /* options of every command */
    const char *db_option;
    const char *ssh_config;
    const char *transport;
    const char *colour;
    bool json, quiet, verbose, help;
    FILE *notes; /* progress and notes for people: stderr, or nowhere with --quiet; set by cmd_args() */
    const char *const *unlisted; /* options of every command that this one has no use for; NULL: none */
    char db[FS_PATH_MAX];
};

typedef int cmd_fn(struct cmd_env *env, int argc, char **argv);

struct cmd {
    const char *name;
    cmd_fn *fn;
    const char *about; /* NULL: not for people, and not in the help */
};

/* Parses the command's own options and the common ones, resolves env->db, handles --help. Returns 0 to
 * continue, 1 if help was printed, -1 with err. */
int cmd_args(struct cmd_env *env, struct args *spec, int argc, char **argv, const char **words, size_t *n,
             struct err *err);

/* Prints "kernsweep: <message>" to stderr and returns the exit code for the kind of error. */
int cmd_fail(const struct err *err);

/* Prints a JSON value to stdout, indented, and drops the reference. */
int cmd_print_json(json_t *value);

/* Whether who read our stdout is gone, as in `| head`: that is no error. Flushes stdout. */
bool cmd_reader_left(void);

/* Prints text to stdout. */
void cmd_print(const struct buf *text);
bool cmd_colour(FILE *out);

/* One preflight finding as a row, followed by its remedy. */
void cmd_print_finding(const struct finding *f, FILE *out);
/* Prints the findings that block a run, if any, to stderr. */
void cmd_print_blockers(const struct preflight *p);

/* Prints the number of an ingest's warnings, if any, and the first one to stderr. where: what was ingested.
 */
void cmd_print_warnings(const char *where, int count, const char *first);

/* null for NaN and infinity, which JSON lacks. */
json_t *cmd_json_number(double v);

/* Whether a word of the command line is a plan's file rather than a run or a node: by its name alone. */
bool cmd_is_plan(const char *word);

/* The checked value of --transport, for struct session_options. */
int cmd_backend(const struct cmd_env *env, const char **out, struct err *err);
int cmd_store_open(const struct cmd_env *env, struct store *s, enum store_mode mode, struct err *err);

cmd_fn cmd_logs, cmd_open;

cmd_fn cmd_run, cmd_attach, cmd_status, cmd_cancel, cmd_pull, cmd_check, cmd_nodes, cmd_ingest, cmd_runs,
    cmd_show, cmd_compare, cmd_best, cmd_history, cmd_baseline, cmd_report, cmd_gguf, cmd_nightly,
    cmd_version, cmd_export, cmd_db, cmd_sql, cmd_noise, cmd_import, cmd_watch, cmd_resources, cmd_diff,
    cmd_ab, cmd_bisect, cmd_validate, cmd_init, cmd_bench, cmd_complete;

#endif
