#include "executor/prepare/prepare.h"

#include "common/base/alloc.h"
#include "executor/workdir/cache.h"
#include "executor/workdir/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One file of the tree while patches are applied. */
struct edit {
    const char *file;
    struct buf text;
    char sha256[SHA256_HEX_LEN + 1]; /* of text */
    mode_t mode;
};

struct edits {
    struct edit item[2 * LIMIT_PATCHES];
    size_t count;
};

static void edits_release(struct edits *e)
{
    for (size_t i = 0; i < e->count; i++)
        buf_release(&e->item[i].text);
}

static void source_key(const struct suite *s, const struct variant *v, char *out)
{
    struct sha256 h;
    char count[32];
    sha256_begin(&h);
    sha256_add_text(&h, s->job.source_sha256);
    for (size_t i = 0; i < v->patch_count; i++) {
        const struct patch *p = &v->patch[i];
        snprintf(count, sizeof count, "%" PRId64, p->count);
        sha256_add_text(&h, p->file);
        sha256_add_text(&h, p->pattern);
        sha256_add_text(&h, p->replacement);
        sha256_add_text(&h, count);
    }
    sha256_end(&h, out);
}

static int find_edit(const struct suite *s, struct edits *edits, const char *file, struct edit **out,
                     struct err *err)
{
    for (size_t i = 0; i < edits->count; i++) {
        *out = &edits->item[i];
        if (strcmp((*out)->file, file) == 0)
            return 0;
    }
    struct edit *e = *out = &edits->item[edits->count++];
    *e = (struct edit){.file = file};
    buf_init(&e->text, PATCH_FILE_MAX);
    if (fs_read_below(s->src, file, PATCH_FILE_MAX, &e->text, &e->mode, err) != 0)
        return -1;
    sha256_of(buf_str(&e->text), e->text.len, e->sha256);
    return 0;
}

static int write_event(struct suite *s, const struct variant *v, size_t patch, const char *before,
                       const struct edit *after, struct err *err)
{
    char text[REASON_MAX];
    const struct patch *p = &v->patch[patch];
    reason_set(text, "%s: %" PRId64 " replaced by patch %zu of %s", p->file, p->count, patch + 1, v->name);
    return journal_add(&s->journal, EVENT_CONFIG_PATCH,
                       json_pack("{s:s, s:I, s:s, s:I, s:s, s:s, s:s}", "variant", v->name, "patch",
                                 (json_int_t)patch + 1, "file", p->file, "count", (json_int_t)p->count,
                                 "sha256_before", before, "sha256_after", after->sha256, "message", text),
                       err);
}

/* Applies the patches to the tree's files in memory. ERR_INPUT: a patch does not apply. */
static int edit_files(struct suite *s, const struct variant *v, struct edits *edits, struct err *err)
{
    for (size_t i = 0; i < v->patch_count; i++) {
        struct edit *e;
        struct buf after;
        char before[SHA256_HEX_LEN + 1];
        if (find_edit(s, edits, v->patch[i].file, &e, err) != 0)
            return err_wrap(err, "variant %s, patch %zu", v->name, i + 1);
        buf_init(&after, PATCH_FILE_MAX);
        if (patch_apply(&v->patch[i], buf_str(&e->text), e->text.len, &after, err) != 0) {
            buf_release(&after);
            if (secrets_in_text(&s->secrets, v->patch[i].pattern, strlen(v->patch[i].pattern)))
                err_set(err, ERR_INPUT,
                        "%s: its pattern, which holds a secret, does not match as often as expected",
                        v->patch[i].file);
            return err_wrap(err, "variant %s, patch %zu", v->name, i + 1);
        }
        buf_release(&e->text);
        e->text = after;
        memcpy(before, e->sha256, sizeof before);
        sha256_of(buf_str(&after), after.len, e->sha256);
        if (write_event(s, v, i, before, e, err) != 0)
            return -1;
    }
    return 0;
}

/* Whether the patched files of the copy are what they should be. */
static bool matches_edits(const char *dir, const struct edits *edits)
{
    for (size_t i = 0; i < edits->count; i++) {
        char path[FS_PATH_MAX], sha[SHA256_HEX_LEN + 1];
        if (fs_join(path, NULL, dir, edits->item[i].file) != 0 ||
            sha256_of_file(path, PATCH_FILE_MAX, sha, NULL, NULL) != 0 ||
            strcmp(sha, edits->item[i].sha256) != 0)
            return false;
    }
    return true;
}

static int write_edits(const char *dir, const struct edits *edits, struct err *err)
{
    for (size_t i = 0; i < edits->count; i++) {
        const struct edit *e = &edits->item[i];
        char path[FS_PATH_MAX];
        if (fs_join(path, err, dir, e->file) != 0 ||
            fs_write_file(path, buf_str(&e->text), e->text.len, e->mode, err) != 0)
            return -1;
    }
    return matches_edits(dir, edits)
               ? 0
               : err_set(err, ERR_STORAGE, "%s: the patched files do not read as written", dir);
}

static int fill_copy(struct suite *s, const struct variant_state *state, const struct edits *edits,
                     const char *tmp, struct err *err)
{
    int copied = copy_tree(s, s->src, tmp, err);
    if (copied != 1)
        return copied;
    tree_set_writable(tmp, true);
    if (write_edits(tmp, edits, err) != 0 || cache_publish(tmp, state->src, err) != 0)
        return -1;
    return tree_close(s->layout, TREE_PATCHED, state->source_key, err);
}

static int make_copy(struct suite *s, const struct variant_state *state, const struct edits *edits,
                     struct err *err)
{
    char dir[FS_PATH_MAX], copy[FS_PATH_MAX];
    AUTO(temporary_release) struct temporary tmp = {.fd = -1};
    if (layout_make(s->layout, dir, TREE_PATCHED, err) != 0 ||
        layout_discard(dir, state->source_key, err) != 0 ||
        tree_temporary(s->layout, TREE_PATCHED, &tmp, copy, err) != 0)
        return -1;
    return fill_copy(s, state, edits, copy, err);
}

/* The patched files must be as patching gives them now; the seal vouches for the other files. */
static int is_usable(const struct suite *s, const struct variant_state *state, const struct edits *edits,
                     struct err *err)
{
    char why[SEAL_REASON_MAX];
    return matches_edits(state->src, edits) ? tree_check(s->layout, TREE_PATCHED, state->source_key, why, err)
                                            : 0;
}

static int prepare_variant(struct suite *s, size_t variant, struct err *err)
{
    struct variant_state *state = &s->variant[variant];
    AUTO(edits_release) struct edits edits = {.count = 0};
    if (edit_files(s, &s->job.variant[variant], &edits, err) != 0 ||
        layout_entry(s->layout, state->src, TREE_PATCHED, state->source_key, err) != 0)
        return -1;
    int usable = is_usable(s, state, &edits, err);
    if (usable < 0 || (!usable && make_copy(s, state, &edits, err) != 0))
        return -1;
    cache_stamp(state->src);
    return 0;
}

/* Whether an earlier variant with the same patches has made the copy. */
static bool share_copy(struct suite *s, size_t variant)
{
    struct variant_state *state = &s->variant[variant];
    for (size_t i = 0; i < variant; i++) {
        if (strcmp(s->variant[i].source_key, state->source_key) != 0)
            continue;
        memcpy(state->src, s->variant[i].src, sizeof state->src);
        return true;
    }
    return false;
}

int patched_prepare(struct suite *s, char *reason, struct err *err)
{
    for (size_t i = 0; i < s->job.variant_count && !s->loop.stop; i++) {
        if (s->job.variant[i].patch_count == 0)
            continue;
        source_key(s, &s->job.variant[i], s->variant[i].source_key);
        if (share_copy(s, i) || prepare_variant(s, i, err) == 0)
            continue;
        if (err->kind != ERR_INPUT)
            return -1;
        reason_set(reason, "%s; correct the plan's patches or the sources", err->msg);
        return 0;
    }
    return 1;
}
