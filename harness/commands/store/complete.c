/* kernsweep complete KIND: what the shells' completions offer of the store, one name per line
 * (scripts/completions). Not in the help. A completion must never print an error into somebody's command
 * line: without a store it offers nothing. */
#include "harness/commands/base/cmd.h"
#include "results/store/query.h"

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

/* Names that a shell would read as several words, or as an escape sequence, are left out. */
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

int cmd_complete(struct cmd_env *env, int argc, char **argv)
{
    struct args spec = {.command = "complete",
                        .usage = "KIND",
                        .about = "Prints what a shell may complete: names of the store.",
                        .min_words = 1,
                        .max_words = 1};
    struct err err = {0};
    struct store s = {0};
    const char *words[1];
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, words, &n, &err);
    if (rc != 0)
        return rc == 1 ? EXIT_DONE : cmd_fail(&err);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].kind, words[0]) != 0)
            continue;
        if (cmd_store_open(env, &s, STORE_READ, &err) == 0)
            query_run(&s, kinds[i].sql, patience_s, NULL, print_name, NULL, &err);
        store_close(&s);
        return EXIT_DONE;
    }
    err_set(&err, ERR_INPUT, "complete: no such kind \"%.40s\": kernsweep help lists the commands", words[0]);
    return cmd_fail(&err);
}
