/* event: one line of a node's journal, decoded, with bounded size. Absent fields are 0, "" or NaN. All text
 * is already safe for a terminal.
 */
#pragma once

#include "common/base/err.h"
#include "common/contract/proto.h"

#include <stddef.h>
#include <stdint.h>

enum {
    EVENT_TEXT_MAX = 512,
    EVENT_LINES_MAX = 8192,
    EVENT_CONTEXTS_MAX = 256,
    EVENT_LANES_MAX = 64 /* tests in flight at once that a follower tells apart */
};

/* Whether the run is waiting for something external, such as a scheduler. */
enum event_stall { STALL_UNSAID, STALL_BEGINS, STALL_ENDS };

/* Contents of a SUITE_START event, cut off where the arrays are full. */
struct event_suite {
    char variants[EVENT_LINES_MAX]; /* names, each followed by a newline */
    int64_t contexts[EVENT_CONTEXTS_MAX];
    size_t n_contexts;
};

/* The plan's own primary metric, in a TEST_END event. */
struct event_metric {
    char name[LIMIT_NAME + 1]; /* "" when it has none */
    char unit[LIMIT_UNIT + 1];
    double value;
};

struct event {
    enum event_type type;
    int64_t seq;
    char variant[LIMIT_NAME + 1];
    char status[32];
    char reason[EVENT_TEXT_MAX]; /* also the message of a NODE event */
    char gate[LIMIT_NAME + 1];
    char log_tail[EVENT_LINES_MAX]; /* last lines of a failed build's log, each with its newline */
    int64_t ctx, run_idx, test_index, total_tests;
    struct event_suite suite;
    struct event_metric metric;
    struct {
        int64_t ok, failed, skipped;
    } counts;
    struct {
        double elapsed_s, timeout_s, wall_s, prefill_s, suite_eta_s, eta_remaining_s;
    } times;
    struct { /* of HEARTBEAT: percent, bytes, bytes */
        double gpu_use, vram_used, rss;
    } load;
    struct { /* of a NODE event */
        enum event_stall state;
        double patience_s; /* STALL_BEGINS: how long a follower should wait; NaN: forever */
    } stall;
    bool retry;    /* of TEST_END: the test did not finish, and will run again */
    bool replaces; /* TEST_END: corrects an earlier result of this test, which is no longer believed */
    char host[LIMIT_NAME + 1];    /* the machine that runs the test; "" when it is the node */
    int64_t lane;                 /* of a test: its lane in the run; 0 where there is only one */
    char gpus[EVENT_TEXT_MAX];    /* of a test: ids of its GPUs, separated by commas; "" when unknown */
    char gpu_out[LIMIT_NAME + 1]; /* of a NODE event: the GPU that is taken out of use */
};

/* line: without its newline. Returns 0; 1 for an event that is unknown here, of which only seq is read; -1 if
 * it is no event: others may have written it, and it is passed over. */
int event_decode(struct event *e, const char *line, size_t len);

/* Splits a byte stream into lines and counts the bytes consumed, so that following can resume from there. */
struct event_stream {
    int64_t offset; /* bytes of complete journal lines consumed so far */
    char *line;
    size_t len, dropped; /* bytes of the line that are kept, and those beyond LIMIT_EVENT_LINE */
    int (*on_line)(void *arg, const char *line, size_t len, struct err *err);
    void (*on_aside)(void *arg, const char *line); /* gets lines that are no journal lines; may be NULL */
    void *arg;
};

void event_stream_init(struct event_stream *s, int (*on_line)(void *, const char *, size_t, struct err *),
                       void *arg);
void event_stream_release(struct event_stream *s);
/* Discards an incomplete line, so that following resumes at `offset`. */
void event_stream_rewind(struct event_stream *s);
/* A transport_write_fn; arg: struct event_stream *. Empty lines are keep-alives; they and lines that begin
 * with a blank are not counted. */
int event_stream_write(void *arg, const char *data, size_t len, struct err *err);
