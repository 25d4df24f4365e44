#include "executor/run/run_lanes.h"

#include "common/base/alloc.h"
#include "executor/prepare/untouched.h"
#include "executor/run/run_clocks.h"
#include "executor/suite/folders.h"
#include "executor/suite/precise.h"
#include "executor/suite/test.h"

#include <stdlib.h>

struct lane_run {
    struct suite *s;
    struct lane_queue queue;
    bool told;                 /* that the node is dirty */
    bool halt;                 /* no other test may begin */
    struct loop_watch answers; /* of NVML, which some lane awaits */
};

/* Returns true, with *why, for a test that must not run. */
static bool must_skip(const struct suite *s, size_t test, struct assessment *why)
{
    const struct variant_state *v = &s->variant[s->job.test[test].variant];
    if (test_is_out_of_attempts(s, test, why))
        return true;
    why->status = STATUS_SKIPPED;
    if (s->dirty[0] || v->stuck[0])
        reason_set(why->reason, "%s", s->dirty[0] ? s->dirty : v->stuck);
    else if (v->status != STATUS_OK)
        reason_set(why->reason, "%s: %s", status_name(v->status), v->reason);
    else
        return false;
    return true;
}

/* A node that was taken for dead must not go on measuring beside the one that replaced it. */
static bool is_given_up(const struct suite *s)
{
    return s->job.part.on && fs_exists(s->job.part.fence);
}

static int tell_dirty(struct lane_run *r, struct err *err)
{
    if (!r->s->dirty[0] || r->told)
        return 0;
    r->told = true;
    return suite_note(r->s, err, "%s", r->s->dirty);
}

static void spread_eta(struct lane_run *r)
{
    size_t count = r->queue.count;
    AUTO_FREE size_t *lane_of = xcalloc(count, sizeof *lane_of);
    for (size_t i = 0; i < count; i++) {
        size_t lane = lane_queue_lane(&r->queue, i);
        lane_of[i] = lane == LANE_NONE ? 0 : lane;
    }
    eta_spread(&r->s->eta, r->s->lanes.count, lane_of);
}

static int skip_test(struct lane_run *r, size_t test, const struct assessment *why, struct err *err)
{
    int rc = test_skip(r->s, test, why, err);
    lane_queue_end(&r->queue, test);
    return rc == 0 ? tell_dirty(r, err) : -1;
}

static int begin_test(struct lane_run *r, struct lane *lane, size_t test, struct err *err)
{
    struct assessment why;
    if (is_given_up(r->s))
        return err_set(err, ERR_INTERRUPTED, "this attempt was given up: its results are no longer needed");
    if (precise_leaves_out(r->s, lane, test)) {
        lane_queue_end(&r->queue, test);
        return 0;
    }
    if (folders_look(r->s, err) != 0)
        return -1;
    if (must_skip(r->s, test, &why))
        return skip_test(r, test, &why, err);
    lane_queue_begin(&r->queue, lane->index, test);
    if (r->s->eta.lane_of[test] != lane->index) /* taken from another lane */
        spread_eta(r);
    if (untouched_before(r->s, test, err) != 0)
        return -1;
    int rc = test_begin(r->s, lane, test, &lane->running, err);
    lanes_note_beside(&r->s->lanes, lane);
    return rc;
}

/* Programs that start CUDA at once wait for each other in the driver: two take 0.48 s until their first
 * kernel instead of 0.26 (two H200). One at a time, they start while the kernels of the others run. */
static bool some_test_starts(const struct lanes *lanes)
{
    for (size_t l = 0; l < lanes->count; l++)
        if (test_starts(lanes->lane[l].running))
            return true;
    return false;
}

/* A test that is skipped may let another lane go on, so this repeats until nothing changes. */
static int begin_tests(struct lane_run *r, struct err *err)
{
    bool some = true;
    while (some && !r->s->loop.stop && !r->halt) {
        some = false;
        for (size_t l = 0; l < r->s->lanes.count; l++) {
            size_t test;
            if (some_test_starts(&r->s->lanes) || !lane_queue_next(&r->queue, l, &test))
                continue;
            if (begin_test(r, &r->s->lanes.lane[l], test, err) != 0)
                return -1;
            some = true;
        }
    }
    return 0;
}

/* Skips the tests that no lane can run any more. */
static int skip_stranded(struct lane_run *r, struct err *err)
{
    struct suite *s = r->s;
    struct assessment why;
    size_t test;
    while (!s->loop.stop && !r->halt && lane_queue_stranded(&r->queue, &test)) {
        const char *gpu = s->job.test[test].gpu;
        if (!must_skip(s, test, &why)) {
            reason_set(why.reason, "GPU %s is not used by this run, or was taken out of it", gpu ? gpu : "?");
            if (!s->partial[0])
                reason_set(s->partial, "tests were skipped: %.400s", why.reason);
        }
        if (skip_test(r, test, &why, err) != 0)
            return -1;
    }
    return 0;
}

/* Lists the points that moved, and where to, as far as they fit into a message. */
static void add_moves(const struct lane_run *r, struct buf *out)
{
    const struct lane_queue *q = &r->queue;
    for (size_t u = 0; u < q->unit_count; u++) {
        size_t i = 0;
        if (!q->unit[u].moved)
            continue;
        while (q->item[i].over || q->item[i].unit != u)
            i++;
        const struct job_test *t = &r->s->job.test[i];
        buf_printf(out, "; %s %lld continues on %s",
                   r->s->job.settings.placement == PLACEMENT_CELL ? r->s->job.variant[t->variant].name
                                                                  : "context",
                   (long long)t->context, r->s->lanes.lane[q->unit[u].lane].name);
    }
}

static int tell_taken_out(struct lane_run *r, const struct lane *lane, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = REASON_MAX * 4};
    char message[REASON_MAX];
    buf_printf(&text, "%s takes no more tests: %s", lane->name, lane->dirty);
    add_moves(r, &text);
    reason_set(message, "%s", buf_str(&text));
    return journal_add(&r->s->journal, EVENT_NODE,
                       json_pack("{s:s, s:O}", "message", message, "gpu_out", json_array_get(lane->ids, 0)),
                       err);
}

static bool has_lane(const struct lane_run *r)
{
    for (size_t l = 0; l < r->queue.lane_count; l++)
        if (!r->queue.lane[l].out)
            return true;
    return false;
}

static int take_lane_out(struct lane_run *r, struct lane *lane, struct err *err)
{
    struct suite *s = r->s;
    lane_queue_take_out(&r->queue, lane->index);
    if (lane->kept) {
        spread_eta(r);
        if (tell_taken_out(r, lane, err) != 0)
            return -1;
    }
    if (has_lane(r))
        return 0;
    reason_set(s->dirty, "%s", lane->dirty);
    return tell_dirty(r, err);
}

static int end_test(struct lane_run *r, struct lane *lane, struct err *err)
{
    lane_queue_end(&r->queue, r->queue.lane[lane->index].running);
    test_free(lane->running);
    lane->running = NULL;
    if (lane->dirty[0] && take_lane_out(r, lane, err) != 0)
        return -1;
    int contradicted = run_clocks_contradicted(r->s, err);
    r->halt |= contradicted > 0;
    return contradicted < 0 ? -1 : 0;
}

static int give_turns(struct lane_run *r, struct err *err)
{
    for (size_t l = 0; l < r->s->lanes.count; l++) {
        struct lane *lane = &r->s->lanes.lane[l];
        int rc = lane->running ? test_turn(lane->running, err) : 0;
        if (rc < 0 || (rc == 1 && end_test(r, lane, err) != 0))
            return -1;
    }
    return 0;
}

/* The wait does not tell which lane has news, so all of them are asked. */
static int wait_for_news(struct lane_run *r, struct err *err)
{
    if (loop_wait(&r->s->loop, err) != 0)
        return -1;
    if (r->answers.ready)
        nvml_drain(&r->s->nvml);
    return 0;
}

static int run_tests(struct lane_run *r, struct err *err)
{
    for (;;) {
        if (begin_tests(r, err) != 0 || skip_stranded(r, err) != 0)
            return -1;
        if (lane_queue_in_flight(&r->queue) == 0)
            return 0;
        if (wait_for_news(r, err) != 0 || give_turns(r, err) != 0)
            return -1;
    }
}

int run_lanes(struct suite *s, struct err *err)
{
    struct lane_run r = {.s = s, .answers = LOOP_WATCH_NONE};
    lane_plan(&r.queue, s);
    spread_eta(&r);
    int rc = s->nvml.done >= 0 ? loop_add(&s->loop, &r.answers, s->nvml.done, err) : 0;
    if (rc == 0)
        rc = run_tests(&r, err);
    loop_remove(&s->loop, &r.answers);
    for (size_t l = 0; l < s->lanes.count; l++) {
        test_free(s->lanes.lane[l].running);
        s->lanes.lane[l].running = NULL;
    }
    lane_queue_release(&r.queue);
    return rc;
}
