#include "harness/plan/plan.h"

#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "harness/plan/parts.h"

#include <stdlib.h>
#include <string.h>

static const char *const known_keys[] = {"schema",
                                         "ticket",
                                         "tag",
                                         "node",
                                         "workdir",
                                         "source",
                                         "model",
                                         "mode",
                                         "env",
                                         "secrets",
                                         "kind",
                                         "shapes",
                                         "variants",
                                         "contexts",
                                         "repetitions",
                                         "warmup",
                                         "timeouts",
                                         "order",
                                         "threshold",
                                         "timings",
                                         "build_timeout_s",
                                         "kill_grace_s",
                                         "hang_after_s",
                                         "no_output_timeout_s",
                                         "lock_wait_s",
                                         "log_limit_bytes",
                                         "vram_settle_s",
                                         "vram_tolerance_bytes",
                                         "prompt_tokens",
                                         "sampling",
                                         "connect",
                                         "baseline",
                                         "reference",
                                         "patches",
                                         "cost",
                                         "notify",
                                         "retention",
                                         "scheduler",
                                         "comment",
                                         NULL};

static int get_name(const struct json_at *root, const char *key, size_t max, const char **out,
                    struct err *err)
{
    struct json_at at = json_member(root, key);
    if (!at.value)
        return 0;
    if (json_get_str(root, key, out, err) != 0)
        return -1;
    if (**out == '\0')
        return 0;
    if (!text_is_name(*out) || strlen(*out) > max)
        return json_fail(
            &at, err,
            "expected a name of letters, digits, '.', '_' and '-', at most %zu long, found \"%.80s\"", max,
            *out);
    return 0;
}

static int load_model(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "model");
    if (json_get_str_def(root, "model", &p->model, err) != 0)
        return -1;
    if (p->model && strncmp(p->model, "~/", 2) == 0)
        p->model += 2;
    if (p->model && (!*p->model || *p->model == '~' || strlen(p->model) > 1024))
        return json_fail(&at, err, "expected a path on the node, absolute or below the home folder");
    return 0;
}

static int load_words(struct plan *p, const struct json_at *root, struct err *err)
{
    const char *schema = "";
    if (json_get_str(root, "schema", &schema, err) != 0)
        return -1;
    if (strcmp(schema, PROTO_SCHEMA_PLAN) != 0) {
        struct json_at at = json_member(root, "schema");
        return json_fail(&at, err, "expected \"%s\", found \"%.80s\"", PROTO_SCHEMA_PLAN, schema);
    }
    p->tag = p->baseline = p->reference = "";
    p->ticket = NULL;
    p->node = "local";
    p->workdir = ".kernsweep";
    p->mode = "perf";
    if (get_name(root, "ticket", 32, &p->ticket, err) != 0 || get_name(root, "tag", 32, &p->tag, err) != 0 ||
        get_name(root, "baseline", LIMIT_NAME, &p->baseline, err) != 0 ||
        get_name(root, "reference", LIMIT_NAME, &p->reference, err) != 0 ||
        json_get_str_def(root, "node", &p->node, err) != 0 ||
        json_get_str_def(root, "mode", &p->mode, err) != 0 ||
        json_get_str_def(root, "workdir", &p->workdir, err) != 0 || load_model(p, root, err) != 0)
        return -1;
    if (!p->ticket || !*p->ticket) {
        struct json_at at = json_member(root, "ticket");
        return json_fail(&at, err, "expected a ticket's name, found nothing");
    }
    struct json_at mode = json_member(root, "mode"), dir = json_member(root, "workdir"),
                   node = json_member(root, "node");
    if (!plan_mode_ok(p->mode))
        return json_fail(&mode, err, "expected \"perf\" or \"debug\", found \"%.80s\"", p->mode);
    bool home = strncmp(p->workdir, "~/", 2) == 0, absolute = p->workdir[0] == '/';
    p->workdir += home ? 2 : 0;
    const char *rel = p->workdir + absolute;
    if (!fs_safe_relpath(rel) || *rel == '~' || strlen(rel) > 512)
        return json_fail(&dir, err,
                         "expected a plain path below the home folder, or an absolute one, without \"..\"");
    if (!*p->node || strlen(p->node) > 255)
        return json_fail(&node, err, "expected an ssh alias, [user@]host[:port] or \"local\"");
    return 0;
}

static int load_numbers(struct plan *p, const struct json_at *root, struct err *err)
{
    p->build_timeout_s = 600;
    p->kill_grace_s = 2;
    p->log_limit_bytes = 1 << 20;
    p->vram_settle_s = 10;
    p->vram_tolerance_bytes = 64 << 20;
    p->sample_interval_ms = 100;
    p->threshold = 0.05;
    p->connect_timeout_s = 10;
    p->patience_s = 60;
    if (json_get_int_def(root, "warmup", 0, 100, &p->warmup, err) != 0 ||
        json_get_num_def(root, "build_timeout_s", 1, 86400, &p->build_timeout_s, err) != 0 ||
        json_get_num_def(root, "kill_grace_s", 0, 600, &p->kill_grace_s, err) != 0 ||
        json_get_num_def(root, "lock_wait_s", 0, 604800, &p->lock_wait_s, err) != 0 ||
        json_get_num_def(root, "hang_after_s", 0, 86400, &p->hang_after_s, err) != 0 ||
        json_get_num_def(root, "no_output_timeout_s", 0, 86400, &p->no_output_timeout_s, err) != 0 ||
        json_get_int_def(root, "log_limit_bytes", 4096, 256 << 20, &p->log_limit_bytes, err) != 0 ||
        json_get_num_def(root, "vram_settle_s", 0, 600, &p->vram_settle_s, err) != 0 ||
        json_get_int_def(root, "vram_tolerance_bytes", 0, (int64_t)1 << 40, &p->vram_tolerance_bytes, err) !=
            0)
        return -1;
    struct json_at sampling = json_member(root, "sampling"), connect = json_member(root, "connect"),
                   threshold = json_member(root, "threshold");
    static const char *const sampling_keys[] = {"interval_ms", NULL};
    static const char *const connect_keys[] = {"timeout_s", "patience_s", NULL};
    static const char *const threshold_keys[] = {"regression", NULL};
    if (sampling.value &&
        (json_keys(&sampling, sampling_keys, err) != 0 ||
         json_get_int_def(&sampling, "interval_ms", 5, 60000, &p->sample_interval_ms, err) != 0))
        return -1;
    if (connect.value &&
        (json_keys(&connect, connect_keys, err) != 0 ||
         json_get_num_def(&connect, "timeout_s", 0.1, 600, &p->connect_timeout_s, err) != 0 ||
         json_get_num_def(&connect, "patience_s", 0, 604800, &p->patience_s, err) != 0))
        return -1;
    if (threshold.value && (json_keys(&threshold, threshold_keys, err) != 0 ||
                            json_get_num_def(&threshold, "regression", 0.0001, 10, &p->threshold, err) != 0))
        return -1;
    return 0;
}

/* What a node costs is checked here and read by reports, from the stored plan. */
static int check_cost(const struct json_at *root, struct err *err)
{
    static const char *const keys[] = {"per_hour", "currency", NULL};
    struct json_at cost = json_member(root, "cost"), code = json_member(&cost, "currency");
    const char *currency = "USD";
    double per_hour;
    if (!cost.value)
        return 0;
    if (json_keys(&cost, keys, err) != 0 || json_get_num(&cost, "per_hour", 0, 1e6, &per_hour, err) != 0 ||
        json_get_str_def(&cost, "currency", &currency, err) != 0)
        return -1;
    if (strlen(currency) != 3 || strspn(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3)
        return json_fail(&code, err, "expected a currency's three letters, such as \"USD\", found \"%.80s\"",
                         currency);
    return 0;
}

static int load_choices(struct plan *p, const struct json_at *root, struct err *err)
{
    const char *order = "interleaved";
    struct json_at order_at = json_member(root, "order"), tokens_at = json_member(root, "prompt_tokens");
    p->prompt_tokens = "if_printed";
    if (json_get_str_def(root, "order", &order, err) != 0 ||
        json_get_str_def(root, "prompt_tokens", &p->prompt_tokens, err) != 0)
        return -1;
    p->order = strcmp(order, "grouped") == 0 ? PLAN_GROUPED : PLAN_INTERLEAVED;
    if (p->order == PLAN_INTERLEAVED && strcmp(order, "interleaved") != 0)
        return json_fail(&order_at, err, "expected \"interleaved\" or \"grouped\", found \"%.80s\"", order);
    if (strcmp(p->prompt_tokens, "if_printed") != 0 && strcmp(p->prompt_tokens, "required") != 0)
        return json_fail(&tokens_at, err, "expected \"if_printed\" or \"required\", found \"%.80s\"",
                         p->prompt_tokens);
    return 0;
}

static int check_reference(const struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "reference");
    for (size_t i = 0; i < p->n_variants; i++)
        if (strcmp(p->variants[i].name, p->reference) == 0 ||
            (p->variants[i].kernel && strcmp(p->variants[i].kernel, p->reference) == 0))
            return 0;
    return *p->reference ? json_fail(&at, err, "no variant is called \"%s\"", p->reference) : 0;
}

static int load_scheduler(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "scheduler");
    return scheduler_load(&p->scheduler, &at, p->patience_s, err);
}

static int load_all(struct plan *p, struct err *err)
{
    struct json_at root = json_root(p->root, p->file);
    if (json_keys(&root, known_keys, err) != 0 || load_words(p, &root, err) != 0 ||
        load_numbers(p, &root, err) != 0 || load_scheduler(p, &root, err) != 0 ||
        check_cost(&root, err) != 0 || load_choices(p, &root, err) != 0 ||
        plan_load_shapes(p, &root, err) != 0 || plan_load_env(p, &root, err) != 0 ||
        plan_load_source(p, &root, err) != 0 || plan_load_variants(p, &root, err) != 0 ||
        plan_apply_shapes(p, err) != 0 || check_reference(p, &root, err) != 0 ||
        plan_load_contexts(p, &root, err) != 0 || plan_load_timings(p, &root, err) != 0 ||
        plan_nightly_load(&p->nightly, &root, err) != 0)
        return -1;
    return 0;
}

int plan_load(struct plan *p, const char *file, struct err *err)
{
    *p = (struct plan){0};
    struct buf text;
    buf_init(&text, LIMIT_PLAN_BYTES);
    int rc = -1;
    p->file = strdup(file);
    if (!p->file)
        err_set(err, ERR_INTERNAL, "%s: no memory", file);
    else if (fs_read_file(file, LIMIT_PLAN_BYTES, &text, err) == 0) {
        sha256_of(buf_str(&text), text.len, p->sha256);
        p->root = json_parse(buf_str(&text), text.len, file, err);
        if (p->root)
            rc = load_all(p, err);
    }
    buf_release(&text);
    if (rc != 0)
        plan_release(p);
    return rc;
}

void plan_release(struct plan *p)
{
    free(p->file);
    free(p->source_dir);
    free(p->include);
    plan_release_shapes(p);
    free(p->variants);
    free(p->contexts);
    json_decref(p->root);
    *p = (struct plan){0};
}

size_t plan_test_count(const struct plan *p)
{
    size_t per_variant = 0;
    for (size_t i = 0; i < p->n_contexts; i++)
        per_variant += (size_t)(p->contexts[i].repetitions + p->warmup);
    return per_variant * p->n_variants;
}

int64_t plan_largest_context(const struct plan *p)
{
    int64_t largest = 0;
    for (size_t i = 0; i < p->n_contexts; i++)
        if (p->contexts[i].tokens > largest)
            largest = p->contexts[i].tokens;
    return largest;
}
