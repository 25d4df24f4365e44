/* buf: a growable byte buffer with a maximum size.
 *
 * The data is always NUL-terminated one byte past `len`. When an append would exceed `max`,
 * the buffer sets `failed` and ignores further appends: check once at the end with buf_ok(). The owner calls
 * buf_release(), or takes the bytes with buf_steal().
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* NULL until the first append */
    size_t len;
    size_t cap;
    size_t max; /* bytes, excluding the terminating NUL */
    bool failed;
};

void buf_init(struct buf *b, size_t max);
void buf_release(struct buf *b);
void buf_clear(struct buf *b);

void buf_add(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* Removes the first n bytes, or all if there are fewer. */
void buf_consume(struct buf *b, size_t n);

bool buf_ok(const struct buf *b);

/* Never returns NULL. */
const char *buf_str(const struct buf *b);

/* Hands the bytes (NUL-terminated) to the caller and empties the buffer. Returns NULL when !buf_ok(). */
char *buf_steal(struct buf *b);
