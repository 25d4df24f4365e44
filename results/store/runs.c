#include "results/store/runs.h"

#include "results/ingest/source.h"
#include "results/store/run_rows.h"
#include "results/store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 5 };

int runs_list(struct store *s, const struct run_filter *filter, struct run_list *out, struct err *err)
{
    static const struct run_filter all;
    const struct run_filter *f = filter ? filter : &all;
    *out = (struct run_list){0};
    SQL_STMT stmt = sql_prepare(
        s,
        RUN_SELECT "WHERE (:ticket IS NULL OR r.ticket = :ticket) AND (:tag IS NULL OR r.tag = :tag)"
                   " AND (:node IS NULL OR r.node = :node) AND (:mode IS NULL OR r.mode = :mode)"
                   " ORDER BY r.ordered_at DESC, r.id DESC LIMIT :limit",
        err);
    if (!stmt)
        return -1;
    sql_bind_text(stmt, ":ticket", f->ticket);
    sql_bind_text(stmt, ":tag", f->tag);
    sql_bind_text(stmt, ":node", f->node);
    sql_bind_text(stmt, ":mode", f->mode);
    sql_bind_int(stmt, ":limit", f->limit ? (int64_t)f->limit : -1);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        if (out->count == cap) {
            cap = cap ? 2 * cap : 16;
            struct run_info *runs = realloc(out->runs, cap * sizeof *runs);
            if (!runs) {
                rc = err_set(err, ERR_INTERNAL, "no memory for %zu runs", cap);
                break;
            }
            out->runs = runs;
        }
        rc = run_info_read(s, stmt, &out->runs[out->count++], err);
        if (rc != 0)
            break;
    }
    if (rc != 0)
        run_list_release(out);
    return rc;
}

void run_list_release(struct run_list *l)
{
    free(l->runs);
    *l = (struct run_list){0};
}

static int find_latest(struct store *s, int64_t *key, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, "SELECT id FROM run ORDER BY ordered_at DESC, id DESC LIMIT 1", err);
    int rc = stmt ? sql_step(stmt, err) : -1;
    if (rc == 0)
        return err_set(err, ERR_INPUT, "%s: no run stored yet", s->path);
    if (rc > 0)
        *key = sql_col_int(stmt, "id", 0);
    return rc > 0 ? 0 : -1;
}

/* How many runs begin with the word (at most CANDIDATES + 1 are looked at); an exact match is the only one.
 */
static int find_prefix(struct store *s, const char *word, int64_t *key, struct buf *names, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT id, run_id FROM run WHERE substr(run_id, 1, length(:word)) = :word"
                                " ORDER BY run_id = :word DESC, ordered_at DESC, id DESC LIMIT :limit",
                                err);
    if (!stmt)
        return -1;
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

static int find_folder(struct store *s, const char *dir, int64_t *key, struct err *err)
{
    struct source f;
    struct run_info info = {0};
    struct buf names;
    int rc = source_open(&f, dir, NULL, &info, err);
    source_release(&f);
    if (rc != 0)
        return -1;
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
    struct buf names;
    if (strcmp(word, "latest") == 0)
        return find_latest(s, key, err);
    if (!*word)
        return err_set(err, ERR_INPUT, "expected a run id, a prefix of one, a bundle's folder or \"latest\"");
    if (fs_is_dir(word))
        return find_folder(s, word, key, err);
    buf_init(&names, 4096);
    int found = find_prefix(s, word, key, &names, err);
    if (found == 0)
        err_set(err, ERR_INPUT, "%s: no such run in %s: `kernsweep runs` lists them", word, s->path);
    else if (found > 1)
        err_set(err, ERR_INPUT, "%s: several runs begin so: %s; give more of the id", word, buf_str(&names));
    buf_release(&names);
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

int runs_remove(struct store *s, int64_t key, struct err *err)
{
    char name[RUN_NAME_MAX];
    SQL_STMT held = sql_prepare(s,
                                "SELECT b.name FROM baseline_run h JOIN baseline b ON b.id = h.baseline_id"
                                " WHERE h.run_id = :run",
                                err);
    SQL_STMT stmt = sql_prepare(s, "DELETE FROM run WHERE id = :run", err);
    if (!held || !stmt)
        return -1;
    sql_bind_int(held, ":run", key);
    sql_bind_int(stmt, ":run", key);
    int rc = sql_step(held, err);
    if (rc < 0)
        return -1;
    if (rc > 0) {
        sql_col_text(held, "name", name, sizeof name);
        return err_set(err, ERR_INPUT, "the run is held by baseline \"%s\": remove that first", name);
    }
    return sql_run(stmt, err);
}

int runs_drop_samples(struct store *s, int64_t key, int64_t *dropped, struct err *err)
{
    SQL_STMT stmt = sql_prepare(
        s, "DELETE FROM telemetry WHERE test_id IN (SELECT id FROM test WHERE run_id = :run)", err);
    if (!stmt)
        return -1;
    sql_bind_int(stmt, ":run", key);
    if (sql_run(stmt, err) != 0)
        return -1;
    *dropped = sqlite3_changes(s->db);
    return 0;
}
