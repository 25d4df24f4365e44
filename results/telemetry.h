/* telemetry: the samples of one test, as named columns of numbers, packed into a few bytes a sample.
 *
 * The packing is lossless: a column of decimal numbers is stored as integers (scaled, divided by what all
 * have in common), as differences of first or second order, zig-zag, in bytes of seven bits; anything else as
 * plain doubles. A sample that lacks a value is NaN. Samples and packed bytes are foreign: limits apply both
 * ways. The owner calls telemetry_release().
 */
#ifndef KERNSWEEP_RESULTS_TELEMETRY_H
#define KERNSWEEP_RESULTS_TELEMETRY_H

#include "common/buf.h"
#include "common/err.h"
#include "results/store.h"

#include <stddef.h>
#include <stdint.h>

enum { TELEMETRY_COLUMNS_MAX = 24, TELEMETRY_NAME_MAX = 32, TELEMETRY_SAMPLES_MAX = 4000000 };

struct telemetry_column {
    char name[TELEMETRY_NAME_MAX];
    double *values; /* telemetry.count of them */
};

struct telemetry {
    size_t count;
    size_t capacity;
    size_t n_columns;
    struct telemetry_column columns[TELEMETRY_COLUMNS_MAX];
};

void telemetry_init(struct telemetry *t);
void telemetry_release(struct telemetry *t);

/* Appends an empty sample; then telemetry_set() fills it. */
int telemetry_add(struct telemetry *t, struct err *err);
/* Sets a value of the last sample. False when there are too many columns or the name is none. */
bool telemetry_set(struct telemetry *t, const char *name, double value);

/* The column of that name, or NULL. */
const double *telemetry_column(const struct telemetry *t, const char *name);

/* Reads vram_samples.jsonl: one flat JSON object of numbers a line. A line that is not is counted in
 * *skipped. */
int telemetry_read(const char *path, struct telemetry *out, int *skipped, struct err *err);

int telemetry_pack(const struct telemetry *t, struct buf *out, struct err *err);
int telemetry_unpack(const void *data, size_t len, struct telemetry *out, struct err *err);

/* The stored samples of a test (run_test.key); count is 0 when there are none. */
int telemetry_load(struct store *s, int64_t test_key, struct telemetry *out, struct err *err);

#endif
