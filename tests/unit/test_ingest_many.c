/* ingest of many bundles at once: their order, what is told of each, and a store that is full. */
#include "tests/unit/results_support.h"

/* What was told of the folders of one call, in the order it came. */
struct told {
    char dirs[8][32]; /* their last parts */
    int outcome[8];   /* -1: refused */
    char message[ERR_MSG_MAX];
    size_t count;
};

static void note(void *arg, const char *dir, const struct ingest_result *r, const struct err *err)
{
    struct told *t = arg;
    snprintf(t->dirs[t->count], sizeof t->dirs[0], "%s", strrchr(dir, '/') + 1);
    t->outcome[t->count++] = r ? (int)r->effect : -1;
    if (!r)
        snprintf(t->message, sizeof t->message, "%s", err->msg);
}

TEST(many_are_stored_in_their_order)
{
    AUTO(store_close) struct store s = open_store("many.db");
    struct err err = {0};
    struct told t = {0};
    char dirs[5][FS_PATH_MAX];
    const char *list[5];
    for (int i = 0; i < 5; i++) {
        char name[32], id[32];
        snprintf(name, sizeof name, "many%d", i);
        snprintf(id, sizeof id, "run-many%d", i == 3 ? 0 : i);
        snprintf(dirs[i], sizeof dirs[i], "%s", make_bundle(name, id));
        list[i] = dirs[i];
    }
    put("many2/v3/ctx_256_run1/perf.json", "{}");
    must_ingest(&s, dirs[4], NULL);
    assert_ok(ingest_bundles(&s, list, 5, NULL, note, &t, &err), &err);
    assert_int_equal(t.count, 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(t.dirs[i], strrchr(dirs[i], '/') + 1);
    const int outcomes[] = {INGEST_STORED, INGEST_STORED, -1, INGEST_ALREADY, INGEST_ALREADY};
    assert_memory_equal(t.outcome, outcomes, sizeof outcomes);
    assert_non_null(strstr(t.message, "many2/manifest.json: $.files["));
    assert_int_equal(query_int(&s, "SELECT count(*) FROM run"), 3);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM test"), 24);
    assert_int_equal(query_int(&s, "SELECT sum(samples) FROM telemetry"), 72);
    assert_ok(ingest_bundles(&s, list, 0, NULL, note, &t, &err), &err);
    assert_int_equal(t.count, 5);
}

static void count_told(void *arg, const char *dir, const struct ingest_result *r, const struct err *err)
{
    int *told = arg;
    (void)dir;
    told[r ? 0 : 1]++;
    if (!r)
        assert_non_null(strstr(err->msg, "full"));
}

/* Some nights make one transaction: what is told of as stored is there, whatever the store had room for. */
TEST(a_full_store_has_what_was_told)
{
    enum { NIGHTS = 20 };
    static char dirs[NIGHTS][FS_PATH_MAX];
    const char *list[NIGHTS];
    struct err err = {0};
    for (int i = 0; i < NIGHTS; i++) {
        char name[32], id[32];
        snprintf(name, sizeof name, "full%d", i);
        snprintf(id, sizeof id, "run-full%d", i);
        snprintf(dirs[i], sizeof dirs[i], "%s", make_bundle(name, id));
        list[i] = dirs[i];
    }
    for (int room = 1; room < 5; room++) {
        char name[32], limit[64];
        snprintf(name, sizeof name, "full%d.db", room);
        struct store s = open_store(name);
        int told[2] = {0};
        snprintf(limit, sizeof limit, "PRAGMA max_page_count = %d",
                 (int)query_int(&s, "PRAGMA page_count") + room);
        assert_int_equal(sqlite3_exec(s.db, limit, NULL, NULL, NULL), SQLITE_OK);
        assert_ok(ingest_bundles(&s, list, NIGHTS, NULL, count_told, told, &err), &err);
        assert_int_equal(told[0] + told[1], NIGHTS);
        assert_true(told[1] > 0);
        store_close(&s);
        s = open_store(name);
        assert_int_equal(query_int(&s, "SELECT count(*) FROM run"), told[0]);
        assert_int_equal(query_int(&s, "SELECT count(*) FROM test"), 8 * told[0]);
        store_close(&s);
    }
}

GROUP(scratch_make, scratch_remove);
