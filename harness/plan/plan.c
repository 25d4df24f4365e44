#include "harness/plan/plan.h"

#include "common/base/fs.h"
#include "common/contract/proto.h"
#include "common/contract/timing_rule.h"
#include "harness/plan/recorded.h"
#include "harness/plan/shapes.h"

#include <stdlib.h>
#include <string.h>

enum { WORKDIR_MAX = 512 };

static const char *const kinds[] = {"prefill", "kernel", NULL};
static const char *const orders[] = {"interleaved", "grouped", NULL};

static const char *below_home(const char *path)
{
    return strncmp(path, "~/", 2) == 0 ? path + 2 : path;
}

static bool is_workdir(const char *path)
{
    path = *path == '/' ? path + 1 : below_home(path);
    return fs_safe_relpath(path) && *path != '~' && strlen(path) <= WORKDIR_MAX;
}

static bool is_currency(const char *code)
{
    return strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

const struct key plan_keys[] = {
    {.name = "schema", .kind = KEY_CONST, .in = IN_PLAN, .required = true, .text = PROTO_SCHEMA_PLAN},
    {.name = "$schema", .kind = KEY_PART, .in = IN_PLAN}, /* for editors */
    {.name = "comment", .kind = KEY_PART, .in = IN_PLAN},
    {KEY_AT(struct plan, node), .kind = KEY_TEXT, .in = IN_PLAN, .least = 1, .most = 255, .text = "local",
     .expected = "an ssh alias, [user@]host[:port] or \"local\""},
    {.name = "nodes", .kind = KEY_PART, .in = IN_PLAN},
    {KEY_AT(struct plan, workdir), .kind = KEY_TEXT, .in = IN_PLAN, .most = WORKDIR_MAX + 2,
     .text = ".kernsweep", .accepts = is_workdir,
     .expected = "a plain path below the home folder, or an absolute one, without \"..\""},
    {KEY_AT(struct plan, baseline), .kind = KEY_NAME, .in = IN_PLAN, .or_empty = true, .most = LIMIT_NAME,
     .text = ""},
    {KEY_AT(struct plan, reference), .kind = KEY_NAME, .in = IN_PLAN, .or_empty = true, .most = LIMIT_NAME,
     .text = ""},
    {KEY_AT(struct plan, kind), .kind = KEY_WORD, .in = IN_PLAN, .words = kinds, .text = "prefill"},
    {KEY_AT(struct plan, order), .kind = KEY_CHOICE, .in = IN_PLAN, .words = orders},
    {KEY_AT(struct plan, warmup), .kind = KEY_COUNT, .in = IN_PLAN, .most = 100},
    {.name = "regression",
     .object = "threshold",
     .offset = offsetof(struct plan, threshold),
     .kind = KEY_NUMBER,
     .in = IN_PLAN,
     .least = 0.0001,
     .most = 10,
     .usual = 0.05},
    {.name = "rounds",
     .object = "confirm",
     .offset = offsetof(struct plan, confirm_rounds),
     .kind = KEY_COUNT,
     .in = IN_PLAN,
     .least = 1,
     .most = CONFIRM_ROUNDS_MAX,
     .usual = 3},
    {.name = "bisect",
     .object = "confirm",
     .offset = offsetof(struct plan, bisect),
     .kind = KEY_FLAG,
     .in = IN_PLAN},
    {.name = "bisect_minutes",
     .object = "confirm",
     .offset = offsetof(struct plan, bisect_minutes),
     .kind = KEY_NUMBER,
     .in = IN_PLAN,
     .least = 1,
     .most = 1440,
     .usual = 60},
    {.name = "timeout_s",
     .object = "connect",
     .offset = offsetof(struct plan, connect_timeout_s),
     .kind = KEY_NUMBER,
     .in = IN_PLAN,
     .least = 0.1,
     .most = 600,
     .usual = 10},
    {.name = "patience_s",
     .object = "connect",
     .offset = offsetof(struct plan, patience_s),
     .kind = KEY_NUMBER,
     .in = IN_PLAN,
     .most = WEEK_S,
     .usual = 60},
    {.name = "per_hour",
     .object = "cost",
     .offset = offsetof(struct plan, cost_per_hour),
     .kind = KEY_NUMBER,
     .in = IN_PLAN,
     .required = true,
     .most = 1e6},
    {.name = "currency",
     .object = "cost",
     .offset = offsetof(struct plan, currency),
     .kind = KEY_TEXT,
     .in = IN_PLAN,
     .least = 3,
     .most = 3,
     .text = "USD",
     .accepts = is_currency,
     .expected = "a currency's three letters, such as \"USD\""},
    {.name = "keep_bundles",
     .object = "retention",
     .offset = offsetof(struct plan, nightly.keep_bundles),
     .kind = KEY_COUNT,
     .in = IN_PLAN,
     .least = 1,
     .most = 100000},
    {.name = "keep_samples",
     .object = "retention",
     .offset = offsetof(struct plan, nightly.keep_samples),
     .kind = KEY_COUNT,
     .in = IN_PLAN,
     .least = 1,
     .most = 100000},
    {.name = "cache_days",
     .object = "retention",
     .offset = offsetof(struct plan, nightly.cache_days),
     .kind = KEY_COUNT,
     .in = IN_PLAN,
     .least = 1,
     .most = 36500},
    {.name = "shapes", .kind = KEY_PART, .in = IN_PLAN},
    {.name = "contexts", .kind = KEY_PART, .in = IN_PLAN, .required = true},
    {.name = "repetitions", .kind = KEY_PART, .in = IN_PLAN},
    {.name = "timeouts", .kind = KEY_PART, .in = IN_PLAN, .required = true},
    {.name = "patches", .kind = KEY_PART, .in = IN_PLAN},
    {.name = "notify", .kind = KEY_PART, .in = IN_PLAN},
    {.name = NULL},
};

static int read_simple_keys(struct plan *p, const struct json_at *root, struct err *err)
{
    const struct key_table tables[] = {{plan_keys, p}, {settings_keys, &p->settings}};
    if (keys_read(root, IN_PLAN, tables, sizeof tables / sizeof *tables, err) != 0)
        return -1;
    p->workdir = below_home(p->workdir);
    if (p->settings.model)
        p->settings.model = below_home(p->settings.model);
    return 0;
}

static int read_env(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "env"), secrets = json_member(root, "secrets");
    const struct variant_context c = {.in = IN_PLAN, .shapes = strcmp(p->kind, "kernel") == 0};
    struct env env = {0};
    if (secret_names_read(&p->secrets, &secrets, err) != 0)
        return -1;
    int rc = env_read(&env, &at, IN_PLAN, &p->secrets, variant_placeholders(&c, SUBST_FOR_TEST), err);
    env_release(&env);
    return rc;
}

/* *shapes remains NULL unless the plan is a kernel plan. */
static int read_shapes(const struct plan *p, const struct json_at *root, json_t **shapes, struct err *err)
{
    struct json_at at = json_member(root, "shapes");
    if (strcmp(p->kind, "kernel") == 0)
        return shapes_read(shapes, &at, err);
    return at.value ? json_fail(&at, err, "only a plan of the kind \"kernel\" has shapes") : 0;
}

static int check_patches(const struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "patches");
    const struct variant_context c = {.in = IN_PLAN, .sources = plan_source_given(&p->source)};
    struct patch *patches = NULL;
    size_t n;
    int rc = patches_read(&patches, &n, &at, &c, err);
    free(patches);
    return rc;
}

static int read_variants(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "variants");
    struct variant_context c = {
        .in = IN_PLAN, .secrets = &p->secrets, .sources = plan_source_given(&p->source)};
    json_t *shapes = NULL;
    if (read_shapes(p, root, &shapes, err) != 0) {
        json_decref(shapes);
        return -1;
    }
    c.shapes = shapes != NULL;
    return plan_variants_read(&p->variants, &at, &c, shapes, err);
}

static int check_reference(const struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "reference");
    for (size_t i = 0; i < p->variants.count; i++)
        if (plan_variant_is(&p->variants.item[i], p->reference))
            return 0;
    return *p->reference ? json_fail(&at, err, "no variant is called \"%s\"", p->reference) : 0;
}

/* A variant whose kernel is checked must print it. */
static int check_wall_alone(const struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at list = json_member(root, "variants");
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        struct json_at at = json_element(&list, i), impl = json_member(&at, "attn_impl");
        if (impl.value && *json_string_value(impl.value))
            return json_fail(&impl, err, "\"timings\": \"wall\" reads no output, so it cannot be checked");
    }
    struct json_at tokens = json_member(root, "prompt_tokens");
    return p->settings.prompt_tokens == PROMPT_TOKENS_REQUIRED
               ? json_fail(&tokens, err, "\"timings\": \"wall\" reads no output, so they cannot be required")
               : 0;
}

/* A rule that gives nothing to compare by is a mistake: without a rule, the wall time would do. */
static int check_rule_gives_metric(const struct timing_rule *rule, const struct json_at *at, struct err *err)
{
    struct json_at part = json_member(at, rule->kind == TIMING_REGEX ? "pattern" : "map");
    bool any = rule->kind == TIMING_MARK || rule->kind == TIMING_WALL || timing_rule_has(rule, "prefill_s") ||
               timing_rule_has(rule, "kernel_ms");
    for (size_t i = 0; i < rule->count; i++)
        any = any || rule->part[i].own;
    return any ? 0
               : json_fail(
                     &part, err,
                     "nothing to compare by: name a time prefill_s or kernel_ms, or define \"%s\" under "
                     "\"metrics\"",
                     rule->part[0].name);
}

static int read_metrics(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at timings = json_member(root, "timings"), metrics = json_member(root, "metrics");
    struct timing_rule rule;
    if (own_metrics_read(&p->metrics, &metrics, IN_PLAN, err) != 0 ||
        timing_rule_init(&rule, &timings, err) != 0)
        return -1;
    int rc = timing_rule_add_metrics(&rule, &p->metrics, &metrics, err);
    if (rc == 0)
        rc = check_rule_gives_metric(&rule, &timings, err);
    if (rc == 0 && rule.kind == TIMING_WALL)
        rc = check_wall_alone(p, root, err);
    timing_rule_release(&rule);
    return rc;
}

/* Keys of a variant are often written one level too high. */
static int check_level(const struct json_at *root, struct err *err)
{
    for (const struct key *k = variant_keys; k->name; k++) {
        struct json_at at = json_member(root, k->name);
        bool own = !(k->in & IN_PLAN);
        for (const struct key *p = plan_keys; p->name; p++)
            own = own || strcmp(p->name, k->name) == 0;
        for (const struct key *p = settings_keys; p->name; p++)
            own = own || strcmp(p->name, k->name) == 0;
        if (at.value && !own)
            return json_fail(&at, err, "belongs to a variant: write it as $.variants[i].%s", k->name);
    }
    return 0;
}

static int read_nodes(struct plan *p, const struct json_at *root, struct err *err)
{
    if (plan_nodes_read(&p->nodes, root, p->scheduler.on, err) != 0)
        return -1;
    if (p->nodes.count > 0)
        p->node = p->nodes.name[0];
    return 0;
}

static int read_all(struct plan *p, struct err *err)
{
    struct json_at root = json_root(p->root, p->file), scheduler = json_member(&root, "scheduler"),
                   source = json_member(&root, "source"), notify = json_member(&root, "notify"),
                   counters = json_member(&root, "counters");
    if (check_level(&root, err) != 0 || read_simple_keys(p, &root, err) != 0 ||
        scheduler_load(&p->scheduler, &scheduler, p->patience_s, err) != 0 ||
        settings_check(&p->settings, &root, p->scheduler.on, err) != 0 || read_nodes(p, &root, err) != 0 ||
        gpu_wish_read(&p->gpus, &root, &p->settings, p->scheduler.on, err) != 0 ||
        read_env(p, &root, err) != 0 || counters_load(&p->counters, &counters, err) != 0 ||
        plan_source_read(&p->source, &source, recorded_source(p->recorded), err) != 0 ||
        check_patches(p, &root, err) != 0 || read_variants(p, &root, err) != 0 ||
        check_reference(p, &root, err) != 0 || matrix_read(&p->matrix, &root, p->warmup, err) != 0 ||
        read_metrics(p, &root, err) != 0 || plan_nightly_read(&p->nightly, &notify, err) != 0)
        return -1;
    return plan_check_size(p, "$", err) == 0 ? 0 : err_wrap(err, "%s", p->file);
}

static int read_plan(struct plan *p, struct err *err)
{
    if (recorded_load(&p->recorded, p->file, err) != 0)
        return -1;
    if (!p->recorded)
        return read_all(p, err);
    if (recorded_secrets(p->root, p->file, err) != 0 || read_all(p, err) != 0)
        return -1;
    struct json_at root = json_root(p->root, p->file);
    memcpy(p->sha256, recorded_plan(p->recorded), sizeof p->sha256);
    if (p->nodes.count > 0 && *recorded_node(p->recorded))
        p->node = recorded_node(p->recorded);
    p->nodes.count = 0;
    return recorded_apply(p->recorded, &p->variants, &p->matrix, &p->settings, &root, err);
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
            rc = read_plan(p, err);
    }
    buf_release(&text);
    if (rc != 0)
        plan_release(p);
    return rc;
}

void plan_release(struct plan *p)
{
    free(p->file);
    plan_source_release(&p->source);
    secret_names_release(&p->secrets);
    plan_variants_release(&p->variants);
    matrix_release(&p->matrix);
    json_decref(p->root);
    json_decref(p->recorded);
    *p = (struct plan){0};
}

size_t plan_test_count(const struct plan *p)
{
    return matrix_tests(&p->matrix) * p->variants.count;
}

int plan_check_size(const struct plan *p, const char *where, struct err *err)
{
    size_t n = plan_test_count(p);
    if (n <= LIMIT_TESTS)
        return 0;
    return err_set(err, ERR_INPUT,
                   "%s: expands to %zu tests, the limit is %d: use fewer contexts or repetitions", where, n,
                   LIMIT_TESTS);
}

bool plan_has_nodes(const struct plan *p)
{
    return json_object_get(p->root, "nodes") != NULL;
}

int plan_one_node(const struct plan *p, struct err *err)
{
    if (p->nodes.count < 2)
        return 0;
    return err_set(err, ERR_INPUT, "%s: names %zu nodes: choose one with --node", p->file, p->nodes.count);
}

int64_t plan_largest_context(const struct plan *p)
{
    int64_t largest = 0;
    for (size_t i = 0; i < p->matrix.count; i++)
        if (p->matrix.contexts[i].tokens > largest)
            largest = p->matrix.contexts[i].tokens;
    return largest;
}
