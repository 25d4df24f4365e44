/* kernsweep cancel: cancels a run on its node and prints which. If the run has already ended, the exit code
 * is 2 and the message names what is running there. Of a sweep of several nodes, all unfinished runs are
 * cancelled.
 */
#include "common/base/json.h"
#include "harness/commands/base/on_node.h"
#include "harness/session/several.h"
#include "harness/session/sweep.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double cancel_deadline_s = 120;

/* Returns 1 after removing the record of a run that never reached the node; 0 if there is a run to cancel. */
static int forget_unstarted(struct session *s, struct err *err)
{
    bool has = true;
    if (s->rec.state != RUNREC_STARTING)
        return 0;
    if (remote_has_run(&s->remote, s->rec.run_id, &has, err) != 0)
        return -1;
    if (has)
        return 0;
    rmdir(s->rec.bundle);
    return runrec_remove(&s->rec, s->opt.db, err) != 0 ? -1 : 1;
}

static const json_t *run_on_node(const json_t *runs, const char *run_id)
{
    size_t i;
    json_t *run;
    json_array_foreach(runs, i, run)
    {
        if (strcmp(json_text(run, "run_id"), run_id) == 0)
            return run;
    }
    return NULL;
}

/* A run whose executor died is not complete, so it can be cancelled. */
static bool has_ended(const json_t *run)
{
    return run && strcmp(json_text(run, "state"), "complete") == 0;
}

/* Sets s->rec to the run in progress on the node if there is exactly one that was started from here. */
static bool take_running(struct session *s, const json_t *runs)
{
    struct runrec rec, found = {0};
    int matches = 0;
    size_t i;
    json_t *run;
    json_array_foreach(runs, i, run)
    {
        if (strcmp(json_text(run, "state"), "running") != 0 ||
            runrec_find(&rec, s->opt.db, json_text(run, "run_id"), NULL) != 0)
            continue;
        found = rec;
        matches++;
    }
    if (matches == 1)
        s->rec = found;
    return matches == 1;
}

/* Appends a text such as "; running on NODE: A, B". */
static void describe_running(const struct session *s, const json_t *runs, struct buf *out)
{
    size_t i;
    json_t *run;
    bool any = false;
    json_array_foreach(runs, i, run)
    {
        const char *id = json_text(run, "run_id");
        if (strcmp(json_text(run, "state"), "running") != 0)
            continue;
        buf_printf(out, any ? ", %.80s" : "; running on %.80s: %.80s", any ? id : s->rec.node, id);
        any = true;
    }
    if (!any)
        buf_printf(out, "; no run is running on %.80s", s->rec.node);
}

/* ERR_INPUT if the run has ended, unless the user named the latest run and another one is running. */
static int choose_run(struct session *s, bool latest, struct err *err)
{
    json_auto_t *runs = remote_runs(&s->remote, NULL, err);
    const json_t *run = run_on_node(runs, s->rec.run_id);
    if (!runs)
        return -1;
    if (!has_ended(run) || (latest && take_running(s, runs)))
        return 0;
    AUTO(buf_release) struct buf others = {.max = ERR_MSG_MAX};
    describe_running(s, runs, &others);
    return err_set(err, ERR_INPUT, "run %s had already ended (%.20s): nothing was cancelled%s", s->rec.run_id,
                   json_text(run, "status"), buf_str(&others));
}

/* *out: the node's answer; the caller json_decref()s. */
static int cancel_on_node(const struct cmd_env *env, struct session *s, json_t **out, struct err *err)
{
    const char *args[] = {"--run", s->rec.run_id, NULL};
    json_t *answer = remote_call(&s->remote, "cancel", args, NULL, 0, cancel_deadline_s, err);
    const char *status = json_text(run_on_node(answer, s->rec.run_id), "status");
    if (!answer)
        return -1;
    if (strcmp(status, run_status_name(RUN_CANCELLED)) != 0) { /* it ended just before */
        err_set(err, ERR_INPUT, "run %s had already ended (%.20s): nothing was cancelled", s->rec.run_id,
                status);
        json_decref(answer);
        return -1;
    }
    fprintf(env->notes, "cancelled run %s on %s; `kernsweep attach %s` fetches its results\n", s->rec.run_id,
            s->rec.node, s->rec.run_id);
    *out = answer;
    return 0;
}

static int cancel_one(struct cmd_env *env, const struct attach_args *a, const char *word, bool latest,
                      struct session *s, json_t **out, struct err *err)
{
    int unstarted = attach_open(env, a, word, s, err) != 0 ? -1 : forget_unstarted(s, err);
    if (unstarted < 0)
        return -1;
    if (!unstarted)
        return choose_run(s, latest, err) != 0 ? -1 : cancel_on_node(env, s, out, err);
    fprintf(env->notes, "run %s never reached %s: its record has been removed\n", s->rec.run_id, s->rec.node);
    *out = json_array();
    return 0;
}

struct cancelling {
    struct cmd_env *env;
    const struct attach_args *args;
    json_t *answers;
    int cancelled, worst;
};

/* If a node cannot be reached, the others are still cancelled. */
static int cancel_member(const struct runrec *rec, void *arg, struct err *err)
{
    struct cancelling *c = arg;
    AUTO(session_close) struct session s = {0};
    struct err one = {0};
    json_auto_t *answer = NULL;
    (void)err;
    if (rec->state >= RUNREC_PULLED)
        return 0;
    if (cancel_one(c->env, c->args, rec->run_id, false, &s, &answer, &one) == 0) {
        json_array_extend(c->answers, answer);
        c->cancelled++;
    } else
        c->worst = several_worst(c->worst, cmd_fail(&one));
    return 0;
}

static int cancel_sweep(struct cmd_env *env, const struct attach_args *a, const struct sweep_record *sweep,
                        struct err *err)
{
    json_auto_t *answers = json_array();
    struct cancelling c = {.env = env, .args = a, .answers = answers};
    if (sweep_each(sweep, env->db, cancel_member, &c, err) != 0)
        return -1;
    if (c.cancelled == 0 && c.worst == EXIT_DONE)
        return err_set(err, ERR_INPUT, "the runs of sweep %s have all ended: nothing was cancelled",
                       sweep->id);
    if (env->json)
        cmd_print_json(json_incref(answers));
    /* If other runs were cancelled, a run that had already ended is no failure. */
    return c.cancelled > 0 && c.worst == EXIT_USAGE ? EXIT_DONE : c.worst;
}

static int cancel_run(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct attach_args *a = args;
    const char *word = words->v[0];
    AUTO(session_close) struct session s = {0};
    struct runrec open;
    struct sweep_record sweep;
    json_auto_t *answer = NULL;
    bool latest = strcmp(word, "latest") == 0, found = false, several = false;
    if (latest && !a->node && runrec_unfinished(&open, env->db, &found, err) != 0)
        return -1;
    if (found)
        word = *open.sweep ? open.sweep : open.run_id;
    if (!a->node && (found || !latest) && sweep_find(&sweep, env->db, word, &several, err) != 0)
        return -1;
    if (several)
        return cancel_sweep(env, a, &sweep, err);
    if (cancel_one(env, a, word, latest, &s, &answer, err) != 0)
        return -1;
    return env->json ? cmd_print_json(json_incref(answer)) : EXIT_DONE;
}

static const struct arg options[] = {ATTACH_OPTIONS(struct attach_args, )};

const struct cmd cmd_cancel = {
    .name = "cancel",
    .summary = "cancel a run on its node",
    .usage = "RUN [options]",
    .about = "Cancels a run and everything it started, or all runs of a sweep of several nodes; finished "
             "tests are kept. `latest` is the newest that has not ended.",
    .options = ARG_TABLE(struct attach_args, options),
    .min_words = 1,
    .max_words = 1,
    .run = cancel_run,
};
