#include "reports/render/escape.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <ctype.h>
#include <string.h>

/* The printable form of s; the caller releases it. */
static struct buf printable(const char *s, size_t len)
{
    struct buf b = {.max = (size_t)ESCAPE_BYTES_MAX * 8};
    text_printable(&b, s, len, ESCAPE_BYTES_MAX);
    if (len > ESCAPE_BYTES_MAX)
        buf_puts(&b, " ...");
    return b;
}

/* At the beginning of a line, or behind the marker of a list's item ("- ", "12. "), where blocks begin too.
 */
static bool at_line_start(const struct buf *out)
{
    size_t line = out->len, digits;
    while (line > 0 && out->data[line - 1] != '\n')
        line--;
    const char *text = buf_str(out) + line;
    digits = strspn(text, "0123456789");
    return !*text || strcmp(text, "- ") == 0 || (digits > 0 && strcmp(text + digits, ". ") == 0);
}

static bool needs_escape(const char *text, size_t i, bool line_start)
{
    char c = text[i];
    if (strchr("\\`*[]<>&|~$", c))
        return true;
    if (c == '_')
        return i == 0 || !isalnum((unsigned char)text[i - 1]) || !isalnum((unsigned char)text[i + 1]);
    if (c == ':')
        return text[i + 1] == '/' && text[i + 2] == '/';
    if (c == '.' && i >= 3 && strncasecmp(text + i - 3, "www", 3) == 0)
        return true;
    if (!line_start)
        return false;
    if (c == '.' || c == ')')
        return i > 0 && strspn(text, "0123456789") == i && (text[i + 1] == ' ' || !text[i + 1]);
    return i == 0 && strchr("#+-=!", c) != NULL;
}

static void escape(struct buf *out, const char *text)
{
    bool line_start = at_line_start(out);
    for (size_t i = 0; text[i]; i++) {
        if (needs_escape(text, i, line_start))
            buf_putc(out, '\\');
        buf_putc(out, text[i]);
    }
}

void escape_text(struct buf *out, const char *s)
{
    AUTO(buf_release) struct buf b = printable(s, strlen(s));
    out->failed |= !buf_ok(&b);
    escape(out, buf_str(&b));
}

size_t escape_longest_run(const char *s, char c)
{
    size_t longest = 0;
    for (size_t run = 0; *s; s++) {
        run = *s == c ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

void escape_repeat(struct buf *out, char c, size_t n)
{
    while (n--)
        buf_putc(out, c);
}

static void code_span(struct buf *out, const char *text, bool in_table)
{
    size_t fence = escape_longest_run(text, '`') + 1;
    size_t len = strlen(text);
    bool pad = text[0] == '`' || text[len - 1] == '`' || (text[0] == ' ' && text[len - 1] == ' ');
    escape_repeat(out, '`', fence);
    escape_repeat(out, ' ', pad);
    for (; *text; text++) {
        if (*text == '|' && in_table)
            buf_putc(out, '\\');
        buf_putc(out, *text);
    }
    escape_repeat(out, ' ', pad);
    escape_repeat(out, '`', fence);
}

void escape_code(struct buf *out, const char *s, bool in_table)
{
    AUTO(buf_release) struct buf b = printable(s, strlen(s));
    const char *text = buf_str(&b);
    out->failed |= !buf_ok(&b);
    if (text[strspn(text, " ")] == '\0' || (in_table && strstr(text, "\\|")))
        escape(out, *text ? text : "-");
    else
        code_span(out, text, in_table);
}

void escape_href(struct buf *out, const char *s)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    for (; *s; s++) {
        if (strchr(plain, *s))
            buf_putc(out, *s);
        else
            buf_printf(out, "%%%02X", (unsigned char)*s);
    }
}
