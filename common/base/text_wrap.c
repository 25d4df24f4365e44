/* Text that fits the columns of a terminal. */
#include "common/base/text.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_MIN = 40, COLUMNS_USUAL = 80 };

size_t text_columns(FILE *out)
{
    struct winsize size = {0};
    if (!isatty(fileno(out)))
        return 0;
    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : COLUMNS_USUAL;
}

size_t text_fitting(const char *text, size_t columns)
{
    size_t n = 0;
    for (size_t used = 0; text[n]; n++)
        if (((unsigned char)text[n] & 0xc0) != 0x80 && used++ == columns)
            break;
    return n;
}

size_t text_shown_width(const char *text, size_t len)
{
    size_t shown = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\033') /* a colour, up to its "m" */
            i += strcspn(text + i, "m");
        else
            shown += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return shown;
}

size_t text_words_that_fit(const char *text, size_t len, size_t width)
{
    size_t end = 0;
    for (size_t at = 0; at < len;) {
        size_t next = at + strspn(text + at, " ");
        next += strcspn(text + next, " \n");
        next = next < len ? next : len;
        if (end && text_shown_width(text, next) > width)
            break;
        at = end = next;
    }
    return end;
}

void text_wrap_line(const char *text, size_t len, size_t first, size_t indent, size_t columns,
                    struct buf *out)
{
    columns = columns > COLUMNS_MIN ? columns : COLUMNS_MIN;
    for (size_t at = 0, before = first; at < len; before = indent) {
        size_t n = text_words_that_fit(text + at, len - at, columns - before);
        buf_printf(out, "%*s", (int)before, "");
        buf_add(out, text + at, n);
        buf_putc(out, '\n');
        at += n;
        at += strspn(text + at, " ");
    }
}

void text_wrap(const char *text, size_t columns, struct buf *out)
{
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n"), indent = strspn(line, " ");
        if (columns == 0 || indent >= columns / 2 || text_shown_width(line, len) <= columns) {
            buf_add(out, line, len);
            buf_puts(out, line[len] ? "\n" : "");
        } else
            text_wrap_line(line + indent, len - indent, indent, indent + 2, columns, out);
        line += len + (line[len] == '\n');
    }
}
