#include "executor/logtext.h"

#include "common/text.h"

#include <string.h>

void logtext_lines(struct buf *out, const char *s, size_t len)
{
    while (len > 0) {
        const char *nl = memchr(s, '\n', len);
        size_t n = nl ? (size_t)(nl - s) : len;
        text_printable(out, s, n, n);
        if (nl) {
            buf_putc(out, '\n');
            n++;
        }
        s += n;
        len -= n;
    }
}
