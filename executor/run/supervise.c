#include "executor/run/supervise.h"

#include "common/base/alloc.h"
#include "executor/bundle/fault.h"
#include "executor/prepare/prepare.h"
#include "executor/process/process.h"
#include "executor/run/closing.h"
#include "executor/run/placement.h"
#include "executor/run/profile.h"
#include "executor/suite/perf.h"
#include "executor/suite/test_event.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FILES_WANTED = 16384 };

static int write_start_event(struct suite *s, struct err *err)
{
    json_t *variants = json_array(), *contexts = json_object();
    for (size_t i = 0; i < s->job.variant_count; i++)
        json_array_append_new(variants, json_string(s->job.variant[i].name));
    for (size_t i = 0; i < s->job.test_count; i++) { /* keys of an object are unique */
        char key[32];
        snprintf(key, sizeof key, "%lld", (long long)s->job.test[i].context);
        json_object_set_new(contexts, key, json_integer(s->job.test[i].context));
    }
    json_t *list = json_array(), *value;
    const char *key;
    json_object_foreach(contexts, key, value) json_array_append(list, value);
    json_decref(contexts);
    return journal_add(&s->journal, EVENT_SUITE_START,
                       json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:o, s:s}", "run_id", s->job.run_id,
                                 "ticket", s->job.settings.ticket, "tag", s->job.settings.tag, "mode",
                                 s->job.settings.mode, "total_tests", (json_int_t)s->job.test_count,
                                 "variants", variants, "contexts", list, "started_at", s->time.started_at),
                       err);
}

/* The journal has the test's end, but its file was cut by a crash of the node, or changed, since then. */
static int tell_unsealed(struct suite *s, size_t test, const char *rel, struct err *err)
{
    s->test[test].ended = false;
    return suite_note(s, err, "%.200s/perf.json is not what the executor wrote there: test %zu is repeated",
                      rel, test + 1);
}

/* Takes over an earlier supervisor's results, and ends the tests that it left in flight. */
static int take_over(struct suite *s, const struct placement *placement, struct err *err)
{
    char rel[FS_PATH_MAX];
    /* This event comes first, because the time before it belongs to no supervisor. */
    if (journal_add(&s->journal, EVENT_NODE,
                    json_pack("{s:s, s:b}", "message", "resumed after the executor had ended", "resumed", 1),
                    err) != 0)
        return -1;
    for (size_t i = 0; i < s->job.test_count; i++) {
        struct test_state *t = &s->test[i];
        suite_test_rel(s, i, rel);
        if (perf_load(s, i, s->dir, rel))
            continue;
        if (t->ended && tell_unsealed(s, i, rel, err) != 0)
            return -1;
        if (t->in_flight && !placement->outlives_supervisor) {
            t->status = STATUS_INTERRUPTED;
            t->wall_s = NAN;
            t->in_flight = false;
            /* A test out of attempts has its final event when it is skipped. */
            if (test_event_end(s, i, true, err) != 0)
                return -1;
        }
    }
    return 0;
}

static int end_stopped(struct suite *s, struct err *err)
{
    if (suite_cancelled(s))
        return closing_run(s, RUN_CANCELLED, "cancelled by the user", err);
    if (s->job.part.on)
        return err_set(err, ERR_INTERRUPTED,
                       "told to end by the scheduler: its time limit is near, or another job has priority");
    return err_set(err, ERR_INTERRUPTED, "told to end; submit the run again to resume it");
}

/* Only where tests of the variant may have run. */
static int clean_up(struct suite *s, struct err *err)
{
    for (size_t i = 0; i < s->job.variant_count && !s->job.compile_only; i++)
        if (s->job.variant[i].cleanup.argc > 0 && s->variant[i].status == STATUS_OK && !s->loop.stop &&
            gate_clean_up(s, i, err) != 0)
            return -1;
    return 0;
}

/* The summary is written before the last event, so without one the event is a test's. */
static bool was_closed(const struct suite *s)
{
    char path[FS_PATH_MAX];
    return s->past.closed && fs_join(path, NULL, s->dir, RUN_SUMMARY) == 0 && fs_exists(path);
}

static int carry_out(struct suite *s, struct node_lock *lock, struct err *err)
{
    const struct placement *placement = placement_of(&s->job);
    char reason[REASON_MAX] = "";
    if (was_closed(s)) /* an earlier supervisor died between its last event and the manifest */
        return closing_seal(s, err);
    if (!s->past.started && write_start_event(s, err) != 0)
        return -1;
    if (s->past.resumed && take_over(s, placement, err) != 0)
        return -1;
    if (suite_cancelled(s))
        return placement->cancel(s, err) != 0 ? -1
                                              : closing_run(s, RUN_CANCELLED, "cancelled by the user", err);
    int rc = placement->run(s, lock, reason, err);
    if (rc < 0)
        return -1;
    if (rc == 1 && !s->job.part.on && !placement->outlives_supervisor && profile_run(s, err) != 0)
        return -1;
    if (rc == 1 && !placement->outlives_supervisor && clean_up(s, err) != 0)
        return -1;
    if (s->loop.stop)
        return end_stopped(s, err);
    if (rc == 1 && s->partial[0])
        return closing_run(s, RUN_PARTIAL, s->partial, err);
    return closing_run(s, rc == 0 ? RUN_BLOCKED : RUN_COMPLETE, reason, err);
}

/* Each test holds some twenty descriptors here, and the counters of its GPU as many again, which on many GPUs
 * is more than the usual 1024. Workloads get the old limit, because some use select(). */
static void raise_files(struct suite *s)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= FILES_WANTED)
        return;
    s->processes.files = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < FILES_WANTED ? limit.rlim_max : FILES_WANTED;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        s->processes.files = 0;
}

static void tell_without_memory(void *suite)
{
    static const char message[] =
        "the executor ran out of memory: free some on the node, then submit the run again to resume it";
    struct suite *s = suite;
    journal_last_words(&s->journal, message);
    fault_write(s->dir, message);
}

int supervise(const struct layout *layout, const char *run_id, struct err *err)
{
    struct suite s;
    struct node_lock lock;
    node_lock_init(&lock);
    if (suite_open(&s, layout, run_id, err) != 0)
        return -1;
    alloc_last_words(tell_without_memory, &s);
    raise_files(&s);
    int rc = process_become_subreaper(err) != 0 ? -1 : carry_out(&s, &lock, err);
    if (rc != 0 && err->kind == ERR_INTERNAL) {
        struct err ignored;
        char reason[REASON_MAX];
        reason_set(reason, "%s", err->msg);
        closing_run(&s, RUN_PARTIAL, reason, &ignored);
    }
    if (rc != 0) { /* the message is written to a file and shown to users */
        struct err said = *err;
        secrets_printable(&s.secrets, said.msg, strlen(said.msg), err->msg, sizeof err->msg);
    }
    contain_close(&s.processes.contain); /* while the lock keeps others from clearing it */
    node_lock_close(&lock);
    alloc_last_words(NULL, NULL);
    suite_release(&s);
    return rc;
}
