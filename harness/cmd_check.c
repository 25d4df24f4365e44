/* kernsweep check: whether a node is fit for a run, before one is started. */
#include "harness/attach.h"
#include "harness/plan.h"
#include "harness/preflight.h"

#include <stdio.h>
#include <string.h>

static const char *colour_of(enum preflight_level l)
{
    switch (l) {
    case PREFLIGHT_OK:
        return "\033[32m";
    case PREFLIGHT_WARNING:
        return "\033[33m";
    case PREFLIGHT_BLOCKER:
        return "\033[31m";
    }
    return "";
}

static void print_finding(const struct finding *f)
{
    bool colour = cmd_colour(stdout);
    printf("%s%-8s%s %-10s %s\n", colour ? colour_of(f->level) : "", preflight_level_name(f->level),
           colour ? "\033[0m" : "", f->subject, f->text);
    if (*f->remedy)
        printf("%-8s %-10s -> %s\n", "", "", f->remedy);
}

static void print_findings(const struct session *s, const struct preflight *p)
{
    struct finding link = {.level = PREFLIGHT_OK, .subject = "reachable"};
    snprintf(link.text, sizeof link.text, "%.120s over %s %s", transport_describe(s->t),
             transport_backend_name(s->t), transport_fingerprint(s->t));
    print_finding(&link);
    for (size_t i = 0; i < p->count; i++)
        print_finding(&p->findings[i]);
}

static json_t *encode_findings(const struct preflight *p)
{
    json_t *all = json_array();
    for (size_t i = 0; i < p->count; i++)
        json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s}", "level",
                                             preflight_level_name(p->findings[i].level), "subject",
                                             p->findings[i].subject, "text", p->findings[i].text, "remedy",
                                             p->findings[i].remedy));
    return all;
}

/* A plan stands for its node. */
static int resolve(struct attach_args *a, const char *word, struct plan *p, struct err *err)
{
    size_t n = strlen(word);
    a->node = word;
    if (!(n > 5 && strcmp(word + n - 5, ".json") == 0) && !fs_exists(word))
        return 0;
    if (plan_load(p, word, err) != 0)
        return -1;
    a->node = p->node;
    a->workdir = p->workdir;
    return 0;
}

static int check(struct cmd_env *env, const struct attach_args *a, int64_t largest_context, struct session *s,
                 struct err *err)
{
    struct session_options opt;
    struct runrec rec;
    attach_options(env, a, &opt);
    if (cmd_backend(env, &opt.backend, err) != 0 || attach_record_of_node(env, a, &rec, err) != 0)
        return -1;
    rec.patience_s = 0;
    if (session_attach(s, &rec, &opt, err) != 0)
        return -1;
    struct preflight found;
    json_t *node = session_preflight(s, largest_context, &found, err);
    if (!node)
        return -1;
    int code = found.worst == PREFLIGHT_BLOCKER ? EXIT_BLOCKED : EXIT_DONE;
    if (env->json) {
        int rc = cmd_print_json(json_pack("{s:o, s:o, s:i}", "node", node, "findings",
                                          encode_findings(&found), "exit_code", code));
        return rc == EXIT_DONE ? code : rc;
    }
    print_findings(s, &found);
    json_decref(node);
    return code;
}

int cmd_check(struct cmd_env *env, int argc, char **argv)
{
    struct args spec = {.command = "check",
                        .usage = "NODE|PLAN",
                        .about = "Connects to a node and shows what a run would find there.",
                        .min_words = 1,
                        .max_words = 1};
    struct attach_args a = {0};
    struct plan p = {0};
    struct session s = {0};
    struct err err = {0};
    const char *word;
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, &word, &n, &err);
    if (rc == 1)
        return EXIT_DONE;
    if (rc == 0)
        rc = resolve(&a, word, &p, &err);
    if (rc == 0)
        rc = check(env, &a, plan_largest_context(&p), &s, &err);
    if (s.opt.progress)
        session_close(&s);
    plan_release(&p);
    return rc < 0 ? cmd_fail(&err) : rc;
}
