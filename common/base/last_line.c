#include "common/base/last_line.h"

#include <string.h>

static void end_line(struct last_line *l)
{
    l->open[l->len] = '\0';
    if (strspn(l->open, " \t\r") < l->len)
        memcpy(l->ended, l->open, l->len + 1);
    l->len = 0;
}

void last_line_feed(struct last_line *l, const char *data, size_t len)
{
    while (len > 0) {
        const char *nl = memchr(data, '\n', len);
        size_t n = nl ? (size_t)(nl - data) : len, room = LAST_LINE_MAX - l->len;
        memcpy(l->open + l->len, data, n < room ? n : room);
        l->len += n < room ? n : room;
        l->open[l->len] = '\0';
        if (nl)
            end_line(l);
        data += n + (nl != NULL);
        len -= n + (nl != NULL);
    }
}

const char *last_line_text(const struct last_line *l)
{
    return strspn(l->open, " \t\r") < l->len ? l->open : l->ended;
}
