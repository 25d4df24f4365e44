/* store: an older store is migrated after a backup, whole or not at all. The migrations are this program's
 * own (results/store/migrations.h), so that there are some to come. */
#include "tests/unit/results_support.h"

#include "results/store/migrations.h"

const struct migration migrations[] = {
    {1, "001_first", "CREATE TABLE run (run_id TEXT) STRICT; INSERT INTO run VALUES ('old')"},
    {2, "002_noise", "CREATE TABLE noise (spread REAL) STRICT"},
    {3, "003_more", "ALTER TABLE run ADD COLUMN more INTEGER NOT NULL DEFAULT 7"},
};
const int migrations_count = COUNT(migrations);

/* A store of version 1, and what else is to be in it. */
static void make_v1(const char *name, const char *more)
{
    sqlite3 *db;
    char sql[512];
    snprintf(sql, sizeof sql, "%s; PRAGMA application_id = %d; PRAGMA user_version = 1; %s",
             migrations[0].sql, STORE_APPLICATION_ID, more);
    assert_int_equal(sqlite3_open(in_scratch(name), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void must_hold(const char *name, int version)
{
    struct store raw = {0};
    assert_int_equal(sqlite3_open(in_scratch(name), &raw.db), SQLITE_OK);
    assert_int_equal(query_int(&raw, "PRAGMA user_version"), version);
    assert_int_equal(query_int(&raw, "SELECT count(*) FROM run WHERE run_id = 'old'"), 1);
    sqlite3_close(raw.db);
}

TEST(an_older_store_is_migrated_after_a_backup)
{
    struct store s;
    struct err err = {0};
    make_v1("older.db", "");
    assert_err(store_open(&s, in_scratch("older.db"), STORE_READ, &err), &err, ERR_STORAGE, "older kernsweep",
               "db check");
    assert_false(fs_exists(in_scratch("older.db.v1.bak")));
    s = open_store("older.db");
    assert_int_equal(query_int(&s, "SELECT more FROM run"), 7);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM noise"), 0);
    store_close(&s);
    must_hold("older.db", 3);
    must_hold("older.db.v1.bak", 1);
}

/* What a process left behind that was killed while it made the copy. */
TEST(a_killed_migration_leaves_nothing_for_long)
{
    make_v1("killed.db", "");
    put("killed.db.v1.bak.tmp", "half a copy");
    put("killed.db.v1.bak.tmp-journal", "its journal");
    struct store s = open_store("killed.db");
    store_close(&s);
    assert_false(fs_exists(in_scratch("killed.db.v1.bak.tmp")));
    assert_false(fs_exists(in_scratch("killed.db.v1.bak.tmp-journal")));
    must_hold("killed.db", 3);
    must_hold("killed.db.v1.bak", 1);
}

/* A migration that fails half-way leaves the version and the tables as they were. */
TEST(a_failed_migration_changes_nothing)
{
    struct store s;
    struct err err = {0};
    make_v1("stuck.db", "CREATE TABLE noise (x)");
    assert_err(store_open(&s, in_scratch("stuck.db"), STORE_WRITE, &err), &err, ERR_STORAGE, "002_noise");
    must_hold("stuck.db", 1);
}

GROUP(scratch_make, scratch_remove);
