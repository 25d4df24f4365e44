#include "executor/bundle/job.h"

#include "common/base/alloc.h"
#include "common/base/problems.h"
#include "common/base/sha256.h"
#include "common/contract/proto.h"

#include <stdlib.h>

enum { SHORT_TEXT = 255 };

const struct key job_keys[] = {
    {.name = "schema",
     .kind = KEY_CONST,
     .in = IN_JOB,
     .required = true,
     .text = PROTO_SCHEMA_JOB,
     .expected = "from a harness of the executor's version"},
    {KEY_AT(struct job, run_id), .kind = KEY_NAME, .in = IN_JOB, .required = true, .most = LIMIT_NAME},
    {KEY_AT(struct job, date), .kind = KEY_TEXT, .in = IN_JOB, .most = SHORT_TEXT, .text = ""},
    {KEY_AT(struct job, node), .kind = KEY_TEXT, .in = IN_JOB, .most = SHORT_TEXT, .text = ""},
    {KEY_AT(struct job, fresh), .kind = KEY_FLAG, .in = IN_JOB},
    {KEY_AT(struct job, purpose), .kind = KEY_CHOICE, .in = IN_JOB, .words = run_purpose_names},
    {.name = "plan_sha256", .kind = KEY_PART, .in = IN_JOB},
    {.name = "harness_version", .kind = KEY_PART, .in = IN_JOB},
    {.name = "preflight", .kind = KEY_PART, .in = IN_JOB},
    {.name = "sweep", .kind = KEY_PART, .in = IN_JOB},
    {.name = "tests", .kind = KEY_PART, .in = IN_JOB, .required = true},
    {.name = "part", .kind = KEY_PART, .in = IN_JOB},
    {.name = NULL},
};

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

static int read_preflight(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "preflight");
    if (at.value && !json_is_array(at.value))
        return json_fail(&at, err, "expected an array");
    job->preflight = at.value;
    return 0;
}

static int read_variants(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "variants");
    const struct variant_context context = {
        .in = IN_JOB, .secrets = &job->secrets, .sources = job->source_sha256 != NULL, .shapes = true};
    size_t n = json_array_size(at.value), other;
    if (!json_is_array(at.value) || n < 1 || n > LIMIT_VARIANTS)
        return json_fail(&at, err, "expected an array of 1 to %d variants", LIMIT_VARIANTS);
    job->variant = xcalloc(n, sizeof *job->variant);
    for (size_t i = 0; i < n; i++) {
        struct json_at v = json_element(&at, i);
        job->variant_count++;
        if (variant_read(&job->variant[i], &v, &context, err) != 0)
            return -1;
        if (variant_find(job->variant, i, job->variant[i].name, &other))
            return json_fail(&v, err, "duplicate name \"%s\": $.variants[%zu] has it too",
                             job->variant[i].name, other);
    }
    return 0;
}

static int read_parts(struct job *job, const struct json_at *root, struct err *err)
{
    struct json_at secrets = json_member(root, "secrets"), env = json_member(root, "env"),
                   timings = json_member(root, "timings"), scheduler = json_member(root, "scheduler"),
                   tests = json_member(root, "tests"), part = json_member(root, "part"),
                   metrics = json_member(root, "metrics"), counters = json_member(root, "counters");
    if (counters_load(&job->counters, &counters, err) != 0 || read_source(job, root, err) != 0 ||
        read_preflight(job, root, err) != 0 || secret_names_read(&job->secrets, &secrets, err) != 0 ||
        env_read(&job->env, &env, IN_JOB, &job->secrets, SUBST_FOR_TEST, err) != 0 ||
        own_metrics_read(&job->metrics, &metrics, IN_JOB, err) != 0 ||
        timing_rule_init(&job->timings, &timings, err) != 0 ||
        timing_rule_add_metrics(&job->timings, &job->metrics, &metrics, err) != 0 ||
        scheduler_load(&job->scheduler, &scheduler, 0, err) != 0 ||
        settings_check(&job->settings, root, job->scheduler.on, err) != 0 ||
        gpu_wish_read(&job->gpus, root, &job->settings, job->scheduler.on, err) != 0 ||
        read_variants(job, root, err) != 0 ||
        tests_read(&job->test, &job->test_count, &tests, job->variant, job->variant_count, err) != 0)
        return -1;
    return part_read(&job->part, &part, job->variant, job->variant_count, job->test, job->test_count, err);
}

int job_init(struct job *job, json_t *root, const char *file, struct err *err)
{
    *job = (struct job){.root = root};
    const struct key_table tables[] = {{job_keys, job}, {settings_keys, &job->settings}};
    AUTO(problems_release) struct json_problems problems = {0};
    const struct json_source source = {.problems = &problems};
    struct json_at at = json_root(root, file);
    at.source = &source;
    if (keys_read(&at, IN_JOB, tables, sizeof tables / sizeof *tables, err) == 0 &&
        read_parts(job, &at, err) == 0)
        return 0;
    job_release(job);
    return problems_first(&problems, -1, err);
}

void job_release(struct job *job)
{
    for (size_t i = 0; i < job->variant_count; i++)
        variant_release(&job->variant[i]);
    free(job->variant);
    free(job->test);
    secret_names_release(&job->secrets);
    env_release(&job->env);
    timing_rule_release(&job->timings);
    json_decref(job->root);
    *job = (struct job){.root = NULL};
}

bool job_is_secret(const struct job *job, const char *name)
{
    return secret_names_have(&job->secrets, name);
}
