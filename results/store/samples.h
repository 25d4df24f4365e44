/* samples: the samples of one test, as named columns of numbers, packed into a few bytes per sample.
 *
 * The packing is lossless: a column of decimal numbers is stored as integers (scaled, divided by their
 * greatest common divisor), as first or second differences in zigzag varints; any other column as plain
 * doubles. A missing value is NaN. Samples and packed bytes are untrusted: limits apply both ways. The owner
 * calls samples_release().
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"
#include "results/store/store.h"

#include <stddef.h>
#include <stdint.h>

enum {
    SAMPLES_COLUMNS_MAX = 24,
    SAMPLES_NAME_MAX = 32,
    SAMPLES_SAMPLES_MAX = 4000000,
    SAMPLES_BYTES_MAX = 1 << 30
};

struct samples_column {
    char name[SAMPLES_NAME_MAX];
    double *values; /* samples.count of them */
};

struct samples {
    size_t count;
    size_t capacity;
    size_t n_columns;
    struct samples_column columns[SAMPLES_COLUMNS_MAX];
};

void samples_init(struct samples *t);
void samples_release(struct samples *t);

/* Appends an empty sample; then samples_set() fills it. */
int samples_add(struct samples *t, struct err *err);
/* Sets a value of the last sample. False if there are too many columns or the name is invalid. */
bool samples_set(struct samples *t, const char *name, double value);

/* The values of the column of that name, or NULL. */
double *samples_column(const struct samples *t, const char *name);

/* The text of vram_samples.jsonl: one flat JSON object of numbers per line. Other lines are counted in
 * *skipped. */
int samples_parse(const char *text, size_t len, const char *file, struct samples *out, int *skipped,
                  struct err *err);

void samples_pack(const struct samples *t, struct buf *out);
int samples_unpack(const void *data, size_t len, struct samples *out, struct err *err);

/* The stored samples of a test (run_test.key); count is 0 if there are none. */
int samples_load(struct store *s, int64_t test_key, struct samples *out, struct err *err);
