/* kernsweep check: whether a node is fit for a run, before one is started. */
#include "common/text.h"
#include "harness/attach.h"
#include "harness/plan.h"

#include <stdio.h>
#include <string.h>

static const double probe_deadline_s = 60;

static void print_fact(const char *label, const json_t *value)
{
    char number[64];
    const char *s = json_string_value(value);
    if (json_is_number(value)) {
        snprintf(number, sizeof number, "%.15g", json_number_value(value));
        s = number;
    }
    struct buf clean;
    buf_init(&clean, 4096);
    text_printable(&clean, s ? s : "not available", s ? strlen(s) : 13, 1000);
    printf("%-12s %s\n", label, buf_str(&clean));
    buf_release(&clean);
}

static void print_node(const struct session *s, const json_t *node)
{
    static const char *const keys[] = {"hostname", "os",   "kernel",  "cpu_model",       "cpus", "mem_bytes",
                                       "driver",   "rocm", "workdir", "disk_free_bytes", NULL};
    printf("%-12s ok, %s over %s %s\n", "reachable", transport_describe(s->t), transport_backend_name(s->t),
           transport_fingerprint(s->t));
    for (size_t i = 0; keys[i]; i++)
        print_fact(keys[i], json_object_get(node, keys[i]));
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(node, "compilers"), i, item)
        print_fact(json_string_value(json_object_get(item, "name")), json_object_get(item, "version"));
    json_array_foreach(json_object_get(node, "gpus"), i, item)
        print_fact("gpu", json_object_get(item, "name"));
    if (json_array_size(json_object_get(node, "gpus")) == 0)
        printf("%-12s none seen\n", "gpu");
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

static int check(struct cmd_env *env, const struct attach_args *a, struct session *s, struct err *err)
{
    struct session_options opt;
    struct runrec rec;
    attach_options(env, a, &opt);
    if (cmd_backend(env, &opt.backend, err) != 0 || attach_record_of_node(env, a, &rec, err) != 0)
        return -1;
    rec.patience_s = 0;
    if (session_attach(s, &rec, &opt, err) != 0)
        return -1;
    json_t *node = remote_call(&s->remote, "probe", NULL, NULL, 0, probe_deadline_s, err);
    if (!node)
        return -1;
    if (env->json)
        return cmd_print_json(node);
    print_node(s, node);
    json_decref(node);
    return EXIT_DONE;
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
        rc = check(env, &a, &s, &err);
    if (s.opt.progress)
        session_close(&s);
    plan_release(&p);
    return rc < 0 ? cmd_fail(&err) : rc;
}
