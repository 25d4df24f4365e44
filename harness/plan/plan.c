#include "harness/plan/plan.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/contract/node_name.h"
#include "common/contract/proto.h"
#include "common/contract/timing_rule.h"
#include "harness/plan/document.h"
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

const char *plan_workdir(const char *path)
{
    return is_workdir(path) ? below_home(path) : NULL;
}

static bool is_currency(const char *code)
{
    return strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

const struct key plan_keys[] = {
    {.name = "schema", .kind = KEY_CONST, .in = IN_PLAN, .required = true, .text = PROTO_SCHEMA_PLAN},
    {.name = "$schema", .kind = KEY_PART, .in = IN_PLAN}, /* read by editors only */
    {.name = "comment", .kind = KEY_PART, .in = IN_PLAN},
    {KEY_AT(struct plan, node), .kind = KEY_TEXT, .in = IN_PLAN, .least = 1, .most = NODE_NAME_MAX,
     .text = "local", .accepts = node_name_is_valid, .expected = NODE_NAME_EXPECTED},
    {.name = "nodes", .kind = KEY_PART, .in = IN_PLAN},
    {KEY_AT(struct plan, workdir), .kind = KEY_TEXT, .in = IN_PLAN, .most = WORKDIR_MAX + 2,
     .text = ".kernsweep", .accepts = is_workdir,
     .expected = "a plain path below the home folder, or an absolute one, without \"..\""},
    {KEY_AT(struct plan, baseline), .kind = KEY_NAME, .in = IN_PLAN, .or_empty = true, .most = LIMIT_NAME,
     .text = ""},
    {KEY_AT(struct plan, reference), .kind = KEY_NAME, .in = IN_PLAN, .or_empty = true, .most = LIMIT_NAME,
     .text = ""},
    {KEY_AT(struct plan, kind), .kind = KEY_WORD, .in = IN_PLAN, .words = kinds, .text = "prefill"},
    {.name = "order",
     .offset = offsetof(struct plan, matrix.order),
     .kind = KEY_CHOICE,
     .in = IN_PLAN,
     .words = orders},
    {.name = "warmup",
     .offset = offsetof(struct plan, matrix.warmup),
     .kind = KEY_COUNT,
     .in = IN_PLAN,
     .most = 100},
    {.name = "regression",
     .object = "threshold",
     .offset = offsetof(struct plan, threshold),
     .kind = KEY_NUMBER,
     .in = IN_PLAN,
     .least = 0.0001,
     .most = 10,
     .usual = 0.05},
    {KEY_IN(struct plan, confirm, rounds), .kind = KEY_COUNT, .in = IN_PLAN, .least = 1,
     .most = CONFIRM_ROUNDS_MAX, .usual = 3},
    {KEY_IN(struct plan, confirm, bisect), .kind = KEY_FLAG, .in = IN_PLAN},
    {KEY_IN(struct plan, confirm, bisect_minutes), .kind = KEY_NUMBER, .in = IN_PLAN, .least = 1,
     .most = 1440, .usual = 60},
    {KEY_IN(struct plan, connect, timeout_s), .kind = KEY_NUMBER, .in = IN_PLAN, .least = 0.1, .most = 600,
     .usual = 10},
    {KEY_IN(struct plan, connect, patience_s), .kind = KEY_NUMBER, .in = IN_PLAN, .most = WEEK_S,
     .usual = 60},
    {KEY_IN(struct plan, changed, nights), .kind = KEY_COUNT, .in = IN_PLAN, .least = 1, .most = 365,
     .usual = 7},
    {KEY_IN(struct plan, cost, per_hour), .kind = KEY_NUMBER, .in = IN_PLAN, .required = true, .most = 1e6},
    {KEY_IN(struct plan, cost, currency), .kind = KEY_TEXT, .in = IN_PLAN, .least = 3, .most = 3,
     .text = "USD", .accepts = is_currency,
     .expected = "a three-letter currency code in capitals, such as \"USD\""},
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
    {.name = "axes", .kind = KEY_PART, .in = IN_PLAN},
    {.name = "skip", .kind = KEY_PART, .in = IN_PLAN},
    {.name = "only", .kind = KEY_PART, .in = IN_PLAN},
    {.name = "smoke", .kind = KEY_PART, .in = IN_PLAN},
    {.name = "contexts", .kind = KEY_PART, .in = IN_PLAN, .required = true},
    {.name = "repetitions", .kind = KEY_PART, .in = IN_PLAN},
    {.name = "timeouts", .kind = KEY_PART, .in = IN_PLAN, .required = true},
    {.name = "patches", .kind = KEY_PART, .in = IN_PLAN},
    {.name = "notify", .kind = KEY_PART, .in = IN_PLAN},
    {.name = "languages", .kind = KEY_PART, .in = IN_PLAN},
    {.name = "container", .kind = KEY_PART, .in = IN_PLAN},
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

static int read_secrets(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at secrets = json_member(root, "secrets");
    return secret_names_read(&p->secrets, &secrets, err);
}

static int check_env(const struct plan *p, const struct json_at *at, struct err *err)
{
    const struct variant_context c = {.in = IN_PLAN, .shapes = strcmp(p->kind, "kernel") == 0};
    AUTO(env_release) struct env env = {0};
    return env_read(&env, at, IN_PLAN, &p->secrets, variant_placeholders(&c, SUBST_FOR_TEST), err);
}

/* Checks the environment that each variant gets at each of its points. */
static int read_env(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "env");
    if (!plan_variants_have_axes(&p->variants))
        return check_env(p, &at, err);
    for (size_t i = 0; i < p->variants.count; i++) {
        struct json_at here = at;
        json_auto_t *own = json_is_object(at.value) ? json_copy(json_iterable(at.value)) : NULL;
        if (own && p->variants.item[i].point) {
            const struct axis_text text = plan_variant_text(&p->variants.item[i], &p->secrets);
            if (axis_text_env(&text, &at, own, err) != 0)
                return -1;
        }
        here.value = own ? own : at.value;
        if (check_env(p, &here, err) != 0)
            return -1;
    }
    return 0;
}

/* *shapes remains NULL unless the plan is a kernel plan. */
static int read_shapes(const struct plan *p, const struct json_at *root, json_t **shapes, struct err *err)
{
    struct json_at at = json_member(root, "shapes");
    if (strcmp(p->kind, "kernel") == 0)
        return shapes_read(shapes, &at, err);
    return at.value ? json_fail(&at, err, "only a plan of the kind \"kernel\" has shapes") : 0;
}

/* A source that could not be read counts as well; otherwise each {src} would be reported as an error too. */
static bool has_source(const struct json_at *root)
{
    const json_t *source = json_object_get(root->value, "source");
    return source && !json_is_null(source);
}

static int check_patches(const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "patches");
    const struct variant_context c = {.in = IN_PLAN, .sources = has_source(root)};
    AUTO_FREE struct patch *patches = NULL;
    size_t n;
    return patches_read(&patches, &n, &at, &c, err);
}

static int read_variants(struct plan *p, const struct json_at *root, struct err *err)
{
    struct variant_context c = {.in = IN_PLAN, .secrets = &p->secrets, .sources = has_source(root)};
    json_t *shapes = NULL;
    if (read_shapes(p, root, &shapes, err) != 0) {
        json_decref(shapes);
        return -1;
    }
    c.shapes = shapes != NULL;
    return plan_variants_read(&p->variants, root, &c, shapes, err);
}

static int check_reference(const struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "reference");
    for (size_t i = 0; i < p->variants.count; i++)
        if (plan_variant_is(&p->variants.item[i], p->reference))
            return 0;
    return *p->reference ? json_fail(&at, err, "no variant is called \"%s\"", p->reference) : 0;
}

/* With "wall", no output is read, so no options that check the output make sense. */
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

/* A rule without a metric for comparisons is a mistake, as without a rule the wall time would be compared. */
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

/* Tasks of a scheduler run in parallel and cannot see each other's results, which "until" needs. */
static int check_rule(const struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at at = json_member(root, "repetitions");
    return p->scheduler.on && matrix_has_rule(&p->matrix)
               ? json_fail(&at, err, "\"until\" is not available through a scheduler: give a number")
               : 0;
}

static int read_metrics(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at timings = json_member(root, "timings"), metrics = json_member(root, "metrics");
    AUTO(timing_rule_release) struct timing_rule rule = {.count = 0};
    bool known = own_metrics_read(&p->metrics, &metrics, IN_PLAN, err) == 0;
    if (timing_rule_init(&rule, &timings, err) != 0)
        return -1;
    if (known && (timing_rule_add_metrics(&rule, &p->metrics, &metrics, err) != 0 ||
                  check_rule_gives_metric(&rule, &timings, err) != 0))
        return -1;
    if (rule.kind == TIMING_WALL && check_wall_alone(p, root, err) != 0)
        return -1;
    return known ? 0 : -1;
}

static bool has_key(const struct key *rows, const char *name)
{
    while (rows->name && strcmp(rows->name, name) != 0)
        rows++;
    return rows->name;
}

/* A common mistake is to write the keys of a variant one level too high. */
static int check_level(const struct json_at *root, struct err *err)
{
    int rc = 0;
    for (const struct key *k = variant_keys; k->name; k++) {
        struct json_at at = json_member(root, k->name);
        if (at.value && k->in & IN_PLAN && !has_key(plan_keys, k->name) && !has_key(settings_keys, k->name))
            rc = json_fail(&at, err, "belongs to a variant: write it as $.variants[i].%s", k->name);
    }
    return rc;
}

static int read_nodes(struct plan *p, const struct json_at *root, struct err *err)
{
    if (plan_nodes_read(&p->nodes, root, p->scheduler.on, err) != 0)
        return -1;
    if (p->nodes.count > 0)
        p->node = p->nodes.name[0];
    return 0;
}

static bool mentions_axes(const struct json_at *root)
{
    const json_t *variants = json_object_get(root->value, "variants");
    bool any = json_object_get(root->value, "axes");
    for (size_t i = 0; i < json_array_size(variants); i++)
        any = any || json_object_get(json_array_get(variants, i), "axes");
    return any;
}

/* What an environment may mention depends on the axes, so it is only checked after these were read. */
static int read_variants_and_env(struct plan *p, const struct json_at *root, struct err *err)
{
    int rc = read_variants(p, root, err);
    if (rc != 0 && mentions_axes(root))
        return rc;
    return read_env(p, root, err) != 0 ? -1 : rc;
}

static int read_all(struct plan *p, const struct json_at *root, struct err *err)
{
    struct json_at scheduler = json_member(root, "scheduler"), source = json_member(root, "source"),
                   notify = json_member(root, "notify"), counters = json_member(root, "counters"),
                   container = json_member(root, "container"), languages = json_member(root, "languages");
    struct container ignored; /* variants read it from the JSON */
    if (!json_is_object(root->value))
        return json_expected(root, "an object, {...}", err);
    int rc = check_level(root, err);
    rc |= read_simple_keys(p, root, err);
    rc |= scheduler_load(&p->scheduler, &scheduler, p->connect.patience_s, err);
    rc |= settings_check(&p->settings, root, p->scheduler.on, err);
    rc |= read_secrets(p, root, err);
    rc |= read_nodes(p, root, err);
    rc |= gpu_wish_read(&p->gpus, root, &p->settings, p->scheduler.on, err);
    rc |= counters_load(&p->counters, &counters, err);
    rc |= container_read(&ignored, &container, IN_PLAN, err);
    rc |= plan_source_read(&p->source, &source, recorded_source(p->recorded), err);
    rc |= check_patches(root, err);
    rc |= read_variants_and_env(p, root, err);
    rc |= matrix_read(&p->matrix, root, err);
    rc |= check_rule(p, root, err);
    rc |= read_metrics(p, root, err);
    rc |= plan_nightly_read(&p->nightly, &notify, err);
    rc |= plan_languages_check(&languages, err);
    /* The following checks compare parts of the plan, so all parts must have been read. */
    if (rc != 0 || check_reference(p, root, err) != 0)
        return -1;
    return plan_check_size(p, "$", err) == 0 ? 0 : err_wrap(err, "%s", p->file);
}

static int read_plan(struct plan *p, const struct json_at *root, struct err *err)
{
    if (recorded_load(&p->recorded, p->file, err) != 0)
        return -1;
    if (!p->recorded)
        return read_all(p, root, err);
    if (recorded_secrets(p->root, p->file, err) != 0 || read_all(p, root, err) != 0)
        return -1;
    memcpy(p->sha256, recorded_plan(p->recorded), sizeof p->sha256);
    if (p->nodes.count > 0 && *recorded_node(p->recorded))
        p->node = recorded_node(p->recorded);
    p->nodes.count = 0;
    const struct json_at whole = json_root(p->root, p->file);
    return recorded_apply(p->recorded, &p->variants, &p->matrix, &p->settings, &whole, err);
}

/* Takes ownership of the document's JSON. */
static int take_document(struct plan *p, struct plan_document *d, struct err *err)
{
    p->root = d->root;
    d->root = NULL;
    memcpy(p->sha256, d->sha256, sizeof p->sha256);
    struct json_at root = json_root(p->root, p->file);
    root.source = &d->source;
    return read_plan(p, &root, err);
}

static int load(struct plan *p, const char *file, struct json_problems *problems, struct err *err)
{
    AUTO(plan_document_release) struct plan_document d = {.root = NULL};
    *p = (struct plan){.file = xstrdup(file)};
    if (plan_document_load(&d, file, problems, err) == 0 && take_document(p, &d, err) == 0)
        return 0;
    plan_release(p);
    return -1;
}

int plan_load(struct plan *p, const char *file, struct err *err)
{
    AUTO(problems_release) struct json_problems problems = {0};
    int rc = load(p, file, &problems, err);
    return problems_first(&problems, rc, err);
}

int plan_load_all(struct plan *p, const char *file, struct json_problems *problems, struct err *err)
{
    int rc = load(p, file, problems, err);
    if (rc != 0 && err->kind == ERR_INPUT) {
        problems_add(problems, &(struct json_mark){0}, "", err->msg);
        *err = (struct err){0};
    }
    problems_sort(problems);
    return rc;
}

int plan_take(struct plan *p, json_t *made, const char *name, struct err *err)
{
    AUTO(problems_release) struct json_problems problems = {0};
    AUTO_FREE char *text = json_dumps(made, JSON_COMPACT | JSON_SORT_KEYS);
    const struct json_source source = {.problems = &problems};
    struct json_at root = json_root(made, name);
    root.source = &source;
    *p = (struct plan){.file = xstrdup(name), .root = made};
    if (text)
        sha256_of(text, strlen(text), p->sha256);
    int rc = read_all(p, &root, err);
    if (rc != 0)
        plan_release(p);
    return problems_first(&problems, rc, err);
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
