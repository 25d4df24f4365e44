#include "harness/commands/run/several_nodes.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "harness/commands/base/sweep_output.h"

#include <stdio.h>
#include <string.h>

struct parts {
    struct several_nodes *n;
    size_t member[PLAN_NODES_MAX];
    const char *label[PLAN_NODES_MAX];
    struct several_end end[PLAN_NODES_MAX];
    size_t count;
};

void node_part_result(const struct node_part *part, json_t *summary)
{
    AUTO_FREE char *text = summary ? json_dumps(summary, JSON_COMPACT) : NULL;
    if (text)
        relay_send(part->relay, RELAY_RESULT, text, strlen(text));
    json_decref(summary);
}

int node_part_finish(struct cmd_env *env, struct runrec *rec, const struct finish_options *fin,
                     struct finish *f, const struct node_part *part, struct err *err)
{
    struct finish_result result = {0};
    int rc = finish_report(env, rec, fin, f, part ? &result : NULL, err);
    if (part)
        node_part_result(part, result.summary);
    return rc;
}

static int run_part(void *arg, size_t index, struct relay *r)
{
    const struct parts *p = arg;
    struct several_nodes *n = p->n;
    size_t member = p->member[index];
    const struct node_part part = {.node = n->sweep->member[member].node,
                                   .run_id = n->run_id ? n->run_id[member] : "",
                                   .sweep = n->sweep->id,
                                   .relay = r};
    struct err err = {0};
    int code = n->fn(n->env, n->arg, &part, &err);
    return code < 0 ? relay_fail(r, &err) : code;
}

static void choose_parts(struct parts *p)
{
    const struct sweep_record *w = p->n->sweep;
    for (size_t i = 0; i < w->count; i++) {
        if (p->n->run_id && !*p->n->run_id[i])
            continue;
        p->member[p->count] = i;
        p->label[p->count++] = w->member[i].node;
    }
}

/* A node that failed has ended without a result; a run that was interrupted here continues on its node. */
static void note_ends(struct parts *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct sweep_member *m = &p->n->sweep->member[p->member[i]];
        const struct several_end *e = &p->end[i];
        m->ended = e->code != EXIT_INTERRUPTED && !p->n->detached;
        if (p->n->detached && e->code != EXIT_DONE)
            m->ended = true;
        m->code = e->code;
        snprintf(m->failure, sizeof m->failure, "%.*s", SWEEP_REASON_MAX - 1, m->ended ? e->failure : "");
    }
}

static int worst_of(const struct sweep_record *w, const struct parts *p)
{
    int worst = EXIT_DONE;
    for (size_t i = 0; i < w->count; i++)
        worst = several_worst(worst, w->member[i].ended ? w->member[i].code : EXIT_DONE);
    for (size_t i = 0; i < p->count; i++)
        worst = several_worst(worst, p->end[i].code);
    return worst;
}

static json_t *results_of(const struct parts *p)
{
    const struct sweep_record *w = p->n->sweep;
    json_t *nodes = json_array();
    for (size_t i = 0; i < w->count; i++) {
        const struct sweep_member *m = &w->member[i];
        json_t *one = NULL;
        for (size_t k = 0; k < p->count; k++)
            if (p->member[k] == i && p->end[k].result)
                one = json_incref(p->end[k].result);
        one = one ? one : json_object();
        json_object_set_new(one, "node", json_string(m->node));
        json_object_set_new(one, "exit_code", json_integer(m->code));
        json_object_set_new(one, "failure", json_string(m->failure));
        json_array_append_new(nodes, one);
    }
    return nodes;
}

/* Prints the results of the sweep and returns its exit code. */
static int conclude(struct parts *p, struct err *err)
{
    struct several_nodes *n = p->n;
    note_ends(p);
    int code = worst_of(n->sweep, p);
    json_t *nodes = results_of(p);
    struct sweep_output out = {.env = n->env,
                               .sweep = n->sweep,
                               .nodes = nodes,
                               .report = n->report,
                               .quiet = n->quiet,
                               .code = code};
    int rc = 0;
    if (n->reports && !n->detached && code != EXIT_INTERRUPTED)
        rc = sweep_output_report(&out, err);
    if (sweep_save(n->sweep, n->env->db, rc == 0 ? err : &(struct err){0}) != 0)
        rc = -1;
    if (rc == 0)
        sweep_output_print(&out, n->detached);
    json_decref(nodes);
    return rc == 0 ? code : -1;
}

int several_nodes(struct several_nodes *n, struct err *err)
{
    struct parts p = {.n = n};
    choose_parts(&p);
    const struct several s = {.labels = p.label,
                              .count = p.count,
                              .fn = run_part,
                              .arg = &p,
                              .progress = stderr,
                              .interrupted = n->env->interrupted};
    int rc = sweep_save(n->sweep, n->env->db, err);
    if (rc == 0 && p.count > 0)
        rc = several_run(&s, p.end, err);
    if (rc == 0)
        rc = conclude(&p, err);
    for (size_t i = 0; i < p.count; i++)
        json_decref(p.end[i].result);
    return rc;
}
