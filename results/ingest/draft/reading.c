#include "results/ingest/draft/reading.h"

#include "common/base/text.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_MAX = 80 };

void reading_add(char *reading, const char *name, const char *value)
{
    char shown[VALUE_MAX];
    size_t n = strlen(reading);
    const char *text = value && *value ? value : "none";
    text_printable_fixed(shown, sizeof shown, text, strlen(text));
    snprintf(reading + n, RUN_READING_MAX - n, "%s %s\n", name, shown);
}

void reading_add_hash(char *reading, const char *name, const char *text, size_t len)
{
    char hex[SHA256_HEX_LEN + 1];
    sha256_of(text, len, hex);
    hex[12] = '\0';
    reading_add(reading, name, hex);
}

/* The value of a name, or "none". */
static void find_value(const char *reading, const char *name, size_t len, char *out)
{
    snprintf(out, VALUE_MAX, "none");
    for (const char *line = reading; *line; line += *line == '\n') {
        if (strncmp(line, name, len) == 0 && line[len] == ' ') {
            snprintf(out, VALUE_MAX, "%.*s", (int)strcspn(line + len + 1, "\n"), line + len + 1);
            return;
        }
        line += strcspn(line, "\n");
    }
}

void reading_differences(const char *was, const char *now, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (const char *line = now; *line;) {
        char before[VALUE_MAX], after[VALUE_MAX];
        size_t len = strcspn(line, " ");
        find_value(was, line, len, before);
        find_value(now, line, len, after);
        if (strcmp(before, after) != 0 && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%.*s %s -> %s", used ? ", " : "", (int)len,
                                     line, before, after);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}
