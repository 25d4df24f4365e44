/* finish: what happens to a bundle that has arrived: stored, compared, reported, judged by an exit code.
 *
 * The end of `run`, `attach` and `nightly`. Offline: opens no session and needs no node. In two steps, so
 * that a command may have suspects confirmed in between (confirm_run.h). Prints the tables (it is part of the
 * commands' voice). The caller calls finish_release(), also after a failure.
 */
#ifndef KERNSWEEP_HARNESS_COMMANDS_FINISH_H
#define KERNSWEEP_HARNESS_COMMANDS_FINISH_H

#include "harness/commands/cmd.h"
#include "results/query/against.h"

enum finish_fail_on { FAIL_ON_FAILURE, FAIL_ON_REGRESSION, FAIL_ON_NONE };

struct finish_options {
    const char *report; /* the report's file, or NULL: beside the bundle; its plots go beside it */
    const char *html;   /* the page's file, or NULL: beside the report */
    enum finish_fail_on fail_on;
    bool quiet;         /* no tables */
    bool first_is_base; /* a baseline that does not exist yet becomes this run instead of an error */
};

/* A run in the store, and its one comparison. Must not be moved (against.h). */
struct finish {
    struct store store;
    struct run_data run;
    struct against against; /* what comparison was made against */
    struct comparison comparison;
    bool compared;
    bool is_base;       /* the run is what it would be compared with */
    struct err failure; /* why it was not compared, or not confirmed: reported last; ERR_NONE: nothing */
};

/* What came of it, for callers that notify others. */
struct finish_result {
    enum run_status status;
    struct run_counts counts;
    int verdicts[VERDICT_COUNT];
    bool compared, became_baseline;
    json_t *summary; /* the caller json_decref()s */
};

/* "regression" counts failures too, as it is the stricter; "failure" ignores regressions. */
int finish_fail_on_from_name(const char *name, enum finish_fail_on *out, struct err *err);

/* Stores rec->bundle, which is whole, and compares the run with the record's baseline, if it names one. */
int finish_compare(struct cmd_env *env, struct runrec *rec, const struct finish_options *opt,
                   struct finish *f, struct err *err);
/* Writes the reports and prints the tables. Returns the exit code, or -1 with err. result may be NULL; with
 * one, a comparison that failed is only printed and makes the exit code EXIT_USAGE or worse. */
int finish_report(struct cmd_env *env, struct runrec *rec, const struct finish_options *opt, struct finish *f,
                  struct finish_result *result, struct err *err);
/* Both, for a caller that has nothing confirmed. */
int finish_run(struct cmd_env *env, struct runrec *rec, const struct finish_options *opt, struct err *err);
void finish_release(struct finish *f);

#endif
