/* kernsweep complete KIND: prints names from the store for the shells' completions, one per line
 * (scripts/completions). It is not listed in the help. Without a store it prints nothing, as a completion
 * must never print an error into a command line. `complete variant RUN` and `complete context RUN` list what
 * that run has. */
#include "harness/commands/base/cmd.h"
#include "results/store/query.h"
#include "results/store/run_data.h"

#include <stdio.h>
#include <string.h>

static const double patience_s = 2;

static const struct {
    const char *kind, *sql;
} kinds[] = {
    {"run", "SELECT 'latest' AS name UNION ALL SELECT run_id FROM (SELECT run_id FROM run ORDER BY id DESC "
            "LIMIT 100)"},
    {"baseline", "SELECT DISTINCT name FROM baseline WHERE removed_at IS NULL ORDER BY name"},
    {"variant", "SELECT DISTINCT variant FROM series ORDER BY variant"},
    {"context", "SELECT DISTINCT context_len FROM series ORDER BY context_len"},
    {"metric", "SELECT DISTINCT name FROM run_metric ORDER BY name"},
    {"node", "SELECT DISTINCT node FROM run ORDER BY node"},
    {"ticket", "SELECT DISTINCT ticket FROM run ORDER BY ticket"},
    {"tag", "SELECT DISTINCT tag FROM run WHERE tag <> '' ORDER BY tag"},
};

/* Columns: a name, its run, and whether that run is the one called `latest`. */
static const struct {
    const char *kind, *sql;
} kinds_of_run[] = {
    {"variant", "SELECT v.name, r.run_id, r.id = (SELECT max(id) FROM run WHERE purpose = 'sweep' AND "
                "rejected_at IS NULL)"
                " FROM variant v JOIN run r ON r.id = v.run_id ORDER BY v.name"},
    {"context",
     "SELECT DISTINCT s.context_len, r.run_id,"
     " r.id = (SELECT max(id) FROM run WHERE purpose = 'sweep' AND rejected_at IS NULL)"
     " FROM test t JOIN series s ON s.id = t.series_id JOIN run r ON r.id = t.run_id ORDER BY s.context_len"},
};

/* Leaves out names that a shell would split or interpret. */
static int print_name(void *arg, const struct query_row *row, struct err *err)
{
    (void)arg;
    (void)err;
    const char *name = row->values[0];
    if (name && *name &&
        name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@.:_+-")] == '\0')
        puts(name);
    return 0;
}

static int print_name_of_run(void *arg, const struct query_row *row, struct err *err)
{
    const char *wanted = arg, *run = row->values[1], *latest = row->values[2];
    bool same = strcmp(wanted, "latest") == 0 ? latest && strcmp(latest, "1") == 0
                                              : run && strncmp(run, wanted, strlen(wanted)) == 0;
    return same ? print_name(NULL, row, err) : 0;
}

static bool offer(struct cmd_env *env, const char *kind, char *run)
{
    struct store s = {0};
    struct err ignored = {0};
    const char *sql = NULL;
    for (size_t i = 0; !run && i < sizeof kinds / sizeof *kinds; i++)
        sql = strcmp(kinds[i].kind, kind) == 0 ? kinds[i].sql : sql;
    for (size_t i = 0; run && i < sizeof kinds_of_run / sizeof *kinds_of_run; i++)
        sql = strcmp(kinds_of_run[i].kind, kind) == 0 ? kinds_of_run[i].sql : sql;
    if (!sql)
        return false;
    if (cmd_store_open(env, &s, STORE_READ, &ignored) == 0)
        query_run(&s, sql, patience_s, NULL, run ? print_name_of_run : print_name, run, &ignored);
    store_close(&s);
    return true;
}

static int complete(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    (void)args;
    char run[RUN_ID_MAX];
    snprintf(run, sizeof run, "%s", words->n > 1 ? words->v[1] : "");
    if (offer(env, words->v[0], words->n > 1 ? run : NULL))
        return EXIT_DONE;
    return err_set(err, ERR_INPUT, "complete: no such kind \"%.40s\": kernsweep help lists the commands",
                   words->v[0]);
}

const struct cmd cmd_complete = {
    .name = "complete",
    .usage = "KIND [RUN]",
    .about = "Prints completions for a shell: names from the store.",
    .min_words = 1,
    .max_words = 2,
    .unlisted = CMD_NODE_OPTIONS,
    .run = complete,
};
