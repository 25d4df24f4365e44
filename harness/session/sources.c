#include "harness/session/sources.h"

#include "common/base/alloc.h"
#include "common/base/strvec.h"
#include "harness/git/files.h"
#include "harness/git/revision.h"
#include "harness/plan/recorded.h"
#include "harness/session/internal.h"

#include <stdio.h>
#include <string.h>

/* What is sent of a folder. */
struct sent {
    struct strvec settled, loose;
    struct tar_tree tree;
};

static void sent_release(struct sent *sent)
{
    strvec_release(&sent->settled);
    strvec_release(&sent->loose);
}

static void tell_unlisted(struct session *s, const struct err *why)
{
    char line[512];
    snprintf(line, sizeof line, "note: the whole folder is sent, including what git ignores: %.400s",
             why->msg);
    session_say(s, line);
}

/* dir: a folder. exported: its files are those of a commit, as `ab` and `bisect` write them. */
static void sent_list(struct session *s, const char *dir, const char **include, bool exported,
                      struct sent *out)
{
    AUTO(git_files_release) struct git_files files = {0};
    struct err err = {0};
    out->tree = (struct tar_tree){.root = dir,
                                  .include = include,
                                  .store = s->opt.db,
                                  .skip = exported ? git_own_folders : git_built_folders,
                                  .timeless = exported};
    int listed = exported ? 0 : git_files_list(dir, include, &files, &err);
    if (listed < 0)
        tell_unlisted(s, &err);
    if (listed <= 0)
        return;
    for (size_t i = 0; i < files.count; i++)
        strvec_push(files.items[i].settled ? &out->settled : &out->loose, files.items[i].path);
    out->tree.include = strvec_argv(&out->loose);
    out->tree.settled = strvec_argv(&out->settled);
}

/* Confirming measures the tree of an earlier run again, which may exist only on the node. */
static int use_staged(struct session *s, char *sha, struct err *err)
{
    bool have;
    memcpy(sha, s->opt.source_sha256, SHA256_HEX_LEN + 1);
    if (remote_has(&s->remote, sha, &have, err) != 0)
        return -1;
    return have ? 0 : err_set(err, ERR_NODE, "node %s no longer has the sources %.12s", s->rec.node, sha);
}

/* A repeated start must push the same tree as the first attempt. */
static int record_source(struct session *s, const struct plan *p, const char *sha, struct err *err)
{
    struct runrec_request *o = &s->rec.request;
    if (*o->source_sha256 && strcmp(o->source_sha256, sha) != 0)
        return err_set(err, ERR_INPUT,
                       "%s: changed since run %s was started: `kernsweep cancel %s`, then start a new run",
                       p->source.dir, s->rec.run_id, s->rec.run_id);
    memcpy(o->source_sha256, sha, sizeof o->source_sha256);
    return runrec_save(&s->rec, s->opt.db, err);
}

static int push_tree(struct session *s, const struct tar_tree *tree, const char *sha, struct err *err)
{
    uint64_t pushed;
    char line[256];
    if (remote_stage(&s->remote, tree, sha, &pushed, err) != 0)
        return -1;
    snprintf(line, sizeof line,
             pushed ? "source %.12s pushed (%.1f KiB)" : "source %.12s is on the node already", sha,
             (double)pushed / 1024);
    session_say(s, line);
    return 0;
}

static int stage_folder(struct session *s, const struct plan *p, char *sha, struct err *err)
{
    AUTO(sent_release) struct sent sent = {0};
    uint64_t size;
    sent_list(s, p->source.dir, p->source.include, s->opt.exported, &sent);
    if (tar_tree_hash(&sent.tree, sha, &size, err) != 0)
        return err_wrap(err, "source tree %s", p->source.dir);
    return record_source(s, p, sha, err) != 0 ? -1 : push_tree(s, &sent.tree, sha, err);
}

/* The record of the earlier run names the folder that the tree came from; this run's record keeps it. */
static void find_original(struct session *s, const struct plan *p)
{
    struct runrec first;
    struct err ignored = {0};
    if (runrec_find(&first, s->opt.db, recorded_run_id(p->recorded), &ignored) == 0)
        memcpy(s->rec.source_dir, first.source_dir, sizeof s->rec.source_dir);
}

static int push_original(struct session *s, const struct plan *p, const char *sha, struct err *err)
{
    struct err ignored = {0};
    const char *from = s->rec.source_dir;
    const char *run_id = recorded_run_id(p->recorded);
    char now[SHA256_HEX_LEN + 1], gone[160];
    uint64_t size;
    snprintf(gone, sizeof gone, "the sources %.12s of run %s are gone: node %.60s no longer has them", sha,
             run_id, s->rec.node);
    if (!*from)
        return err_set(err, ERR_INPUT, "%s, and it is not known here where they came from", gone);
    AUTO(sent_release) struct sent sent = {0};
    if (!fs_is_dir(from))
        return err_set(err, ERR_INPUT, "%s, and %s no longer exists", gone, from);
    sent_list(s, from, p->source.include, false, &sent);
    if (tar_tree_hash(&sent.tree, now, &size, &ignored) != 0 || strcmp(now, sha) != 0)
        return err_set(err, ERR_INPUT,
                       "%s, and %s has changed since: restore it there, or run the plan itself", gone, from);
    return push_tree(s, &sent.tree, sha, err);
}

/* A plan that lies in a bundle stands for the tree of the run that made the bundle. */
static int stage_recorded(struct session *s, const struct plan *p, char *sha, struct err *err)
{
    bool have;
    char line[256];
    memcpy(sha, p->source.sha256, SHA256_HEX_LEN + 1);
    memcpy(s->rec.request.source_sha256, sha, SHA256_HEX_LEN + 1);
    find_original(s, p);
    if (runrec_save(&s->rec, s->opt.db, err) != 0 || remote_has(&s->remote, sha, &have, err) != 0)
        return -1;
    if (!have)
        return push_original(s, p, sha, err);
    snprintf(line, sizeof line, "source %.12s of run %s is still on the node", sha,
             recorded_run_id(p->recorded));
    session_say(s, line);
    return 0;
}

int sources_stage(struct session *s, const struct plan *p, char *sha, struct err *err)
{
    if (s->opt.source_sha256)
        return use_staged(s, sha, err);
    return p->source.sha256 ? stage_recorded(s, p, sha, err) : stage_folder(s, p, sha, err);
}

static json_t *describe_folder(struct session *s, const struct plan *p)
{
    json_t *git = NULL;
    struct err err = {0};
    char line[512];
    if (revision_describe(p->source.dir, p->source.include, REVISION_DEADLINE_S, &git, &err) != 0) {
        snprintf(line, sizeof line, "note: the commit of the sources is not recorded: %.400s", err.msg);
        session_say(s, line);
    }
    return git;
}

json_t *sources_revision(struct session *s, const struct plan *p)
{
    if (s->opt.exported || s->opt.git)
        return json_incref(s->opt.git);
    if (s->opt.source_sha256 || !plan_source_given(&p->source))
        return NULL;
    return p->source.sha256 ? json_incref(recorded_git(p->recorded)) : describe_folder(s, p);
}
