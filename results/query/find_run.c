#include "results/query/find_run.h"

#include "common/base/alloc.h"
#include "results/ingest/source.h"
#include "results/store/run_load.h"

#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 5 };

static int no_latest(struct store *s, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, "SELECT count(*) AS n FROM run", err);
    if (sql_step(stmt, err) < 0)
        return -1;
    return sql_col_int(stmt, "n", 0) == 0 ? err_set(err, ERR_INPUT, "%s: no run stored yet", s->path)
                                          : err_set(err, ERR_INPUT,
                                                    "%s: every stored run is rejected or blocked, or was not "
                                                    "made as a sweep: name one by its id; "
                                                    "`kernsweep runs` lists them",
                                                    s->path);
}

static int find_latest(struct store *s, int64_t *key, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT id FROM run WHERE purpose = 'sweep' AND rejected_at IS NULL"
                                " AND status <> 'BLOCKED'"
                                " ORDER BY ordered_at DESC, id DESC LIMIT 1",
                                err);
    int rc = sql_step(stmt, err);
    if (rc == 0)
        return no_latest(s, err);
    if (rc > 0)
        *key = sql_col_int(stmt, "id", 0);
    return rc > 0 ? 0 : -1;
}

/* The number of runs with the prefix, up to CANDIDATES + 1; an exact match counts as the only one. */
static int find_prefix(struct store *s, const char *word, int64_t *key, struct buf *names, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare(s,
                    "SELECT id, run_id FROM run WHERE run_id >= :word AND run_id < :word || char(1114111)"
                    " ORDER BY run_id = :word DESC, ordered_at DESC, id DESC LIMIT :limit",
                    err);
    sql_bind_text(stmt, ":word", word);
    sql_bind_int(stmt, ":limit", CANDIDATES + 1);
    int found = 0, rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        char id[RUN_ID_MAX];
        sql_col_text(stmt, "run_id", id, sizeof id);
        if (found++ == 0)
            *key = sql_col_int(stmt, "id", 0);
        if (strcmp(id, word) == 0)
            return 1;
        if (found <= CANDIDATES)
            buf_printf(names, "%s%s", found > 1 ? ", " : "", id);
        else
            buf_puts(names, ", ...");
    }
    return rc < 0 ? -1 : found;
}

/* Finds the newest sweep of a plan's ticket that is not rejected: 1 if there is one. */
static int find_ticket(struct store *s, const char *ticket, int64_t *key, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT id FROM run WHERE ticket = :ticket AND purpose = 'sweep'"
                                " AND rejected_at IS NULL"
                                " ORDER BY status = 'BLOCKED', ordered_at DESC, id DESC LIMIT 1",
                                err);
    sql_bind_text(stmt, ":ticket", ticket);
    int rc = sql_step(stmt, err);
    if (rc > 0)
        *key = sql_col_int(stmt, "id", 0);
    return rc;
}

int store_find_ticket(struct store *s, const char *word, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, "SELECT 1 FROM run WHERE ticket = :ticket LIMIT 1", err);
    sql_bind_text(stmt, ":ticket", word);
    return sql_step(stmt, err);
}

/* Finds a run by its folder, whose ticket or date may have been given when it was ingested: 1 if found. */
static int find_ingested_from(struct store *s, const char *dir, int64_t *key, struct err *err)
{
    AUTO_FREE char *real = realpath(dir, NULL);
    if (!real)
        return 0;
    SQL_STMT stmt = sql_prepare(
        s, "SELECT id FROM run WHERE bundle = :dir ORDER BY ingested_at DESC, id DESC LIMIT 1", err);
    if (stmt)
        sql_bind_text(stmt, ":dir", real);
    int rc = sql_step(stmt, err);
    if (rc > 0)
        *key = sql_col_int(stmt, "id", 0);
    return rc;
}

static int find_folder(struct store *s, const char *dir, int64_t *key, struct err *err)
{
    struct source f;
    struct run_info info = {0};
    struct buf names;
    int rc = source_open(&f, dir, NULL, &info, err);
    source_release(&f);
    if (rc != 0) {
        struct err other = {0};
        if (find_ingested_from(s, dir, key, &other) <= 0)
            return -1;
        *err = (struct err){0};
        return 0;
    }
    buf_init(&names, 4096);
    rc = find_prefix(s, info.run_id, key, &names, err);
    buf_release(&names);
    if (rc == 0)
        return err_set(err, ERR_INPUT, "%s: run %s is not in the store: `kernsweep ingest` it first", dir,
                       info.run_id);
    return rc < 0 ? -1 : 0;
}

int store_find_run(struct store *s, const char *word, int64_t *key, struct err *err)
{
    if (strcmp(word, "latest") == 0)
        return find_latest(s, key, err);
    if (!*word)
        return err_set(err, ERR_INPUT,
                       "expected a run id, a prefix of one, a ticket, a bundle's folder or \"latest\"");
    if (fs_is_dir(word)) {
        struct err why = {0}, ignored = {0};
        if (find_folder(s, word, key, &why) == 0 ||
            find_ticket(s, word, key, &ignored) > 0) /* a folder of sources that is called like a ticket */
            return 0;
        *err = why;
        return -1;
    }
    AUTO(buf_release) struct buf names = {.max = 4096};
    int found = find_prefix(s, word, key, &names, err);
    if (found != 1 && found >= 0) {
        int of_ticket = find_ticket(s, word, key, err);
        found = of_ticket != 0 ? of_ticket : found;
    }
    if (found == 0)
        err_set(err, ERR_INPUT, "%s: no such run or ticket in %s: `kernsweep runs` lists them", word,
                s->path);
    else if (found > 1)
        err_set(err, ERR_INPUT, "%s: ambiguous run id: %s; type more of it", word, buf_str(&names));
    return found == 1 ? 0 : -1;
}

int store_load_run(struct store *s, const char *word, struct run_data *out, struct err *err)
{
    int64_t key;
    *out = (struct run_data){0};
    if (store_find_run(s, word, &key, err) != 0)
        return -1;
    return run_data_load(s, key, out, err);
}

static int check_new(const struct run_data *runs, size_t n, const char *word, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (runs[i].info.key == runs[n].info.key)
            return err_set(err, ERR_INPUT, "%.80s: run %s is named twice", word, runs[n].info.run_id);
    return 0;
}

int store_load_runs(struct store *s, const char *const *words, size_t n, struct run_data *out, size_t *count,
                    struct err *err)
{
    for (*count = 0; *count < n; ++*count) {
        size_t i = *count;
        if (store_load_run(s, words[i], &out[i], err) != 0)
            return -1;
        if (run_check_comparable(&out[i].info, err) != 0 || check_new(out, i, words[i], err) != 0) {
            ++*count;
            return -1;
        }
    }
    return 0;
}
