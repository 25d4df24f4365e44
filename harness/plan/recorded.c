#include "harness/plan/recorded.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/sha256.h"
#include "common/base/text.h"
#include "common/contract/proto.h"
#include "harness/plan/narrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The executor writes this in place of a secret's value. */
static const char hidden[] = "***";

const char *recorded_run_id(const json_t *job)
{
    return json_text(job, "run_id");
}

const char *recorded_node(const json_t *job)
{
    return json_text(job, "node");
}

const char *recorded_plan(const json_t *job)
{
    return json_text(job, "plan_sha256");
}

const char *recorded_source(const json_t *job)
{
    const char *sha = json_text(json_object_get(job, "source"), "sha256");
    return *sha ? sha : NULL;
}

json_t *recorded_git(const json_t *job)
{
    json_t *git = json_object_get(json_object_get(job, "source"), "git");
    return json_is_object(git) ? git : NULL;
}

static bool is_job(const json_t *job)
{
    const char *sha = recorded_source(job);
    return strcmp(json_text(job, "schema"), PROTO_SCHEMA_JOB) == 0 && text_is_name(recorded_run_id(job)) &&
           sha256_is_hex(recorded_plan(job)) && (!sha || sha256_is_hex(sha));
}

int recorded_load(json_t **job, const char *plan_file, struct err *err)
{
    char path[FS_PATH_MAX];
    const char *slash = strrchr(plan_file, '/');
    *job = NULL;
    if (strcmp(slash ? slash + 1 : plan_file, "plan.json") != 0)
        return 0;
    if (fs_beside(plan_file, "job.json", path, err) != 0)
        return -1;
    if (!fs_exists(path))
        return 0;
    json_auto_t *found = json_load(path, 2 * LIMIT_PLAN_BYTES, err);
    if (!found)
        return -1;
    if (is_job(found))
        *job = json_incref(found);
    return 0;
}

static int restore_env(json_t *env, const struct json_at *at, struct err *err)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(env, next, name, value)
    {
        struct json_at item = json_member(at, name);
        const char *given = getenv(name);
        if (!json_is_string(value) || strcmp(json_string_value(value), hidden) != 0)
            continue;
        if (!given)
            return json_fail(&item, err,
                             "a secret, whose value no bundle keeps: set %.80s in the environment", name);
        json_object_set_new(env, name, json_string(given));
    }
    return 0;
}

int recorded_secrets(json_t *plan, const char *file, struct err *err)
{
    struct json_at root = json_root(plan, file), env = json_member(&root, "env"),
                   variants = json_member(&root, "variants");
    if (json_array_size(json_object_get(plan, "secrets")) == 0)
        return 0;
    int rc = restore_env(json_object_get(plan, "env"), &env, err);
    for (size_t i = 0; rc == 0 && i < json_array_size(variants.value); i++) {
        struct json_at variant = json_element(&variants, i), own = json_member(&variant, "env");
        rc = restore_env(json_object_get(variant.value, "env"), &own, err);
    }
    return rc;
}

static void hide_env(json_t *env, const json_t *names)
{
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name)
    {
        const char *key = json_string_value(name);
        if (key && json_object_get(env, key))
            json_object_set_new(env, key, json_string(hidden));
    }
}

json_t *recorded_without_secrets(const json_t *job)
{
    json_t *copy = json_deep_copy(job), *names = json_object_get(copy, "secrets"), *variant;
    size_t i;
    hide_env(json_object_get(copy, "env"), names);
    json_array_foreach(json_object_get(copy, "variants"), i, variant)
    {
        hide_env(json_object_get(variant, "env"), names);
    }
    return copy;
}

static int take_variants(const json_t *job, struct plan_variants *v, struct err *err)
{
    size_t i, kept = 0;
    json_t *variant;
    json_array_foreach(json_object_get(job, "variants"), i, variant)
    {
        size_t more = plan_variants_move_up(v, json_text(variant, "name"), kept);
        if (more == 0)
            return err_set(err, ERR_INPUT, "the plan has no variant \"%.80s\"", json_text(variant, "name"));
        kept += more;
    }
    if (kept == 0)
        return err_set(err, ERR_INPUT, "the job has no variants");
    v->count = kept;
    return 0;
}

/* With the placement "every", each test is repeated on each GPU; the plan's own are those of the first
 * GPU. */
static bool is_of_first_gpu(const json_t *tests, const json_t *test)
{
    return strcmp(json_text(test, "gpu"), json_text(json_array_get(tests, 0), "gpu")) == 0;
}

/* The cells of the job, and its repetitions at each context. */
struct tests {
    json_t *seen; /* the cells, and the contexts with their highest repetition */
    struct plan_cell *cells;
    size_t count, cap;
};

static void tests_release(struct tests *t)
{
    json_decref(t->seen);
    free(t->cells);
}

static int add_test(struct tests *t, const json_t *test, int64_t warmup, struct err *err)
{
    char cell[LIMIT_NAME + 32], context[24];
    const struct plan_cell c = {.variant = json_text(test, "variant"),
                                .context = json_integer_value(json_object_get(test, "context"))};
    int64_t n = json_integer_value(json_object_get(test, "repetition")) - warmup;
    if (c.context < 1 || c.context > LIMIT_CONTEXT || n > LIMIT_REPETITIONS)
        return err_set(err, ERR_INPUT, "the job has a test that no plan has");
    snprintf(cell, sizeof cell, "%s %" PRId64, c.variant, c.context);
    snprintf(context, sizeof context, "%" PRId64, c.context);
    if (!json_object_get(t->seen, cell)) {
        json_object_set_new(t->seen, cell, json_true());
        ALLOC_GROW(t->cells, t->count + 1, t->cap);
        t->cells[t->count++] = c;
    }
    if (n > json_integer_value(json_object_get(t->seen, context)))
        json_object_set_new(t->seen, context, json_integer(n));
    return 0;
}

static int take_tests(const json_t *tests, struct plan_variants *v, struct matrix *m,
                      const struct json_at *root, struct err *err)
{
    AUTO(tests_release) struct tests t = {.seen = json_object()};
    const json_t *test;
    size_t i;
    json_array_foreach(tests, i, test)
    {
        if (is_of_first_gpu(tests, test) && add_test(&t, test, m->warmup, err) != 0)
            return -1;
    }
    if (t.count == 0)
        return err_set(err, ERR_INPUT, "the job has no tests");
    if (narrow_to_cells(v, m, root, t.cells, t.count, err) != 0)
        return -1;
    for (i = 0; i < m->count; i++) {
        char context[24];
        snprintf(context, sizeof context, "%" PRId64, m->contexts[i].tokens);
        int64_t n = json_integer_value(json_object_get(t.seen, context));
        if (n < 1)
            return err_set(err, ERR_INPUT, "the job has nothing but warm-ups at the context %s", context);
        matrix_repeat_context(m, m->contexts[i].tokens, n);
    }
    return 0;
}

int recorded_apply(const json_t *job, struct plan_variants *v, struct matrix *m, struct settings *settings,
                   const struct json_at *root, struct err *err)
{
    const char *mode = json_text(job, "mode"), *tag = json_text(job, "tag");
    if (settings_mode_ok(mode))
        settings->mode = mode;
    if (!*tag || text_is_name(tag))
        settings->tag = tag;
    if (take_variants(job, v, err) == 0 && take_tests(json_object_get(job, "tests"), v, m, root, err) == 0)
        return 0;
    return err_wrap(err, "%s: the bundle's job.json does not match its plan", root->file);
}
