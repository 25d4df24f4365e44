#include "executor/prepare/prepare.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "executor/workdir/cache.h"
#include "executor/workdir/tree.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_own_copy(const struct suite *s, size_t variant)
{
    const struct variant *v = &s->job.variant[variant];
    return s->src[0] && v->build_count > 0 && !v->in_tree;
}

int sources_check(struct suite *s, char *reason, struct err *err)
{
    char why[SEAL_REASON_MAX];
    if (!s->src[0])
        return 1;
    int intact = tree_check(s->layout, TREE_STAGED, s->job.source_sha256, why, err);
    if (intact == 0)
        reason_set(
            reason,
            "the sources on the node are not as they were sent (%.200s): start the run again to resend them",
            *why ? why : "they have no seal");
    return intact;
}

static int make_shared(struct suite *s, size_t variant, const char *path, struct err *err)
{
    char copy[FS_PATH_MAX];
    AUTO(temporary_release) struct temporary tmp = {.fd = -1};
    if (tree_temporary(s->layout, TREE_OWN, &tmp, copy, err) != 0)
        return -1;
    int rc = copy_tree(s, s->variant[variant].src, copy, err);
    if (rc == 1)
        tree_set_writable(copy, true);
    return rc == 1 && cache_publish(copy, path, err) != 0 ? -1 : rc;
}

static int tell_shared(struct suite *s, size_t variant, struct err *err)
{
    return suite_note(s, err,
                      "%s: in_tree: its sources are shared and may be written to; they are not checked",
                      s->job.variant[variant].name);
}

static int share(struct suite *s, size_t variant, struct err *err)
{
    struct variant_state *state = &s->variant[variant];
    char path[FS_PATH_MAX];
    if (layout_entry(s->layout, path, TREE_OWN, state->source_key, err) != 0)
        return -1;
    int rc = fs_is_dir(path) ? 1 : make_shared(s, variant, path, err);
    if (rc != 1)
        return rc;
    cache_stamp(path);
    memcpy(state->src, path, sizeof path);
    return tell_shared(s, variant, err);
}

int sources_share(struct suite *s, struct err *err)
{
    for (size_t i = 0; s->src[0] && i < s->job.variant_count && !s->loop.stop; i++)
        if (s->job.variant[i].in_tree && share(s, i, err) != 0)
            return -1;
    return 0;
}

int sources_use(struct suite *s, size_t variant, struct err *err)
{
    struct variant_state *state = &s->variant[variant];
    if (!has_own_copy(s, variant))
        return 0;
    if (!state->base[0])
        memcpy(state->base, state->src, sizeof state->base);
    if (layout_entry(s->layout, state->src, TREE_OWN, state->build_key, err) != 0)
        return -1;
    cache_stamp(state->src);
    return 0;
}

int sources_discard(struct suite *s, size_t variant, struct err *err)
{
    const struct variant_state *state = &s->variant[variant];
    char dir[FS_PATH_MAX];
    if (!has_own_copy(s, variant))
        return 0;
    tree_unseal(s->layout, TREE_OWN, state->build_key);
    return layout_make(s->layout, dir, TREE_OWN, err) != 0 ? -1 : layout_discard(dir, state->build_key, err);
}

int sources_copy(struct suite *s, size_t variant, struct err *err)
{
    struct variant_state *state = &s->variant[variant];
    if (!has_own_copy(s, variant))
        return 1;
    if (sources_discard(s, variant, err) != 0)
        return -1;
    int rc = copy_tree(s, state->base, state->src, err);
    if (rc == 0) {
        state->status = STATUS_BUILD_FAILED;
        reason_set(state->reason, "told to end");
    }
    if (rc == 1)
        tree_set_writable(state->src, true);
    return rc;
}

static int sources_close(struct suite *s, size_t variant, struct err *err)
{
    const struct variant_state *state = &s->variant[variant];
    return has_own_copy(s, variant) ? tree_close(s->layout, TREE_OWN, state->build_key, err) : 0;
}

static int sources_look(const struct suite *s, size_t variant, seal_fn *fn, void *arg, struct err *err)
{
    const struct variant_state *state = &s->variant[variant];
    const char *kind = s->job.variant[variant].patch_count > 0 ? TREE_PATCHED : TREE_STAGED;
    if (!s->src[0] || s->job.variant[variant].in_tree)
        return 1;
    return has_own_copy(s, variant) ? tree_look(s->layout, TREE_OWN, state->build_key, fn, arg, err)
                                    : tree_look(s->layout, kind, state->source_key, fn, arg, err);
}

/* Returns 1 if the copy is as the build left it, or there is none; 0 (why: char[SEAL_REASON_MAX]); -1. */
static int sources_intact(const struct suite *s, size_t variant, char *why, struct err *err)
{
    char reason[SEAL_REASON_MAX];
    if (!has_own_copy(s, variant))
        return 1;
    int rc = tree_check(s->layout, TREE_OWN, s->variant[variant].build_key, reason, err);
    if (rc == 0 && *reason)
        snprintf(why, SEAL_REASON_MAX, "%.200s in its sources", reason);
    return rc;
}

/* Sources are sent with times of their own, the first seconds of 1970, which no build writes. */
enum { SENT_BEFORE = 100000000, NAMED_MAX = 300 };

struct prebuilt {
    const struct command *run;
    char first[NAMED_MAX];
    size_t count;
};

static bool runs(const struct command *run, const char *relpath)
{
    for (size_t i = 0; i < run->argc; i++)
        if (strncmp(run->argv[i], "{src}/", 6) == 0 && strcmp(run->argv[i] + 6, relpath) == 0)
            return true;
    return false;
}

/* A program that the tests run, or an object file, as it was sent. Libraries are often sent on purpose. */
static int find_prebuilt(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    struct prebuilt *p = arg;
    struct stat st;
    uint16_t head[9] = {0};
    (void)err;
    AUTO_CLOSE int fd = open(fullpath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_mtime >= SENT_BEFORE ||
        read(fd, head, sizeof head) != sizeof head || memcmp(head, ELFMAG, SELFMAG) != 0 ||
        (head[8] != ET_REL && !runs(p->run, relpath)))
        return 0;
    if (p->count++ == 0)
        text_printable_fixed(p->first, sizeof p->first, relpath, strlen(relpath));
    return 0;
}

static void pass_by(const char *relpath, const char *why, void *arg)
{
    (void)relpath, (void)why, (void)arg;
}

int sources_tell_prebuilt(struct suite *s, size_t variant, struct err *err)
{
    const struct variant *v = &s->job.variant[variant];
    struct prebuilt p = {.run = &v->run};
    if (!has_own_copy(s, variant))
        return 0;
    if (fs_walk_rest(s->variant[variant].src, find_prebuilt, pass_by, &p, err) != 0)
        return -1;
    if (p.count == 0)
        return 0;
    return suite_note(
        s, err,
        "%s: the build left %s as it was sent%s: it was built elsewhere; if it should be built here, "
        "leave it out of the sources",
        v->name, p.first, p.count > 1 ? ", and others" : "");
}

#define COMPLETE_MARK ".complete"

static int mark_path(const struct variant_state *state, char *out, struct err *err)
{
    return fs_join(out, err, state->build, COMPLETE_MARK);
}

int built_seal(struct suite *s, size_t variant, struct err *err)
{
    const struct variant_state *state = &s->variant[variant];
    char path[FS_PATH_MAX];
    if (sources_close(s, variant, err) != 0)
        return -1;
    return mark_path(state, path, err) != 0 ? -1 : seal_write(state->build, path, COMPLETE_MARK, err);
}

int built_is_intact(const struct suite *s, size_t variant, char *why, struct err *err)
{
    const struct variant_state *state = &s->variant[variant];
    char path[FS_PATH_MAX];
    struct err unread = {.kind = ERR_NONE};
    if (mark_path(state, path, err) != 0)
        return -1;
    int intact = seal_check(state->build, path, SEAL_LISTED, why, &unread);
    if (intact == 1)
        intact = sources_intact(s, variant, why, &unread);
    if (intact < 0) /* whatever the cause, the build is made again */
        snprintf(why, SEAL_REASON_MAX, "its seal cannot be read (%.150s)", unread.msg);
    return intact > 0;
}

int built_look(const struct suite *s, size_t variant, seal_fn *fn, void *arg, struct err *err)
{
    const struct variant_state *state = &s->variant[variant];
    char path[FS_PATH_MAX];
    int build = 1;
    if (s->job.variant[variant].build_count > 0)
        build =
            mark_path(state, path, err) != 0 ? -1 : seal_look(state->build, path, SEAL_LISTED, fn, arg, err);
    int sources = build < 0 ? -1 : sources_look(s, variant, fn, arg, err);
    return sources < 0 ? -1 : build && sources;
}
