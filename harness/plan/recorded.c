#include "harness/plan/recorded.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/sha256.h"
#include "common/base/text.h"
#include "common/contract/proto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 1 << 16 };

/* What the executor writes for the value of a secret. */
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
    char dir[FS_PATH_MAX], path[FS_PATH_MAX];
    const char *slash = strrchr(plan_file, '/');
    *job = NULL;
    if (strcmp(slash ? slash + 1 : plan_file, "plan.json") != 0)
        return 0;
    fs_parent(plan_file, dir);
    if (fs_join(path, err, dir, "job.json") != 0)
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

/* Placed on every GPU, a test is repeated on each: only those of the first GPU are the plan's. */
static bool is_of_first_gpu(const json_t *tests, const json_t *test)
{
    return strcmp(json_text(test, "gpu"), json_text(json_array_get(tests, 0), "gpu")) == 0;
}

/* Each context once, in the order of its first test, with its highest repetition: as the values of --contexts
 * and --repeat. */
static void list_contexts(const json_t *job, int64_t warmup, struct buf *contexts, struct buf *repeat)
{
    json_auto_t *highest = json_object();
    json_t *test, *value;
    const char *key;
    size_t i;
    char name[32];
    json_array_foreach(json_object_get(job, "tests"), i, test)
    {
        json_int_t n = json_integer_value(json_object_get(test, "repetition"));
        if (!is_of_first_gpu(json_object_get(job, "tests"), test))
            continue;
        snprintf(name, sizeof name, "%lld", (long long)json_integer_value(json_object_get(test, "context")));
        value = json_object_get(highest, name);
        if (!value || n > json_integer_value(value))
            json_object_set_new(highest, name, json_integer(n));
    }
    json_object_foreach(highest, key, value)
    {
        const char *comma = contexts->len ? "," : "";
        buf_printf(contexts, "%s%s", comma, key);
        buf_printf(repeat, "%s%s:%lld", comma, key, (long long)(json_integer_value(value) - warmup));
    }
}

static int take_contexts(const json_t *job, struct matrix *m, const struct json_at *root, struct err *err)
{
    AUTO(buf_release) struct buf contexts = {.max = LIST_MAX};
    AUTO(buf_release) struct buf repeat = {.max = LIST_MAX};
    list_contexts(job, m->warmup, &contexts, &repeat);
    if (!buf_ok(&contexts) || !buf_ok(&repeat))
        return err_set(err, ERR_INPUT, "more tests than a plan can have");
    if (matrix_select(m, root, buf_str(&contexts), err) != 0)
        return -1;
    return matrix_repeat(m, buf_str(&repeat), false, err);
}

int recorded_apply(const json_t *job, struct plan_variants *v, struct matrix *m, struct settings *settings,
                   const struct json_at *root, struct err *err)
{
    const char *mode = json_text(job, "mode"), *tag = json_text(job, "tag");
    if (settings_mode_ok(mode))
        settings->mode = mode;
    if (!*tag || text_is_name(tag))
        settings->tag = tag;
    if (take_variants(job, v, err) == 0 && take_contexts(job, m, root, err) == 0)
        return 0;
    return err_wrap(err, "%s: the bundle's job.json does not match its plan", root->file);
}
