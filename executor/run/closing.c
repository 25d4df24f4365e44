#include "executor/run/closing.h"

#include "common/base/clock.h"
#include "executor/bundle/artifact.h"
#include "executor/bundle/manifest.h"
#include "executor/prepare/carry.h"
#include "executor/prepare/untouched.h"
#include "executor/run/placement.h"
#include "executor/run/run_clocks.h"
#include "executor/suite/folders.h"
#include "executor/suite/test.h"

#include <unistd.h>

struct summary_counts {
    size_t total, ok, failed, skipped; /* skipped: SKIPPED and CANCELLED */
};

static struct summary_counts summary_count(const struct suite *s)
{
    struct summary_counts c = {.total = s->job.test_count - s->needless};
    for (size_t i = 0; i < s->job.test_count; i++) {
        const struct test_state *t = &s->test[i];
        if (t->needless)
            continue;
        if (t->final && t->status == STATUS_OK)
            c.ok++;
        else if (!t->final || t->status == STATUS_SKIPPED || t->status == STATUS_CANCELLED)
            c.skipped++;
        else
            c.failed++;
    }
    return c;
}

static json_t *encode_variants(const struct suite *s)
{
    json_t *out = json_array();
    for (size_t i = 0; i < s->job.variant_count; i++) {
        const struct variant_state *v = &s->variant[i];
        json_t *variant =
            json_pack("{s:s, s:s, s:s, s:s, s:o, s:b, s:s, s:O}", "name", s->job.variant[i].name, "attn_impl",
                      s->job.variant[i].attn_impl, "status", status_name(v->status), "reason", v->reason,
                      "build_wall_s", artifact_number(v->build_wall_s), "build_cached", (int)v->build_cached,
                      "build_key", v->build_key, "gates", v->gates);
        if (s->job.variant[i].in_tree)
            json_object_set_new(variant, "in_tree", json_true());
        json_array_append_new(out, variant);
    }
    return out;
}

/* Takes, and returns, out. */
static json_t *with_witness(json_t *out, const struct test_state *t)
{
    if (t->metrics)
        json_object_set(out, "metrics", t->metrics);
    if (t->final && t->seal[0])
        json_object_set_new(out, "perf_sha256", json_string(t->seal));
    return out;
}

static json_t *encode_tests(const struct suite *s)
{
    json_t *out = json_array();
    for (size_t i = 0; i < s->job.test_count; i++) {
        const struct test_state *t = &s->test[i];
        const struct job_test *j = &s->job.test[i];
        if (t->needless)
            continue;
        const char *reason = t->reason ? t->reason : t->final ? "" : "the run ended before this test";
        json_array_append_new(
            out, with_witness(json_pack("{s:I, s:s, s:I, s:I, s:b, s:s, s:o, s:o, s:s}", "test_index",
                                        (json_int_t)(i + 1), "variant", s->job.variant[j->variant].name,
                                        "context_len", (json_int_t)j->context, "repetition",
                                        (json_int_t)j->repetition, "warmup", (int)j->warmup, "exit_status",
                                        status_name(t->final ? t->status : STATUS_CANCELLED), "wall_time_sec",
                                        artifact_number(t->wall_s), "prefill_s",
                                        artifact_number(t->prefill_s), "reason", reason),
                              t));
    }
    return out;
}

/* Lists the tests that were left out, by test_index; NULL: none. */
static json_t *encode_needless(const struct suite *s)
{
    json_t *out = s->needless ? json_array() : NULL;
    for (size_t i = 0; out && i < s->job.test_count; i++)
        if (s->test[i].needless)
            json_array_append_new(out, json_integer((json_int_t)(i + 1)));
    return out;
}

static int summary_write(struct suite *s, enum run_status status, const char *reason, double wall_s,
                         struct err *err)
{
    char ended_at[CLOCK_ISO_LEN + 1];
    struct summary_counts c = summary_count(s);
    clock_iso8601(clock_real_s(), ended_at);
    json_t *out = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:{s:I, s:I, s:I, s:I}, s:o, s:o, s:o*, "
        "s:o*, s:o*}",
        "schema", PROTO_SCHEMA_SUMMARY, "run_id", s->job.run_id, "ticket", s->job.settings.ticket, "tag",
        s->job.settings.tag, "date", s->job.date, "mode", s->job.settings.mode, "status",
        run_status_name(status), "reason", reason, "started_at", s->time.started_at, "ended_at", ended_at,
        "wall_s", artifact_number(wall_s), "counts", "total", (json_int_t)c.total, "ok", (json_int_t)c.ok,
        "failed", (json_int_t)c.failed, "skipped", (json_int_t)c.skipped, "variants", encode_variants(s),
        "tests", encode_tests(s), "clocks", run_clocks_encode(s), "needless", encode_needless(s), "cells",
        carry_encode(s));
    return artifact_json(s->dir, RUN_SUMMARY, out, &s->secrets, err);
}

static int write_end_event(struct suite *s, enum run_status status, const char *reason, double wall_s,
                           struct err *err)
{
    struct summary_counts c = summary_count(s);
    return journal_add(&s->journal, EVENT_SUITE_END,
                       json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o}", "status", run_status_name(status),
                                 "reason", reason, "total", (json_int_t)c.total, "ok", (json_int_t)c.ok,
                                 "failed", (json_int_t)c.failed, "skipped", (json_int_t)c.skipped, "wall_s",
                                 artifact_number(wall_s)),
                       err);
}

static int remove_private_files(const struct suite *s, struct err *err)
{
    static const char *const names[] = {RUN_JOB_PRIVATE, RUN_RESERVE};
    char path[FS_PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (fs_join(path, err, s->dir, names[i]) != 0)
            return -1;
        unlink(path);
    }
    return 0;
}

int closing_seal(struct suite *s, struct err *err)
{
    char path[FS_PATH_MAX];
    /* This goes before the manifest exists: from then on others pack the folder, which must not change. */
    if (fs_join(path, err, s->dir, RUN_ARRAYS) != 0 || fs_remove_tree(path, err) != 0 ||
        manifest_write(s->dir, s->job.run_id, &s->secrets, err) != 0)
        return -1;
    return remove_private_files(s, err);
}

/* Nobody can read the results without the job, and every test can reach the file. */
static int restore_job(struct suite *s, struct err *err)
{
    char path[FS_PATH_MAX];
    json_auto_t *own = secrets_clean_json(&s->secrets, s->job.root), *there = layout_load(s->dir, RUN_JOB);
    if (json_equal(own, there))
        return 0;
    suite_note(s, NULL, RUN_JOB " was changed by another process, perhaps a test, and is put back");
    if (fs_join(path, err, s->dir, RUN_JOB) != 0 || fs_remove_tree(path, err) != 0)
        return -1;
    return json_save(path, own, err);
}

/* Looks at what builds and tests left. Failing to look is noted, but does not keep the run open. */
static void look_once_more(struct suite *s)
{
    struct err why = {.kind = ERR_NONE};
    char path[FS_PATH_MAX];
    if (fs_join(path, NULL, s->dir, RUN_EVENTS) == 0 && journal_was_changed(&s->journal, path))
        suite_note(
            s, NULL,
            "events.jsonl was changed by another process, perhaps a test: events may be missing or forged");
    if (fs_join(path, NULL, s->dir, RUN_MANIFEST) == 0 && fs_exists(path))
        suite_note(s, NULL, RUN_MANIFEST " was made by a test or build, and is removed");
    if (folders_look(s, &why) == 0 && untouched_run(s, &why) == 0 &&
        (s->job.part.on || restore_job(s, &why) == 0))
        return;
    suite_note(s, NULL, "what builds and tests left could not be checked: %.300s", why.msg);
}

static void explain_unfinished(const struct suite *s, size_t test, enum run_status status, const char *reason,
                               struct assessment *why)
{
    if (test_is_out_of_attempts(s, test, why))
        return;
    why->status = status == RUN_CANCELLED ? STATUS_CANCELLED : STATUS_INTERRUPTED;
    reason_set(why->reason, "its attempt %u was interrupted, and the run ended before the next: %.300s",
               s->test[test].attempts, reason);
}

/* Gives every test that has begun an end in the journal. An end that cannot be written is noted, and does not
 * keep the run open. */
static void end_unfinished(struct suite *s, enum run_status status, const char *reason)
{
    if (s->job.part.on || placement_of(&s->job)->outlives_supervisor)
        return;
    for (size_t i = 0; i < s->job.test_count; i++) {
        const struct test_state *t = &s->test[i];
        struct assessment assessment;
        struct err why = {.kind = ERR_NONE};
        if (t->attempts == 0 || t->final || t->ended || t->needless)
            continue;
        explain_unfinished(s, i, status, reason, &assessment);
        if (test_skip(s, i, &assessment, &why) == 0)
            continue;
        suite_note(s, NULL, "test %zu has no result: %.300s", i + 1, why.msg);
    }
}

/* Under a scheduler, the time without a supervisor counts, because the jobs went on. */
static double worked_s(const struct suite *s)
{
    double own_s = (double)(clock_mono_ns() - s->time.start_ns) * 1e-9;
    return s->past.earlier_s + own_s +
           (placement_of(&s->job)->outlives_supervisor ? s->past.unattended_s : 0);
}

int closing_run(struct suite *s, enum run_status status, const char *reason, struct err *err)
{
    double wall_s = worked_s(s);
    end_unfinished(s, status, reason);
    look_once_more(s);
    if (summary_write(s, status, reason, wall_s, err) != 0 ||
        write_end_event(s, status, reason, wall_s, err) != 0 || journal_sync(&s->journal, err) != 0 ||
        closing_seal(s, err) != 0)
        return err_wrap(err, "closing the run");
    return 0;
}
