/* kernsweep check: checks whether a node is fit for a run, without starting one. */
#include "harness/commands/run/check.h"

#include "harness/session/preflight.h"
#include "harness/session/several.h"

#include <stdio.h>
#include <string.h>

void check_print(const struct session *s, const struct preflight *p)
{
    struct finding link = {.level = PREFLIGHT_OK, .subject = "reachable"};
    const char *key = transport_fingerprint(s->t);
    snprintf(link.text, sizeof link.text, "%.120s over %s%s%s", transport_describe(s->t),
             transport_backend_name(s->t), *key ? " " : "", key);
    cmd_print_finding(&link, stdout);
    for (size_t i = 0; i < p->count; i++)
        cmd_print_finding(&p->findings[i], stdout);
}

/* The word is a node, or a plan that names one. */
static int find_node(struct attach_args *a, const char *word, struct plan *p, struct err *err)
{
    a->node = word;
    if (!cmd_is_plan(word) && !fs_exists(word))
        return 0;
    if (plan_load(p, word, err) != 0)
        return -1;
    a->node = p->node;
    a->workdir = p->workdir;
    return 0;
}

json_t *check_node(struct cmd_env *env, const struct attach_args *a, const struct plan *p, struct session *s,
                   struct preflight *out, struct err *err)
{
    struct session_options opt;
    struct runrec rec;
    attach_options(env, a, &opt);
    if (cmd_backend(env, &opt.backend, err) != 0 || attach_record_of_node(env, a, &rec, err) != 0)
        return NULL;
    rec.patience_s = 0;
    return session_attach(s, &rec, &opt, err) != 0 ? NULL : session_preflight(s, p, out, err);
}

/* Sets *out to the findings with --json (the caller json_decref()s it), or prints them. Returns an exit
 * code. */
static int check_one(struct cmd_env *env, const struct attach_args *a, const struct plan *p, json_t **out,
                     struct err *err)
{
    AUTO(session_close) struct session s = {0};
    struct preflight found;
    json_auto_t *node = check_node(env, a, p, &s, &found, err);
    if (!node)
        return -1;
    int code = found.worst == PREFLIGHT_BLOCKER ? EXIT_BLOCKED : EXIT_DONE;
    if (env->json)
        *out = json_pack("{s:O, s:o, s:i}", "node", node, "findings", preflight_encode(&found, PREFLIGHT_OK),
                         "exit_code", code);
    else
        check_print(&s, &found);
    return code;
}

static int check_alone(struct cmd_env *env, const struct attach_args *a, const struct plan *p,
                       struct err *err)
{
    json_t *found = NULL;
    int code = check_one(env, a, p, &found, err);
    int rc = found ? cmd_print_json(found) : EXIT_DONE;
    return rc == EXIT_DONE ? code : rc;
}

/* Checks the nodes one by one, including those after an unreachable one. */
static int check_several(struct cmd_env *env, struct attach_args *a, const struct plan *p)
{
    json_t *all = json_array();
    int worst = EXIT_DONE;
    for (size_t i = 0; i < p->nodes.count; i++) {
        struct err err = {0};
        json_t *found = NULL;
        a->node = p->nodes.name[i];
        if (!env->json)
            printf("%s%s\n", i > 0 ? "\n" : "", a->node);
        int code = check_one(env, a, p, &found, &err);
        if (code < 0)
            code = cmd_fail(&err);
        if (env->json && !found)
            found = json_pack("{s:s, s:i}", "failure", err.msg, "exit_code", code);
        json_object_set_new(found, "name", json_string(a->node));
        json_array_append_new(all, found ? found : json_null());
        worst = several_worst(worst, code);
    }
    if (env->json)
        cmd_print_json(json_incref(all));
    json_decref(all);
    return worst;
}

static int check(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    (void)args;
    struct attach_args a = {0};
    AUTO(plan_release) struct plan p = {0};
    if (find_node(&a, words->v[0], &p, err) != 0)
        return -1;
    return p.nodes.count > 1 ? check_several(env, &a, &p) : check_alone(env, &a, &p, err);
}

const struct cmd cmd_check = {
    .name = "check",
    .summary = "check whether a node is fit for a run",
    .usage = "NODE|PLAN",
    .about = "Connects to a node and checks whether it is fit for a run.",
    .min_words = 1,
    .max_words = 1,
    .run = check,
};
