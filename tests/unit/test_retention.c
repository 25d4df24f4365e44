/* retention: samples of older runs leave the store some runs at a time; an interruption keeps what was
 * removed, and the next call goes on. */
#include "tests/unit/results_support.h"

#include "harness/nightly/retention.h"
#include "results/store/baseline.h"
#include "results/store/runs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 60, KEPT = 10, AT_ONCE = 16, FILES = 2000 };

static volatile sig_atomic_t stop;
static char db[FS_PATH_MAX];

struct seen {
    size_t calls, total, stop_at;
};

static void watch_runs(void *arg, size_t done, size_t total)
{
    struct seen *seen = arg;
    assert_true(done == seen->calls + 1 && done <= total);
    seen->calls = done;
    seen->total = total;
    if (done == seen->stop_at)
        stop = 1;
}

static void record_run(int night)
{
    struct err err = {0};
    struct runrec r = {.state = RUNREC_INGESTED};
    snprintf(r.run_id, sizeof r.run_id, "night-%04d", night);
    snprintf(r.node, sizeof r.node, NODE);
    snprintf(r.workdir, sizeof r.workdir, "w");
    snprintf(r.bundle, sizeof r.bundle, "%s/bundle-%d", scratch, night);
    snprintf(r.plan, sizeof r.plan, "plan.json");
    snprintf(r.ticket, sizeof r.ticket, "demo");
    assert_ok(runrec_save(&r, db, &err), &err);
}

/* Nights with two tests each, of which every one has samples; the third night is a baseline. */
static int set_up(void **state)
{
    struct err err = {0};
    if (scratch_make(state) != 0)
        return -1;
    struct store s = open_store("store/results.db");
    memcpy(db, s.path, sizeof db);
    assert_ok(sql_exec(&s, "PRAGMA synchronous = OFF", &err), &err);
    for (int night = 0; night < RUNS; night++) {
        struct draft d;
        draft_night(&d, night);
        draft_shot(&d, "v", 4096, 1, 1.0);
        draft_shot(&d, "v", 4096, 2, 1.0);
        int64_t key = must_store(&s, &d);
        if (night == 2)
            assert_ok(baseline_set(&s, "good", key, false, &err), &err);
        record_run(night);
    }
    assert_ok(sql_exec(&s, "INSERT INTO telemetry SELECT id, 1, x'00' FROM test", &err), &err);
    store_close(&s);
    return 0;
}

static int64_t tests_with_samples(void)
{
    struct store s;
    struct err err = {0};
    assert_ok(store_open(&s, db, STORE_READ, &err), &err);
    int64_t n = query_int(&s, "SELECT count(*) FROM telemetry");
    store_close(&s);
    return n;
}

TEST(samples_of_older_runs_are_removed)
{
    struct err err = {0};
    struct seen seen = {.stop_at = 30};
    const struct retention_watch watch = {&stop, watch_runs, &seen};
    assert_err(retention_prune_samples(db, "plan.json", NULL, KEPT, &watch, &err), &err, ERR_INTERRUPTED,
               "the next night removes the rest");
    assert_int_equal(seen.total, RUNS - KEPT);
    assert_int_equal(tests_with_samples(), 2 * (RUNS - AT_ONCE));
    stop = 0;
    seen = (struct seen){0};
    err = (struct err){0};
    assert_ok(retention_prune_samples(db, "plan.json", NULL, KEPT, &watch, &err), &err);
    assert_int_equal(seen.calls, RUNS - KEPT);
    assert_int_equal(tests_with_samples(), 2 * (KEPT + 1));
    assert_ok(retention_prune_samples(db, "plan.json", NULL, KEPT, NULL, &err), &err);
    assert_int_equal(tests_with_samples(), 2 * (KEPT + 1));
}

static const char *bundle_of(int night)
{
    char name[32];
    snprintf(name, sizeof name, "bundle-%d", night);
    return in_scratch(name);
}

/* A bundle of many files, as far as retention looks at it. */
static void make_files(int night)
{
    char path[FS_PATH_MAX], text[128];
    struct err err = {0};
    assert_ok(fs_remove_tree(bundle_of(night), &err), &err);
    assert_ok(fs_mkdir_p(bundle_of(night), 0700, &err), &err);
    snprintf(text, sizeof text, "{\"run_id\": \"night-%04d\"}", night);
    for (int i = 1; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/f%d", bundle_of(night), i);
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600); /* put() waits for the disk */
        assert_true(fd >= 0);
        close(fd);
    }
    snprintf(path, sizeof path, "bundle-%d/manifest.json", night);
    put(path, text);
}

static int count_file(const char *rel, const char *full, void *arg, struct err *err)
{
    (void)rel;
    (void)full;
    (void)err;
    ++*(int *)arg;
    return 0;
}

static int files_below(const char *dir)
{
    struct err err = {0};
    int n = 0;
    if (fs_is_dir(dir))
        assert_ok(fs_walk(dir, true, count_file, &n, &err), &err);
    return n;
}

static void prune_and_be_killed(useconds_t after)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(retention_prune(db, "plan.json", NULL, 1, NULL, NULL, NULL, NULL) != 0);
    usleep(after);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Whenever it is killed, a bundle is whole or gone, and the next call removes what is left of it. */
TEST(a_killed_removal_is_completed)
{
    struct err err = {0};
    for (int i = 0; i < 12; i++) {
        make_files(0);
        make_files(RUNS - 1);
        prune_and_be_killed((useconds_t)i * 2500);
        int left = files_below(bundle_of(0));
        assert_true(left == 0 || left == FILES);
        assert_ok(retention_prune(db, "plan.json", NULL, 1, NULL, NULL, NULL, &err), &err);
        assert_int_equal(files_below(bundle_of(0)), 0);
        assert_int_equal(files_below(bundle_of(RUNS - 1)), FILES);
        assert_false(fs_exists(in_scratch("night-0000.removing")));
    }
}

GROUP(set_up, scratch_remove);
