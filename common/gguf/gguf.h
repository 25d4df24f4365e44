/* gguf: reads the metadata and tensor table of a GGUF model file (v2, v3, little-endian), and sets a scalar
 * in place.
 *
 * The file is untrusted: every length is checked against the remaining bytes before anything is allocated or
 * skipped, and errors give the byte offset. The file is read, not mapped, so that truncation while it is open
 * is an error and not a signal. Tensor data is never read. Errors: ERR_INPUT for the file, ERR_STORAGE for
 * the system. Format: the GGUF specification in ggml's docs.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum gguf_type {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_TYPE_COUNT
};

enum { GGUF_KEY_MAX = 256, GGUF_TEXT_MAX = 512, GGUF_WINDOW = 1 << 16, GGUF_DIMS_MAX = 4 };

struct gguf_entry {
    char key[GGUF_KEY_MAX];
    enum gguf_type type;
    enum gguf_type element;   /* of an array */
    uint64_t count;           /* elements of an array, bytes of a string */
    uint64_t offset;          /* of the value in the file; for a string, of its bytes */
    char text[GGUF_TEXT_MAX]; /* a scalar or the beginning of a string; raw bytes */
};

struct gguf_tensor {
    char name[GGUF_KEY_MAX];
    uint64_t listed_at;         /* of its entry in the file */
    uint64_t offset;            /* of its data: aligned, and within the file */
    uint32_t n_dims;            /* 1..GGUF_DIMS_MAX */
    uint32_t type;              /* ggml's number */
    uint64_t ne[GGUF_DIMS_MAX]; /* elements per dimension, the contiguous one first; 1 beyond n_dims;
                                   their product fits 63 bits */
};

struct gguf {
    const char *path; /* borrowed */
    int fd;
    uint64_t size;
    uint32_t version;
    uint64_t n_tensors, n_entries;
    uint64_t tensors_at; /* the tensor table; 0 until all metadata has been read */
    uint32_t alignment;  /* of tensor data, from the metadata read so far; 0: invalid */
    uint64_t at;         /* current read position */
    uint64_t window_at;
    uint32_t window_len;
    unsigned char window[GGUF_WINDOW];
};

const char *gguf_type_name(enum gguf_type t);
/* Returns the size of a scalar in bytes; 0 for strings and arrays. */
unsigned gguf_type_size(enum gguf_type t);

/* Checks the header. Call gguf_close() after success. */
int gguf_open(struct gguf *g, const char *path, bool writable, struct err *err);
void gguf_close(struct gguf *g);

/* Calls fn for every entry, in file order. fn returns 0 to continue, 1 to stop, -1 with err. */
int gguf_each(struct gguf *g, int (*fn)(const struct gguf_entry *, void *, struct err *), void *arg,
              struct err *err);

/* Calls fn for every tensor, in file order, like gguf_each(). */
int gguf_each_tensor(struct gguf *g, int (*fn)(const struct gguf_tensor *, void *, struct err *), void *arg,
                     struct err *err);

/* Fails with ERR_INPUT when there is no such key. */
int gguf_find(struct gguf *g, const char *key, struct gguf_entry *out, struct err *err);

/* Overwrites a number or bool with a new value of the same type, and syncs. Rejects strings and arrays, since
 * a different length would move everything after them. */
int gguf_set(struct gguf *g, const struct gguf_entry *e, const char *value, struct err *err);
