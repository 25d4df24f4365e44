/* kernsweep status: the runs on a node, or on every node of this store, as their executors see them. */
#include "common/text.h"
#include "harness/attach.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void print_text(const json_t *obj, const char *key, int width)
{
    const char *s = json_string_value(json_object_get(obj, key));
    struct buf clean;
    buf_init(&clean, 1024);
    text_printable(&clean, s ? s : "-", s ? strlen(s) : 1, 200);
    printf("%-*s  ", width, buf_str(&clean));
    buf_release(&clean);
}

static void print_run(const char *node, const json_t *run)
{
    const json_t *current = json_object_get(run, "current");
    char eta[32];
    const json_t *left = json_object_get(run, "eta_s");
    live_duration(json_is_number(left) ? json_number_value(left) : NAN, eta, sizeof eta);
    print_text(run, "run_id", 40);
    printf("%-16s  ", node);
    print_text(run, "state", 9);
    printf("%4lld/%-4lld  ETA %-12s  ", (long long)json_integer_value(json_object_get(run, "tests_done")),
           (long long)json_integer_value(json_object_get(run, "tests_total")), eta);
    if (json_is_object(current)) {
        print_text(current, "variant", 0);
        printf("ctx %lld", (long long)json_integer_value(json_object_get(current, "context")));
    }
    putchar('\n');
}

enum { STATUS_PLACES_MAX = 64 };

struct query {
    struct cmd_env *env;
    const struct attach_args *args;
    const char *word; /* a run, or NULL for all */
    json_t *all;      /* --json */
    struct {
        char node[sizeof((struct runrec *)0)->node];
        char workdir[512];
    } asked[STATUS_PLACES_MAX]; /* where has been looked already */
    size_t n_asked;
    int failed;
};

static int ask_node(const struct runrec *rec, struct query *st, struct err *err)
{
    struct session_options opt;
    struct session s = {0};
    attach_options(st->env, st->args, &opt);
    int rc = cmd_backend(st->env, &opt.backend, err);
    if (rc == 0)
        rc = session_attach(&s, rec, &opt, err);
    json_t *runs = rc == 0 ? attach_node_runs(&s, st->word ? rec->run_id : NULL, err) : NULL, *run;
    size_t i;
    json_array_foreach(runs, i, run)
    {
        if (st->env->json) {
            json_object_set_new(run, "node", json_string(rec->node));
            json_array_append(st->all, run);
        } else
            print_run(rec->node, run);
    }
    rc = runs ? 0 : -1;
    json_decref(runs);
    if (s.t)
        session_close(&s);
    return rc;
}

/* Every node and folder that a run of this store was started in is asked once. */
static int ask_node_of(const struct runrec *rec, void *arg, struct err *err)
{
    struct query *st = arg;
    struct err one = {0};
    (void)err;
    for (size_t i = 0; i < st->n_asked; i++)
        if (strcmp(st->asked[i].node, rec->node) == 0 && strcmp(st->asked[i].workdir, rec->workdir) == 0)
            return 0;
    if (st->n_asked == STATUS_PLACES_MAX)
        return 0;
    snprintf(st->asked[st->n_asked].node, sizeof st->asked->node, "%s", rec->node);
    snprintf(st->asked[st->n_asked++].workdir, sizeof st->asked->workdir, "%.511s", rec->workdir);
    struct runrec impatient = *rec;
    impatient.patience_s = 0;
    if (ask_node(&impatient, st, &one) != 0) {
        fprintf(stderr, "kernsweep: %s\n", one.msg);
        st->failed++;
    }
    return 0;
}

static int status(struct query *st, struct err *err)
{
    struct runrec rec;
    if (st->word && !st->args->node)
        return runrec_find(&rec, st->env->db, st->word, err) != 0 ? -1 : ask_node(&rec, st, err);
    if (st->args->node) {
        st->word = NULL;
        return attach_record_of_node(st->env, st->args, &rec, err) != 0 ? -1 : ask_node(&rec, st, err);
    }
    return runrec_each(st->env->db, ask_node_of, st, err);
}

int cmd_status(struct cmd_env *env, int argc, char **argv)
{
    struct attach_args a = {0};
    const struct arg options[] = {
        {"--node", "NODE", &a.node, NULL, "all runs on this node"},
        {"--workdir", "DIR", &a.workdir, NULL, "kernsweep's folder on that node (default .kernsweep)"},
    };
    struct args spec = {.command = "status",
                        .usage = "[RUN] [options]",
                        .about =
                            "Shows the runs on a node (or on all nodes of this store) with progress and ETA.",
                        .options = options,
                        .n_options = sizeof options / sizeof *options,
                        .max_words = 1};
    struct err err = {0};
    struct query st = {.env = env, .args = &a};
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, &st.word, &n, &err);
    if (rc == 1)
        return EXIT_DONE;
    st.all = json_array();
    if (rc == 0)
        rc = status(&st, &err);
    if (rc == 0 && env->json)
        cmd_print_json(json_incref(st.all));
    json_decref(st.all);
    return rc != 0 ? cmd_fail(&err) : st.failed ? EXIT_BLOCKED : EXIT_DONE;
}
