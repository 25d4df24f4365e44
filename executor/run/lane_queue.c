#include "executor/run/lane_queue.h"

#include "common/base/alloc.h"

#include <stdlib.h>

/* A lane may get this much longer than the others, in parts of the even share, so that units stay home. */
static const double home_slack = 0.15;

struct spread {
    struct lane_queue *q;
    size_t *order; /* units, longest first */
    double *load;  /* by lane */
    double share;  /* the least that the busiest lane can get */
};

static void make_arrays(struct lane_queue *q, size_t lanes)
{
    q->unit = xcalloc(q->count, sizeof *q->unit);
    q->lane = xcalloc(lanes, sizeof *q->lane);
    q->lane_count = lanes;
    for (size_t l = 0; l < lanes; l++)
        q->lane[l].running = LANE_NONE;
    for (size_t u = 0; u < q->count; u++)
        q->unit[u] =
            (struct lane_unit){.lane = LANE_NONE, .home = LANE_NONE, .begun = LANE_NONE, .only = LANE_NONE};
}

static void add_to_unit(struct lane_queue *q, const struct lane_item *item)
{
    struct lane_unit *u = &q->unit[item->unit];
    q->unit_count = item->unit >= q->unit_count ? item->unit + 1 : q->unit_count;
    u->home = u->home == LANE_NONE ? item->home : u->home;
    u->begun = item->begun == LANE_NONE ? u->begun : item->begun; /* the last one: it may have moved */
    u->only = u->only == LANE_NONE ? item->only : u->only;
    u->left += !item->over;
    u->left_s += item->over ? 0 : item->expected_s;
}

/* Sorts by insertion, so that units of equal length stay in the plan's order. */
static void sort_longest_first(const struct lane_queue *q, size_t *order)
{
    for (size_t i = 0; i < q->unit_count; i++) {
        size_t at = i;
        for (; at > 0 && q->unit[order[at - 1]].left_s < q->unit[i].left_s; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static size_t least_loaded(const struct spread *s)
{
    size_t best = LANE_NONE;
    for (size_t l = 0; l < s->q->lane_count; l++)
        if (!s->q->lane[l].out && (best == LANE_NONE || s->load[l] < s->load[best]))
            best = l;
    return best;
}

static bool is_there(const struct lane_queue *q, size_t lane)
{
    return lane < q->lane_count && !q->lane[lane].out;
}

static void put(struct spread *s, size_t unit, size_t lane)
{
    s->q->unit[unit].lane = lane;
    if (lane != LANE_NONE)
        s->load[lane] += s->q->unit[unit].left_s;
}

static void find_share(struct spread *s)
{
    const struct lane_queue *q = s->q;
    double sum = 0, longest = 0, lanes = 0;
    for (size_t u = 0; u < q->unit_count; u++) {
        sum += q->unit[u].left_s;
        longest = q->unit[u].left_s > longest ? q->unit[u].left_s : longest;
    }
    for (size_t l = 0; l < q->lane_count; l++)
        lanes += !q->lane[l].out;
    s->share = lanes > 0 && sum / lanes > longest ? sum / lanes : longest;
}

/* Puts the units that only one lane may run, or that a lane has begun. */
static void put_bound(struct spread *s)
{
    for (size_t i = 0; i < s->q->unit_count; i++) {
        const struct lane_unit *u = &s->q->unit[i];
        if (u->only != LANE_NONE)
            put(s, i, is_there(s->q, u->only) ? u->only : LANE_NONE);
        else if (u->begun != LANE_NONE && is_there(s->q, u->begun))
            put(s, i, u->begun);
    }
}

static bool is_free(const struct lane_unit *u)
{
    return u->only == LANE_NONE && u->lane == LANE_NONE;
}

static void put_home(struct spread *s)
{
    for (size_t i = 0; i < s->q->unit_count; i++) {
        const struct lane_unit *u = &s->q->unit[s->order[i]];
        if (is_free(u) && u->home != LANE_NONE && is_there(s->q, u->home) &&
            s->load[u->home] + u->left_s <= s->share * (1 + home_slack))
            put(s, s->order[i], u->home);
    }
}

/* A unit goes to the least loaded lane, unless its home, where it was timed before, is hardly more loaded. */
static void put_rest(struct spread *s)
{
    for (size_t i = 0; i < s->q->unit_count; i++) {
        const struct lane_unit *u = &s->q->unit[s->order[i]];
        size_t to = least_loaded(s);
        if (!is_free(u) || to == LANE_NONE)
            continue;
        if (u->home != LANE_NONE && is_there(s->q, u->home) &&
            s->load[u->home] <= s->load[to] + s->share * home_slack)
            to = u->home;
        put(s, s->order[i], to);
    }
}

static void spread_units(struct lane_queue *q)
{
    AUTO_FREE size_t *order = xcalloc(q->count, sizeof *order);
    AUTO_FREE double *load = xcalloc(q->lane_count, sizeof *load);
    struct spread s = {.q = q, .order = order, .load = load};
    find_share(&s);
    sort_longest_first(q, order);
    put_bound(&s);
    put_home(&s);
    put_rest(&s);
}

void lane_queue_init(struct lane_queue *q, struct lane_item *items, size_t count, size_t lanes)
{
    *q = (struct lane_queue){.item = items, .count = count};
    make_arrays(q, lanes);
    for (size_t i = 0; i < count; i++)
        add_to_unit(q, &items[i]);
    spread_units(q);
}

void lane_queue_release(struct lane_queue *q)
{
    free(q->item);
    free(q->unit);
    free(q->lane);
    *q = (struct lane_queue){.count = 0};
}

size_t lane_queue_lane(const struct lane_queue *q, size_t test)
{
    return q->unit[q->item[test].unit].lane;
}

size_t lane_queue_in_flight(const struct lane_queue *q)
{
    size_t n = 0;
    for (size_t l = 0; l < q->lane_count; l++)
        n += q->lane[l].running != LANE_NONE;
    return n;
}

/* Returns the lane's next test, whether or not it may begin now. */
static size_t head(const struct lane_queue *q, size_t lane)
{
    for (size_t i = q->first; i < q->count; i++)
        if (!q->item[i].over && lane_queue_lane(q, i) == lane)
            return i;
    return LANE_NONE;
}

/* Moves here the longest unit that no lane has begun and that has no home. Only busy lanes give up units. */
static size_t take_from_others(struct lane_queue *q, size_t lane)
{
    size_t best = LANE_NONE;
    for (size_t u = 0; u < q->unit_count; u++) {
        const struct lane_unit *unit = &q->unit[u];
        bool takes = unit->left > 0 && unit->begun == LANE_NONE && unit->only == LANE_NONE &&
                     unit->home == LANE_NONE && unit->lane != LANE_NONE;
        if (takes && q->lane[unit->lane].running != LANE_NONE &&
            (best == LANE_NONE || unit->left_s > q->unit[best].left_s))
            best = u;
    }
    if (best == LANE_NONE)
        return LANE_NONE;
    q->unit[best].lane = lane;
    return head(q, lane);
}

/* Whether another lane runs, or waits to run, a test that must run alone. */
static bool must_give_way(const struct lane_queue *q, size_t lane)
{
    for (size_t l = 0; l < q->lane_count; l++) {
        size_t test = q->lane[l].running != LANE_NONE ? q->lane[l].running : head(q, l);
        if (l != lane && !q->lane[l].out && test != LANE_NONE && q->item[test].alone)
            return true;
    }
    return false;
}

static bool alone_is_running(const struct lane_queue *q)
{
    for (size_t l = 0; l < q->lane_count; l++)
        if (q->lane[l].running != LANE_NONE && q->item[q->lane[l].running].alone)
            return true;
    return false;
}

bool lane_queue_next(struct lane_queue *q, size_t lane, size_t *test)
{
    if (q->lane[lane].out || q->lane[lane].running != LANE_NONE || alone_is_running(q))
        return false;
    *test = head(q, lane);
    if (*test == LANE_NONE)
        *test = take_from_others(q, lane);
    if (*test == LANE_NONE)
        return false;
    return q->item[*test].alone ? lane_queue_in_flight(q) == 0 : !must_give_way(q, lane);
}

void lane_queue_begin(struct lane_queue *q, size_t lane, size_t test)
{
    q->lane[lane].running = test;
    q->unit[q->item[test].unit].begun = lane;
}

void lane_queue_end(struct lane_queue *q, size_t test)
{
    struct lane_item *item = &q->item[test];
    for (size_t l = 0; l < q->lane_count; l++)
        if (q->lane[l].running == test)
            q->lane[l].running = LANE_NONE;
    if (item->over)
        return;
    item->over = true;
    q->unit[item->unit].left--;
    q->unit[item->unit].left_s -= item->expected_s;
    while (q->first < q->count && q->item[q->first].over)
        q->first++;
}

/* Returns the lane with the least left to do that still takes tests. */
static size_t best_lane(const struct lane_queue *q)
{
    size_t best = LANE_NONE;
    double best_s = 0;
    for (size_t l = 0; l < q->lane_count; l++) {
        double sum = 0;
        for (size_t u = 0; u < q->unit_count; u++)
            sum += q->unit[u].lane == l ? q->unit[u].left_s : 0;
        if (!q->lane[l].out && (best == LANE_NONE || sum < best_s)) {
            best = l;
            best_s = sum;
        }
    }
    return best;
}

size_t lane_queue_take_out(struct lane_queue *q, size_t lane)
{
    size_t moved = 0;
    q->lane[lane].out = true;
    for (size_t u = 0; u < q->unit_count; u++) {
        struct lane_unit *unit = &q->unit[u];
        unit->moved = unit->lane == lane && unit->left > 0;
        if (!unit->moved)
            continue;
        unit->lane = unit->only == LANE_NONE ? best_lane(q) : LANE_NONE;
        unit->begun = LANE_NONE;
        unit->moved = unit->lane != LANE_NONE;
        moved += unit->moved;
    }
    return moved;
}

bool lane_queue_stranded(const struct lane_queue *q, size_t *test)
{
    *test = head(q, LANE_NONE);
    return *test != LANE_NONE;
}
