/* lane_queue: which test is next on which lane. Tests that must share a lane (those of a point, or of a cell)
 * are one unit; units are spread over the lanes by their expected time, and a lane runs its tests in the
 * plan's order. Pure: knows nothing of processes, GPUs or files.
 *
 * A unit goes home, to the lane that had it the last time, as far as the balance permits. A lane without work
 * takes units from others that have not begun and have no home. A test that runs alone waits until no other
 * lane has a test in flight, and none begins while it waits or runs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANE_NONE SIZE_MAX

/* A test, in the plan's order. */
struct lane_item {
    size_t unit;       /* tests with the same number share a lane */
    double expected_s; /* positive */
    size_t home;       /* a lane, or LANE_NONE: where it ran on an earlier night */
    size_t begun;      /* the same: where this run began its unit */
    size_t only;       /* the same: the only one where it may run */
    bool alone;
    bool over; /* it has run, or never will here */
};

struct lane_unit {
    size_t lane; /* LANE_NONE: its only lane is not there */
    size_t home, begun, only;
    double left_s;
    size_t left; /* tests */
    bool moved;  /* by the last lane_queue_take_out() */
};

struct lane_place {
    bool out;
    size_t running; /* a test, or LANE_NONE */
};

struct lane_queue {
    struct lane_item *item; /* owned */
    size_t count;
    size_t first;           /* all tests before it are over */
    struct lane_unit *unit; /* owned; by number */
    size_t unit_count;
    struct lane_place *lane; /* owned */
    size_t lane_count;
};

/* Takes items, which the caller allocated: count of them, units numbered below count. */
void lane_queue_init(struct lane_queue *q, struct lane_item *items, size_t count, size_t lanes);
void lane_queue_release(struct lane_queue *q);

/* Finds the test that may begin on the lane now, and may move a unit there for it; false if none may. */
bool lane_queue_next(struct lane_queue *q, size_t lane, size_t *test);
void lane_queue_begin(struct lane_queue *q, size_t lane, size_t test);
/* To be called when a test has ended, or will not run. */
void lane_queue_end(struct lane_queue *q, size_t test);
/* Closes a lane: its units move to other lanes, which unit.moved records; units that may run only there get
 * no lane. Returns how many moved. */
size_t lane_queue_take_out(struct lane_queue *q, size_t lane);
/* Finds a test that no lane will run; false if there is none. */
bool lane_queue_stranded(const struct lane_queue *q, size_t *test);
/* Returns LANE_NONE for a test that no lane will run. */
size_t lane_queue_lane(const struct lane_queue *q, size_t test);
size_t lane_queue_in_flight(const struct lane_queue *q);
