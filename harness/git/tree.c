#include "harness/git/tree.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "harness/git/git.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LISTING_MAX = 64 << 20, POINTER_MAX = 1024, WORD_MAX = FS_PATH_MAX + 80, TRIES = 5 };

#define TREE_NAME "tree"

static const double checkout_deadline_s = 300;
static const char lfs_pointer[] = "version https://git-lfs.github.com/spec/";

struct place {
    char top[FS_PATH_MAX];
    char prefix[FS_PATH_MAX]; /* "folder/of/the/source/", or "" */
    char tree[WORD_MAX];      /* "<commit>:<folder>/" */
    const char *commit;
    struct buf paths; /* of the files below the folder, from the top, each with a NUL */
};

static int split_lines(const char *text, const char *commit, struct place *p)
{
    size_t first = strcspn(text, "\n");
    const char *prefix = text[first] ? text + first + 1 : "";
    int top = snprintf(p->top, sizeof p->top, "%.*s", (int)first, text);
    int below = snprintf(p->prefix, sizeof p->prefix, "%.*s", (int)strcspn(prefix, "\n"), prefix);
    int tree = snprintf(p->tree, sizeof p->tree, "%s:%s", commit, p->prefix);
    p->commit = commit;
    return top > 0 && top < FS_PATH_MAX && below < FS_PATH_MAX && tree > 0 && tree < WORD_MAX ? 0 : -1;
}

static int find_place(const char *source, const char *commit, struct place *p, struct err *err)
{
    static const char *const args[] = {"rev-parse", "--show-toplevel", "--show-prefix", NULL};
    AUTO(buf_release) struct buf text = {.max = 2 * FS_PATH_MAX};
    if (git_output(source, args, &text, err) != 0)
        return -1;
    return split_lines(buf_str(&text), commit, p) == 0 ? 0
                                                       : err_set(err, ERR_INPUT, "%s: path too long", source);
}

static void note_missing(struct git_tree *t, const char *what, const char *path, size_t len)
{
    char shown[160];
    if (*t->missing)
        return;
    text_printable_fixed(shown, sizeof shown, path, len);
    snprintf(t->missing, sizeof t->missing, "%s %s", what, shown);
}

/* Parses entries of `git ls-tree -z`: "<mode> <type> <id>\t<path>". */
static int list_files(struct place *p, struct git_tree *t, struct err *err)
{
    const char *const args[] = {"ls-tree", "-r", "-z", "--full-tree", p->tree, NULL};
    AUTO(buf_release) struct buf text = {.max = LISTING_MAX};
    if (git_output(p->top, args, &text, err) != 0)
        return *p->prefix && strstr(err->msg, "Not a valid object name")
                   ? err_set(err, ERR_INPUT, "the commit has no folder %s", p->prefix)
                   : -1;
    for (const char *at = buf_str(&text), *end = at + text.len; at < end; at += strlen(at) + 1) {
        const char *path = strchr(at, '\t');
        if (path && strncmp(at, "160000 ", 7) == 0) {
            note_missing(t, "the submodule", path + 1, strlen(path + 1));
        } else if (path) {
            buf_puts(&p->paths, p->prefix);
            buf_add(&p->paths, path + 1, strlen(path + 1) + 1);
        }
    }
    return buf_ok(&p->paths) ? 0 : err_set(err, ERR_INPUT, "%s: too many files", p->top);
}

/* An fs_walk_fn that finds a pointer file of Git LFS, which remains if git-lfs is not installed here. */
static int find_pointer(const char *rel, const char *full, void *arg, struct err *err)
{
    struct stat st;
    AUTO(buf_release) struct buf text = {.max = POINTER_MAX};
    if (stat(full, &st) != 0 || st.st_size > POINTER_MAX)
        return 0;
    if (fs_read_file(full, POINTER_MAX, &text, err) != 0)
        return -1;
    if (strncmp(buf_str(&text), lfs_pointer, strlen(lfs_pointer)) == 0)
        note_missing(arg, "the contents (Git LFS) of", rel, strlen(rel));
    return 0;
}

static int make_dir(const char *under, struct git_tree *t, struct err *err)
{
    char real[FS_PATH_MAX], path[FS_PATH_MAX];
    int rc = -1;
    if (fs_mkdir_p(under, 0700, err) != 0)
        return -1;
    if (!realpath(under, real))
        return err_set_errno(err, ERR_STORAGE, errno, "%s", under);
    for (int i = 0; rc != 0 && i < TRIES; i++) /* the last to release a tree removes the folder */
        rc = fs_mkdir_p(real, 0700, err) != 0 || fs_join(path, err, real, TREE_NAME) != 0
                 ? -1
                 : temporary_folder(&t->folder, path, err);
    return rc != 0 || fs_join(t->files, err, t->folder.path, "files") != 0 ? -1
                                                                           : fs_mkdir_p(t->files, 0700, err);
}

/* A checkout is held against the commit's list, as filters and file systems may do what they want. */
static int check_files(const struct place *p, const struct git_tree *t, struct err *err)
{
    char path[FS_PATH_MAX], shown[160];
    struct stat st;
    const char *at = buf_str((struct buf *)&p->paths), *end = at + p->paths.len;
    for (; at < end; at += strlen(at) + 1) {
        if (fs_join(path, err, t->files, at) != 0)
            return -1;
        if (lstat(path, &st) == 0)
            continue;
        text_printable_fixed(shown, sizeof shown, at, strlen(at));
        return err_set(err, ERR_STORAGE, "git did not write %s, which the commit has", shown);
    }
    return 0;
}

/* Writes the files as a checkout does, with the attributes and filters of the commit, by an index and into a
 * work tree of our own. `git archive` would leave out and rewrite what export-ignore and export-subst say. */
static int fill(const struct place *p, const struct git_tree *t, struct err *err)
{
    char index[TEMPORARY_PATH_MAX + 8];
    snprintf(index, sizeof index, "%s/index", t->folder.path);
    const char *const read[] = {"read-tree", "--index-output", index, p->commit, NULL};
    const char *const write[] = {"checkout-index", "--quiet", "-z", "--stdin", NULL};
    const struct git_call reading = {
        .index = index, .work_tree = t->files, .deadline_s = checkout_deadline_s};
    const struct git_call writing = {
        .index = index, .work_tree = t->files, .input = &p->paths, .deadline_s = checkout_deadline_s};
    AUTO(buf_release) struct buf none = {.max = POINTER_MAX};
    int rc =
        git_run(p->top, read, &reading, &none, err) != 0 || git_run(p->top, write, &writing, &none, err) != 0
            ? -1
            : check_files(p, t, err);
    if (rc != 0 && (strstr(err->msg, "No space left") || strstr(err->msg, "quota exceeded")))
        err->kind = ERR_STORAGE; /* a problem of this machine, not of the commit */
    return rc;
}

int git_tree_export(const char *source, const char *commit, const char *under, struct git_tree *out,
                    struct err *err)
{
    struct place p = {.paths.max = LISTING_MAX};
    *out = (struct git_tree){.dir = ""};
    int rc = find_place(source, commit, &p, err) != 0 || list_files(&p, out, err) != 0 ||
                     make_dir(under, out, err) != 0 || fill(&p, out, err) != 0 ||
                     fs_join(out->dir, err, out->files, p.prefix) != 0 ||
                     fs_walk(out->dir, true, find_pointer, out, err) != 0
                 ? -1
                 : 0;
    buf_release(&p.paths);
    if (rc == 0)
        return 0;
    git_tree_release(out);
    return err_wrap(err, "the sources of %.12s", commit);
}

void git_tree_release(struct git_tree *t)
{
    char under[FS_PATH_MAX];
    if (*t->folder.path) {
        fs_parent(t->folder.path, under);
        temporary_release(&t->folder);
        rmdir(under); /* unless another command has its tree there */
    }
    *t = (struct git_tree){.dir = ""};
}
