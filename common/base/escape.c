#include "common/base/escape.h"

#include <string.h>

void escape_csv_quoted(struct buf *out, const char *s)
{
    buf_putc(out, '"');
    for (; *s; s++) {
        if (*s == '"')
            buf_putc(out, '"');
        buf_putc(out, *s);
    }
    buf_putc(out, '"');
}

void escape_csv(struct buf *out, const char *s)
{
    if (strpbrk(s, ",\"\r\n"))
        escape_csv_quoted(out, s);
    else
        buf_puts(out, s);
}

static const char *entity_of(char c)
{
    return c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : NULL;
}

void escape_xml(struct buf *out, const char *s)
{
    for (; *s; s++) {
        const char *entity = entity_of(*s);
        if (entity)
            buf_puts(out, entity);
        else if ((unsigned char)*s >= 0x20 || strchr("\t\n\r", *s))
            buf_putc(out, *s);
    }
}
