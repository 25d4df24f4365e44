#include "executor/job/job.h"

#include "common/base/fs.h"
#include "common/base/sha256.h"
#include "common/base/text.h"
#include "common/contract/proto.h"
#include "common/contract/subst.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double day_s = 86400, week_s = 7 * 86400;

static const char *const job_known[] = {"schema",
                                        "run_id",
                                        "ticket",
                                        "tag",
                                        "date",
                                        "mode",
                                        "plan_sha256",
                                        "node",
                                        "harness_version",
                                        "source",
                                        "model",
                                        "fresh",
                                        "preflight",
                                        "env",
                                        "secrets",
                                        "build_timeout_s",
                                        "lock_wait_s",
                                        "kill_grace_s",
                                        "sample_interval_ms",
                                        "log_limit_bytes",
                                        "hang_after_s",
                                        "no_output_timeout_s",
                                        "prompt_tokens",
                                        "vram_settle_s",
                                        "vram_tolerance_bytes",
                                        "timings",
                                        "variants",
                                        "tests",
                                        "scheduler",
                                        "part",
                                        NULL};
static const char *const variant_known[] = {"name", "attn_impl", "build_as", "shape",   "build",
                                            "run",  "env",       "gates",    "patches", NULL};
static const char *const gate_known[] = {"kind", "name", "limit", "run", "timeout_s", NULL};
static const char *const test_known[] = {"index",     "variant", "context", "repetition",
                                         "timeout_s", "warmup",  NULL};

/* The array's length when it is one of lo to hi elements. */
static int array_length(const struct json_at *at, size_t lo, size_t hi, size_t *count, struct err *err)
{
    *count = json_array_size(at->value);
    if (json_is_array(at->value) && *count >= lo && *count <= hi)
        return 0;
    return json_fail(at, err, "expected an array of %zu to %zu elements", lo, hi);
}

/* *count zeroed elements; at least one, so that NULL always means no memory. */
static int allocate(void *out, size_t count, size_t size, struct err *err)
{
    void *p = calloc(count + 1, size);
    memcpy(out, &p, sizeof p);
    return p ? 0 : err_set(err, ERR_INTERNAL, "no memory for the job");
}

static int get_name(const struct json_at *obj, const char *key, const char **out, bool may_be_empty,
                    struct err *err)
{
    if (json_get_str(obj, key, out, err) != 0)
        return -1;
    struct json_at at = json_member(obj, key);
    if (text_is_name(*out) || (may_be_empty && !**out))
        return 0;
    return json_fail(&at, err, "not a name (letters, digits, '_', '.', '-', at most %d)", LIMIT_NAME);
}

static int check_template(const struct json_at *at, unsigned allowed, bool literal, struct err *err)
{
    unsigned used;
    const char *text = json_string_value(at->value);
    if (!text)
        return json_fail(at, err, "expected a string");
    if (json_string_length(at->value) > LIMIT_ARG_BYTES)
        return json_fail(at, err, "longer than %d bytes", LIMIT_ARG_BYTES);
    if (literal)
        return 0;
    if (subst_scan(text, &used, err) != 0)
        return err_wrap(err, "%s: %s", at->file, at->path);
    if (used & ~allowed)
        return json_fail(at, err, "uses a placeholder that has no value in this command");
    return 0;
}

static int read_command(struct job_command *cmd, const struct json_at *at, unsigned allowed, struct err *err)
{
    if (array_length(at, 1, LIMIT_ARGV, &cmd->argc, err) != 0 ||
        allocate(&cmd->argv, cmd->argc, sizeof *cmd->argv, err) != 0)
        return -1;
    for (size_t i = 0; i < cmd->argc; i++) {
        struct json_at word = json_element(at, i);
        if (check_template(&word, allowed, false, err) != 0)
            return -1;
        cmd->argv[i] = json_string_value(word.value);
    }
    return 0;
}

static bool is_env_name(const char *s)
{
    size_t len = strlen(s);
    bool digit_first = s[0] >= '0' && s[0] <= '9';
    return len > 0 && len <= LIMIT_NAME_OF_ENV && !digit_first &&
           strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == len;
}

bool job_is_secret(const struct job *job, const char *name)
{
    for (size_t i = 0; i < job->secret_count; i++) {
        if (strcmp(job->secret[i], name) == 0)
            return true;
    }
    return false;
}

static int read_env(const struct job *job, struct job_env *env, const struct json_at *obj, struct err *err)
{
    struct json_at at = json_member(obj, "env");
    const char *name;
    json_t *value;
    if (!at.value)
        return 0;
    if (!json_is_object(at.value) || json_object_size(at.value) > LIMIT_ENV)
        return json_fail(&at, err, "expected an object of at most %d strings", LIMIT_ENV);
    size_t count = json_object_size(at.value);
    if (allocate(&env->name, count, sizeof *env->name, err) != 0 ||
        allocate(&env->value, count, sizeof *env->value, err) != 0)
        return -1;
    json_object_foreach((json_t *)at.value, name, value)
    {
        struct json_at item = json_member(&at, name);
        if (!is_env_name(name))
            return json_fail(&item, err, "not the name of an environment variable");
        /* The value of a secret is passed on as it is: no placeholders in it. */
        if (check_template(&item, SUBST_FOR_TEST, job_is_secret(job, name), err) != 0)
            return -1;
        env->name[env->count] = name;
        env->value[env->count++] = json_string_value(value);
    }
    return 0;
}

static int read_builds(struct job_variant *v, const struct json_at *obj, struct err *err)
{
    struct json_at at = json_member(obj, "build");
    size_t count;
    if (!at.value)
        return 0;
    if (array_length(&at, 0, LIMIT_BUILD_COMMANDS, &count, err) != 0 ||
        allocate(&v->build, count, sizeof *v->build, err) != 0)
        return -1;
    for (; v->build_count < count; v->build_count++) {
        struct json_at cmd = json_element(&at, v->build_count);
        if (read_command(&v->build[v->build_count], &cmd, SUBST_FOR_BUILD, err) != 0) {
            v->build_count++; /* so that what was read of it is freed */
            return -1;
        }
    }
    return 0;
}

static int read_gate(struct job_gate *gate, const struct json_at *at, struct err *err)
{
    const char *kind;
    if (json_keys(at, gate_known, err) != 0 || json_get_str(at, "kind", &kind, err) != 0)
        return -1;
    struct json_at kind_at = json_member(at, "kind"), run = json_member(at, "run");
    if (!gate_kind_from_name(kind, &gate->kind))
        return json_fail(&kind_at, err, "expected %s", gate_kind_list());
    gate->timeout_s = 60;
    gate->name = kind;
    struct json_at name_at = json_member(at, "name");
    if (gate_has_limit(gate->kind) && json_get_num(at, "limit", 0, 1e15, &gate->limit, err) != 0)
        return -1;
    if (json_get_str_def(at, "name", &gate->name, err) != 0)
        return -1;
    if (!text_is_name(gate->name))
        return json_fail(&name_at, err, "expected a name, found \"%.80s\"", gate->name);
    if (json_get_num_def(at, "timeout_s", 0.001, day_s, &gate->timeout_s, err) != 0)
        return -1;
    return gate_has_command(gate->kind) ? read_command(&gate->run, &run, SUBST_FOR_GATE, err) : 0;
}

static int read_gates(struct job_variant *v, const struct json_at *obj, struct err *err)
{
    struct json_at at = json_member(obj, "gates");
    size_t count;
    if (!at.value)
        return 0;
    if (array_length(&at, 0, LIMIT_GATES, &count, err) != 0 ||
        allocate(&v->gate, count, sizeof *v->gate, err) != 0)
        return -1;
    for (; v->gate_count < count; v->gate_count++) {
        struct json_at gate = json_element(&at, v->gate_count);
        if (read_gate(&v->gate[v->gate_count], &gate, err) != 0) {
            v->gate_count++;
            return -1;
        }
    }
    return 0;
}

static int read_patches(const struct job *job, struct job_variant *v, const struct json_at *obj,
                        struct err *err)
{
    struct json_at at = json_member(obj, "patches");
    size_t count;
    if (!at.value)
        return 0;
    if (array_length(&at, 0, 2 * LIMIT_PATCHES, &count, err) != 0 ||
        allocate(&v->patch, count, sizeof *v->patch, err) != 0)
        return -1;
    if (count > 0 && !job->source_sha256)
        return json_fail(&at, err, "there is nothing to patch: $.source is null");
    for (; v->patch_count < count; v->patch_count++) {
        struct json_at patch = json_element(&at, v->patch_count);
        if (patch_decode(&v->patch[v->patch_count], &patch, err) != 0)
            return -1;
    }
    return 0;
}

static int read_dimension(struct job_variant *v, enum subst_key key, const struct json_at *at,
                          struct err *err)
{
    char *out = v->shape[key];
    const char *text = json_string_value(at->value);
    if (key == SUBST_CAUSAL && json_is_boolean(at->value))
        snprintf(out, JOB_SHAPE_MAX, "%s", json_is_true(at->value) ? "--causal" : "--no-causal");
    else if (key == SUBST_DTYPE && text && text_is_name(text) && strlen(text) < JOB_SHAPE_MAX)
        snprintf(out, JOB_SHAPE_MAX, "%s", text);
    else if (key < SUBST_DTYPE && json_is_integer(at->value) && json_integer_value(at->value) > 0)
        snprintf(out, JOB_SHAPE_MAX, "%lld", (long long)json_integer_value(at->value));
    else
        return json_fail(at, err, "not a %s of a kernel", subst_name(key));
    return 0;
}

static int read_shape(struct job_variant *v, const struct json_at *obj, struct err *err)
{
    struct json_at at = json_member(obj, "shape");
    const char *known[SUBST_COUNT + 1] = {NULL};
    if (!at.value)
        return 0;
    for (int k = SUBST_BATCH; k < SUBST_COUNT; k++)
        known[k - SUBST_BATCH] = subst_name((enum subst_key)k);
    if (json_keys(&at, known, err) != 0)
        return -1;
    for (int k = SUBST_BATCH; k < SUBST_COUNT; k++) {
        struct json_at member = json_member(&at, known[k - SUBST_BATCH]);
        if (member.value && read_dimension(v, (enum subst_key)k, &member, err) != 0)
            return -1;
    }
    return 0;
}

static int read_variant(const struct job *job, struct job_variant *v, const struct json_at *at,
                        struct err *err)
{
    v->attn_impl = "";
    if (json_keys(at, variant_known, err) != 0 || get_name(at, "name", &v->name, false, err) != 0 ||
        json_get_str_def(at, "attn_impl", &v->attn_impl, err) != 0)
        return -1;
    v->build_as = v->name;
    if ((json_object_get(at->value, "build_as") && get_name(at, "build_as", &v->build_as, false, err) != 0) ||
        read_shape(v, at, err) != 0)
        return -1;
    struct json_at impl = json_member(at, "attn_impl"), run = json_member(at, "run");
    if (strlen(v->attn_impl) > LIMIT_NAME)
        return json_fail(&impl, err, "longer than %d bytes", LIMIT_NAME);
    if (read_builds(v, at, err) != 0 || read_command(&v->run, &run, SUBST_FOR_TEST, err) != 0)
        return -1;
    return read_env(job, &v->env, at, err) != 0 || read_gates(v, at, err) != 0 ||
                   read_patches(job, v, at, err) != 0
               ? -1
               : 0;
}

static int find_variant(const struct job *job, const char *name, size_t *out)
{
    for (size_t i = 0; i < job->variant_count; i++) {
        if (strcmp(job->variant[i].name, name) == 0) {
            *out = i;
            return 0;
        }
    }
    return -1;
}

static int read_variants(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "variants");
    size_t count, other;
    if (array_length(&at, 1, LIMIT_VARIANTS, &count, err) != 0 ||
        allocate(&job->variant, count, sizeof *job->variant, err) != 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct json_at v = json_element(&at, i);
        int rc = read_variant(job, &job->variant[i], &v, err);
        if (rc == 0 && find_variant(job, job->variant[i].name, &other) == 0)
            rc = json_fail(&v, err, "the name '%s' is taken by $.variants[%zu]", job->variant[i].name, other);
        job->variant_count++;
        if (rc != 0)
            return -1;
    }
    return 0;
}

static int read_test(const struct job *job, struct job_test *test, size_t position, const struct json_at *at,
                     struct err *err)
{
    const char *variant;
    int64_t index;
    struct json_at variant_at = json_member(at, "variant"), index_at = json_member(at, "index");
    if (json_keys(at, test_known, err) != 0 || json_get_int(at, "index", 1, LIMIT_TESTS, &index, err) != 0 ||
        json_get_str(at, "variant", &variant, err) != 0 ||
        json_get_int(at, "context", 1, INT32_MAX, &test->context, err) != 0 ||
        json_get_int(at, "repetition", 1, LIMIT_REPETITIONS, &test->repetition, err) != 0 ||
        json_get_num(at, "timeout_s", 0.001, week_s, &test->timeout_s, err) != 0 ||
        json_get_bool_def(at, "warmup", &test->warmup, err) != 0)
        return -1;
    if (index != (int64_t)position + 1)
        return json_fail(&index_at, err, "expected %zu: tests are numbered from 1 in the order they run",
                         position + 1);
    if (find_variant(job, variant, &test->variant) != 0)
        return json_fail(&variant_at, err, "no such variant in $.variants");
    return 0;
}

static int compare_tests(const void *a, const void *b)
{
    const struct job_test *x = a, *y = b;
    if (x->variant != y->variant)
        return x->variant < y->variant ? -1 : 1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->repetition < y->repetition ? -1 : x->repetition > y->repetition;
}

/* Two tests with the same folder would overwrite each other. */
static int check_unique(const struct job *job, const struct json_at *at, struct err *err)
{
    struct job_test *sorted;
    int rc = 0;
    if (allocate(&sorted, job->test_count, sizeof *sorted, err) != 0)
        return -1;
    memcpy(sorted, job->test, job->test_count * sizeof *sorted);
    qsort(sorted, job->test_count, sizeof *sorted, compare_tests);
    for (size_t i = 1; i < job->test_count && rc == 0; i++) {
        if (compare_tests(&sorted[i - 1], &sorted[i]) == 0)
            rc = json_fail(at, err, "variant '%s', context %lld, repetition %lld is there twice",
                           job->variant[sorted[i].variant].name, (long long)sorted[i].context,
                           (long long)sorted[i].repetition);
    }
    free(sorted);
    return rc;
}

static int read_tests(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "tests");
    if (array_length(&at, 1, LIMIT_TESTS, &job->test_count, err) != 0 ||
        allocate(&job->test, job->test_count, sizeof *job->test, err) != 0)
        return -1;
    for (size_t i = 0; i < job->test_count; i++) {
        struct json_at test = json_element(&at, i);
        if (read_test(job, &job->test[i], i, &test, err) != 0)
            return -1;
    }
    return check_unique(job, &at, err);
}

static int read_secrets(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "secrets");
    size_t count;
    if (!at.value)
        return 0;
    if (array_length(&at, 0, LIMIT_SECRETS, &count, err) != 0 ||
        allocate(&job->secret, count, sizeof *job->secret, err) != 0)
        return -1;
    for (; job->secret_count < count; job->secret_count++) {
        struct json_at name = json_element(&at, job->secret_count);
        if (!json_is_string(name.value) || !is_env_name(json_string_value(name.value)))
            return json_fail(&name, err, "expected the name of an environment variable");
        job->secret[job->secret_count] = json_string_value(name.value);
    }
    return 0;
}

static int read_source(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "source");
    if (!at.value || json_is_null(at.value))
        return 0;
    if (!json_is_object(at.value))
        return json_fail(&at, err, "expected null or an object with \"sha256\"");
    if (json_get_str(&at, "sha256", &job->source_sha256, err) != 0)
        return -1;
    if (!sha256_is_hex(job->source_sha256))
        return json_fail(&at, err, "\"sha256\": expected 64 lower-case hex digits");
    return 0;
}

static int read_hints(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at model = json_member(root, "model"), preflight = json_member(root, "preflight");
    if (json_get_str_def(root, "model", &job->model, err) != 0 ||
        json_get_bool_def(root, "fresh", &job->fresh, err) != 0)
        return -1;
    if (job->model && (!*job->model || strlen(job->model) >= FS_PATH_MAX))
        return json_fail(&model, err, "expected a path");
    if (preflight.value && !json_is_array(preflight.value))
        return json_fail(&preflight, err, "expected an array");
    job->preflight = preflight.value;
    return 0;
}

static int read_identity(struct job *job, const struct json_at *root, struct err *err)
{
    const char *schema;
    job->tag = job->date = job->node = "";
    job->mode = "perf";
    if (json_get_str(root, "schema", &schema, err) != 0)
        return -1;
    struct json_at schema_at = json_member(root, "schema"), mode_at = json_member(root, "mode");
    if (strcmp(schema, PROTO_SCHEMA_JOB) != 0)
        return json_fail(&schema_at, err, "expected \"%s\"; use an executor of the harness's version",
                         PROTO_SCHEMA_JOB);
    if (get_name(root, "run_id", &job->run_id, false, err) != 0 ||
        get_name(root, "ticket", &job->ticket, false, err) != 0 ||
        json_get_str_def(root, "date", &job->date, err) != 0 ||
        json_get_str_def(root, "mode", &job->mode, err) != 0 ||
        json_get_str_def(root, "node", &job->node, err) != 0)
        return -1;
    if (json_object_get(root->value, "tag") && get_name(root, "tag", &job->tag, true, err) != 0)
        return -1;
    if (strcmp(job->mode, "perf") != 0 && strcmp(job->mode, "debug") != 0)
        return json_fail(&mode_at, err, "expected \"perf\" or \"debug\"");
    return 0;
}

static int read_limits(struct job *job, const struct json_at *root, struct err *err)
{
    const char *prompt_tokens = "if_printed";
    job->build_timeout_s = 600;
    job->kill_grace_s = 2;
    job->sample_interval_ms = 100;
    job->log_limit_bytes = 1 << 20;
    job->vram_settle_s = 10;
    job->vram_tolerance_bytes = 64 << 20;
    if (json_get_num_def(root, "build_timeout_s", 0.001, day_s, &job->build_timeout_s, err) != 0 ||
        json_get_num_def(root, "lock_wait_s", 0, week_s, &job->lock_wait_s, err) != 0 ||
        json_get_num_def(root, "kill_grace_s", 0, 600, &job->kill_grace_s, err) != 0 ||
        json_get_num_def(root, "hang_after_s", 0, day_s, &job->hang_after_s, err) != 0 ||
        json_get_num_def(root, "no_output_timeout_s", 0, day_s, &job->no_output_timeout_s, err) != 0 ||
        json_get_int_def(root, "sample_interval_ms", 5, 60000, &job->sample_interval_ms, err) != 0 ||
        json_get_int_def(root, "log_limit_bytes", 4096, 256 << 20, &job->log_limit_bytes, err) != 0 ||
        json_get_num_def(root, "vram_settle_s", 0, 600, &job->vram_settle_s, err) != 0 ||
        json_get_int_def(root, "vram_tolerance_bytes", 0, INT64_MAX, &job->vram_tolerance_bytes, err) != 0 ||
        json_get_str_def(root, "prompt_tokens", &prompt_tokens, err) != 0)
        return -1;
    struct json_at at = json_member(root, "prompt_tokens");
    job->prompt_tokens_required = strcmp(prompt_tokens, "required") == 0;
    if (!job->prompt_tokens_required && strcmp(prompt_tokens, "if_printed") != 0)
        return json_fail(&at, err, "expected \"required\" or \"if_printed\"");
    return 0;
}

/* The tests of a part, by their numbers in the whole. */
static int read_part_tests(struct job *job, const struct json_at *part, struct err *err)
{
    struct json_at at = json_member(part, "tests");
    size_t count;
    if (array_length(&at, 0, LIMIT_TESTS, &count, err) != 0)
        return -1;
    for (size_t i = 0; i < job->test_count; i++)
        job->test[i].elsewhere = true;
    for (size_t i = 0; i < count; i++) {
        static const char *const keys[] = {"index", "attempts", NULL};
        struct json_at test = json_element(&at, i);
        int64_t index;
        if (json_keys(&test, keys, err) != 0 ||
            json_get_int(&test, "index", 1, (int64_t)job->test_count, &index, err) != 0 ||
            json_get_int(&test, "attempts", 0, 1000, &job->test[index - 1].attempts, err) != 0)
            return -1;
        if (job->test[index - 1].variant != job->part.variant)
            return json_fail(&test, err, "is a test of another variant");
        job->test[index - 1].elsewhere = false;
    }
    return 0;
}

static int read_part(struct job *job, const struct json_at *root, struct err *err)
{
    static const char *const keys[] = {"variant", "prepare", "build", "host",
                                       "fence",   "cancel",  "tests", NULL};
    struct json_at at = json_member(root, "part");
    struct job_part *part = &job->part;
    const char *variant;
    *part = (struct job_part){.build = "", .host = "", .fence = "", .cancel = ""};
    if (!at.value)
        return 0;
    if (json_keys(&at, keys, err) != 0 || json_get_str(&at, "variant", &variant, err) != 0 ||
        json_get_bool_def(&at, "prepare", &part->prepare, err) != 0 ||
        json_get_str_def(&at, "build", &part->build, err) != 0 ||
        json_get_str_def(&at, "host", &part->host, err) != 0 ||
        json_get_str(&at, "fence", &part->fence, err) != 0 ||
        json_get_str(&at, "cancel", &part->cancel, err) != 0)
        return -1;
    struct json_at build = json_member(&at, "build");
    if (find_variant(job, variant, &part->variant) != 0)
        return json_fail(&at, err, "no variant \"%.80s\"", variant);
    if (*part->build && !sha256_is_hex(part->build))
        return json_fail(&build, err, "expected 64 lower-case hex digits");
    part->on = true;
    return read_part_tests(job, &at, err);
}

static int read_job(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at timings = json_member(root, "timings"), scheduler = json_member(root, "scheduler");
    if (!json_is_object(root->value))
        return json_fail(root, err, "expected an object");
    if (json_keys(root, job_known, err) != 0 || read_identity(job, root, err) != 0 ||
        read_source(job, root, err) != 0 || read_hints(job, root, err) != 0 ||
        read_secrets(job, root, err) != 0 || read_env(job, &job->env, root, err) != 0 ||
        read_limits(job, root, err) != 0 || timing_rule_init(&job->timings, &timings, err) != 0 ||
        scheduler_load(&job->scheduler, &scheduler, 0, err) != 0)
        return -1;
    return read_variants(job, root, err) != 0 || read_tests(job, root, err) != 0 ||
                   read_part(job, root, err) != 0
               ? -1
               : 0;
}

int job_init(struct job *job, json_t *root, const char *file, struct err *err)
{
    *job = (struct job){.root = root};
    struct json_at at = json_root(root, file);
    if (read_job(job, &at, err) == 0)
        return 0;
    job_release(job);
    return -1;
}

static void release_env(struct job_env *env)
{
    free(env->name);
    free(env->value);
}

static void release_variant(struct job_variant *v)
{
    for (size_t i = 0; i < v->build_count; i++)
        free(v->build[i].argv);
    for (size_t i = 0; i < v->gate_count; i++)
        free(v->gate[i].run.argv);
    free(v->build);
    free(v->gate);
    free(v->patch);
    free(v->run.argv);
    release_env(&v->env);
}

void job_release(struct job *job)
{
    for (size_t i = 0; i < job->variant_count; i++)
        release_variant(&job->variant[i]);
    free(job->variant);
    free(job->test);
    free(job->secret);
    release_env(&job->env);
    timing_rule_release(&job->timings);
    json_decref(job->root);
    *job = (struct job){.root = NULL};
}
