#include "harness/commands/base/on_node.h"

#include "common/base/json.h"
#include "common/base/text.h"
#include "harness/commands/base/changed.h"
#include "harness/plan/job.h"
#include "harness/plan/plan.h"
#include "harness/session/bundle_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void attach_options(const struct cmd_env *env, const struct attach_args *a, struct session_options *opt)
{
    *opt = (struct session_options){.db = env->db,
                                    .artifacts = a->artifacts ? a->artifacts : "artifacts_remote",
                                    .ssh_config = env->ssh_config,
                                    .find_changed = changed_load,
                                    .find_changed_arg = env,
                                    .progress = env->notes,
                                    .view = a->view,
                                    .interrupted = env->interrupted};
}

/* Sets *out to NULL without --workdir. */
static int read_workdir(const struct attach_args *a, const char **out, struct err *err)
{
    *out = a->workdir ? plan_workdir(a->workdir) : NULL;
    if (!a->workdir || *out)
        return 0;
    return err_set(err, ERR_INPUT,
                   "--workdir: expected a plain path below the home folder, or an absolute one, without "
                   "\"..\", found \"%.200s\"",
                   a->workdir);
}

int attach_find_record(struct cmd_env *env, const struct attach_args *a, const char *word, struct runrec *rec,
                       struct err *err)
{
    const char *workdir;
    if (read_workdir(a, &workdir, err) != 0)
        return -1;
    return runrec_find_at(rec, env->db, word, a->node, workdir, err);
}

int attach_record_of_node(struct cmd_env *env, const struct attach_args *a, struct runrec *rec,
                          struct err *err)
{
    const char *workdir;
    if (read_workdir(a, &workdir, err) != 0)
        return -1;
    AUTO_FREE char *config = env->ssh_config ? realpath(env->ssh_config, NULL) : xstrdup("");
    if (!config)
        return err_set(err, ERR_INPUT, "--ssh-config: cannot find %.500s", env->ssh_config);
    if (!workdir)
        workdir = ".kernsweep";
    *rec = (struct runrec){
        .connect_timeout_s = 10, .patience_s = 60, .threshold = 0.05, .state = RUNREC_RUNNING};
    if (strlen(a->node) >= sizeof rec->node || strlen(workdir) >= sizeof rec->workdir ||
        strlen(config) >= sizeof rec->ssh_config)
        return err_set(err, ERR_INPUT, "--node, --workdir or --ssh-config is too long");
    snprintf(rec->node, sizeof rec->node, "%s", a->node);
    snprintf(rec->workdir, sizeof rec->workdir, "%s", workdir);
    snprintf(rec->ssh_config, sizeof rec->ssh_config, "%s", config);
    return 0;
}

/* A job need not tell its purpose. */
static bool is_sweep(const json_t *run)
{
    const char *purpose = json_text(run, "purpose");
    return !*purpose || strcmp(purpose, run_purpose_name(PURPOSE_SWEEP)) == 0;
}

/* The only run whose id begins with word, the newest sweep for "latest", or the newest run for NULL. */
static const json_t *choose_run(const json_t *runs, const char *word, int *matches)
{
    bool newest = !word || strcmp(word, "latest") == 0;
    const json_t *found = NULL;
    const char *found_id = "";
    size_t i;
    json_t *run;
    *matches = 0;
    json_array_foreach(runs, i, run)
    {
        const char *id = json_text(run, "run_id");
        if (!text_is_name(id))
            continue;
        if (newest ? (word && !is_sweep(run)) || (*found_id && job_run_id_compare(id, found_id) < 0)
                   : !*word || strncmp(id, word, strlen(word)) != 0)
            continue;
        *matches = newest ? 1 : *matches + 1;
        found = run;
        found_id = id;
    }
    return found;
}

/* Sets s->rec to the run on the node that choose_run() chooses. */
static int adopt_run(struct session *s, const char *word, struct err *err)
{
    int matches;
    json_auto_t *runs = remote_runs(&s->remote, NULL, err);
    if (!runs)
        return -1;
    const json_t *run = choose_run(runs, word, &matches);
    const char *id = json_text(run, "run_id"), *ticket = json_text(run, "ticket");
    if (matches != 1 || strlen(id) >= sizeof s->rec.run_id)
        return err_set(err, ERR_INPUT,
                       "%s: \"%.80s\" matches %d runs on this node: see `kernsweep status --node %s`",
                       transport_describe(s->t), word ? word : "latest", matches, s->rec.node);
    snprintf(s->rec.run_id, sizeof s->rec.run_id, "%s", id);
    snprintf(s->rec.ticket, sizeof s->rec.ticket, "%s", text_is_name(ticket) ? ticket : "run");
    if (!run_purpose_from_name(json_text(run, "purpose"), &s->rec.purpose))
        s->rec.purpose = PURPOSE_SWEEP;
    return 0;
}

int attach_reserve(struct session *s, struct err *err)
{
    char date[16];
    snprintf(date, sizeof date, "%.4s-%.2s-%.2s", s->rec.run_id, s->rec.run_id + 4, s->rec.run_id + 6);
    if (bundle_dir_reserve(s->rec.bundle, s->opt.artifacts, date, s->rec.ticket, "", err) != 0)
        return -1;
    return runrec_save(&s->rec, s->opt.db, err);
}

int attach_open(struct cmd_env *env, const struct attach_args *a, const char *word, struct session *s,
                struct err *err)
{
    struct session_options opt;
    struct runrec rec;
    attach_options(env, a, &opt);
    if (cmd_backend(env, &opt.backend, err) != 0)
        return -1;
    if (a->workdir && !a->node)
        return err_set(err, ERR_INPUT, "--workdir: name its node, too, with --node");
    bool known = word && attach_find_record(env, a, word, &rec, err) == 0;
    if (!known && (!a->node || attach_record_of_node(env, a, &rec, err) != 0))
        return -1;
    if (a->baseline)
        snprintf(rec.baseline, sizeof rec.baseline, "%.64s", a->baseline);
    if (session_attach(s, &rec, &opt, err) != 0)
        return -1;
    return known ? 0 : adopt_run(s, word, err);
}

void attach_print_left(const struct session *s)
{
    char text[SESSION_LEFT_MAX];
    session_describe_left(s, text);
    fprintf(stderr, "%s\n", text);
}
