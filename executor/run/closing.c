#include "executor/run/closing.h"

#include "common/base/clock.h"
#include "executor/bundle/artifact.h"
#include "executor/bundle/manifest.h"
#include "executor/prepare/untouched.h"
#include "executor/run/placement.h"
#include "executor/run/summary.h"
#include "executor/suite/folders.h"
#include "executor/suite/test.h"

#include <unistd.h>

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
    /* Removed before the manifest is there: from then on others pack the folder and must not see it change.
     */
    if (fs_join(path, err, s->dir, RUN_ARRAYS) != 0 || fs_remove_tree(path, err) != 0 ||
        manifest_write(s->dir, s->job.run_id, &s->secrets, err) != 0)
        return -1;
    return remove_private_files(s, err);
}

/* Looks at what builds and tests left. A failure of the look is told, but does not keep the run open. */
static void look_once_more(struct suite *s)
{
    struct err why = {.kind = ERR_NONE};
    char text[REASON_MAX];
    char path[FS_PATH_MAX];
    if (fs_join(path, NULL, s->dir, RUN_EVENTS) == 0 && journal_was_changed(&s->journal, path))
        suite_note(
            s, "events.jsonl was changed by another process, perhaps a test: events may be missing or forged",
            NULL);
    if (fs_join(path, NULL, s->dir, RUN_MANIFEST) == 0 && fs_exists(path))
        suite_note(s, RUN_MANIFEST " was made by a test or build, and is removed", NULL);
    if (folders_look(s, &why) == 0 && untouched_run(s, &why) == 0)
        return;
    reason_set(text, "what builds and tests left could not be checked: %.300s", why.msg);
    suite_note(s, text, NULL);
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

/* Whatever has begun has an end in the journal. One that cannot be written is told, and keeps no run open. */
static void end_unfinished(struct suite *s, enum run_status status, const char *reason)
{
    char text[REASON_MAX];
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
        reason_set(text, "test %zu has no result: %.300s", i + 1, why.msg);
        suite_note(s, text, NULL);
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
