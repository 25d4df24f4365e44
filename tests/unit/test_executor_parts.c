/* Small parts of the executor: estimates, hang detection, the manifest, log text, locks. */
#include "tests/unit/support.h"

#include "common/base/json.h"
#include "executor/bundle/logtext.h"
#include "executor/bundle/manifest.h"
#include "executor/suite/eta.h"
#include "executor/telemetry/hang.h"
#include "executor/workdir/lock.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>

TEST(estimates_scale_with_finished_tests)
{
    struct job_test tests[] = {
        {.variant = 0, .context = 100, .timeout_s = 10}, {.variant = 1, .context = 100, .timeout_s = 10},
        {.variant = 0, .context = 200, .timeout_s = 40}, {.variant = 1, .context = 200, .timeout_s = 40},
        {.variant = 0, .context = 100, .timeout_s = 10},
    };
    struct job job = {.test = tests, .test_count = COUNT(tests)};
    struct eta eta;
    eta_init(&eta, &job);
    assert_true(eta_left(&eta) < 0);
    assert_true(eta_test(&eta, 0) < 0);
    eta_finished(&eta, 0, 2);
    assert_true(fabs(eta_test(&eta, 4) - 2) < 1e-9); /* its own cell */
    assert_true(fabs(eta_test(&eta, 1) - 2) < 1e-9); /* its context */
    assert_true(fabs(eta_test(&eta, 2) - 8) < 1e-9); /* the same part of its time-out */
    assert_true(fabs(eta_left(&eta) - (2 + 8 + 8 + 2)) < 1e-9);
    eta_running(&eta, 1, 1);
    assert_true(fabs(eta_left(&eta) - 19) < 1e-9);
    eta_running(&eta, 1, 1000);
    assert_true(eta_left(&eta) == 0);
    eta_finished(&eta, 1, 4);
    assert_true(fabs(eta_test(&eta, 1) - 4) < 1e-9);
    eta_dropped(&eta, 2);
    eta_dropped(&eta, 3);
    eta_finished(&eta, 4, 2);
    assert_true(eta_left(&eta) == 0);
    eta_release(&eta);
}

/* Two lanes with a context each, and a variant whose tests run alone. */
TEST(estimates_know_of_lanes)
{
    struct variant variants[] = {{.name = "v"}, {.name = "quiet", .alone = true}};
    struct job_test tests[] = {
        {.variant = 0, .context = 100, .timeout_s = 10}, {.variant = 0, .context = 100, .timeout_s = 10},
        {.variant = 0, .context = 200, .timeout_s = 10}, {.variant = 0, .context = 200, .timeout_s = 10},
        {.variant = 0, .context = 200, .timeout_s = 10}, {.variant = 1, .context = 100, .timeout_s = 10},
    };
    const size_t lane_of[] = {0, 0, 1, 1, 1, 0}, moved[] = {0, 0, 0, 0, 0, 0};
    struct job job = {.variant = variants, .test = tests, .test_count = COUNT(tests)};
    struct eta eta;
    eta_init(&eta, &job);
    eta_finished(&eta, 0, 2);
    assert_true(fabs(eta_left(&eta) - 5 * 2) < 1e-9); /* one lane */
    eta_spread(&eta, 2, lane_of);
    assert_true(fabs(eta_left(&eta) - (3 * 2 + 2)) < 1e-9); /* the longer lane, and what runs alone */
    eta_running(&eta, 2, 1);
    assert_true(fabs(eta_left(&eta) - 7) < 1e-9);
    eta_finished(&eta, 2, 2);
    eta_dropped(&eta, 5);
    assert_true(fabs(eta_left(&eta) - 2 * 2) < 1e-9);
    eta_running(&eta, 3, 1);
    eta_spread(&eta, 2, moved);
    assert_true(fabs(eta_left(&eta) - 3 * 2) < 1e-9);
    eta_release(&eta);
}

static struct sample sample(double t, double cpu, double gpu, double rss)
{
    struct sample s;
    sample_clear(&s, t);
    s.value[SAMPLE_CPU] = cpu;
    s.value[SAMPLE_GPU_BUSY] = gpu;
    s.value[SAMPLE_RSS] = rss;
    return s;
}

/* Feeds twenty seconds of samples with the given growth per second. */
static bool hangs(double after_s, double cpu, double gpu, double rss_growth, uint64_t output_growth)
{
    struct hang h;
    bool found = false;
    hang_init(&h, after_s);
    for (int i = 0; i <= 20; i++) {
        struct sample s = sample(i, cpu, gpu, 1e9 + i * rss_growth);
        found |= hang_feed(&h, &s, (uint64_t)i * output_growth);
    }
    return found;
}

TEST(a_hang_is_a_busy_cpu_with_idle_gpu_output_and_memory)
{
    assert_true(hangs(5, 100, 0, 0, 0));
    assert_true(hangs(5, 3200, 2, 1000, 0));
    assert_false(hangs(5, 100, 50, 0, 0));  /* the GPU works */
    assert_false(hangs(5, 10, 0, 0, 0));    /* it waits */
    assert_false(hangs(5, 100, 0, 0, 1));   /* it talks */
    assert_false(hangs(5, 100, 0, 2e6, 0)); /* it loads */
    assert_false(hangs(5, 100, NAN, 0, 0)); /* no GPU is shown */
    assert_false(hangs(0, 100, 0, 0, 0));   /* off */
    assert_false(hangs(30, 100, 0, 0, 0));  /* not yet */
    struct hang h;
    bool found = false;
    hang_init(&h, 5);
    for (int i = 0; i < 10; i++) { /* crowded out by others, but always in want of a core */
        struct sample s = sample(i, 30, 0, 1e9);
        s.runnable = true;
        found |= hang_feed(&h, &s, 0);
    }
    assert_true(found);
    hang_init(&h, 5);
    for (int i = 0; i < 100; i++) { /* a sign of life every four seconds */
        struct sample s = sample(i, 100, i % 4 == 0 ? 90 : 0, 1e9);
        assert_false(hang_feed(&h, &s, 0));
    }
}

TEST(a_manifest_lists_every_file_with_its_hash)
{
    struct err err = {.kind = ERR_NONE};
    put_bytes("run/plan.json", "{}\n", 3);
    put_bytes("run/v/ctx_1_run1/perf.json", "abc", 3);
    put_bytes("run/v/.hidden", "x", 1);
    put_bytes("run/.lock", "x", 1);
    put_bytes("run/executor.log", "x", 1);
    put_bytes("run/a", "", 0);
    assert_int_equal(symlink("/etc/passwd", in_scratch("run/link")), 0);
    assert_int_equal(mkfifo(in_scratch("run/fifo"), 0600), 0);
    assert_ok(manifest_write(in_scratch("run"), "r1", NULL, &err), &err);
    json_t *m = json_load(in_scratch("run/manifest.json"), 1 << 20, &err);
    json_t *files = json_object_get(m, "files");
    static const char *const want[] = {"a", "plan.json", "v/ctx_1_run1/perf.json"};
    assert_int_equal(json_array_size(files), COUNT(want));
    for (size_t i = 0; i < COUNT(want); i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(files, i), "path")), want[i]);
    assert_string_equal(json_string_value(json_object_get(json_array_get(files, 2), "sha256")),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(files, 1), "size")), 3);
    json_decref(m);
}

/* Gates run in their variant's folder, and tests can write there. */
TEST(what_kernsweep_did_not_write_is_foreign_wherever_it_lies)
{
    static const char *const own[] = {"job.json",
                                      "events.jsonl",
                                      "nodes/mi300.json",
                                      "v/build.log",
                                      "v/code.json",
                                      "v/resources.json",
                                      "v/listings.txt",
                                      "v/ctx_1_run1/perf.json",
                                      "v/ctx_1_run1/run.log",
                                      "v/ctx_1_counters/counters.csv",
                                      "v/ctx_1_counters/counters.db"},
                             *const foreign[] = {"env.txt",
                                                 "v/env.txt",
                                                 "v/ctx_1_run1/env.txt",
                                                 "v/perf.json.bak",
                                                 "v/ctx_1_run1/d/perf.json",
                                                 "v/ctx_1_run1/job.json",
                                                 "v/summary.json",
                                                 "v/nodes/a.json"};
    for (size_t i = 0; i < COUNT(own); i++)
        if (contents_is_foreign(own[i]))
            fail_msg("foreign: %s", own[i]);
    for (size_t i = 0; i < COUNT(foreign); i++)
        if (!contents_is_foreign(foreign[i]))
            fail_msg("not foreign: %s", foreign[i]);
}

TEST(a_log_that_a_test_wrote_itself_is_searched_for_secrets)
{
    struct err err = {.kind = ERR_NONE};
    const char *value[] = {"s3cr3t-value"};
    const struct secrets secrets = {.value = value, .count = 1, .longest = strlen(value[0])};
    put("planted/job.json", "{}\n");
    put("planted/v/env.txt", "TOKEN=s3cr3t-value\n");
    put("planted/v/ctx_1_run1/diag.txt", "TOKEN=s3cr3t-value\n");
    put("planted/v/ctx_1_run1/run.log", "TOKEN=***\n");
    assert_ok(manifest_write(in_scratch("planted"), "r1", &secrets, &err), &err);
    json_t *m = json_load(in_scratch("planted/manifest.json"), 1 << 20, &err);
    assert_int_equal(json_array_size(json_object_get(m, "files")), 2);
    assert_int_equal(json_array_size(json_object_get(m, "left_out")), 2);
    json_decref(m);
}

/* Somebody outside the test's tree, such as a container, may go on writing to its folder. */
TEST(a_leftover_that_changes_after_the_end_leaves_the_list)
{
    struct err err = {.kind = ERR_NONE};
    put("changes/job.json", "{}\n");
    put("changes/v/ctx_1_run1/grows", "1\n");
    put("changes/v/ctx_1_run1/goes", "1\n");
    put("changes/v/ctx_1_run1/stays", "1\n");
    put("changes/v/ctx_1_run1/run.log", "1\n");
    assert_ok(manifest_write(in_scratch("changes"), "r1", NULL, &err), &err);
    put("changes/v/ctx_1_run1/grows", "1\n2\n");
    put("changes/v/ctx_1_run1/run.log", "2\n"); /* kernsweep's own: whoever reads the bundle must see it */
    assert_int_equal(unlink(in_scratch("changes/v/ctx_1_run1/goes")), 0);
    json_t *m = json_load(in_scratch("changes/manifest.json"), 1 << 20, &err);
    assert_ok(manifest_refresh(in_scratch("changes"), m, &err), &err);
    json_t *on_disk = json_load(in_scratch("changes/manifest.json"), 1 << 20, &err);
    assert_true(json_equal(m, on_disk));
    assert_int_equal(json_array_size(json_object_get(m, "files")), 3);
    assert_int_equal(json_array_size(json_object_get(m, "left_out")), 2);
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(json_object_get(m, "left_out"), 0), "reason")),
        "it was changed after the run had ended");
    json_decref(on_disk);
    json_decref(m);
}

TEST(log_text_is_made_printable)
{
    struct buf out;
    buf_init(&out, 1000);
    logtext_lines(&out, "a\tb\n\x1b[31m\n\nend", 14);
    assert_string_equal(buf_str(&out), "a\tb\n\\x1b[31m\n\nend");
    buf_release(&out);
}

/* Asks for the lock in another process: 1 taken, 0 not. */
static int try_elsewhere(const char *path)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct lock other;
        _exit(lock_open(&other, path, NULL) == 0 ? lock_try(&other, NULL) : 7);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

TEST(a_lock_has_one_holder_at_a_time)
{
    struct lock lock;
    struct lock_holder holder;
    struct err err = {.kind = ERR_NONE};
    const char *path = in_scratch("lock");
    assert_ok(lock_look(path, &holder, &err), &err);
    assert_false(holder.held);
    assert_ok(lock_open(&lock, path, &err), &err);
    assert_int_equal(try_elsewhere(path), 1); /* and its end gave it back */
    assert_int_equal(lock_try(&lock, &err), 1);
    assert_ok(lock_describe(&lock, "run-1", &err), &err);
    assert_int_equal(try_elsewhere(path), 0);
    assert_ok(lock_look(path, &holder, &err), &err);
    assert_true(holder.held);
    assert_int_equal(holder.pid, getpid());
    assert_string_equal(holder.what, "run-1");
    int fd = lock_holder_pidfd(&holder);
    assert_true(fd >= 0);
    close(fd);
    holder.start_time++; /* the pid was given to somebody else since */
    assert_int_equal(lock_holder_pidfd(&holder), -1);
    lock_close(&lock);
    assert_ok(lock_look(path, &holder, &err), &err);
    assert_false(holder.held);
    assert_int_equal(try_elsewhere(path), 1);
}

TEST(a_lock_is_handed_over_by_fork)
{
    struct lock lock, other;
    struct err err = {.kind = ERR_NONE};
    const char *path = in_scratch("handed");
    int status;
    assert_ok(lock_open(&lock, path, &err), &err);
    assert_int_equal(lock_try(&lock, &err), 1);
    pid_t heir = fork();
    if (heir == 0) {
        pause();
        _exit(0);
    }
    lock_close(&lock);
    assert_int_equal(try_elsewhere(path), 0);
    /* Waiting for it: the waiter ends when the heir does, and this process has it then. */
    assert_ok(lock_open(&other, path, &err), &err);
    pid_t waiter = lock_wait_start(&other, &err);
    assert_true(waiter > 0);
    assert_int_equal(kill(heir, SIGKILL), 0);
    assert_int_equal(waitpid(heir, &status, 0), heir);
    assert_int_equal(waitpid(waiter, &status, 0), waiter);
    assert_int_equal(status, 0);
    assert_int_equal(try_elsewhere(path), 0);
    lock_close(&other);
}

GROUP(scratch_make, scratch_remove);
