/* kernsweep attach, pull: fetch the results of a run that is already on a node. */
#include "harness/commands/base/finish.h"
#include "harness/commands/base/on_node.h"
#include "harness/commands/run/several_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A command that was killed early may have left a record of a run that never reached the node. */
static int reach_run(struct session *s, struct err *err)
{
    bool has;
    if (s->rec.state != RUNREC_STARTING)
        return *s->rec.bundle ? 0 : attach_reserve(s, err);
    if (remote_has_run(&s->remote, s->rec.run_id, &has, err) != 0)
        return -1;
    return has ? 0 : session_start_again(s, err);
}

static int finish_attached(struct cmd_env *env, struct runrec *rec, const struct finish_options *fin,
                           const struct node_part *part, struct err *err)
{
    AUTO(finish_release) struct finish f = {0};
    return finish_compare(env, rec, fin, &f, err) != 0 ? -1 : node_part_finish(env, rec, fin, &f, part, err);
}

/* part: NULL if only one run is shown. */
static int attach_one(struct cmd_env *env, const struct attach_args *a, const char *word,
                      const struct node_part *part, struct session *s, struct err *err)
{
    struct finish_options fin = {.report = part ? NULL : a->report, .quiet = part != NULL};
    struct runrec rec;
    if (finish_fail_on_from_name(a->fail_on, &fin.fail_on, err) != 0)
        return -1;
    if (attach_find_record(env, a, word, &rec, err) == 0 && rec.state >= RUNREC_PULLED)
        return finish_attached(env, &rec, &fin, part, err);
    if (attach_open(env, a, word, s, err) != 0 || reach_run(s, err) != 0 || session_follow(s, err) != 0 ||
        session_collect(s, err) != 0) {
        if (*s->rec.run_id && s->rec.state != RUNREC_STARTING)
            attach_print_left(s);
        return -1;
    }
    return finish_attached(env, &s->rec, &fin, part, err);
}

/* Runs in the process of one node of a sweep. */
static int attach_part(struct cmd_env *env, void *arg, const struct node_part *part, struct err *err)
{
    struct attach_args a = *(const struct attach_args *)arg;
    AUTO(session_close) struct session s = {0};
    a.view = &part->relay->view;
    return attach_one(env, &a, part->run_id, part, &s, err);
}

struct sweep_ids {
    const struct sweep_record *sweep;
    char (*run_id)[JOB_RUN_ID_MAX];
};

static int note_run(const struct runrec *rec, void *arg, struct err *err)
{
    const struct sweep_ids *ids = arg;
    (void)err;
    for (size_t i = 0; i < ids->sweep->count; i++)
        if (strcmp(ids->sweep->member[i].node, rec->node) == 0)
            snprintf(ids->run_id[i], JOB_RUN_ID_MAX, "%s", rec->run_id);
    return 0;
}

static int attach_sweep(struct cmd_env *env, struct attach_args *a, struct sweep_record *sweep,
                        struct err *err)
{
    AUTO_FREE char(*ids)[JOB_RUN_ID_MAX] = xcalloc(sweep->count, sizeof *ids);
    struct sweep_ids find = {sweep, ids};
    struct several_nodes n = {.env = env,
                              .sweep = sweep,
                              .run_id = ids,
                              .fn = attach_part,
                              .arg = a,
                              .report = a->report,
                              .reports = true};
    return sweep_each(sweep, env->db, note_run, &find, err) != 0 ? -1 : several_nodes(&n, err);
}

static int attach_run(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    struct attach_args *a = args;
    const char *word = words->v[0];
    AUTO(session_close) struct session s = {0};
    struct sweep_record sweep;
    bool found = false;
    if (fs_check_output(a->report, err) != 0)
        return -1;
    if (!a->node && sweep_find(&sweep, env->db, word, &found, err) != 0)
        return -1;
    return found ? attach_sweep(env, a, &sweep, err) : attach_one(env, a, word, NULL, &s, err);
}

static int pull_run(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct attach_args *a = args;
    AUTO(session_close) struct session s = {0};
    char dir[FS_PATH_MAX];
    if (attach_open(env, a, words->v[0], &s, err) != 0)
        return -1;
    snprintf(dir, sizeof dir, "%s", a->output ? a->output : s.rec.run_id);
    if (fs_exists(dir))
        return err_set(err, ERR_INPUT, "%s: already exists: name a new folder with --output", dir);
    if (remote_pull(&s.remote, s.rec.run_id, dir, err) != 0) {
        fs_remove_tree(dir, NULL);
        return -1;
    }
    fprintf(env->notes, "the files of run %s so far are in %s\n", s.rec.run_id, dir);
    return EXIT_DONE;
}

#define AT(member) ARG_AT(struct attach_args, member)

static const struct arg options_of_attach[] = {
    ATTACH_OPTIONS(struct attach_args, ),
    {"--artifacts", "DIR", AT(artifacts), "folder for bundles (default ./artifacts_remote)"},
    {"--report", "FILE", AT(report), "file for the report (default next to the bundle)"},
    {"--baseline", "NAME", AT(baseline), "stored baseline to compare with"},
    {"--fail-on", "WHAT", AT(fail_on),
     "what counts as failure: regression (default), suspected, failure or none"},
};

const struct cmd cmd_attach = {
    .name = "attach",
    .summary = "resume following a run, then pull, store and report it",
    .usage = "RUN [options]",
    .about = "Resumes following a run, or the runs of a sweep of several nodes, then pulls, stores, compares "
             "and reports it.",
    .options = ARG_TABLE(struct attach_args, options_of_attach),
    .min_words = 1,
    .max_words = 1,
    .run = attach_run,
};

static const struct arg options_of_pull[] = {
    ATTACH_OPTIONS(struct attach_args, ),
    {"--output", "DIR", AT(output), "destination (default ./<run id>)"},
};

const struct cmd cmd_pull = {
    .name = "pull",
    .summary = "fetch the files that a run has written so far",
    .usage = "RUN [options]",
    .about = "Fetches the files that a run has written so far into a folder; the run continues.",
    .options = ARG_TABLE(struct attach_args, options_of_pull),
    .min_words = 1,
    .max_words = 1,
    .without = CMD_JSON,
    .run = pull_run,
};
