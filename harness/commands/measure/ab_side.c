#include "harness/commands/measure/ab_side.h"

#include "common/base/text.h"
#include "harness/git/git.h"
#include "results/query/find_run.h"
#include "results/store/location.h"

#include <stdio.h>
#include <string.h>

static const char run_mark[] = "run:", dir_mark[] = "dir:";

static const char *after(const char *word, const char *mark)
{
    size_t n = strlen(mark);
    return word && strncmp(word, mark, n) == 0 ? word + n : NULL;
}

static int use_run(struct ab_side *a, const char *word, struct store *s, struct err *err)
{
    struct run_data run = {0};
    if (store_load_run(s, word, &run, err) != 0)
        return err_wrap(err, "%s", a->option);
    int rc = *run.info.source_sha256
                 ? 0
                 : err_set(err, ERR_INPUT,
                           "%s: run %s had no source tree: name another run, a revision or dir:PATH",
                           a->option, run.info.run_id);
    memcpy(a->sha256, run.info.source_sha256, sizeof a->sha256);
    a->side.sha256 = a->sha256;
    snprintf(a->title, sizeof a->title, "run %.80s", run.info.run_id);
    run_data_release(&run);
    return rc;
}

static int use_folder(struct ab_side *a, const char *path, struct err *err)
{
    if (!fs_is_dir(path))
        return err_set(err, ERR_INPUT, "%s: no such folder: %.500s", a->option, path);
    a->side.dir = path;
    snprintf(a->title, sizeof a->title, "folder ");
    text_printable_fixed(a->title + 7, sizeof a->title - 7, path, strlen(path));
    return 0;
}

static int use_revision(struct ab_side *a, const struct plan *p, const char *db, struct err *err)
{
    char trees[FS_PATH_MAX];
    int known = p->source.dir ? git_work_tree(p->source.dir, err) : 0;
    if (known < 0)
        return err_wrap(err, "%s %.80s", a->option, a->word);
    if (known == 0)
        return err_set(err, ERR_INPUT,
                       "%s %.80s: the plan's source.dir is in no git work tree: give run:RUN or dir:PATH",
                       a->option, a->word);
    if (git_commit_find(p->source.dir, a->word, &a->commit, err) != 0)
        return err_wrap(err, "%s (a folder is dir:PATH, a stored run run:RUN)", a->option);
    if (location_own(db, "trees", trees, err) != 0 ||
        git_tree_export(p->source.dir, a->commit.id, trees, &a->tree, err) != 0)
        return -1;
    if (*a->tree.missing)
        fprintf(stderr, "note: the sources of %.12s lack %s\n", a->commit.id, a->tree.missing);
    a->side.dir = a->tree.dir;
    a->side.commit = a->commit.id;
    snprintf(a->title, sizeof a->title, "%.12s", a->commit.id);
    return 0;
}

int ab_side_open(struct ab_side *a, const struct plan *p, struct cmd_env *env, struct store *s,
                 struct err *err)
{
    char option[32];
    snprintf(option, sizeof option, "%s-env", a->option);
    if (a->setting[0] && turns_check_setting(option, a->setting[0], err) != 0)
        return -1;
    a->side.env = a->setting;
    snprintf(a->title, sizeof a->title, "the plan's sources");
    if (after(a->word, run_mark))
        return use_run(a, after(a->word, run_mark), s, err);
    if (after(a->word, dir_mark))
        return use_folder(a, after(a->word, dir_mark), err);
    return a->word ? use_revision(a, p, env->db, err) : 0;
}

void ab_side_release(struct ab_side *side)
{
    git_tree_release(&side->tree);
}
