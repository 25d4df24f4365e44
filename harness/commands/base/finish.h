/* finish: processes a fetched bundle: stores it, compares and reports the run, and determines the exit
 * code.
 *
 * The last part of `run`, `attach` and `nightly`. Needs no connection. It has two steps, between which a
 * command can have suspects confirmed (confirm_run.h). Prints the tables, as part of the command. The caller
 * calls finish_release(), also after a failure.
 */
#pragma once

#include "harness/commands/base/cmd.h"
#include "harness/nightly/digest.h"
#include "results/query/against.h"

enum finish_fail_on { FAIL_ON_FAILURE, FAIL_ON_REGRESSION, FAIL_ON_SUSPECTED, FAIL_ON_NONE };

struct finish_options {
    const char *report; /* file of the report, or NULL: next to the bundle; plots go next to the report */
    const char *html;   /* file of the HTML report, or NULL: next to the Markdown report */
    enum finish_fail_on fail_on;
    bool night;         /* report what changed since earlier nights */
    bool quiet;         /* prints no tables */
    bool smoke;         /* only a smoke test: no comparison and no report */
    bool first_is_base; /* if the baseline does not exist yet, this run becomes it */
};

/* A stored run and its comparison. Must not be moved (against.h). */
struct finish {
    struct store store;
    struct run_data run;
    struct against against; /* what the run was compared with */
    struct comparison comparison;
    struct commit_range commits;          /* since the base, or without one since the previous night */
    struct commit_range commits_of_night; /* since the previous night, if that was not the base */
    bool compared;
    bool is_base;       /* the run is itself the baseline */
    struct err failure; /* why it was not compared or confirmed; reported last */
};

/* The outcome, for callers that send notifications. */
struct finish_result {
    enum run_status status;
    struct run_counts counts;
    char verdicts[DIGEST_VERDICTS_MAX]; /* "" if the run was not compared */
    bool compared, became_baseline;
    json_t *summary; /* the caller json_decref()s */
};

/* How a command ends because of the comparison alone: EXIT_REGRESSION, EXIT_TEST_FAILED (a cell that still
 * fails, or with "failure" a broken one) or EXIT_DONE. */
int finish_code(const struct comparison *c, enum finish_fail_on fail_on);
/* "regression" includes failures; "failure" ignores regressions. */
int finish_fail_on_from_name(const char *name, enum finish_fail_on *out, struct err *err);

/* Stores rec->bundle, which is complete, and compares the run with its baseline or with earlier nights. */
int finish_compare(struct cmd_env *env, struct runrec *rec, const struct finish_options *opt,
                   struct finish *f, struct err *err);
/* Writes the reports and prints the tables. Returns the exit code, or -1 with err. Without result, a failed
 * comparison is an error; with it, the failure is printed and the exit code is not EXIT_DONE. */
int finish_report(struct cmd_env *env, struct runrec *rec, const struct finish_options *opt, struct finish *f,
                  struct finish_result *result, struct err *err);
/* Both steps at once, without confirming anything. */
int finish_run(struct cmd_env *env, struct runrec *rec, const struct finish_options *opt, struct err *err);
void finish_release(struct finish *f);

/* "x.html" for the report "x.md". out: char[FS_PATH_MAX]. */
int finish_html_beside(const char *report, char *out, struct err *err);
