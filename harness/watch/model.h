/* watch_model: what `watch` shows of a run, built from the events of its journal: the matrix with its states,
 * the test of each lane (a GPU, or several that one test has) with its memory and GPU use over time, and the
 * last lines that `attach` would have printed.
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
    int running;     /* repetitions that are, one per lane */
    int ok;          /* repetitions that were OK */
    double last_s;   /* what the last of them took: its prefill, or its wall time */
    char status[16]; /* of the last repetition that was not OK, or "" */
};

struct watch_variant {
    char name[LIMIT_NAME + 1];
    char status[16]; /* of its build and gates: "building", "OK", "CACHED", "GATE_FAILED", or "" */
};

/* The newest value is the last; NaN if a sample lacks it. */
struct watch_series {
    double values[WATCH_SAMPLES];
    size_t count;
};

/* What runs on some GPUs of the node, one test at a time. */
struct watch_lane {
    char gpus[EVENT_TEXT_MAX]; /* their ids, separated by commas; "" when unknown */
    char out[EVENT_TEXT_MAX];  /* why it takes no more tests, or "" */
    bool running;
    char variant[LIMIT_NAME + 1]; /* of its test, or its last */
    int64_t ctx, run_idx;
    double elapsed_s, timeout_s, eta_remaining_s;
    struct watch_series vram, gpu; /* of its test */
    char output[EVENT_LINES_MAX];  /* the last lines that the test printed, each with its newline */
    struct watch_cell *cell;       /* of its running test, or NULL */
};

struct watch_model {
    struct live live; /* counts, and the text of the log */
    char *text;       /* what live printed and is not split into lines yet */
    size_t text_len;
    struct watch_variant variants[WATCH_VARIANTS_MAX];
    size_t n_variants;
    int64_t contexts[WATCH_CONTEXTS_MAX];
    size_t n_contexts;
    struct watch_cell cells[WATCH_VARIANTS_MAX][WATCH_CONTEXTS_MAX];
    struct watch_lane lanes[EVENT_LANES_MAX];
    size_t n_lanes; /* that had a test */
    double suite_eta_s;
    char lines[WATCH_LINES][WATCH_LINE_MAX]; /* a ring buffer */
    size_t n_lines;                          /* added so far */
    char status[32];                         /* of the run, once it has ended */
};

struct watch_model *watch_model_new(void);
void watch_model_free(struct watch_model *m);

void watch_model_event(struct watch_model *m, const struct event *e);
/* Adds a line to the log, made printable. */
void watch_model_note(struct watch_model *m, const char *text);

/* The i-th of the last n lines, the newest last; NULL if there are fewer. */
const char *watch_model_line(const struct watch_model *m, size_t i, size_t n);
/* How many tests are running. */
size_t watch_model_running(const struct watch_model *m);
/* The lane whose test has run longest; NULL if none is running. */
const struct watch_lane *watch_model_longest(const struct watch_model *m);
/* The start of the last n lines of the output of a lane's test. *count: how many lines there are, at most n.
 */
const char *watch_lane_output(const struct watch_lane *l, size_t n, size_t *count);
/* "-", "run", "12.3 ms x2" (the last of two repetitions) or a status. out: char[16]. */
void watch_cell_text(const struct watch_cell *c, char *out);
/* Where a view of `shown` of `count` rows begins: at `first`, or where it has the row `must`, if that is
 * below count. */
size_t watch_window(size_t first, size_t shown, size_t count, size_t must);
/* The indices of the first cell in which a test is running; false if there is none. */
bool watch_running(const struct watch_model *m, size_t *variant, size_t *context);
/* Heights from 0 to 8 of the last `width` samples, scaled to max; 0 for NaN. Returns their number. */
size_t watch_series_heights(const struct watch_series *s, double max, int *out, size_t width);
double watch_series_max(const struct watch_series *s);
