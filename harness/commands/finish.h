/* finish: what happens to a bundle that has arrived: into the store, compared, written up, judged.
 *
 * The end of `run`, `attach` and `nightly`. Offline: needs no node. Prints the tables (it is part of the
 * commands' voice), returns the exit code.
 */
#ifndef KERNSWEEP_HARNESS_COMMANDS_FINISH_H
#define KERNSWEEP_HARNESS_COMMANDS_FINISH_H

#include "harness/commands/cmd.h"
#include "results/query/against.h"

enum finish_fail_on { FAIL_ON_FAILURE, FAIL_ON_REGRESSION, FAIL_ON_NONE };

/* Measures the suspects of a comparison again and corrects it (confirm_run.h). */
typedef int finish_confirm(void *arg, struct store *s, const struct run_data *now,
                           const struct against *against, struct comparison *c, struct err *err);

struct finish_options {
    const char *report; /* the report's file, or NULL: beside the bundle; its plots go beside it */
    const char *html;   /* the page's file, or NULL: beside the report */
    enum finish_fail_on fail_on;
    bool quiet;              /* no tables */
    finish_confirm *confirm; /* NULL: suspects are taken at their word */
    void *confirm_arg;
    bool first_is_base; /* a baseline that does not exist yet becomes this run instead of an error */
};

/* What came of it, for who tells others. */
struct finish_result {
    enum run_status status;
    struct run_counts counts;
    int verdicts[VERDICT_COUNT];
    bool compared, became_baseline;
    json_t *summary; /* the caller json_decref()s */
};

/* "regression" counts failures too, as it is the stricter; "failure" ignores regressions. */
int finish_fail_on_from_name(const char *name, enum finish_fail_on *out, struct err *err);

/* rec->bundle is whole. result may be NULL. Returns the exit code, or -1 with err; that the run cannot be
 * compared is an error only without a result, else a line and EXIT_USAGE or worse. */
int finish_run(struct cmd_env *env, struct runrec *rec, const struct finish_options *opt,
               struct finish_result *result, struct err *err);

#endif
