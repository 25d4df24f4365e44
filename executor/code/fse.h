/* fse: the parts of Zstandard (RFC 8878) that both its literals and its sequences need: bits read backwards,
 * and tables of finite state entropy. A malformed input is found by the functions that return bool, or by a
 * bit position below zero; no read leaves the span.
 */
#ifndef KERNSWEEP_EXECUTOR_CODE_FSE_H
#define KERNSWEEP_EXECUTOR_CODE_FSE_H

#include "executor/code/span.h"

enum { FSE_LOG_MAX = 9, FSE_SYMBOLS_MAX = 256 };

/* Bits that are read from the end of a span to its begin. */
struct fse_bits {
    struct span s;
    int64_t left; /* below zero: more was read than there is; the missing bits are 0 */
};

/* The highest set bit of a number other than 0. */
int fse_log2(uint32_t n);
/* False unless the last byte has the bit that marks the end. */
bool fse_bits_open(struct fse_bits *b, struct span s);
/* n: at most 32 */
uint32_t fse_bits_read(struct fse_bits *b, int n);

struct fse_table {
    int log;
    uint8_t symbol[1 << FSE_LOG_MAX], bits[1 << FSE_LOG_MAX];
    uint16_t base[1 << FSE_LOG_MAX];
};

/* From the probabilities of a format; -1 stands for "less than 1". */
bool fse_build(struct fse_table *t, const int16_t *probability, int count, int log);
/* From their description at the begin of the span; *used: its bytes. */
bool fse_read(struct fse_table *t, struct span s, int log_max, int symbols_max, size_t *used);
/* A table that has one symbol only. */
void fse_single(struct fse_table *t, uint8_t symbol);

uint32_t fse_state(const struct fse_table *t, struct fse_bits *b);
uint32_t fse_next(const struct fse_table *t, uint32_t state, struct fse_bits *b);

#endif
