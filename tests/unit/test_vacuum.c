/* vacuum: unused space is released in steps, what was released stays released when it is interrupted, and the
 * store is whole whenever that happens. */
#include "tests/unit/results_support.h"

#include "results/store/maintain.h"

enum { BLOBS = 400, BLOB_BYTES = 100000 };

static volatile sig_atomic_t stop;

struct seen {
    int calls;
    double last;
    int stop_after; /* calls; 0: never */
};

static void watch(void *arg, double done)
{
    struct seen *seen = arg;
    assert_true(done >= seen->last && done <= 1);
    seen->last = done;
    if (++seen->calls == seen->stop_after)
        stop = 1;
}

static void count_problem(void *arg, const char *what)
{
    (void)what;
    *(int *)arg += 1;
}

static void must_be_whole(struct store *s, int64_t tests)
{
    struct err err = {0};
    struct check_result r;
    int problems = 0;
    assert_ok(store_check(s, count_problem, &problems, &r, &err), &err);
    assert_int_equal(problems, 0);
    assert_int_equal(r.tests, tests);
}

/* A store with a run of three tests and 40 MB that nothing uses any more. */
static void with_room(struct store *s, const char *name)
{
    *s = open_store(name);
    struct err err = {0};
    struct draft d;
    char text[128];
    stop = 0;
    assert_ok(sql_exec(s, "PRAGMA synchronous = OFF; CREATE TABLE filler (b BLOB)", &err), &err);
    draft_night(&d, 1);
    for (int i = 1; i <= 3; i++)
        draft_shot(&d, "v", 4096, i, 1.0);
    must_store(s, &d);
    for (int i = 0; i < BLOBS; i++) {
        snprintf(text, sizeof text, "INSERT INTO filler VALUES (zeroblob(%d))", BLOB_BYTES);
        assert_ok(sql_exec(s, text, &err), &err);
    }
    assert_ok(sql_exec(s, "DROP TABLE filler", &err), &err);
    char path[FS_PATH_MAX];
    snprintf(path, sizeof path, "%s", s->path);
    store_close(s); /* a store that heeds a signal must not be moved */
    assert_ok(store_open_heeding(s, path, STORE_WRITE, &stop, &err), &err);
}

static int64_t pages_unused(struct store *s)
{
    return query_int(s, "SELECT freelist_count FROM pragma_freelist_count");
}

TEST(unused_space_is_released)
{
    AUTO(store_close) struct store s = {0};
    with_room(&s, "released.db");
    struct err err = {0};
    struct vacuum_need need;
    struct seen seen = {0};
    assert_ok(store_vacuum_begin(&s, &need, &err), &err);
    assert_true(need.unused > 30000000 && need.unused < need.bytes);
    assert_true(need.temporary > 0 && need.temporary < need.unused * 2);
    assert_ok(store_vacuum(&s, &need, watch, &seen, &err), &err);
    assert_true(seen.calls >= 3);
    assert_true(seen.last >= 1);
    assert_int_equal(pages_unused(&s), 0);
    must_be_whole(&s, 3);
}

TEST(an_interruption_keeps_what_was_released)
{
    AUTO(store_close) struct store s = {0};
    with_room(&s, "interrupted.db");
    struct err err = {0};
    struct vacuum_need need;
    struct seen seen = {.stop_after = 2};
    assert_ok(store_vacuum_begin(&s, &need, &err), &err);
    int64_t before = pages_unused(&s);
    assert_err(store_vacuum(&s, &need, watch, &seen, &err), &err, ERR_INTERRUPTED, "stays released");
    stop = 0;
    assert_true(pages_unused(&s) > 0 && pages_unused(&s) < before);
    must_be_whole(&s, 3);
    err = (struct err){0};
    assert_ok(store_vacuum_begin(&s, &need, &err), &err);
    assert_ok(store_vacuum(&s, &need, NULL, NULL, &err), &err);
    assert_int_equal(pages_unused(&s), 0);
}

TEST(too_little_space_is_said_before)
{
    AUTO(store_close) struct store s = {0};
    with_room(&s, "full.db");
    struct err err = {0};
    struct vacuum_need need;
    assert_ok(store_vacuum_begin(&s, &need, &err), &err);
    need.available = need.temporary - 1;
    assert_err(store_vacuum(&s, &need, NULL, NULL, &err), &err, ERR_STORAGE, "make room there");
}

/* A node's cells that no run measures any more have outlived their measurements of tests side by side. */
TEST(cells_without_tests_are_dropped)
{
    AUTO(store_close) struct store s = open_store("cells.db");
    struct err err = {0};
    struct vacuum_need need;
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "v", 4096, 1, 1.0);
    must_store(&s, &d);
    assert_ok(sql_exec(&s,
                       "INSERT INTO noise VALUES (1, 'prefill_s', 0.01, 3, 1);"
                       "INSERT INTO together VALUES (1, 'prefill_s', 1.1, NULL, NULL, 2, 1); DELETE FROM run",
                       &err),
              &err);
    assert_ok(store_vacuum_begin(&s, &need, &err), &err);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM series"), 0);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM together"), 0);
}

GROUP(scratch_make, scratch_remove);
