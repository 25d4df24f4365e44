/* sweep: the record of what one command started on several nodes, and the order of exit codes. */
#include "tests/unit/support.h"

#include "harness/session/several.h"
#include "harness/session/sweep.h"

static void make(struct sweep_record *w, const char *id)
{
    *w = (struct sweep_record){.count = 2, .plan = "/p/plan.json", .ticket = "t"};
    snprintf(w->id, sizeof w->id, "%s", id);
    snprintf(w->member[0].node, sizeof w->member[0].node, "a");
    w->member[1] =
        (struct sweep_member){.node = "b", .ended = true, .code = 3, .failure = "no route \"to\" it"};
}

TEST(record_comes_back)
{
    char db[FS_PATH_MAX];
    struct sweep_record w, got;
    struct err err = {0};
    bool found;
    snprintf(db, sizeof db, "%s/sweep-back.db", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_ok(sweep_find(&got, db, "sweep-nothing", &found, &err), &err);
    assert_false(found);
    make(&w, "sweep-20260101T000000Z-t-aaaaaa");
    assert_ok(sweep_save(&w, db, &err), &err);
    make(&w, "sweep-20260102T000000Z-t-bbbbbb");
    assert_ok(sweep_save(&w, db, &err), &err);
    assert_ok(sweep_find(&got, db, "sweep-20260102", &found, &err), &err);
    assert_true(found);
    assert_string_equal(got.id, w.id);
    assert_int_equal(got.count, 2);
    assert_string_equal(got.member[0].node, "a");
    assert_false(got.member[0].ended);
    assert_int_equal(got.member[1].code, 3);
    assert_string_equal(got.member[1].failure, "no route \"to\" it");
    assert_int_equal(sweep_find(&got, db, "sweep-2026", &found, &err), -1);
    assert_non_null(strstr(err.msg, "matches 2 sweeps"));
    assert_ok(sweep_find(&got, db, "20260101", &found, &err), &err); /* might be a run's */
    assert_false(found);
}

/* A folder of its own for the records of a test. */
static const char *own_store(const char *name)
{
    static char db[FS_PATH_MAX];
    char dir[FS_PATH_MAX];
    struct err err = {0};
    snprintf(dir, sizeof dir, "%s/%s", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", name);
    assert_ok(fs_remove_tree(dir, &err), &err);
    assert_ok(fs_mkdir_p(dir, 0700, &err), &err);
    snprintf(db, sizeof db, "%.4000s/results.db", dir);
    return db;
}

static void save(const char *db, const char *id)
{
    struct sweep_record w;
    struct err err = {0};
    make(&w, id);
    assert_ok(sweep_save(&w, db, &err), &err);
}

/* Names are visited in their order: the id itself comes neither first nor last. */
TEST(an_id_names_its_own_sweep_only)
{
    const char *db = own_store("sweep-ids");
    struct sweep_record got;
    struct err err = {0};
    bool found;
    save(db, "sweep-1-a");
    save(db, "sweep-1");
    save(db, "sweep-12");
    assert_ok(sweep_find(&got, db, "sweep-1", &found, &err), &err);
    assert_true(found);
    assert_string_equal(got.id, "sweep-1");
    assert_ok(sweep_find(&got, db, "sweep-12", &found, &err), &err);
    assert_string_equal(got.id, "sweep-12");
}

static void record(const char *db, const char *run, const char *node, const char *sweep,
                   enum runrec_state state)
{
    struct runrec r = {.plan = "/p/plan.json", .state = state};
    struct err err = {0};
    snprintf(r.run_id, sizeof r.run_id, "%s", run);
    snprintf(r.node, sizeof r.node, "%s", node);
    snprintf(r.sweep, sizeof r.sweep, "%s", sweep);
    assert_ok(runrec_save(&r, db, &err), &err);
}

static bool has_unfinished(const char *db, struct sweep_record *w)
{
    struct err err = {0};
    bool found;
    assert_ok(sweep_unfinished(w, db, "/p/plan.json", &found, &err), &err);
    return found;
}

/* A run that was lost last week, of a node that has had its nights since, and one that was made without the
 * other nodes. */
TEST(only_the_newest_run_of_each_node_is_resumed)
{
    const char *db = own_store("sweep-unfinished");
    struct sweep_record w;
    assert_false(has_unfinished(db, &w));
    save(db, "sweep-1");
    save(db, "sweep-2");
    save(db, "sweep-21");
    record(db, "1-a", "a", "sweep-1", RUNREC_RUNNING);
    record(db, "1-b", "b", "sweep-1", RUNREC_INGESTED);
    assert_true(has_unfinished(db, &w));
    assert_string_equal(w.id, "sweep-1");
    record(db, "2-a", "a", "sweep-2", RUNREC_INGESTED);
    record(db, "2-b", "b", "sweep-2", RUNREC_INGESTED);
    assert_false(has_unfinished(db, &w));
    record(db, "3-b", "b", "sweep-2", RUNREC_PULLED);
    record(db, "3-c", "c", "", RUNREC_RUNNING);
    assert_true(has_unfinished(db, &w));
    assert_string_equal(w.id, "sweep-2");
    record(db, "4-b", "b", "sweep-2-lost", RUNREC_RUNNING); /* its record is gone, others begin like it */
    save(db, "sweep-2-lost-and-found");
    assert_false(has_unfinished(db, &w));
}

TEST(exit_codes_have_an_order)
{
    static const int order[] = {0, 1, 3, 4, 2, 5, 130};
    for (size_t i = 0; i < COUNT(order); i++)
        for (size_t k = 0; k <= i; k++) {
            assert_int_equal(several_worst(order[i], order[k]), order[i]);
            assert_int_equal(several_worst(order[k], order[i]), order[i]);
        }
    assert_int_equal(several_worst(77, 78), 5);
}
