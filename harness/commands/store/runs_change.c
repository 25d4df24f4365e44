#include "harness/commands/store/runs_change.h"

#include "results/query/find_run.h"
#include "results/store/run_folder.h"
#include "results/store/run_load.h"
#include "results/store/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_removed(const struct run_info *r, int64_t cells, FILE *notes)
{
    fprintf(notes, "removed run %s from the store", r->run_id);
    if (cells > 0)
        fprintf(notes, ", with the confirmation of %lld cell%s", (long long)cells, text_plural(cells));
    if (run_folder_may_be_of(r->bundle, r->run_id))
        fprintf(notes, "; its bundle stays in %s, and `kernsweep ingest` stores it again", r->bundle);
    fputc('\n', notes);
}

static int remove_loaded(const struct cmd_env *env, struct store *s, const struct run_data *runs, size_t n,
                         struct err *err)
{
    int64_t keys[RUNS_CHANGE_WORDS] = {0}, confirmed[RUNS_CHANGE_WORDS] = {0};
    for (size_t i = 0; i < n; i++) {
        keys[i] = runs[i].info.key;
        if (runs_confirmed_cells(s, keys[i], &confirmed[i], err) != 0)
            return -1;
    }
    if (runs_remove(s, keys, n, err) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        print_removed(&runs[i].info, confirmed[i], env->notes);
    return 0;
}

/* Removes all of the runs or none, so that a mistyped name removes nothing. */
static int remove_runs(const struct cmd_env *env, struct store *s, const char **words, size_t n,
                       struct err *err)
{
    int rc = 0;
    AUTO_FREE struct run_data *runs = xcalloc(n, sizeof *runs);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = store_load_run(s, words[i], &runs[i], err);
    if (rc == 0)
        rc = remove_loaded(env, s, runs, n, err);
    for (size_t i = 0; i < n; i++)
        run_data_release(&runs[i]);
    return rc;
}

static int reject_run(const struct cmd_env *env, struct store *s, const char *word, const char *why,
                      struct err *err)
{
    AUTO(run_data_release) struct run_data run = {0};
    if (store_load_run(s, word, &run, err) != 0)
        return -1;
    if (runs_reject(s, run.info.key, why ? why : "", err) != 0)
        return err_wrap(err, "%s", run.info.run_id);
    fprintf(
        env->notes,
        "run %s is rejected: it is kept and shown, but never compared; `kernsweep runs unreject %s` accepts "
        "it again\n",
        run.info.run_id, run.info.run_id);
    return 0;
}

static int unreject_run(const struct cmd_env *env, struct store *s, const char *word, struct err *err)
{
    AUTO(run_data_release) struct run_data run = {0};
    if (store_load_run(s, word, &run, err) != 0)
        return -1;
    if (runs_unreject(s, run.info.key, err) != 0)
        return err_wrap(err, "%s", run.info.run_id);
    fprintf(env->notes, "run %s is no longer rejected\n", run.info.run_id);
    return 0;
}

int runs_change(const struct cmd_env *env, struct store *s, const char **words, size_t n, const char *why,
                struct err *err)
{
    if (env->json)
        return err_set(err, ERR_INPUT, "runs %.20s: --json is not supported: it prints no results", words[0]);
    if (strcmp(words[0], "remove") == 0 && n > 1)
        return remove_runs(env, s, words + 1, n - 1, err);
    if (strcmp(words[0], "reject") == 0 && n == 2)
        return reject_run(env, s, words[1], why, err);
    if (strcmp(words[0], "unreject") == 0 && n == 2)
        return unreject_run(env, s, words[1], err);
    return err_set(err, ERR_INPUT,
                   "runs: usage: kernsweep runs [options] | remove RUN... | reject RUN --why TEXT | unreject "
                   "RUN");
}
