#include "harness/git/tree.h"

#include "common/base/alloc.h"
#include "common/base/run.h"
#include "common/base/text.h"
#include "harness/git/git.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LISTING_MAX = 64 << 20, POINTER_MAX = 1024, WORD_MAX = FS_PATH_MAX + 80 };

static const double unpack_deadline_s = 300;
static const char lfs_pointer[] = "version https://git-lfs.github.com/spec/";

/* The position of the source in the work tree. `git archive` gets the whole tree, limited to the folder,
 * because with the folder's own tree it would miss attributes set in the folders above. */
struct place {
    char top[FS_PATH_MAX];
    char prefix[FS_PATH_MAX]; /* "folder/of/the/source/", or "" */
    char whole[WORD_MAX];     /* "<commit>^{tree}" */
    char tree[WORD_MAX];      /* "<commit>:<folder>/" */
};

static int split_lines(const char *text, const char *commit, struct place *p)
{
    size_t first = strcspn(text, "\n");
    const char *prefix = text[first] ? text + first + 1 : "";
    int top = snprintf(p->top, sizeof p->top, "%.*s", (int)first, text);
    int below = snprintf(p->prefix, sizeof p->prefix, "%.*s", (int)strcspn(prefix, "\n"), prefix);
    int tree = snprintf(p->tree, sizeof p->tree, "%s:%s", commit, p->prefix);
    snprintf(p->whole, sizeof p->whole, "%.70s^{tree}", commit);
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
static int find_submodule(const struct place *p, struct git_tree *t, struct err *err)
{
    const char *const args[] = {"ls-tree", "-r", "-z", "--full-tree", p->tree, NULL};
    AUTO(buf_release) struct buf text = {.max = LISTING_MAX};
    if (git_output(p->top, args, &text, err) != 0)
        return *p->prefix && strstr(err->msg, "Not a valid object name")
                   ? err_set(err, ERR_INPUT, "the commit has no folder %s", p->prefix)
                   : -1;
    for (const char *at = buf_str(&text), *end = at + text.len; at < end; at += strlen(at) + 1) {
        const char *path = strchr(at, '\t');
        if (path && strncmp(at, "160000 ", 7) == 0)
            note_missing(t, "the submodule", path + 1, strlen(path + 1));
    }
    return 0;
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
    if (fs_mkdir_p(under, 0700, err) != 0 || fs_join(t->dir, err, under, "tree-XXXXXX") != 0)
        return -1;
    if (mkdtemp(t->dir))
        return 0;
    t->dir[0] = '\0';
    return err_set(err, ERR_STORAGE, "%s: cannot make a temporary folder", under);
}

static int unpack(const char *archive, const char *prefix, const char *dir, struct err *err)
{
    char strip[48];
    int folders = 0;
    for (const char *c = prefix; *c; c++)
        folders += *c == '/';
    snprintf(strip, sizeof strip, "--strip-components=%d", folders);
    const char *const argv[] = {"tar", "-x", "-f", archive, "-C", dir, "--no-same-owner", strip, NULL};
    struct run_result res;
    if (run_capture(argv, NULL, unpack_deadline_s, NULL, &res, err) != 0)
        return err_wrap(err, "tar, which unpacks a commit's files");
    return run_expect_success(&res, "tar", err);
}

static int fill(const struct place *p, const struct git_tree *t, struct err *err)
{
    char archive[FS_PATH_MAX + 16], output[FS_PATH_MAX + 32];
    snprintf(archive, sizeof archive, "%s.tar", t->dir);
    snprintf(output, sizeof output, "--output=%s", archive);
    const char *const args[] = {
        "archive", "--format=tar", output, p->whole, "--", *p->prefix ? p->prefix : NULL, NULL};
    AUTO(buf_release) struct buf none = {.max = POINTER_MAX};
    int rc = git_output(p->top, args, &none, err);
    if (rc == 0)
        rc = unpack(archive, p->prefix, t->dir, err);
    else if (strstr(err->msg, "No space left") || strstr(err->msg, "quota exceeded"))
        err->kind = ERR_STORAGE; /* a problem of this machine, not of the commit */
    unlink(archive);
    return rc;
}

int git_tree_export(const char *source, const char *commit, const char *under, struct git_tree *out,
                    struct err *err)
{
    struct place p;
    *out = (struct git_tree){0};
    if (find_place(source, commit, &p, err) == 0 && find_submodule(&p, out, err) == 0 &&
        make_dir(under, out, err) == 0 && fill(&p, out, err) == 0 &&
        fs_walk(out->dir, true, find_pointer, out, err) == 0)
        return 0;
    git_tree_release(out);
    return err_wrap(err, "the sources of %.12s", commit);
}

void git_tree_release(struct git_tree *t)
{
    if (*t->dir)
        fs_remove_tree(t->dir, NULL);
    *t = (struct git_tree){0};
}
