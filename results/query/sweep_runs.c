#include "results/query/sweep_runs.h"

#include "common/base/alloc.h"
#include "results/query/find_run.h"
#include "results/store/run_load.h"
#include "results/store/sql.h"

#include <stdlib.h>
#include <string.h>

int sweep_runs(struct store *s, const char *sweep, int64_t **keys, size_t *count, struct err *err)
{
    size_t room = 0;
    int rc;
    *keys = NULL;
    *count = 0;
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT id FROM run WHERE sweep = :sweep AND purpose = 'sweep'"
                                " ORDER BY node, ordered_at, id",
                                err);
    sql_bind_text(stmt, ":sweep", sweep);
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(*keys, *count + 1, room);
        (*keys)[(*count)++] = sql_col_int(stmt, "id", 0);
    }
    if (rc == 0)
        return 0;
    free(*keys);
    *keys = NULL;
    *count = 0;
    return -1;
}

static int find_latest(struct store *s, char *id, struct err *err)
{
    AUTO(run_data_release) struct run_data run = {0};
    struct err none = {0};
    int64_t key;
    if (store_find_run(s, "latest", &key, &none) != 0)
        return 0; /* the caller says so, when it looks for the run */
    if (run_facts_load(s, key, &run, err) != 0)
        return -1;
    memcpy(id, run.info.sweep, RUN_ID_MAX);
    return 0;
}

int sweep_runs_find(struct store *s, const char *word, char *id, struct err *err)
{
    int found = 0, rc;
    *id = '\0';
    if (strcmp(word, "latest") == 0)
        return find_latest(s, id, err);
    if (!*word)
        return 0;
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT DISTINCT sweep FROM run WHERE substr(sweep, 1, length(:word)) = :word"
                                " ORDER BY sweep = :word DESC LIMIT 2",
                                err);
    sql_bind_text(stmt, ":word", word);
    while ((rc = sql_step(stmt, err)) > 0) {
        if (found++ == 0)
            sql_col_text(stmt, "sweep", id, RUN_ID_MAX);
        if (strcmp(id, word) == 0)
            return 0;
    }
    if (found > 1)
        *id = '\0';
    return rc;
}

int ticket_runs(struct store *s, const char *ticket, size_t most, int64_t **keys, size_t *count,
                size_t *total, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare(s,
                    "SELECT id, count(*) OVER () AS total FROM run WHERE ticket = :ticket"
                    " AND purpose = 'sweep' ORDER BY date DESC, ordered_at DESC, id DESC LIMIT :most",
                    err);
    sql_bind_text(stmt, ":ticket", ticket);
    sql_bind_int(stmt, ":most", (int64_t)most);
    *keys = xcalloc(most, sizeof **keys);
    *count = *total = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        memmove(*keys + 1, *keys, *count * sizeof **keys);
        **keys = sql_col_int(stmt, "id", 0);
        *total = (size_t)sql_col_int(stmt, "total", 0);
        ++*count;
    }
    return rc;
}
