#include "executor/node/attribute.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/text.h"
#include "executor/workdir/sysfile.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 64 << 10, LINE_MAX_CHARS = 200 };

/* procfs and sysfs report a size of 0 for files that have contents, so fs_read_file() cannot be used. */
static char *read_text(const char *root, const char *name)
{
    AUTO_FCLOSE FILE *f = sysfile_open(root, name);
    if (!f)
        return NULL;
    char *text = xmalloc(FILE_MAX);
    text[fread(text, 1, FILE_MAX - 1, f)] = '\0';
    return text;
}

static json_t *printable(const char *s, size_t len)
{
    AUTO(buf_release) struct buf out = {.max = LINE_MAX_CHARS * 8};
    text_printable(&out, s, len, LINE_MAX_CHARS);
    return json_string(buf_str(&out));
}

json_t *attribute_line(const char *root, const char *name)
{
    AUTO_FREE char *text = read_text(root, name);
    size_t len = text ? strcspn(text, "\n") : 0;
    while (len > 0 && strchr(" \t\r", text[len - 1]))
        len--;
    return len > 0 ? printable(text, len) : NULL;
}

json_t *attribute_number(const char *root, const char *name)
{
    AUTO_FREE char *text = read_text(root, name);
    char *end = NULL;
    errno = 0;
    long long n = text ? strtoll(text, &end, 10) : 0;
    return text && end != text && errno == 0 && n != UINT32_MAX ? json_integer(n) : json_null();
}

json_t *attribute_keyed(const char *root, const char *name, const char *key, char separator)
{
    AUTO_FREE char *text = read_text(root, name);
    for (char *line = text; line && *line;
         line += line[strcspn(line, "\n")] ? strcspn(line, "\n") + 1 : strlen(line)) {
        size_t len = strlen(key);
        if (strncmp(line, key, len) != 0)
            continue;
        char *p = line + len + strspn(line + len, " \t");
        if (*p != separator)
            continue;
        p += 1 + strspn(p + 1, " \t\"");
        return printable(p, strcspn(p, "\"\n"));
    }
    return json_null();
}

unsigned long long attribute_property(const char *folder, const char *name)
{
    char line[256];
    size_t len = strlen(name);
    AUTO_FCLOSE FILE *f = sysfile_open(folder, "properties");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, len) == 0 && line[len] == ' ')
            return strtoull(line + len, NULL, 10);
    return 0;
}
