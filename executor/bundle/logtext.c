#include "executor/bundle/logtext.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <string.h>

static size_t length_before_tab(const char *s, size_t len)
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
            size_t part = length_before_tab(s + done, n - done);
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

json_t *logtext_tail(const struct runlog *log, size_t max)
{
    AUTO(buf_release) struct buf tail = {.max = max};
    AUTO(buf_release) struct buf text = {.max = max * 8};
    runlog_tail(log, max, &tail);
    const char *cut = tail.len == max ? memchr(buf_str(&tail), '\n', tail.len) : NULL;
    size_t skip = cut ? (size_t)(cut - buf_str(&tail)) + 1 : 0; /* the end of a line that begins before */
    logtext_lines(&text, buf_str(&tail) + skip, tail.len - skip);
    json_t *out = json_stringn(buf_str(&text), text.len);
    return out;
}
