#include "results/ingest/text/grouped.h"

#include <ctype.h>

static size_t digits_at(const char *s)
{
    size_t n = 0;
    while (isdigit((unsigned char)s[n]))
        n++;
    return n;
}

bool grouped_plain(const char *text, char decimal, char *out, size_t cap)
{
    char thousands = decimal == ',' ? '.' : ',';
    bool fraction = false;
    size_t n = 0, group = 0; /* digits since the last separator */
    for (const char *s = text; *s; s++) {
        if (*s == thousands && (fraction || group == 0 || group > 3 || digits_at(s + 1) != 3))
            return false;
        if (n + 1 >= cap)
            return false;
        fraction = fraction || *s == decimal;
        group = isdigit((unsigned char)*s) ? group + 1 : 0;
        if (*s != thousands)
            out[n++] = *s == decimal ? '.' : *s;
    }
    out[n] = '\0';
    return true;
}
