#include "common/contract/variant.h"

#include "common/base/alloc.h"
#include "common/contract/proto.h"

#include <stdlib.h>
#include <string.h>

const struct key variant_keys[] = {
    {KEY_AT(struct variant, name), .kind = KEY_NAME, .in = IN_BOTH, .required = true, .most = LIMIT_NAME},
    {KEY_AT(struct variant, attn_impl), .kind = KEY_NAME, .in = IN_BOTH, .or_empty = true, .most = LIMIT_NAME,
     .text = ""},
    {KEY_AT(struct variant, cwd), .kind = KEY_TEXT, .in = IN_BOTH, .least = 1, .most = LIMIT_ARG_BYTES,
     .text = ""},
    {KEY_AT(struct variant, build_as), .kind = KEY_NAME, .in = IN_JOB, .most = LIMIT_NAME},
    {KEY_AT(struct variant, alone), .kind = KEY_FLAG, .in = IN_BOTH},
    {KEY_AT(struct variant, in_tree), .kind = KEY_FLAG, .in = IN_BOTH},
    {KEY_AT(struct variant, ignore_failure), .kind = KEY_FLAG, .in = IN_BOTH},
    {.name = "prepare", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "cleanup", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "shape", .kind = KEY_PART, .in = IN_JOB},
    {.name = "axes", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "test_env", .kind = KEY_PART, .in = IN_JOB},
    {.name = "build", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "run", .kind = KEY_PART, .in = IN_BOTH, .required = true},
    {.name = "env", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "gates", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "container", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "patches", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "comment", .kind = KEY_PART, .in = IN_PLAN},
    {.name = NULL},
};

unsigned variant_placeholders(const struct variant_context *c, unsigned all)
{
    return c->shapes ? all : all & ~SUBST_FOR_SHAPE;
}

static int read_builds(struct variant *v, const struct json_at *at, unsigned allowed, struct err *err)
{
    size_t n;
    int rc = 0;
    if (command_list_length(at, "commands", LIMIT_BUILD_COMMANDS, &n, err) != 0)
        return -1;
    v->build = xcalloc(n, sizeof *v->build);
    while (v->build_count < n) {
        struct json_at step = json_element(at, v->build_count);
        rc |= command_read(&v->build[v->build_count++], &step, allowed, err);
    }
    return rc;
}

static int read_gates(struct variant *v, const struct json_at *at, unsigned allowed, struct err *err)
{
    size_t n;
    int rc = 0;
    if (command_list_length(at, "gates", LIMIT_GATES, &n, err) != 0)
        return -1;
    v->gate = xcalloc(n, sizeof *v->gate);
    while (v->gate_count < n) {
        struct json_at gate = json_element(at, v->gate_count);
        rc |= gate_read(&v->gate[v->gate_count++], &gate, allowed, err);
    }
    return rc;
}

/* In a job, a variant has both the plan's patches and its own. */
int patches_read(struct patch **out, size_t *count, const struct json_at *at, const struct variant_context *c,
                 struct err *err)
{
    size_t n;
    if (command_list_length(at, "patches", c->in == IN_JOB ? 2 * LIMIT_PATCHES : LIMIT_PATCHES, &n, err) != 0)
        return -1;
    *out = xcalloc(n, sizeof **out);
    if (n > 0 && !c->sources)
        return json_fail(at, err, "there is nothing to patch: give \"source\"");
    for (*count = 0; *count < n; ++*count) {
        struct json_at patch = json_element(at, *count);
        if (patch_decode(&(*out)[*count], &patch, err) != 0)
            return -1;
    }
    return 0;
}

/* Each part is read whether or not the ones before it failed. */
static int read_parts(struct variant *v, const struct json_at *at, const struct variant_context *c,
                      struct err *err)
{
    struct json_at shape = json_member(at, "shape"), run = json_member(at, "run"),
                   build = json_member(at, "build"), env = json_member(at, "env"),
                   gates = json_member(at, "gates"), patches = json_member(at, "patches"),
                   late = json_member(at, "test_env"), container = json_member(at, "container");
    /* An entry of env without a value is left out; a command without one cannot run. */
    unsigned in_test = variant_placeholders(c, SUBST_FOR_TEST),
             in_gate = variant_placeholders(c, SUBST_FOR_GATE),
             without = c->sources ? 0 : SUBST_BIT(SUBST_SRC);
    int rc = shape_read(&v->shape, &shape, err);
    rc |= command_read(&v->run, &run, in_test & ~without, err);
    rc |= read_builds(v, &build, SUBST_FOR_BUILD & ~without, err);
    rc |= env_read(&v->env, &env, c->in, c->secrets, in_test, err);
    rc |= env_read(&v->test_env, &late, c->in, c->secrets, in_test, err);
    rc |= read_gates(v, &gates, in_gate & ~without, err);
    rc |= container_read(&v->container, &container, c->in, err);
    struct json_at prepare = json_member(at, "prepare"), cleanup = json_member(at, "cleanup");
    if (prepare.value)
        rc |= command_read(&v->prepare, &prepare, in_test & ~without, err);
    if (cleanup.value)
        rc |= command_read(&v->cleanup, &cleanup, in_gate & ~without, err);
    return rc | patches_read(&v->patch, &v->patch_count, &patches, c, err);
}

int variant_read(struct variant *v, const struct json_at *at, const struct variant_context *c,
                 struct err *err)
{
    const struct key_table table = {variant_keys, v};
    int rc = keys_read(at, c->in, &table, 1, err);
    if (!json_is_object(at->value))
        return rc;
    v->json = at->value;
    if (!v->build_as)
        v->build_as = v->name;
    return rc | read_parts(v, at, c, err);
}

void variant_release(struct variant *v)
{
    for (size_t i = 0; i < v->build_count; i++)
        command_release(&v->build[i]);
    for (size_t i = 0; i < v->gate_count; i++)
        gate_release(&v->gate[i]);
    free(v->build);
    free(v->gate);
    free(v->patch);
    command_release(&v->run);
    command_release(&v->prepare);
    command_release(&v->cleanup);
    env_release(&v->env);
    env_release(&v->test_env);
}

bool variant_find(const struct variant *v, size_t count, const char *name, size_t *place)
{
    for (*place = 0; *place < count; ++*place)
        if (strcmp(v[*place].name, name) == 0)
            return true;
    return false;
}
