#include "executor/bundle/logtext.h"

#include "common/base/text.h"

#include <string.h>

static size_t before_tab(const char *s, size_t len)
{
    const char *tab = memchr(s, '\t', len);
    return tab ? (size_t)(tab - s) : len;
}

void logtext_lines(struct buf *out, const char *s, size_t len)
{
    while (len > 0) {
        const char *nl = memchr(s, '\n', len);
        size_t n = nl ? (size_t)(nl - s) : len;
        for (size_t done = 0; done < n;) { /* a tab is harmless, and common in tables */
            size_t part = before_tab(s + done, n - done);
            text_printable(out, s + done, part, part);
            done += part;
            if (done < n) {
                buf_putc(out, '\t');
                done++;
            }
        }
        if (nl) {
            buf_putc(out, '\n');
            n++;
        }
        s += n;
        len -= n;
    }
}
