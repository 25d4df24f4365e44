/* cmd: the commands of `kernsweep` and what they share. Each command has one file, which describes it as a
 * struct cmd, calls the layers below and prints; only commands print. cmd_call() parses the command line.
 *
 * A command receives the environment that main() set up, its own options and the words of the command line,
 * and returns the exit code of the process (common/contract/proto.h). Machine-readable output goes to stdout,
 * messages to stderr.
 */
#pragma once

#include "common/base/alloc.h"
#include "common/base/args.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/fs.h"
#include "common/contract/proto.h"
#include "harness/session/session.h"
#include "reports/tables/terminal.h"
#include "results/store/run_data.h"
#include "results/store/store.h"

#include <jansson.h>
#include <signal.h>

struct cmd_env {
    int argc; /* the whole command line, printed if it could not run yet */
    char **argv;
    const volatile sig_atomic_t *interrupted;
    /* options of every command */
    const char *db_option;
    const char *ssh_config;
    const char *transport;
    const char *colour;
    bool json, quiet, verbose, help;
    FILE *notes; /* progress and notes for the user: stderr, or /dev/null with --quiet */
    char db[FS_PATH_MAX];
};

/* The words of the command line that are no options; v[n] is NULL. */
struct words {
    const char **v;
    size_t n;
};

/* Common options, for `without` and `unlisted`. */
enum {
    CMD_STORE_OPTIONS = 1 << 0,         /* --db */
    CMD_NODE_OPTIONS = 3 << 1 | 1 << 6, /* --ssh-config, --transport, --verbose */
    CMD_JSON = 1 << 3,
};

struct cmd {
    const char *name;
    const char *summary; /* its line in the list of commands; NULL: internal, so not listed */
    const char *usage;   /* "PLAN [options]" */
    const char *about;   /* a few sentences for its help */
    struct arg_table options;
    const void *defaults; /* initial values of the options; NULL: zeroes */
    size_t min_words, max_words;
    unsigned without;  /* common options that it lacks */
    unsigned unlisted; /* those that it accepts, so that a script may give every command the same ones, but
                        * has no use for: not in its help */
    /* args: the parsed options. Returns an exit code, or -1 with err. */
    int (*run)(struct cmd_env *env, void *args, const struct words *words, struct err *err);
};

/* Parses the command line, whose argv[0] is the name of the command, resolves env->db, and runs the command
 * or prints its help. Prints an error. Returns the exit code. */
int cmd_call(const struct cmd *cmd, struct cmd_env *env, int argc, char **argv);

/* Prints "kernsweep: <message>" to stderr and returns the exit code for the kind of error. */
int cmd_fail(const struct err *err);

/* Prints a JSON value to stdout, indented, and drops the reference. */
int cmd_print_json(json_t *value);

/* An array that is too large to be held: each row is encoded when it is printed. */
struct cmd_rows {
    const char *key;
    size_t n;
    json_t *(*encode)(const void *arg, size_t i);
    const void *arg;
};
/* As cmd_print_json() of the object with these rows as a member. */
int cmd_print_json_rows(json_t *object, const struct cmd_rows *rows);

/* Flushes stdout. Whether its reader is gone, as with `| head`, which is no error. */
bool cmd_reader_left(void);

/* Returns where to print what is read from the store meanwhile: stdout, or a file without a name if whoever
 * writes to the store waits for its readers, as a pager reads when it likes. */
FILE *cmd_output_begin(const struct store *s);
/* Closes the store, then prints what that file has, and closes it. Returns -1 with errno. */
int cmd_output_end(FILE *output, struct store *s);

/* Prints text to stdout. */
void cmd_print(const struct buf *text);
/* Prints tables and sentences, broken between words where a terminal is too narrow for them. */
void cmd_print_fitted(const struct buf *text, FILE *out);
bool cmd_colour(FILE *out);
/* Prints a table so. */
void cmd_print_table(const struct table *t);
/* What tables are fitted to. */
struct screen cmd_screen(FILE *out);

/* One preflight finding as a row, followed by its remedy. */
void cmd_print_finding(const struct finding *f, FILE *out);
/* Prints the findings that block a run, if any, to stderr. */
void cmd_print_blockers(const struct preflight *p);

/* Prints the number of an ingest's warnings and the first one to stderr, if any. where: the ingested
 * source. */
void cmd_print_warnings(const char *where, int count, const char *first);

/* Returns null for NaN and infinity, which JSON lacks. */
json_t *cmd_json_number(double v);
/* Returns the cells that a run left out, as an array. */
json_t *cmd_json_carried(const struct run_carried *cells, size_t count);

/* Parses an option's number; *out keeps its value if text is NULL. ERR_INPUT naming the option. */
int cmd_number(const char *option, const char *text, int64_t least, int64_t most, int64_t *out,
               struct err *err);

/* Notes if cells of a new baseline have no result, as regressions in them cannot be found: every comparison
 * shows them as `fixed` or `new`. */
void cmd_note_lacking(FILE *notes, const struct run_data *run);

/* Whether a word is by its name alone a plan's file rather than a run or a node. */
bool cmd_is_plan(const char *word);

/* Checks the value of --transport for struct session_options. */
int cmd_backend(const struct cmd_env *env, const char **out, struct err *err);
int cmd_store_open(const struct cmd_env *env, struct store *s, enum store_mode mode, struct err *err);
