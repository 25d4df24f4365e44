#include "harness/plan/source.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INCLUDE_MAX = 1000 };

struct written {
    const char *dir;
};

const struct key source_keys[] = {
    {KEY_AT(struct written, dir), .kind = KEY_TEXT, .in = IN_PLAN, .required = true, .most = FS_PATH_MAX - 1},
    {.name = "include", .kind = KEY_PART, .in = IN_PLAN},
    {.name = NULL},
};

static char *resolve_dir(const char *plan_file, const char *dir)
{
    char joined[FS_PATH_MAX];
    if (dir[0] == '/')
        return realpath(dir, NULL);
    return fs_beside(plan_file, dir, joined, NULL) == 0 ? realpath(joined, NULL) : NULL;
}

static int check_path(const struct plan_source *s, const struct json_at *at, struct err *err)
{
    const char *path = json_string_value(at->value);
    char full[FS_PATH_MAX];
    if (!path || !fs_safe_relpath(path))
        return json_fail(at, err, "expected a plain path below source.dir, without \"..\"");
    if (!s->dir)
        return 0;
    if (fs_join(full, err, s->dir, path) != 0)
        return -1;
    return fs_exists(full) ? 0 : json_fail(at, err, "%s does not exist", full);
}

static int read_include(struct plan_source *s, const struct json_at *at, struct err *err)
{
    size_t n = json_array_size(at->value);
    if (!at->value)
        return 0;
    if (!json_is_array(at->value))
        return json_expected(at, "an array of paths below source.dir", err);
    if (n == 0)
        return json_fail(at, err, "expected an array of paths below source.dir, found an empty array");
    if (n > INCLUDE_MAX)
        return json_fail(at, err, "expected at most %d entries, found %zu", INCLUDE_MAX, n);
    s->include = xcalloc(n + 1, sizeof *s->include);
    for (size_t i = 0; i < n; i++) {
        struct json_at path = json_element(at, i);
        if (check_path(s, &path, err) != 0)
            return -1;
        s->include[i] = json_string_value(path.value);
    }
    return 0;
}

int plan_source_read(struct plan_source *s, const struct json_at *at, const char *recorded, struct err *err)
{
    struct written w;
    const struct key_table table = {source_keys, &w};
    struct json_at dir = json_member(at, "dir"), include = json_member(at, "include");
    if (!at->value || json_is_null(at->value))
        return 0;
    if (keys_read(at, IN_PLAN, &table, 1, err) != 0)
        return -1;
    s->sha256 = recorded;
    if (!recorded)
        s->dir = resolve_dir(at->file, w.dir);
    if (!recorded && (!s->dir || !fs_is_dir(s->dir)))
        return json_fail(&dir, err, "no such folder: %.500s (relative to the plan's file)", w.dir);
    return read_include(s, &include, err);
}

bool plan_source_given(const struct plan_source *s)
{
    return s->dir || s->sha256;
}

void plan_source_release(struct plan_source *s)
{
    free(s->dir);
    free(s->include);
    *s = (struct plan_source){0};
}
