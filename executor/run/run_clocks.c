#include "executor/run/run_clocks.h"

#include "executor/bundle/artifact.h"
#include "executor/node/facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_asked(const struct suite *s)
{
    return s->job.settings.clocks_mode != CLOCKS_LEAVE;
}

static bool must_block(const struct suite *s)
{
    return s->job.settings.clocks_unverified == CLOCKS_BLOCK;
}

/* Tells whoever follows the run, and keeps the warning for summary.json. */
static int warn(struct suite *s, const char *text, struct err *err)
{
    reason_set(s->clock.warning, "%s", text);
    return suite_note(s, err, "%s", text);
}

static int recover_all(struct suite *s, const struct node_lock *lock, const json_t *gpus, struct err *err)
{
    char note[CLOCKS_NOTE_MAX];
    for (size_t i = 0; i < lock->gpu_count; i++) {
        clocks_recover(s->layout, gpus, lock->gpu_name[i], note);
        if (*note && suite_note(s, err, "%s", note) != 0)
            return -1;
    }
    return 0;
}

/* Returns 1, or 0 with *why. */
static int hold_all(struct suite *s, const struct node_lock *lock, const json_t *gpus, struct err *why)
{
    s->clock.held.want = (struct clocks_request){.mode = (enum clocks_mode)s->job.settings.clocks_mode,
                                                 .mhz = (int)s->job.settings.clocks_mhz};
    if (lock->gpu_count == 0)
        return err_set(why, ERR_NODE, "no GPU is visible whose clocks could be set"), 0;
    if (lock->unlocked > 0)
        return err_set(why, ERR_NODE, "clocks are set only on GPUs that are locked against other runs"), 0;
    for (size_t i = 0; i < lock->gpu_count; i++) {
        struct err ignored;
        if (clocks_hold(&s->clock.held, s->layout, gpus, lock->gpu_name[i], s->job.run_id, why) ==
            CONTROL_DONE)
            continue;
        clocks_put_back(&s->clock.held, s->layout, &ignored);
        s->clock.held.count = 0;
        return 0;
    }
    clock_watch_open(&s->clock.watch, &s->clock.held, &s->nvml);
    return 1;
}

int run_clocks_take(struct suite *s, const struct node_lock *lock, char *reason, struct err *err)
{
    struct err why;
    json_auto_t *gpus = node_gpus(s->layout, &s->nvml);
    if (recover_all(s, lock, gpus, err) != 0)
        return -1;
    if (!is_asked(s) || hold_all(s, lock, gpus, &why) == 1)
        return 1;
    if (!must_block(s))
        return warn(s, why.msg, err) == 0 ? 1 : -1;
    if (s->job.settings.clocks_mode == CLOCKS_DETERMINISM) /* some ASICs and drivers have no such level */
        reason_set(reason, "%s; or set \"clocks\" to the mode \"fixed\", or to \"leave\"", why.msg);
    else
        reason_set(reason, "%s; or set \"clocks\" to the mode \"leave\"", why.msg);
    return 0;
}

int run_clocks_contradicted(struct suite *s, struct err *err)
{
    char text[CLOCKS_NOTE_MAX];
    if (s->clock.held.count == 0 || s->clock.warning[0] ||
        clock_watch_judge(&s->clock.watch, text) != CLOCKS_OTHER)
        return 0;
    return warn(s, text, err) == 0 ? must_block(s) : -1;
}

/* A run that nothing contradicted, but that never showed its clocks, is not believed either. */
static int judge_at_end(struct suite *s, char *reason, struct err *err)
{
    char text[CLOCKS_NOTE_MAX];
    if (!s->clock.warning[0] && clock_watch_judge(&s->clock.watch, text) != CLOCKS_SEEN &&
        warn(s, text, err) != 0)
        return -1;
    if (!s->clock.warning[0] || !must_block(s))
        return 1;
    reason_set(reason, "%s; or set \"unverified\" to \"warn\"", s->clock.warning);
    return 0;
}

int run_clocks_end(struct suite *s, int rc, char *reason, struct err *err)
{
    struct err why;
    char text[REASON_MAX];
    if (s->clock.held.count == 0)
        return rc;
    if (rc == 1 && !s->loop.stop)
        rc = judge_at_end(s, reason, err);
    clock_watch_close(&s->clock.watch);
    if (clocks_put_back(&s->clock.held, s->layout, &why) != 0) {
        reason_set(text, "the clocks could not be put back: %s", why.msg);
        warn(s, text, rc < 0 ? &why : err);
    }
    return rc;
}

int run_clocks_recover(struct suite *s, struct err *err)
{
    char note[CLOCKS_NOTE_MAX];
    if (!is_asked(s))
        return 0;
    json_auto_t *gpus = node_gpus(s->layout, &s->nvml);
    clocks_recover_run(s->layout, gpus, s->job.run_id, note);
    return *note ? suite_note(s, err, "%s", note) : 0;
}

static json_t *encode_gpu(const struct suite *s, size_t i)
{
    const struct clock_samples *seen = &s->clock.watch.gpu[i].seen;
    const struct clocks_state *before = &s->clock.held.item[i].before;
    bool any = seen->count > 0;
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:b, s:i, s:i, s:o, s:o, s:o}", "gpu",
                     s->clock.held.item[i].gpu.name, "through", s->clock.held.item[i].through, "level_before",
                     *before->level ? json_string(before->level) : json_null(), "min_mhz_before",
                     before->min_mhz > 0 ? json_integer(before->min_mhz) : json_null(), "max_mhz_before",
                     before->max_mhz > 0 ? json_integer(before->max_mhz) : json_null(), "put_back",
                     (int)!s->clock.held.item[i].held, "samples", (int)seen->count, "outside",
                     (int)seen->outside, "mean_mhz",
                     artifact_number(any ? seen->sum / seen->count : (double)NAN), "lowest_mhz",
                     artifact_number(any ? seen->lowest : (double)NAN), "highest_mhz",
                     artifact_number(any ? seen->highest : (double)NAN));
}

json_t *run_clocks_encode(const struct suite *s)
{
    char text[CLOCKS_NOTE_MAX];
    if (!is_asked(s))
        return NULL;
    bool verified = s->clock.held.count > 0 && clock_watch_judge(&s->clock.watch, text) == CLOCKS_SEEN;
    json_t *gpus = json_array();
    for (size_t i = 0; i < s->clock.held.count; i++)
        json_array_append_new(gpus, encode_gpu(s, i));
    return json_pack("{s:s, s:I, s:b, s:s, s:o}", "mode", clocks_mode_names[s->job.settings.clocks_mode],
                     "mhz", (json_int_t)s->job.settings.clocks_mhz, "verified", (int)verified, "warning",
                     s->clock.warning, "gpus", gpus);
}
