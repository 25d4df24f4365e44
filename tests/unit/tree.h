/* tree: lays out a tree of small files (a node's sysfs and procfs) in the temporary folder, from a
 * description of one line per file: "path = contents", where \n and \t stand for a line break and a tab.
 */
#pragma once

#include "tests/unit/support.h"

static inline void tree_unescape(char *s)
{
    char *out = s;
    for (; *s; s++) {
        bool escaped = s[0] == '\\' && (s[1] == 'n' || s[1] == 't');
        *out++ = !escaped ? *s : s[1] == 'n' ? '\n' : '\t';
        s += escaped;
    }
    *out = '\0';
}

/* Files laid later replace earlier ones. root: a name in the temporary folder. */
static inline void tree_lay(const char *root, const char *description)
{
    char line[4096], name[FS_PATH_MAX / 4];
    FILE *f = fopen(description, "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        char *contents = strstr(line, " = ");
        assert_non_null(contents);
        *contents = '\0';
        tree_unescape(contents + 3);
        snprintf(name, sizeof name, "%s/%.900s", root, line);
        put(name, contents + 3);
    }
    fclose(f);
}
