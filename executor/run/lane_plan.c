#include "executor/run/run_lanes.h"

#include "common/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_id(const struct lane *lane, const char *word, size_t len)
{
    size_t i;
    json_t *own;
    json_array_foreach(lane->ids, i, own)
    {
        if (json_string_length(own) == len && strncmp(json_string_value(own), word, len) == 0)
            return true;
    }
    return false;
}

/* Whether an id names a lane: it is that of the lane's first GPU, or those of all its GPUs joined by '+' in
 * any order, because the store sorts them. */
static bool is_called(const struct lane *lane, const char *id)
{
    const char *first = json_string_value(json_array_get(lane->ids, 0));
    size_t words = 0;
    if (!first || strcmp(id, first) == 0)
        return first != NULL;
    for (size_t len; has_id(lane, id, len = strcspn(id, "+")); id += len + 1) {
        words++;
        if (!id[len])
            return words == json_array_size(lane->ids);
    }
    return false;
}

static size_t find_lane(const struct suite *s, const char *id)
{
    for (size_t l = 0; id && l < s->lanes.count; l++)
        if (is_called(&s->lanes.lane[l], id))
            return l;
    return LANE_NONE;
}

/* A test bound to a GPU that is not here gets a lane that does not exist. */
static size_t only_lane(const struct suite *s, const struct job_test *t)
{
    size_t lane = find_lane(s, t->gpu);
    return t->gpu && lane == LANE_NONE ? s->lanes.count : lane;
}

static bool same_point(const struct suite *s, const struct job_test *a, const struct job_test *b)
{
    const struct shape *x = &s->job.variant[a->variant].shape, *y = &s->job.variant[b->variant].shape;
    for (size_t i = 0; i < SHAPE_DIMENSIONS; i++)
        if (strcmp(x->text[i], y->text[i]) != 0)
            return false;
    return a->context == b->context;
}

static bool share_lane(const struct suite *s, size_t a, size_t b)
{
    const struct job_test *x = &s->job.test[a], *y = &s->job.test[b];
    switch ((enum gpu_placement)s->job.settings.placement) {
    case PLACEMENT_POINT:
        return same_point(s, x, y);
    case PLACEMENT_CELL:
        return x->variant == y->variant && x->context == y->context;
    case PLACEMENT_EVERY:
        return x->gpu && y->gpu && strcmp(x->gpu, y->gpu) == 0;
    }
    return false;
}

/* Finds the unit of a test, or begins one; `first` has the first test of each unit. */
static size_t find_unit(const struct suite *s, size_t test, size_t *first, size_t *count)
{
    size_t u = 0;
    while (u < *count && !share_lane(s, first[u], test))
        u++;
    if (u == *count)
        first[(*count)++] = test;
    return u;
}

/* Returns expected seconds per second of time-out, to compare tests with and without a known duration. */
static double timeout_scale(const struct job *job)
{
    double expected = 0, timeouts = 0;
    for (size_t i = 0; i < job->test_count; i++) {
        if (job->test[i].expected_s > 0) {
            expected += job->test[i].expected_s;
            timeouts += job->test[i].timeout_s;
        }
    }
    return timeouts > 0 ? expected / timeouts : 1;
}

static struct lane_item make_item(const struct suite *s, size_t test, size_t unit, double scale)
{
    const struct job_test *t = &s->job.test[test];
    return (struct lane_item){.unit = unit,
                              .expected_s = t->expected_s > 0 ? t->expected_s : t->timeout_s * scale,
                              .home = find_lane(s, t->home),
                              .begun = find_lane(s, s->test[test].ran_on),
                              .only = only_lane(s, t),
                              .alone = s->job.variant[t->variant].alone,
                              .over = s->test[test].final || s->test[test].carry || t->elsewhere};
}

/* With one lane there is nothing to share, except that tests may be bound to GPUs that are not here. */
static bool needs_units(const struct suite *s)
{
    return s->lanes.count > 1 || s->job.settings.placement == PLACEMENT_EVERY;
}

void lane_plan(struct lane_queue *q, const struct suite *s)
{
    size_t count = s->job.test_count, units = 0;
    bool several = needs_units(s);
    struct lane_item *items = xcalloc(count, sizeof *items);
    AUTO_FREE size_t *first = xcalloc(count, sizeof *first);
    double scale = timeout_scale(&s->job);
    for (size_t i = 0; i < count; i++)
        items[i] = make_item(s, i, several ? find_unit(s, i, first, &units) : 0, scale);
    lane_queue_init(q, items, count, s->lanes.count);
}
