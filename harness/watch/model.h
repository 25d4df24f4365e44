/* watch_model: what `watch` shows about a run, built from the events of its journal: the matrix of cells with
 * their states, the test of each lane (a GPU, or several that one test uses) with its memory and GPU use over
 * time, and the last lines that `attach` would have printed.
 *
 * Knows nothing about terminals or nodes. Its size is fixed: variants and contexts that do not fit are
 * missing from the matrix but included in the counts. All text is safe for a terminal, as it is in events.
 */
#pragma once

#include "harness/session/live.h"

enum {
    WATCH_VARIANTS_MAX = 128,
    WATCH_CONTEXTS_MAX = 64,
    WATCH_SAMPLES = 240,
    WATCH_LINES = 1000,
    WATCH_LINE_MAX = 256
};

struct watch_cell {
    int running;     /* running repetitions, one per lane */
    int ok;          /* successful repetitions */
    double last_s;   /* prefill time of the last one, or its wall time */
    char status[16]; /* of the last repetition that was not OK, or "" */
};

struct watch_variant {
    char name[LIMIT_NAME + 1];
    char status[16]; /* of its build and gates: "building", "OK", "CACHED", "GATE_FAILED", or "" */
};

/* A series of samples, newest last; NaN if a sample lacks the value. */
struct watch_series {
    double values[WATCH_SAMPLES];
    size_t count;
};

/* A lane: GPUs of the node that run one test at a time. */
struct watch_lane {
    char gpus[EVENT_TEXT_MAX]; /* their ids, separated by commas; "" when unknown */
    char out[EVENT_TEXT_MAX];  /* why it takes no more tests, or "" */
    bool running;
    char variant[LIMIT_NAME + 1]; /* of the running test, or the last one */
    int64_t ctx, run_idx;
    double elapsed_s, timeout_s, eta_remaining_s;
    struct watch_series vram, gpu; /* of that test */
    char output[EVENT_LINES_MAX];  /* the last lines that the test printed, each with its newline */
    struct watch_cell *cell;       /* of its running test, or NULL */
};

struct watch_model {
    struct live live; /* counts, and the text of the log */
    char *text;       /* text from live that is not split into lines yet */
    size_t text_len;
    struct watch_variant variants[WATCH_VARIANTS_MAX];
    size_t n_variants;
    int64_t contexts[WATCH_CONTEXTS_MAX];
    size_t n_contexts;
    struct watch_cell cells[WATCH_VARIANTS_MAX][WATCH_CONTEXTS_MAX];
    struct watch_lane lanes[EVENT_LANES_MAX];
    size_t n_lanes; /* those that have had a test */
    double suite_eta_s;
    char lines[WATCH_LINES][WATCH_LINE_MAX]; /* a ring buffer */
    size_t n_lines;                          /* total number of lines added */
    char status[32];                         /* of the run, once it has ended */
};

struct watch_model *watch_model_new(void);
void watch_model_free(struct watch_model *m);

void watch_model_event(struct watch_model *m, const struct event *e);
/* Adds a line to the log, with unprintable characters escaped. */
void watch_model_note(struct watch_model *m, const char *text);

/* The i-th of the last n lines, newest last; NULL if there are fewer. */
const char *watch_model_line(const struct watch_model *m, size_t i, size_t n);
/* The number of running tests. */
size_t watch_model_running(const struct watch_model *m);
/* The lane with the longest-running test; NULL if none is running. */
const struct watch_lane *watch_model_longest(const struct watch_model *m);
/* The start of the last n lines of output of a lane's test. *count: the number of lines, at most n. */
const char *watch_lane_output(const struct watch_lane *l, size_t n, size_t *count);
/* "-", "run", "12.3 ms x2" (the last of two repetitions) or a status. out: char[16]. */
void watch_cell_text(const struct watch_cell *c, char *out);
/* The first row of a view of `shown` of `count` rows: `first`, or moved to include `must` if that is below
 * count. */
size_t watch_window(size_t first, size_t shown, size_t count, size_t must);
/* The indices of the first cell in which a test is running; false if there is none. */
bool watch_running(const struct watch_model *m, size_t *variant, size_t *context);
/* Scales the last `width` samples to heights from 0 to 8, with 8 for max; 0 for NaN. Returns their number. */
size_t watch_series_heights(const struct watch_series *s, double max, int *out, size_t width);
double watch_series_max(const struct watch_series *s);
