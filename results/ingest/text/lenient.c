#include "results/ingest/text/lenient.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/json.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

size_t lenient_mark(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Length of the string that begins at p, quotes included. */
static size_t string_length(const char *p, const char *end)
{
    const char *q = p + 1;
    while (q < end && *q != '"')
        q += *q == '\\' && q + 1 < end ? 2 : 1;
    return (size_t)((q < end ? q + 1 : end) - p);
}

static const char *odd_word(const char *p, const char *end)
{
    static const char *const words[] = {"-Infinity", "Infinity", "NaN"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        bool whole = (size_t)(end - p) == n || ((size_t)(end - p) > n && !isalnum((unsigned char)p[n]));
        if (whole && memcmp(p, words[i], n) == 0)
            return words[i];
    }
    return NULL;
}

/* Whether p is the dot of a number that has no digit before it. */
static bool lacks_zero(const char *text, const char *p, const char *end)
{
    return *p == '.' && p + 1 < end && isdigit((unsigned char)p[1]) &&
           (p == text || !isalnum((unsigned char)p[-1]));
}

static void mend(const char *text, size_t len, struct buf *out)
{
    const char *end = text + len, *word;
    for (const char *p = text; p < end;) {
        size_t n = 1;
        if (*p == '"') {
            n = string_length(p, end);
            buf_add(out, p, n);
        } else if ((p == text || !isalnum((unsigned char)p[-1])) && (word = odd_word(p, end))) {
            n = strlen(word);
            buf_putc(out, '"');
            buf_add(out, p, n);
            buf_putc(out, '"');
        } else {
            buf_puts(out, lacks_zero(text, p, end) ? "0" : "");
            buf_putc(out, *p);
        }
        p += n;
    }
}

json_t *lenient_parse(const char *text, size_t len, const char *file, struct err *err)
{
    AUTO(buf_release) struct buf mended = {.max = 2 * len + 16};
    struct err ignored = {0};
    size_t mark = lenient_mark(text, len);
    json_t *value = json_parse(text + mark, len - mark, file, err);
    if (value || json_count_values(text, len) > JSON_VALUES_MAX)
        return value;
    mend(text + mark, len - mark, &mended);
    if (buf_ok(&mended) && mended.len != len - mark)
        value = json_parse(buf_str(&mended), mended.len, file, &ignored);
    if (value)
        *err = (struct err){0};
    return value;
}
