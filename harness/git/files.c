#include "harness/git/files.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/spawn.h"
#include "harness/git/git.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LISTING_MAX = 64 << 20, NESTED_MAX = 16 };

#define OWN_FOLDERS ".git", "artifacts_remote", "nightly_reports"

const char *const git_own_folders[] = {OWN_FOLDERS, NULL};
const char *const git_built_folders[] = {OWN_FOLDERS, "build", NULL};

/* One repository: that of the folder, or one within it. */
struct place {
    const char *dir;
    const char *below; /* its path from the folder, with a final slash; or "" */
    const char *const *include;
    int depth;
    char prefix[FS_PATH_MAX]; /* of dir in its work tree, with a final slash; or "" */
    struct buf status;        /* `git status`; the paths in it are relative to the work tree */
    const char **changed;     /* paths of status, relative to dir, sorted */
    size_t count;
    struct git_files *out;
};

static bool is_left_out(const char *path, bool tracked)
{
    for (; *path; path += *path == '/') {
        size_t len = strcspn(path, "/");
        for (const char *const *name = tracked ? git_own_folders : git_built_folders; *name; name++)
            if (strlen(*name) == len && strncmp(path, *name, len) == 0)
                return true;
        path += len;
    }
    return false;
}

/* The rest of path below the entry of include that has it, or NULL. */
static const char *below_entry(const char *entry, const char *path)
{
    size_t len = strcmp(entry, ".") == 0 ? 0 : strlen(entry);
    while (len > 0 && entry[len - 1] == '/')
        len--;
    if (len == 0)
        return path;
    return strncmp(path, entry, len) == 0 && (path[len] == '/' || !path[len]) ? path + len : NULL;
}

bool git_file_is_sent(const char *const *include, const char *path, bool tracked)
{
    if (!include)
        return !is_left_out(path, tracked);
    for (; *include; include++) {
        const char *rest = below_entry(*include, path);
        if (rest && !is_left_out(rest, tracked))
            return true;
    }
    return false;
}

static void add(struct place *p, const char *path, bool settled)
{
    struct git_files *f = p->out;
    ALLOC_GROW(f->items, f->count + 1, f->cap);
    f->items[f->count++] = (struct git_file){xasprintf("%s%s", p->below, path), settled};
}

static bool is_wanted(const struct place *p, const char *path, bool tracked)
{
    AUTO_FREE char *whole = xasprintf("%s%s", p->below, path);
    return git_file_is_sent(p->include, whole, tracked);
}

static int list_place(struct place *p, struct err *err);

/* A submodule that was not checked out is an empty folder. */
static int list_nested(const struct place *p, const char *path, const char *full, struct err *err)
{
    char git[FS_PATH_MAX];
    AUTO_FREE char *below = xasprintf("%s%s/", p->below, path);
    struct place nested = {
        .dir = full, .below = below, .include = p->include, .depth = p->depth + 1, .out = p->out};
    if (fs_join(git, err, full, ".git") != 0)
        return -1;
    if (!fs_exists(git))
        return 0;
    if (nested.depth > NESTED_MAX)
        return err_set(err, ERR_INPUT, "%s: more than %d repositories within each other", full, NESTED_MAX);
    return list_place(&nested, err);
}

/* path: relative to p->dir. What was deleted is not there. */
static int take(struct place *p, const char *path, bool tracked, bool settled, struct err *err)
{
    struct stat st;
    char full[FS_PATH_MAX], name[FS_PATH_MAX];
    size_t len = strlen(path);
    while (len > 0 && path[len - 1] == '/')
        len--;
    snprintf(name, sizeof name, "%.*s", (int)len, path);
    if (fs_join(full, err, p->dir, name) != 0)
        return -1;
    if (lstat(full, &st) != 0 || (!S_ISDIR(st.st_mode) && !is_wanted(p, name, tracked)))
        return 0;
    if (S_ISDIR(st.st_mode))
        return list_nested(p, name, full, err);
    add(p, name, settled);
    return 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_changed(const struct place *p, const char *path)
{
    return p->count > 0 && bsearch(&path, p->changed, p->count, sizeof *p->changed, by_text);
}

/* Keeps the paths that differ from the commit, and takes those that git does not know. */
static int take_status(struct place *p, struct err *err)
{
    const char *at = buf_str(&p->status), *end = at + p->status.len;
    size_t prefix = strlen(p->prefix), cap = 0;
    int rc = 0;
    for (; rc == 0 && at < end; at += strlen(at) + 1) {
        if (strlen(at) < 4 + prefix || strncmp(at + 3, p->prefix, prefix) != 0)
            continue;
        ALLOC_GROW(p->changed, p->count + 1, cap);
        p->changed[p->count++] = at + 3 + prefix;
        if (at[0] == '?')
            rc = take(p, at + 3 + prefix, false, false, err);
    }
    if (p->count > 0)
        qsort(p->changed, p->count, sizeof *p->changed, by_text);
    return rc;
}

static int take_tracked(struct place *p, struct err *err)
{
    static const char *const args[] = {"ls-files", "-z", "--cached", NULL};
    AUTO(buf_release) struct buf text = {.max = LISTING_MAX};
    if (git_output(p->dir, args, &text, err) != 0)
        return -1;
    for (const char *at = buf_str(&text), *end = at + text.len; at < end; at += strlen(at) + 1)
        if (take(p, at, true, !is_changed(p, at), err) != 0)
            return -1;
    return 0;
}

static int ask_prefix(struct place *p, struct err *err)
{
    static const char *const args[] = {"rev-parse", "--show-prefix", NULL};
    AUTO(buf_release) struct buf text = {.max = FS_PATH_MAX};
    if (git_output(p->dir, args, &text, err) != 0)
        return -1;
    snprintf(p->prefix, sizeof p->prefix, "%.*s", (int)strcspn(buf_str(&text), "\n"), buf_str(&text));
    return 0;
}

static int list_place(struct place *p, struct err *err)
{
    static const char *const args[] = {"status",
                                       "--porcelain=v1",
                                       "-z",
                                       "--no-renames",
                                       "--untracked-files=all",
                                       "--ignore-submodules=all",
                                       "--",
                                       ".",
                                       NULL};
    buf_init(&p->status, LISTING_MAX);
    int rc = ask_prefix(p, err) != 0 || git_output(p->dir, args, &p->status, err) != 0 ||
                     take_status(p, err) != 0 || take_tracked(p, err) != 0
                 ? -1
                 : 0;
    free(p->changed);
    buf_release(&p->status);
    return rc;
}

/* Whether git ignores a path below dir; "." is the folder itself. */
static bool is_ignored(const char *dir, const char *path)
{
    AUTO_FREE char *plain = xasprintf("%s%s", *path == '/' ? "" : "./", path); /* ":" would begin a pattern */
    const char *const args[] = {
        "--no-literal-pathspecs", "check-ignore", "--no-index", "--quiet", "--", plain, NULL};
    struct err ignored = {0};
    AUTO(buf_release) struct buf none = {.max = 1};
    return git_output(dir, args, &none, &ignored) == 0;
}

/* The folder itself may be ignored where a whole home lies in a repository. */
static bool ignores_all(const char *dir)
{
    static const char *const args[] = {"ls-files", "-z", "--cached", NULL};
    char parent[FS_PATH_MAX];
    struct err ignored = {0};
    AUTO(buf_release) struct buf text = {.max = LISTING_MAX};
    fs_parent(dir, parent);
    return is_ignored(parent, dir) && git_output(dir, args, &text, &ignored) == 0 && text.len == 0;
}

static bool has_some(const struct place *p, const char *entry)
{
    for (size_t i = 0; i < p->out->count; i++)
        if (below_entry(entry, p->out->items[i].path))
            return true;
    return false;
}

/* What was named, and is ignored or has nothing that is not, is sent whole. */
static void take_named(struct place *p)
{
    for (const char *const *entry = p->include; entry && *entry; entry++)
        if (strcmp(*entry, ".") != 0 && (is_ignored(p->dir, *entry) || !has_some(p, *entry)))
            add(p, *entry, false);
}

int git_files_list(const char *dir, const char *const *include, struct git_files *out, struct err *err)
{
    struct place p = {.dir = dir, .below = "", .include = include, .out = out};
    *out = (struct git_files){0};
    int known = spawn_on_path("git") ? git_work_tree(dir, err) : 0;
    if (known != 1 || ignores_all(dir))
        return known < 0 ? -1 : 0;
    if (list_place(&p, err) != 0)
        return -1;
    take_named(&p);
    return 1;
}

void git_files_release(struct git_files *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->items[i].path);
    free(f->items);
    *f = (struct git_files){0};
}
