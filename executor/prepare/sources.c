#include "executor/prepare/sources.h"

#include "executor/prepare/copy.h"
#include "executor/workdir/cache.h"
#include "executor/workdir/tree.h"

#include <stdio.h>
#include <string.h>
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

static int make_shared(struct suite *s, size_t variant, const char *path, char *reason, struct err *err)
{
    char dir[FS_PATH_MAX], tmp[FS_PATH_MAX], name[64];
    struct err ignored;
    snprintf(name, sizeof name, ".tmp.%ld", (long)getpid());
    if (layout_make(s->layout, dir, TREE_OWN, err) != 0 || fs_join(tmp, err, dir, name) != 0)
        return -1;
    int rc = copy_tree(s, s->variant[variant].src, tmp, reason, err);
    if (rc == 1)
        tree_set_writable(tmp, true);
    if (rc == 1 && cache_publish(tmp, path, err) != 0)
        rc = -1;
    fs_remove_tree(tmp, &ignored);
    return rc;
}

static int tell_shared(struct suite *s, size_t variant, struct err *err)
{
    char text[REASON_MAX];
    reason_set(text, "%s: in_tree: its sources are shared and may be written to; they are not checked",
               s->job.variant[variant].name);
    return suite_note(s, text, err);
}

static int share(struct suite *s, size_t variant, char *reason, struct err *err)
{
    struct variant_state *state = &s->variant[variant];
    char path[FS_PATH_MAX];
    if (layout_entry(s->layout, path, TREE_OWN, state->source_key, err) != 0)
        return -1;
    int rc = fs_is_dir(path) ? 1 : make_shared(s, variant, path, reason, err);
    if (rc != 1)
        return rc;
    cache_stamp(path);
    memcpy(state->src, path, sizeof path);
    return tell_shared(s, variant, err) == 0 ? 1 : -1;
}

int sources_share(struct suite *s, char *reason, struct err *err)
{
    int rc = 1;
    for (size_t i = 0; rc == 1 && s->src[0] && i < s->job.variant_count && !s->loop.stop; i++)
        if (s->job.variant[i].in_tree)
            rc = share(s, i, reason, err);
    return rc;
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

int sources_copy(struct suite *s, size_t variant, struct err *err)
{
    struct variant_state *state = &s->variant[variant];
    char dir[FS_PATH_MAX];
    if (!has_own_copy(s, variant))
        return 1;
    tree_unseal(s->layout, TREE_OWN, state->build_key);
    if (layout_make(s->layout, dir, TREE_OWN, err) != 0 || layout_discard(dir, state->build_key, err) != 0)
        return -1;
    int rc = copy_tree(s, state->base, state->src, state->reason, err);
    if (rc == 0)
        state->status = STATUS_BUILD_FAILED;
    if (rc == 1)
        tree_set_writable(state->src, true);
    return rc;
}

int sources_close(struct suite *s, size_t variant, struct err *err)
{
    const struct variant_state *state = &s->variant[variant];
    return has_own_copy(s, variant) ? tree_close(s->layout, TREE_OWN, state->build_key, err) : 0;
}

int sources_look(const struct suite *s, size_t variant, seal_fn *fn, void *arg, struct err *err)
{
    const struct variant_state *state = &s->variant[variant];
    const char *kind = s->job.variant[variant].patch_count > 0 ? TREE_PATCHED : TREE_STAGED;
    if (!s->src[0] || s->job.variant[variant].in_tree)
        return 1;
    return has_own_copy(s, variant) ? tree_look(s->layout, TREE_OWN, state->build_key, fn, arg, err)
                                    : tree_look(s->layout, kind, state->source_key, fn, arg, err);
}

int sources_intact(const struct suite *s, size_t variant, char *why, struct err *err)
{
    char reason[SEAL_REASON_MAX];
    if (!has_own_copy(s, variant))
        return 1;
    int rc = tree_check(s->layout, TREE_OWN, s->variant[variant].build_key, reason, err);
    if (rc == 0 && *reason)
        snprintf(why, SEAL_REASON_MAX, "%.200s in its sources", reason);
    return rc;
}
