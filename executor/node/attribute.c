#include "executor/node/attribute.h"

#include "common/base/fs.h"
#include "common/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 64 << 10, LINE_MAX_CHARS = 200 };

/* procfs and sysfs report a size of 0 for files that have contents, so fs_read_file() cannot be used. */
static char *read_text(const char *root, const char *name)
{
    char path[FS_PATH_MAX];
    FILE *f = fs_join(path, NULL, root, name) == 0 ? fopen(path, "re") : NULL;
    char *text = f ? malloc(FILE_MAX) : NULL;
    if (text)
        text[fread(text, 1, FILE_MAX - 1, f)] = '\0';
    if (f)
        fclose(f);
    return text;
}

static json_t *printable(const char *s, size_t len)
{
    struct buf out;
    buf_init(&out, LINE_MAX_CHARS * 8);
    text_printable(&out, s, len, LINE_MAX_CHARS);
    json_t *value = json_string(buf_str(&out));
    buf_release(&out);
    return value;
}

json_t *attribute_line(const char *root, const char *name)
{
    char *text = read_text(root, name);
    json_t *line = text && *text ? printable(text, strcspn(text, "\n")) : NULL;
    free(text);
    return line;
}

json_t *attribute_number(const char *root, const char *name)
{
    char *text = read_text(root, name), *end = NULL;
    long long n = text ? strtoll(text, &end, 10) : 0;
    json_t *value = text && end != text ? json_integer(n) : json_null();
    free(text);
    return value;
}

json_t *attribute_keyed(const char *root, const char *name, const char *key, char separator)
{
    char *text = read_text(root, name);
    json_t *value = NULL;
    for (char *line = text; line && *line && !value;
         line += line[strcspn(line, "\n")] ? strcspn(line, "\n") + 1 : strlen(line)) {
        size_t len = strlen(key);
        if (strncmp(line, key, len) != 0)
            continue;
        char *p = line + len + strspn(line + len, " \t");
        if (*p != separator)
            continue;
        p += 1 + strspn(p + 1, " \t\"");
        value = printable(p, strcspn(p, "\"\n"));
    }
    free(text);
    return value ? value : json_null();
}
