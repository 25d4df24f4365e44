#include "common/base/escape.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_number(const char *s)
{
    char *end;
    (void)strtod(s, &end);
    return !*end && !s[strspn(s, "0123456789.eE+-")];
}

/* What a spreadsheet would compute, and perhaps run, when it opens the file. */
static bool begins_formula(const char *s)
{
    return *s && s[1] && strchr("=+-@\t\r\n", *s) && !is_number(s);
}

void escape_csv_quoted(struct buf *out, const char *s)
{
    buf_puts(out, begins_formula(s) ? "\"'" : "\"");
    for (; *s; s++) {
        if (*s == '"')
            buf_putc(out, '"');
        buf_putc(out, *s);
    }
    buf_putc(out, '"');
}

void escape_csv(struct buf *out, const char *s)
{
    if (strpbrk(s, ",\"\r\n") || begins_formula(s))
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
