/* huffman: the Huffman codes of Zstandard's literals (RFC 8878, 4.2). */
#ifndef KERNSWEEP_EXECUTOR_CODE_HUFFMAN_H
#define KERNSWEEP_EXECUTOR_CODE_HUFFMAN_H

#include "executor/code/span.h"

enum { HUFFMAN_LOG_MAX = 11 };

struct huffman {
    int log; /* 0: no table yet */
    uint8_t symbol[1 << HUFFMAN_LOG_MAX], bits[1 << HUFFMAN_LOG_MAX];
};

/* From its description at the begin of the span; *used: its bytes. */
bool huffman_read(struct huffman *h, struct span s, size_t *used);
/* Decodes one stream to exactly len bytes. */
bool huffman_decode(const struct huffman *h, struct span stream, uint8_t *out, size_t len);

#endif
