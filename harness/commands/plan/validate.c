/* kernsweep validate: reports everything that is wrong with a plan, and what its rules find in a sample of
 * output. */
#include "common/base/text.h"
#include "common/contract/node_name.h"
#include "harness/commands/run/check.h"
#include "harness/plan/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_BYTES_MAX = 64 << 20, COMMAND_BYTES_MAX = 1 << 16 };

struct validate_args {
    const char *sample;
    bool node;
};

static json_t *encode_problems(const struct json_problems *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->count; i++) {
        const struct problem *one = &p->item[i];
        json_t *mark = one->mark.line > 0 ? json_pack("{s:i, s:i}", "line", (int)one->mark.line, "column",
                                                      (int)one->mark.column)
                                          : json_object();
        json_object_set_new(mark, "path", json_string(one->path));
        json_object_set_new(mark, "message", json_string(one->text));
        json_array_append_new(list, mark);
    }
    return list;
}

static void print_problems(const char *file, const struct json_problems *p)
{
    for (size_t i = 0; i < p->count; i++)
        fprintf(stderr, "%s\n", p->item[i].text);
    fprintf(stderr, "%s: %s%zu error%s\n", file, p->more ? "at least " : "", p->count,
            p->count == 1 ? "" : "s");
}

/* The command of a variant's first test as the node would run it, with <src>, <build> and <out> for the
 * folders, which only the node knows. */
static int expand_command(const struct plan *p, const struct plan_variant *v, struct buf *out,
                          struct err *err)
{
    struct subst values = {.text = {[SUBST_SRC] = "<src>",
                                    [SUBST_BUILD] = "<build>",
                                    [SUBST_OUT] = "<out>",
                                    [SUBST_RUN_ID] = "<run id>",
                                    [SUBST_VARIANT] = v->name,
                                    [SUBST_ATTN_IMPL] = v->variant->attn_impl},
                           .context = p->matrix.contexts[0].tokens,
                           .repetition = 1};
    static const char *const dimensions[] = {"<batch>",    "<heads>", "<kv_heads>",
                                             "<head_dim>", "<dtype>", "<causal>"};
    for (int k = SUBST_BATCH; k < SUBST_COUNT && v->shape; k++)
        values.text[k] = dimensions[k - SUBST_BATCH];
    for (size_t i = 0; i < v->variant->run.argc; i++) {
        AUTO(buf_release) struct buf word = {.max = COMMAND_BYTES_MAX};
        if (subst_expand(v->variant->run.argv[i], &values, &word, err) != 0)
            return -1;
        if (i > 0)
            buf_putc(out, ' ');
        text_shell_quote(out, buf_str(&word));
    }
    return 0;
}

static void print_plan(const struct plan *p)
{
    char where[NODE_NAME_MAX + 1];
    snprintf(where, sizeof where, "%s", p->node);
    if (p->nodes.count > 1)
        snprintf(where, sizeof where, "each of %zu nodes", p->nodes.count);
    printf("%s: valid: %zu variant%s x %zu context%s, %zu test%s on %s\n", p->file, p->variants.count,
           text_plural((long long)p->variants.count), p->matrix.count,
           text_plural((long long)p->matrix.count), plan_test_count(p),
           text_plural((long long)plan_test_count(p)), where);
    for (size_t i = 0; i < p->variants.count; i++) {
        AUTO(buf_release) struct buf command = {.max = COMMAND_BYTES_MAX};
        AUTO(buf_release) struct buf shown = {.max = COMMAND_BYTES_MAX};
        struct err why = {0};
        bool known = expand_command(p, &p->variants.item[i], &command, &why) == 0;
        const char *text = known ? buf_str(&command) : why.msg;
        text_printable(&shown, text, strlen(text), 400);
        printf("  %-16s %s\n", p->variants.item[i].name, buf_str(&shown));
    }
}

static json_t *encode_sample(const struct sample *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->count; i++) {
        const struct sample_value *v = &s->item[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:o, s:o, s:b, s:s}", "name", v->name, "unit", v->unit,
                                        "value", v->line ? cmd_json_number(v->value) : json_null(), "line",
                                        v->line ? json_integer((json_int_t)v->line) : json_null(), "primary",
                                        v->primary, "why", v->why));
    }
    return json_pack("{s:o, s:b, s:s}", "values", list, "wall", s->wall, "problem", s->problem);
}

static void print_sample(const char *file, const struct sample *s)
{
    printf("\n%s:\n", file);
    for (size_t i = 0; i < s->count; i++) {
        const struct sample_value *v = &s->item[i];
        if (v->line)
            printf("  %-16s %.10g %s  line %zu%s\n", v->name, v->value, v->unit, v->line,
                   v->primary ? "  (primary)" : "");
        else
            printf("  %-16s not found: %s\n", v->name, v->why);
    }
    if (s->wall)
        puts("  \"timings\": \"wall\" reads no output: the wall time of each process is compared");
    if (*s->problem)
        printf("  %s\n", s->problem);
}

/* Whether a run with this output would be measured: its primary metric or, without one, all values are
 * found. */
static bool sample_serves(const struct plan *p, const struct sample *s)
{
    const struct own_metric *primary = own_metrics_primary(&p->metrics);
    if (s->wall)
        return true;
    for (size_t i = 0; i < s->count; i++)
        if (!s->item[i].line && (!primary || s->item[i].primary))
            return false;
    return s->found > 0;
}

static int load_sample(const struct plan *p, const char *file, struct sample *s, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = SAMPLE_BYTES_MAX};
    return fs_read_file(file, SAMPLE_BYTES_MAX, &text, err) != 0
               ? -1
               : sample_read(s, p, buf_str(&text), text.len, err);
}

static int ask_one(struct cmd_env *env, const struct plan *p, const char *node, json_t *out, struct err *err)
{
    struct attach_args a = {.node = node, .workdir = p->workdir};
    struct session s = {0};
    struct preflight found;
    json_t *facts = check_node(env, &a, p, &s, &found, err);
    int rc = !facts ? -1 : found.worst == PREFLIGHT_BLOCKER ? EXIT_BLOCKED : EXIT_DONE;
    if (facts && env->json)
        json_object_set_new(json_object_get(out, "nodes"), node, preflight_encode(&found, PREFLIGHT_OK));
    else if (facts) {
        printf("\n%s:\n", node);
        check_print(&s, &found);
    }
    json_decref(facts);
    if (s.opt.progress)
        session_close(&s);
    return rc;
}

/* Asks every node of the plan; the worst answer counts. */
static int ask_nodes(struct cmd_env *env, const struct plan *p, json_t *out, struct err *err)
{
    int code = EXIT_DONE;
    if (env->json)
        json_object_set_new(out, "nodes", json_object());
    for (size_t i = 0; i == 0 || i < p->nodes.count; i++) {
        int rc = ask_one(env, p, p->nodes.count > 0 ? p->nodes.name[i] : p->node, out, err);
        if (rc < 0)
            return -1;
        code = rc > code ? rc : code;
    }
    return code;
}

static int report_valid(struct cmd_env *env, const struct validate_args *a, const struct plan *p, json_t *out,
                        struct err *err)
{
    AUTO_FREE struct sample *s = a->sample ? xcalloc(1, sizeof *s) : NULL;
    if (!env->json)
        print_plan(p);
    if (s && load_sample(p, a->sample, s, err) != 0)
        return -1;
    if (s && env->json)
        json_object_set_new(out, "sample", encode_sample(s));
    else if (s)
        print_sample(a->sample, s);
    int code = s && !sample_serves(p, s) ? EXIT_USAGE : EXIT_DONE;
    int rc = a->node ? ask_nodes(env, p, out, err) : EXIT_DONE;
    return rc == EXIT_DONE ? code : rc;
}

static int validate(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct validate_args *a = args;
    const char *file = words->v[0];
    struct plan p;
    AUTO(problems_release) struct json_problems problems = {0};
    bool valid = plan_load_all(&p, file, &problems, err) == 0;
    int code = EXIT_USAGE;
    if (!valid && err->kind != ERR_NONE)
        return -1;
    json_auto_t *out = env->json ? json_pack("{s:s, s:b, s:o}", "file", file, "valid", valid, "errors",
                                             encode_problems(&problems))
                                 : NULL;
    if (valid) {
        code = report_valid(env, a, &p, out, err);
        plan_release(&p);
    } else if (!env->json) {
        print_problems(file, &problems);
    }
    if (env->json && code >= 0 && cmd_print_json(json_incref(out)) != EXIT_DONE)
        return EXIT_LOCAL;
    return code;
}

#define AT(member) ARG_AT(struct validate_args, member)

static const struct arg options[] = {
    {"--sample", "FILE", AT(sample), "output of the program: show what the plan finds in it"},
    {"--node", NULL, AT(node), "also ask the plan's nodes whether they are fit for it"},
};

const struct cmd cmd_validate = {
    .name = "validate",
    .summary = "check a plan: every error at once, and what it finds in a sample of output",
    .usage = "PLAN [options]",
    .about = "Checks a plan and lists every error with its line and column. Starts nothing.",
    .options = ARG_TABLE(struct validate_args, options),
    .min_words = 1,
    .max_words = 1,
    .run = validate,
};
