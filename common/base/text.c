#include "common/base/text.h"

#include "common/base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ELLIPSIS "…"

/* Bytes that are kept before a difference. */
enum { CONTEXT_MAX = 16 };

void text_shell_quote(struct buf *out, const char *s)
{
    buf_putc(out, '\'');
    for (; *s; s++) {
        if (*s == '\'')
            buf_puts(out, "'\\''");
        else
            buf_putc(out, *s);
    }
    buf_putc(out, '\'');
}

void text_shell_word(struct buf *out, const char *s)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:@,";
    if (*s && strspn(s, plain) == strlen(s))
        buf_puts(out, s);
    else
        text_shell_quote(out, s);
}

void text_shell_join(struct buf *out, const char *const *argv)
{
    for (size_t i = 0; argv[i]; i++) {
        if (i)
            buf_putc(out, ' ');
        text_shell_quote(out, argv[i]);
    }
}

static size_t sequence_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if ((first & 0xe0) == 0xc0)
        return 2;
    if ((first & 0xf0) == 0xe0)
        return 3;
    return (first & 0xf8) == 0xf0 ? 4 : 0;
}

/* Returns the length (1..4) of the UTF-8 sequence at s, and its code point; 0 when it is invalid. */
static size_t utf8_decode(const char *s, size_t len, uint32_t *cp)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *u = (const unsigned char *)s;
    size_t n = sequence_length(u[0]);
    if (n == 0 || n > len)
        return 0;
    *cp = n == 1 ? u[0] : u[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((u[i] & 0xc0) != 0x80)
            return 0;
        *cp = *cp << 6 | (u[i] & 0x3f);
    }
    if (*cp < least[n] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp <= 0xdfff))
        return 0;
    return n;
}

/* Bidirectional controls and invisible characters, which can disguise what a line says. */
static bool is_deceptive(uint32_t cp)
{
    return (cp >= 0x200b && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) ||
           (cp >= 0x2060 && cp <= 0x206f) || cp == 0xfeff || cp == 0x061c || (cp >= 0x80 && cp <= 0x9f) ||
           (cp >= 0xe0000 && cp <= 0xe007f);
}

/* Appends the first character of s, escaped if necessary. Returns its length in s. */
static size_t put_printable(struct buf *out, const char *s, size_t len)
{
    uint32_t cp = 0;
    size_t n = utf8_decode(s, len, &cp);
    if (n == 0 || cp < 0x20 || cp == 0x7f)
        buf_printf(out, "\\x%02x", (unsigned char)*s);
    else if (is_deceptive(cp))
        buf_printf(out, "\\u{%04x}", (unsigned)cp);
    else
        buf_add(out, s, n);
    return n ? n : 1;
}

/* How many characters come first that are printed as they are and take a byte each. */
static size_t plain_length(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && s[n] >= 0x20 && s[n] < 0x7f)
        n++;
    return n;
}

void text_printable(struct buf *out, const char *s, size_t len, size_t max)
{
    size_t end = len < max ? len : max;
    for (size_t i = 0; i < end;) {
        uint32_t cp;
        size_t plain = plain_length(s + i, end - i);
        buf_add(out, s + i, plain);
        i += plain;
        if (i == end)
            break;
        if (i + utf8_decode(s + i, len - i, &cp) > end)
            break;
        i += put_printable(out, s + i, len - i);
    }
}

void text_printable_fixed(char *out, size_t cap, const char *s, size_t len)
{
    size_t used = 0;
    AUTO(buf_release) struct buf one = {.max = 16};
    for (size_t i = 0; i < len;) {
        buf_clear(&one);
        i += put_printable(&one, s + i, len - i);
        if (!buf_ok(&one) || one.len >= cap - used)
            break;
        memcpy(out + used, one.data, one.len);
        used += one.len;
    }
    out[used] = '\0';
}

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static bool begins_word(const char *s, size_t at)
{
    return at == 0 || s[at - 1] == ' ' || s[at - 1] == ',';
}

/* Returns the start of the word that differs, if that is near, else a place a little before. */
static size_t difference_start(const char *a, const char *b)
{
    size_t at = 0;
    while (a[at] && a[at] == b[at])
        at++;
    while (at && (continues_character(a[at]) || continues_character(b[at])))
        at--;
    size_t least = at > CONTEXT_MAX ? at - CONTEXT_MAX : 0;
    for (size_t start = at + 1; start-- > least;)
        if (begins_word(a, start))
            return start;
    while (least < at && continues_character(a[least]))
        least++;
    return least;
}

static void put_marked(const char *s, size_t from, size_t cap, char *out)
{
    int len = snprintf(out, cap, "%s%s", from ? ELLIPSIS : "", s + from);
    if (len >= 0 && (size_t)len < cap)
        return;
    size_t end = cap - sizeof ELLIPSIS;
    while (end && continues_character(out[end]))
        end--;
    memcpy(out + end, ELLIPSIS, sizeof ELLIPSIS);
}

void text_differing(const char *a, const char *b, size_t cap, char *out_a, char *out_b)
{
    bool whole = (strlen(a) < cap && strlen(b) < cap) || strcmp(a, b) == 0;
    size_t from = whole ? 0 : difference_start(a, b);
    put_marked(a, from, cap, out_a);
    put_marked(b, from, cap, out_b);
}

bool text_is_name(const char *s)
{
    static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    static const char rest[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    size_t len = strlen(s);
    return len >= 1 && len <= TEXT_NAME_MAX && strchr(first, s[0]) && strspn(s, rest) == len;
}

bool text_is_utf8(const char *s, size_t len)
{
    uint32_t cp;
    for (size_t i = 0; i < len;) {
        size_t n = utf8_decode(s + i, len - i, &cp);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

enum { NEAREST_MAX = 63, NEAREST_CHANGES = 3 };

/* Counts the letters that are changed, added, missing or swapped with their neighbour. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][NEAREST_MAX + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    size_t na = strnlen(a, NEAREST_MAX), nb = strnlen(b, NEAREST_MAX);
    for (size_t j = 0; j <= nb; j++)
        last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t changed = last[j - 1] + (a[i - 1] != b[j - 1]);
            size_t least = last[j] < row[j - 1] ? last[j] + 1 : row[j - 1] + 1;
            row[j] = changed < least ? changed : least;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[nb];
}

bool text_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n >= k && strcmp(s + n - k, end) == 0;
}

const char *text_plural(long long n)
{
    return n == 1 ? "" : "s";
}

const char *text_nearest(const char *word, const char *const *known, size_t n)
{
    const char *best = NULL;
    size_t least = NEAREST_CHANGES + 1;
    for (size_t i = 0; i < n; i++) {
        size_t d = edit_distance(word, known[i]);
        if (d < least && 2 * d <= strlen(word)) {
            least = d;
            best = known[i];
        }
    }
    return best;
}
