/* store: made when missing, refused when newer, foreign or of a development version; its words are the
 * program's. Migrations: test_migration.c. */
#include "tests/unit/results_support.h"

#include "common/contract/proto.h"
#include "results/store/location.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(is_made_with_its_folder)
{
    AUTO(store_close) struct store s = open_store("deep/er/results.db");
    struct stat st;
    assert_int_equal(query_int(&s, "PRAGMA user_version"), store_version_known());
    assert_int_equal(query_int(&s, "PRAGMA foreign_keys"), 1);
    assert_int_equal(stat(s.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(query_int(&s, "SELECT 'wal' = (SELECT journal_mode FROM pragma_journal_mode)"), 1);
    store_close(&s);
    s = open_store("deep/er/results.db");
    assert_int_equal(query_int(&s, "SELECT count(*) FROM run"), 0);
}

TEST(reading_needs_a_store)
{
    AUTO(store_close) struct store s = {0};
    struct err err = {0};
    assert_err(store_open(&s, in_scratch("nothing.db"), STORE_READ, &err), &err, ERR_INPUT, "nothing.db",
               "--db");
    assert_false(fs_exists(in_scratch("nothing.db")));
    put("empty.db", ""); /* as a process leaves it that is killed while it makes one */
    assert_err(store_open(&s, in_scratch("empty.db"), STORE_READ, &err), &err, ERR_INPUT, "empty.db",
               "no store yet");
    err = (struct err){0};
    assert_err(store_open(&s, in_scratch("empty.db"), STORE_CHANGE, &err), &err, ERR_INPUT, "empty.db",
               "no store yet");
    s = open_store("empty.db");
    assert_int_equal(query_int(&s, "SELECT auto_vacuum FROM pragma_auto_vacuum"), 2);
}

TEST(reading_cannot_write)
{
    AUTO(store_close) struct store s = open_store("readonly.db");
    struct err err = {0};
    store_close(&s);
    assert_ok(store_open(&s, in_scratch("readonly.db"), STORE_READ, &err), &err);
    assert_int_equal(sqlite3_exec(s.db, "DELETE FROM run", NULL, NULL, NULL), SQLITE_READONLY);
}

static void hash_of(const char *name, char *hex)
{
    struct err err = {0};
    size_t size;
    assert_ok(sha256_of_file(in_scratch(name), 1 << 26, hex, &size, &err), &err);
}

/* In each mode, with these words, and nothing in the file changes. */
static void must_be_refused(const char *name, enum err_kind kind, const char *word, const char *other)
{
    static const enum store_mode modes[] = {STORE_READ, STORE_CHANGE, STORE_WRITE};
    char before[SHA256_HEX_LEN + 1], after[SHA256_HEX_LEN + 1];
    hash_of(name, before);
    for (size_t i = 0; i < COUNT(modes); i++) {
        struct store s;
        struct err err = {0};
        assert_err(store_open(&s, in_scratch(name), modes[i], &err), &err, kind, name, word, other);
        hash_of(name, after);
        assert_string_equal(before, after);
    }
}

static void make_database(const char *name, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(in_scratch(name), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

TEST(a_newer_store_is_refused)
{
    struct store s = open_store("newer.db");
    sqlite3_exec(s.db, "PRAGMA user_version = 999; PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    store_close(&s);
    must_be_refused("newer.db", ERR_STORAGE, "newer", "999");
}

TEST(a_store_of_a_development_version_is_refused)
{
    make_database("development.db", "CREATE TABLE run (id INTEGER); PRAGMA application_id = 0x6b737731;"
                                    "PRAGMA user_version = 14");
    must_be_refused("development.db", ERR_STORAGE, "development version (schema 14)",
                    "export it with the one that wrote it (`kernsweep export --format sql`), then `kernsweep "
                    "ingest` its bundles");
}

TEST(a_foreign_database_is_refused_and_left_alone)
{
    make_database("foreign.db", "CREATE TABLE theirs (x)");
    must_be_refused("foreign.db", ERR_INPUT, "not a kernsweep store", "--db");
    put("text.db", "This is a text, and long enough not to be taken for an empty database.\n");
    must_be_refused("text.db", ERR_STORAGE, "text.db", "");
}

static void spoil(const char *name, long from)
{
    FILE *f = fopen(in_scratch(name), "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    long size = ftell(f);
    assert_int_equal(fseek(f, from, SEEK_SET), 0);
    for (long i = from; i < size; i++)
        fputc(0x5a, f);
    assert_int_equal(fclose(f), 0);
}

static int count_runs(const char *name, struct err *err)
{
    struct store s;
    struct sql_stmt *stmt = NULL;
    int rc = store_open(&s, in_scratch(name), STORE_READ, err);
    if (rc == 0 && (!(stmt = sql_prepare(&s, "SELECT count(*) FROM run", err)) || sql_step(stmt, err) < 0))
        rc = -1;
    sql_finalize(stmt);
    store_close(&s);
    return rc;
}

TEST(a_damaged_store_says_what_to_do)
{
    struct err err = {0};
    struct store s = open_store("damaged.db");
    store_close(&s);
    spoil("damaged.db", 4096); /* all pages but the first */
    assert_err(count_runs("damaged.db", &err), &err, ERR_STORAGE, "damaged.db", "put a backup in its place");
    spoil("damaged.db", 0);
    assert_err(count_runs("damaged.db", &err), &err, ERR_STORAGE, "damaged.db", "put a backup in its place");
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Opens the store and stores a run of many tests. */
static int store_limited(const char *name, enum store_mode mode, rlim_t bytes, struct err *err)
{
    struct store s;
    struct ingest_result result;
    struct draft d;
    draft_night(&d, 1);
    for (int i = 1; i <= 2000; i++)
        draft_shot(&d, "v", 4096, i, 1.0);
    assert_ok(draft_finish(&d, err), err);
    limit_file_size(bytes);
    int rc = store_open(&s, in_scratch(name), mode, err);
    if (rc == 0 && mode == STORE_WRITE)
        rc = ingest_draft(&s, &d, &result, err);
    store_close(&s);
    limit_file_size(RLIM_INFINITY);
    draft_release(&d);
    return rc;
}

/* At every place where a new file or a longer one is needed, what happened is said. */
/* Whether another process sees a lock of this one on the bytes by which SQLite shares the file. */
static bool is_locked(const char *path)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000002, .l_len = 510};
        int fd = open(path, O_RDWR | O_CLOEXEC);
        _exit(fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

/* Without them, the next process to close the store removes the log that this one goes on writing to. */
TEST(a_connection_that_comes_and_goes_leaves_the_locks)
{
    AUTO(store_close) struct store s = open_store("two.db");
    assert_int_equal(query_int(&s, "SELECT count(*) FROM run"), 0);
    assert_true(is_locked(s.path));
    for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
        struct err err = {0};
        struct store other = {0};
        assert_ok(store_open(&other, in_scratch("two.db"), (enum store_mode)mode, &err), &err);
        store_close(&other);
        assert_true(is_locked(s.path));
    }
}

TEST(a_limit_on_file_size_is_named)
{
    static const rlim_t limits[] = {0, 1024, 4096, 8192, 20000, 40000, 60000, 100000};
    char name[64];
    AUTO(store_close) struct store s = open_store("limited.db");
    store_close(&s);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct err err = {0};
        snprintf(name, sizeof name, "limit-%zu.db", i);
        assert_err(store_limited(name, STORE_WRITE, limits[i], &err), &err, ERR_STORAGE, name, "ulimit -f");
        assert_null(strstr(err.msg, "is this a kernsweep store"));
        err = (struct err){0};
        assert_err(store_limited("limited.db", STORE_WRITE, limits[i], &err), &err, ERR_STORAGE, "limited.db",
                   "ulimit -f");
    }
    struct err err = {0};
    assert_err(store_limited("limited.db", STORE_READ, 0, &err), &err, ERR_STORAGE, "ulimit -f");
    signal(SIGXFSZ, SIG_DFL);
    assert_ok(store_open(&s, in_scratch("limited.db"), STORE_READ, &err), &err);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM run"), 0);
}

TEST(a_copy_is_whole)
{
    struct store s = open_store("original.db"), copy;
    struct err err = {0};
    sqlite3_exec(s.db, "INSERT INTO quantity (name) VALUES ('x')", NULL, NULL, NULL);
    assert_ok(store_copy(&s, in_scratch("copy.db"), &err), &err);
    assert_err(store_copy(&s, in_scratch("copy.db"), &err), &err, ERR_INPUT, "already exists");
    store_close(&s);
    /* A store that is open for reading can be copied too. */
    assert_ok(store_open(&s, in_scratch("original.db"), STORE_READ, &err), &err);
    assert_ok(store_copy(&s, in_scratch("copy2.db"), &err), &err);
    assert_err(store_copy(&s, in_scratch("no/folder.db"), &err), &err, ERR_STORAGE, "folder.db");
    store_close(&s);
    assert_ok(store_open(&copy, in_scratch("copy2.db"), STORE_READ, &err), &err);
    store_close(&copy);
    assert_ok(store_open(&copy, in_scratch("copy.db"), STORE_READ, &err), &err);
    assert_int_equal(query_int(&copy, "SELECT count(*) FROM quantity"), 1);
    store_close(&copy);
}

/* Every name of the program's table is accepted by the column, and the schema's constraint has no more of
 * them. */
static void check_list(struct store *s, const char *table, const char *probe, const char *(*name)(int),
                       int count)
{
    char sql[512];
    for (int i = 0; i < count; i++) {
        sqlite3_stmt *stmt = NULL;
        assert_int_equal(sqlite3_prepare_v2(s->db, probe, -1, &stmt, NULL), SQLITE_OK);
        sqlite3_bind_text(stmt, 1, name(i), -1, SQLITE_STATIC);
        sqlite3_bind_int(stmt, 2, i);
        if (sqlite3_step(stmt) != SQLITE_DONE)
            fail_msg("%s does not take the status %s: %s", table, name(i), sqlite3_errmsg(s->db));
        sqlite3_finalize(stmt);
    }
    /* Names in the constraint: quoted words. */
    snprintf(sql, sizeof sql, "SELECT sql FROM sqlite_schema WHERE name = '%s'", table);
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    const char *text = strstr((const char *)sqlite3_column_text(stmt, 0), "CHECK (status ");
    assert_non_null(text);
    int quotes = 0;
    for (const char *p = text; *p && strncmp(p, "),", 2) != 0; p++)
        quotes += *p == '\'';
    assert_int_equal(quotes / 2, count);
    sqlite3_finalize(stmt);
}

static const char *test_status(int i)
{
    return status_name((enum status)i);
}

static const char *suite_status(int i)
{
    return run_status_name((enum run_status)i);
}

TEST(the_schema_knows_the_statuses)
{
    AUTO(store_close) struct store s = open_store("statuses.db");
    check_list(&s, "run",
               "INSERT INTO run (run_id, ticket, date, node, mode, origin, content_sha256, ordered_at, "
               "ingested_at, status)"
               " VALUES ('r' || ?2, 't', '2026-02-14', 'n', 'perf', 'bundle', printf('%064d', 0), 0, 0, ?1)",
               suite_status, RUN_STATUS_COUNT);
    check_list(
        &s, "variant",
        "INSERT INTO variant (run_id, position, name, status) SELECT min(id), ?2, 'v' || ?2, ?1 FROM run",
        test_status, STATUS_COUNT);
    sqlite3_exec(
        s.db, "INSERT INTO series (node, ticket, mode, variant, context_len) VALUES ('n','t','perf','v0',1)",
        NULL, NULL, NULL);
    check_list(&s, "test",
               "INSERT INTO test (run_id, series_id, repetition, warmup, status)"
               " SELECT min(id), 1, ?2, 0, ?1 FROM run",
               test_status, STATUS_COUNT);
    assert_int_equal(sqlite3_exec(s.db, "UPDATE test SET status = 'NONSENSE'", NULL, NULL, NULL),
                     SQLITE_CONSTRAINT_CHECK);
    assert_int_equal(sqlite3_exec(s.db, "UPDATE test SET prefill_s = 0", NULL, NULL, NULL),
                     SQLITE_CONSTRAINT_CHECK);
}

static void check_words(struct store *s, const char *column, const char *const *words, size_t n)
{
    char text[80];
    struct sql_stmt *stmt;
    struct err err = {0};
    snprintf(text, sizeof text, "UPDATE test SET %s = :word", column);
    assert_non_null(stmt = sql_prepare(s, text, &err));
    for (size_t i = 0; i < n; i++) {
        sql_bind_text(stmt, ":word", words[i]);
        assert_ok(sql_run(stmt, &err), &err);
    }
    sql_bind_text(stmt, ":word", "nonsense");
    assert_err(sql_run(stmt, &err), &err, ERR_STORAGE, "CHECK");
    sql_finalize(stmt);
}

/* A list of more than two words would be a temporary table for every test that is stored. */
TEST(no_check_of_a_test_makes_a_table)
{
    static const char *const windows[] = {"timed", "busy", "test"},
                             *const held[] = {"cgroup", "scope", "group", "container"},
                             *const meters[] = {"accumulator", "power"};
    AUTO(store_close) struct store s = open_store("checks.db");
    struct err err = {0};
    struct sql_stmt *stmt = sql_prepare(
        &s,
        "EXPLAIN INSERT INTO test (run_id, series_id, repetition, warmup, status) VALUES (1, 1, 0, 0, 'OK')",
        &err);
    int steps = 0, rc;
    assert_non_null(stmt);
    for (; (rc = sql_step(stmt, &err)) > 0; steps++)
        assert_string_not_equal(sql_col_str(stmt, "opcode", NULL), "OpenEphemeral");
    assert_int_equal(rc, 0);
    assert_true(steps > 10);
    sql_finalize(stmt);
    assert_int_equal(sqlite3_exec(s.db,
                                  "INSERT INTO run (run_id, ticket, date, node, mode, origin, content_sha256,"
                                  " ordered_at, ingested_at, status) VALUES ('r', 't', '2026-02-14', 'n',"
                                  " 'perf', 'bundle', printf('%064d', 0), 0, 0, 'COMPLETE');"
                                  "INSERT INTO series (node, ticket, mode, variant, context_len)"
                                  " VALUES ('n', 't', 'perf', 'v', 1);"
                                  "INSERT INTO test (run_id, series_id, repetition, warmup, status)"
                                  " VALUES (1, 1, 0, 0, 'OK')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    check_words(&s, "activity_window", windows, 3);
    check_words(&s, "contained", held, 4);
    check_words(&s, "joules_from", meters, 2);
    assert_int_equal(
        query_int(&s, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
}

/* Only a migration may change the schema's own table. */
TEST(the_schema_is_out_of_reach)
{
    AUTO(store_close) struct store s = open_store("reach.db");
    sqlite3_exec(s.db, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
    assert_int_not_equal(sqlite3_exec(s.db, "UPDATE sqlite_schema SET sql = ''", NULL, NULL, NULL),
                         SQLITE_OK);
}

TEST(the_default_path_follows_the_environment)
{
    struct err err = {0};
    char path[FS_PATH_MAX];
    unsetenv("KERNSWEEP_DB");
    unsetenv("XDG_DATA_HOME");
    setenv("HOME", "/home/u", 1);
    assert_ok(store_default_path(path, &err), &err);
    assert_string_equal(path, "/home/u/.local/share/kernsweep/results.db");
    setenv("XDG_DATA_HOME", "data", 1);
    char under_home[FS_PATH_MAX];
    snprintf(under_home, sizeof under_home, "%s", path);
    assert_ok(store_default_path(path, &err), &err);
    assert_string_equal(path, under_home);
    setenv("XDG_DATA_HOME", "/data", 1);
    assert_ok(store_default_path(path, &err), &err);
    assert_string_equal(path, "/data/kernsweep/results.db");
    setenv("KERNSWEEP_DB", "/x/y.db", 1);
    assert_ok(store_default_path(path, &err), &err);
    assert_string_equal(path, "/x/y.db");
}

/* Holds a read lock on the file until it is killed. */
static pid_t start_reader(const char *path)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t reader = fork();
    if (reader == 0) {
        struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
        if (fcntl(open(path, O_RDONLY), F_SETLK, &lock) == 0 && write(ready[1], "r", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return reader;
}

TEST(who_holds_a_store_is_told)
{
    char holder[LOCATION_HOLDER_MAX], want[64];
    const char *path = put("held.db", "x");
    assert_false(location_holder(path, holder));
    pid_t reader = start_reader(path);
    snprintf(want, sizeof want, "process %d of user ", (int)reader);
    assert_true(location_holder(path, holder));
    assert_memory_equal(holder, want, strlen(want));
    assert_non_null(strstr(holder, " (test_store)"));
    kill(reader, SIGKILL);
    waitpid(reader, NULL, 0);
    assert_false(location_holder(path, holder));
}

GROUP(scratch_make, scratch_remove);
