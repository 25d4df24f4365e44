#include "executor/prepare/fingerprint.h"

#include "common/base/alloc.h"
#include "common/base/environment.h"
#include "executor/prepare/linked.h"
#include "executor/prepare/named_files.h"
#include "executor/process/command.h"
#include "executor/suite/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a job: what says nothing of how a test runs, or is added in another way. */
static const char *const job_leaves_out[] = {
    "run_id", "date",    "tag",   "sweep",    "purpose",  "plan_sha256", "source", "preflight",
    "fresh",  "secrets", "tests", "controls", "budget_s", "variants",    "env",    NULL};
/* What makes the build is known by what it made. */
static const char *const variant_leaves_out[] = {"build", "patches",  "gates", "cleanup",
                                                 "env",   "test_env", NULL};
/* What differs at each look at the same node. */
static const char *const node_leaves_out[] = {"time",      "disk_free_bytes", "gpu_processes",
                                              "leftovers", "unfinished",      "clocks_left",
                                              "preflight", "model",           NULL};
static const char *const gpu_leaves_out[] = {"vram_used_bytes", NULL};

static json_t *copy_without(const json_t *object, const char *const *keys)
{
    json_t *out = json_deep_copy(object);
    for (size_t i = 0; keys[i]; i++)
        json_object_del(out, keys[i]);
    return out;
}

static void add_json(struct sha256 *h, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    sha256_add_text(h, text);
    free(text);
}

static void add_node(const struct suite *s, struct sha256 *h)
{
    json_auto_t *node = copy_without(s->node, node_leaves_out);
    json_t *gpus = json_object_get(node, "gpus");
    for (size_t i = 0; i < json_array_size(gpus); i++)
        for (size_t k = 0; gpu_leaves_out[k]; k++)
            json_object_del(json_array_get(gpus, i), gpu_leaves_out[k]);
    add_json(h, node);
    for (size_t l = 0; l < s->lanes.count; l++)
        add_json(h, s->lanes.lane[l].ids);
}

/* A secret says nothing of how fast something is, and must not leave the node, not even in a hash. */
static void add_env(const struct suite *s, const struct env *env, struct sha256 *h)
{
    for (size_t i = 0; i < env->count; i++) {
        sha256_add_text(h, env->name[i]);
        sha256_add_text(h, job_is_secret(&s->job, env->name[i]) ? NULL : env->value[i]);
    }
    sha256_add_text(h, NULL);
}

static void add_job(const struct suite *s, const struct variant *v, struct sha256 *h)
{
    json_auto_t *job = copy_without(s->job.root, job_leaves_out),
                *variant = copy_without(v->json, variant_leaves_out);
    add_json(h, job);
    add_json(h, variant);
    add_env(s, &s->job.env, h);
    add_env(s, &v->env, h);
    add_env(s, &v->test_env, h);
}

/* The identity in code.json is unknown where a build reads the sources while it runs. */
static const char *unknown_code(const struct variant_state *v)
{
    enum { CODE_BYTES_MAX = 32 << 20 };
    char path[FS_PATH_MAX];
    if (fs_join(path, NULL, v->dir, "code.json") != 0)
        return "its code identity cannot be read";
    json_auto_t *code = json_load(path, CODE_BYTES_MAX, NULL);
    const char *kind = json_string_value(json_object_get(code, "kind"));
    return kind && (strcmp(kind, "device") == 0 || strcmp(kind, "files") == 0)
               ? NULL
               : "its code identity is unknown";
}

/* Returns NULL where everything that the variant runs can be known. */
static const char *unknown_variant(const struct variant *v, const struct variant_state *state)
{
    if (state->status != STATUS_OK)
        return "it was not built, or did not pass its gates";
    if (v->build_count == 0)
        return "it is not built by the plan";
    if (v->container.on)
        return "it runs in a container";
    if (v->in_tree)
        return "it runs in the source tree";
    if (v->prepare.argc > 0)
        return "a command prepares each of its tests";
    if (v->run.argc == 0 || strncmp(v->run.argv[0], "{build}/", strlen("{build}/")) != 0)
        return "its program is not a file of its build";
    return unknown_code(state);
}

static int add_program(struct suite *s, size_t variant, struct sha256 *h, char why[REASON_MAX],
                       struct err *err)
{
    const struct variant *v = &s->job.variant[variant];
    const struct subst values = suite_subst(s, variant);
    AUTO(strvec_release) struct strvec env = {.v = NULL};
    AUTO(buf_release) struct buf program = {.max = FS_PATH_MAX};
    if (command_environment(&s->job, v, &values, NULL, &env, err) != 0 ||
        subst_expand(v->run.argv[0], &values, &program, err) != 0)
        return -1;
    linked_add(s->variant[variant].build, s->variant[variant].src, buf_str(&program), &env, h, why);
    return 0;
}

int fingerprint_variant(struct suite *s, size_t variant, struct fingerprint *out, struct err *err)
{
    const struct variant *v = &s->job.variant[variant];
    const char *unknown = unknown_variant(v, &s->variant[variant]);
    struct sha256 h;
    *out = (struct fingerprint){.sha256 = ""};
    if (unknown) {
        reason_set(out->why, "%s", unknown);
        return 0;
    }
    sha256_begin(&h);
    sha256_add_text(&h, KERNSWEEP_VERSION);
    add_node(s, &h);
    add_job(s, v, &h);
    if (add_program(s, variant, &h, out->why, err) != 0)
        return -1;
    if (!out->why[0])
        sha256_end(&h, out->sha256);
    return 0;
}

static void add_tests(const struct suite *s, size_t test, struct sha256 *h)
{
    const struct job_test *of = &s->job.test[test];
    sha256_add(h, &of->context, sizeof of->context);
    for (size_t i = 0; i < s->job.test_count; i++) {
        const struct job_test *t = &s->job.test[i];
        if (t->variant != of->variant || t->context != of->context)
            continue;
        sha256_add(h, &t->repetition, sizeof t->repetition);
        sha256_add(h, &t->timeout_s, sizeof t->timeout_s);
        sha256_add(h, &t->until, sizeof t->until);
        sha256_add(h, &t->least, sizeof t->least);
        sha256_add(h, &t->warmup, sizeof t->warmup);
        sha256_add_text(h, t->gpu);
    }
}

/* Whether the folders are only searched: for programs, which no test with a known fingerprint starts, and for
 * libraries, of which those found are added by themselves. */
static bool is_searched(const char *variable)
{
    return strcmp(variable, "PATH") == 0 || strcmp(variable, "LD_LIBRARY_PATH") == 0;
}

static void add_files_of_env(const struct suite *s, const struct env *names, const struct strvec *env,
                             struct named_files *files)
{
    for (size_t i = 0; i < names->count; i++)
        if (!job_is_secret(&s->job, names->name[i]) && !is_searched(names->name[i]))
            named_files_add(files, environment_get(env, names->name[i]));
}

/* A model in several files is named by one of them. */
static int add_model(const struct suite *s, struct named_files *files, struct err *err)
{
    const char *model = s->job.settings.model;
    char path[FS_PATH_MAX], folder[FS_PATH_MAX];
    if (!model)
        return 0;
    if (*model == '/')
        snprintf(path, sizeof path, "%s", model);
    else if (layout_from_home(path, model, err) != 0)
        return -1;
    fs_parent(path, folder);
    if (!named_files_stat(files->hash, path))
        reason_set(files->why, "the model %.300s cannot be read", path);
    if (strstr(path, "-of-"))
        named_files_add(files, folder);
    return 0;
}

static int add_files(struct suite *s, size_t test, struct sha256 *h, struct fingerprint *found,
                     struct err *err)
{
    const struct variant *v = &s->job.variant[s->job.test[test].variant];
    const struct variant_state *state = &s->variant[s->job.test[test].variant];
    AUTO(strvec_release) struct strvec argv = {.v = NULL}, env = {.v = NULL};
    char out[FS_PATH_MAX], cwd[FS_PATH_MAX] = "";
    if (suite_test_dir(s, test, out, err) != 0 ||
        test_command(s, test, &s->lanes.lane[0], out, &argv, &env, err) != 0 ||
        (*v->cwd && layout_from_home(cwd, v->cwd, err) != 0))
        return -1;
    struct named_files files = {.hash = h, .cwd = cwd, .known = state->build, .why = found->why};
    named_files_add(&files, cwd);
    for (size_t i = 1; i < argv.n; i++)
        named_files_add(&files, argv.v[i]);
    add_files_of_env(s, &s->job.env, &env, &files);
    add_files_of_env(s, &v->env, &env, &files);
    add_files_of_env(s, &v->test_env, &env, &files);
    return add_model(s, &files, err);
}

int fingerprint_cell(struct suite *s, size_t test, const struct fingerprint *common, struct fingerprint *out,
                     struct err *err)
{
    struct sha256 h;
    *out = (struct fingerprint){.sha256 = ""};
    sha256_begin(&h);
    sha256_add_text(&h, common->sha256);
    add_tests(s, test, &h);
    if (add_files(s, test, &h, out, err) != 0)
        return -1;
    if (!out->why[0])
        sha256_end(&h, out->sha256);
    return 0;
}
