/* kernsweep attach, pull: results of a run that is already on a node. */
#include "harness/commands/finish.h"
#include "harness/commands/on_node.h"
#include "harness/session/node_runs.h"

#include <stdio.h>

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
    if (remote_pull(&s->remote, s->rec.run_id, dir, err) != 0) {
        fs_remove_tree(dir, NULL);
        return -1;
    }
    fprintf(stderr, "the files of run %s so far are in %s\n", s->rec.run_id, dir);
    return EXIT_DONE;
}

int cmd_attach(struct cmd_env *env, int argc, char **argv)
{
    struct attach_args a = {0};
    const struct arg options[] = {
        ATTACH_OPTIONS(a),
        {"--artifacts", "DIR", &a.artifacts, NULL, "folder for bundles (default ./artifacts_remote)"},
        {"--report", "FILE", &a.report, NULL, "file for the report (default next to the bundle)"},
        {"--baseline", "NAME", &a.baseline, NULL, "stored baseline to compare with"},
        {"--fail-on", "WHAT", &a.fail_on, NULL,
         "what counts as failure: regression (default), failure or none"},
    };
    struct args spec = {.about = "Resumes following a run, then pulls, stores, compares and reports it.",
                        .options = options,
                        .n_options = sizeof options / sizeof *options};
    return attach_command(env, argc, argv, &spec, &a, attach_run);
}

int cmd_pull(struct cmd_env *env, int argc, char **argv)
{
    struct attach_args a = {0};
    const struct arg options[] = {
        ATTACH_OPTIONS(a),
        {"--output", "DIR", &a.output, NULL, "destination (default ./<run id>)"},
    };
    struct args spec = {
        .about = "Fetches the files that a run has written so far into a folder; the run continues.",
        .options = options,
        .n_options = sizeof options / sizeof *options,
        .without = "--json"};
    return attach_command(env, argc, argv, &spec, &a, pull_run);
}
