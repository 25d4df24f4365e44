/* kernsweep attach, pull, cancel: commands for a run that is already on a node. */
#include "harness/commands/finish.h"
#include "harness/commands/on_node.h"
#include "harness/session/node_runs.h"

#include <stdio.h>
#include <unistd.h>

static const double cancel_deadline_s = 120;

/* A harness that was killed early may have recorded a run that never reached the node. */
static int reach_run(struct session *s, struct err *err)
{
    bool has;
    if (s->rec.state != RUNREC_STARTING)
        return *s->rec.bundle ? 0 : attach_reserve(s, err);
    if (node_runs_has(s, s->rec.run_id, &has, err) != 0)
        return -1;
    return has ? 0 : session_start_again(s, err);
}

static int attach_run(struct cmd_env *env, const struct attach_args *a, const char *word, struct session *s,
                      struct err *err)
{
    struct finish_options fin = {.report = a->report};
    struct runrec rec;
    if (finish_fail_on_from_name(a->fail_on, &fin.fail_on, err) != 0)
        return -1;
    if (runrec_find(&rec, env->db, word, err) == 0 && rec.state >= RUNREC_PULLED)
        return finish_run(env, &rec, &fin, err);
    if (attach_open(env, a, word, s, err) != 0 || reach_run(s, err) != 0 || session_follow(s, err) != 0 ||
        session_collect(s, err) != 0) {
        if (*s->rec.run_id && s->rec.state != RUNREC_STARTING)
            attach_print_left(s);
        return -1;
    }
    return finish_run(env, &s->rec, &fin, err);
}

static int pull_run(struct cmd_env *env, const struct attach_args *a, const char *word, struct session *s,
                    struct err *err)
{
    char dir[FS_PATH_MAX];
    if (attach_open(env, a, word, s, err) != 0)
        return -1;
    snprintf(dir, sizeof dir, "%s", a->output ? a->output : s->rec.run_id);
    if (fs_exists(dir))
        return err_set(err, ERR_INPUT, "%s: already exists: name a new folder with --output", dir);
    if (remote_pack(&s->remote, s->rec.run_id, dir, err) != 0) {
        fs_remove_tree(dir, NULL);
        return -1;
    }
    fprintf(stderr, "the files of run %s so far are in %s\n", s->rec.run_id, dir);
    return EXIT_DONE;
}

/* Returns 1 after removing the record of a run that never reached the node; 0 if there is a run to cancel. */
static int forget_unstarted(struct session *s, struct err *err)
{
    bool has = true;
    if (s->rec.state != RUNREC_STARTING)
        return 0;
    if (node_runs_has(s, s->rec.run_id, &has, err) != 0)
        return -1;
    if (has)
        return 0;
    rmdir(s->rec.bundle);
    return runrec_remove(&s->rec, s->opt.db, err) != 0 ? -1 : 1;
}

static int cancel_run(struct cmd_env *env, const struct attach_args *a, const char *word, struct session *s,
                      struct err *err)
{
    int unstarted = attach_open(env, a, word, s, err) != 0 ? -1 : forget_unstarted(s, err);
    if (unstarted < 0)
        return -1;
    if (unstarted) {
        fprintf(stderr, "run %s never reached %s: its record has been removed\n", s->rec.run_id, s->rec.node);
        return env->json ? cmd_print_json(json_array()) : EXIT_DONE;
    }
    const char *args[] = {"--run", s->rec.run_id, NULL};
    json_t *answer = remote_call(&s->remote, "cancel", args, NULL, 0, cancel_deadline_s, err);
    if (!answer)
        return -1;
    if (env->json)
        return cmd_print_json(answer);
    json_decref(answer);
    fprintf(stderr, "cancelled run %s on %s; `kernsweep attach %s` fetches its results\n", s->rec.run_id,
            s->rec.node, s->rec.run_id);
    return EXIT_DONE;
}

typedef int attach_fn(struct cmd_env *, const struct attach_args *, const char *, struct session *,
                      struct err *);

static int command_for_run(struct cmd_env *env, int argc, char **argv, const char *about, attach_fn *fn)
{
    struct attach_args a = {0};
    const struct arg options[] = {
        {"--node", "NODE", &a.node, NULL, "node of a run that was started on another machine"},
        {"--workdir", "DIR", &a.workdir, NULL, "kernsweep's folder on that node (default .kernsweep)"},
        {"--artifacts", "DIR", &a.artifacts, NULL, "folder for bundles (default ./artifacts_remote)"},
        {"--report", "FILE", &a.report, NULL, "file for the report (default next to the bundle)"},
        {"--baseline", "NAME", &a.baseline, NULL, "stored baseline to compare with"},
        {"--fail-on", "WHAT", &a.fail_on, NULL,
         "what counts as failure: regression (default), failure or none"},
        {"--output", "DIR", &a.output, NULL, "pull: destination (default ./<run id>)"},
    };
    struct args spec = {.command = argv[0],
                        .usage = "RUN [options]",
                        .about = about,
                        .options = options,
                        .n_options = sizeof options / sizeof *options,
                        .min_words = 1,
                        .max_words = 1};
    struct err err = {0};
    const char *word;
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, &word, &n, &err);
    if (rc == 1)
        return EXIT_DONE;
    struct session s = {0};
    if (rc == 0)
        rc = fn(env, &a, word, &s, &err);
    if (s.t)
        session_close(&s);
    return rc < 0 ? cmd_fail(&err) : rc;
}

int cmd_attach(struct cmd_env *env, int argc, char **argv)
{
    return command_for_run(
        env, argc, argv, "Resumes following a run, then pulls, stores, compares and reports it.", attach_run);
}

int cmd_pull(struct cmd_env *env, int argc, char **argv)
{
    return command_for_run(
        env, argc, argv, "Fetches the files that a run has written so far into a folder; the run continues.",
        pull_run);
}

int cmd_cancel(struct cmd_env *env, int argc, char **argv)
{
    return command_for_run(env, argc, argv,
                           "Cancels a run and everything it started; finished tests are kept.", cancel_run);
}
