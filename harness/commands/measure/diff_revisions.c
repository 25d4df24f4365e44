#include "harness/commands/measure/diff_revisions.h"

#include "common/base/json.h"
#include "common/base/symbol.h"
#include "common/base/text.h"
#include "harness/commands/base/on_node.h"
#include "harness/commands/base/scratch_store.h"
#include "harness/commands/measure/ab_side.h"
#include "harness/session/cells.h"
#include "reports/render/table.h"
#include "results/store/run_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REVISION_MAX = 256, CHANGE_MAX = 400, TEXT_MAX = 8 << 20, CODE_JSON_MAX = 32 << 20, DIFFER = 1 };

/* What is known of a variant's two builds. */
enum build_state { BUILD_IDENTICAL, BUILD_CHANGED, BUILD_UNKNOWN, BUILD_FAILED };
static const char *const build_states[] = {"identical", "changed", "unknown", "failed"};

struct built {
    struct ab_side side;
    char revision[REVISION_MAX];
    struct run_data run;
    struct run_details details;
};

struct compared {
    const struct run_variant *before, *now;
    enum build_state state;
    char reason[RUN_REASON_MAX]; /* of a build that failed or is not known */
    struct kernel_pairs pairs;
    bool told; /* some kernel is not identical */
};

struct revisions {
    struct cmd_env *env;
    struct plan plan;
    struct scratch_store scratch;
    struct store store;
    struct built before, now;
    struct compared *variant;
    size_t count, kernels[KERNEL_STATES];
};

static int read_range(struct revisions *r, const char *range, struct err *err)
{
    const char *dots = strstr(range, "..");
    size_t len = dots ? (size_t)(dots - range) : 0;
    if (!dots || dots[2] == '.' || len >= REVISION_MAX || strlen(dots + 2) >= REVISION_MAX)
        return err_set(err, ERR_INPUT, "--revs: expected two revisions, as in main..HEAD, found \"%.80s\"",
                       range);
    snprintf(r->before.revision, REVISION_MAX, "%.*s", len ? (int)len : 4, len ? range : "HEAD");
    snprintf(r->now.revision, REVISION_MAX, "%s", dots[2] ? dots + 2 : "HEAD");
    r->before.side = (struct ab_side){.option = "--revs", .word = r->before.revision};
    r->now.side = (struct ab_side){.option = "--revs", .word = r->now.revision};
    return 0;
}

static int load_plan(struct revisions *r, const char *file, const char *variants, struct err *err)
{
    const struct overrides o = {.variants = variants, .node = "local"};
    return plan_load(&r->plan, file, err) != 0 ? -1 : overrides_apply(&o, &r->plan, err);
}

static int build(struct revisions *r, struct turns_request *request, struct built *b, struct err *err)
{
    AUTO(suspect_list_release) struct suspect_list all = cells_of_plan(&r->plan);
    int64_t key;
    if (ab_side_open(&b->side, &r->plan, r->env, &r->store, err) != 0)
        return -1;
    fprintf(r->env->notes, "building %s (%s)\n", b->revision, b->side.title);
    return turns_build(request, &b->side.side, &all, &r->store, &key, err) != 0 ||
                   run_data_load(&r->store, key, &b->run, err) != 0
               ? -1
               : details_load_kernels(&r->store, key, &b->details, err);
}

static int build_both(struct revisions *r, struct err *err)
{
    char artifacts[FS_PATH_MAX];
    struct turns_request request = {.plan = r->plan.file};
    if (scratch_store_begin(&r->scratch, r->env, err) != 0 ||
        cmd_store_open(r->env, &r->store, STORE_WRITE, err) != 0 ||
        fs_beside(r->env->db, "artifacts", artifacts, err) != 0)
        return -1;
    const struct attach_args where = {.artifacts = artifacts};
    attach_options(r->env, &where, &request.opt);
    request.opt.overrides.node = "local";
    request.opt.purpose = PURPOSE_AB;
    request.opt.compile_only = true;
    if (cmd_backend(r->env, &request.opt.backend, err) != 0)
        return -1;
    return build(r, &request, &r->before, err) != 0 ? -1 : build(r, &request, &r->now, err);
}

/* Why the identity of a build is not known, as its code.json says. */
static void read_reason(const struct built *b, const struct run_variant *v, char out[RUN_REASON_MAX])
{
    char path[FS_PATH_MAX];
    json_auto_t *code = NULL;
    if (snprintf(path, sizeof path, "%s/%s/code.json", b->run.info.bundle, v->name) < (int)sizeof path)
        code = json_load(path, CODE_JSON_MAX, NULL);
    const char *reason = code ? json_text(code, "reason") : "the plan builds nothing for it";
    text_printable_fixed(out, RUN_REASON_MAX, reason, strlen(reason));
}

static bool note_failure(struct compared *c, const struct built *b, const struct run_variant *v)
{
    if (v->status == STATUS_OK)
        return false;
    c->state = BUILD_FAILED;
    snprintf(c->reason, sizeof c->reason, "at %.40s: %.460s", b->revision, v->reason);
    return true;
}

static void compare_builds(const struct revisions *r, struct compared *c)
{
    const struct run_variant *before = c->before, *now = c->now;
    if (note_failure(c, &r->before, before) || note_failure(c, &r->now, now))
        return;
    bool unknown = !*before->code_sha256;
    if (!unknown && *now->code_sha256) {
        c->state = strcmp(before->code_sha256, now->code_sha256) == 0 ? BUILD_IDENTICAL : BUILD_CHANGED;
        return;
    }
    c->state = BUILD_UNKNOWN;
    read_reason(unknown ? &r->before : &r->now, unknown ? before : now, c->reason);
}

/* Points of a variant that differ only in how they run have one build. */
static bool is_listed(const struct revisions *r, const struct compared *c)
{
    for (size_t i = 0; *c->now->kernel && c->state != BUILD_UNKNOWN && i < r->count; i++) {
        const struct compared *other = &r->variant[i];
        if (strcmp(other->now->kernel, c->now->kernel) == 0 && other->state == c->state &&
            strcmp(other->before->code_sha256, c->before->code_sha256) == 0 &&
            strcmp(other->now->code_sha256, c->now->code_sha256) == 0)
            return true;
    }
    return false;
}

static void compare(struct revisions *r)
{
    r->variant = xcalloc(r->now.run.n_variants, sizeof *r->variant);
    for (size_t i = 0; i < r->now.run.n_variants; i++) {
        const char *name = r->now.run.variants[i].name;
        struct compared *c = &r->variant[r->count];
        *c = (struct compared){.now = &r->now.run.variants[i],
                               .before = run_data_variant(&r->before.run, name)};
        if (!c->before)
            continue;
        compare_builds(r, c);
        if (is_listed(r, c))
            continue;
        const struct kernel_side before = {&r->before.run, &r->before.details, name},
                                 now = {&r->now.run, &r->now.details, name};
        kernel_pairs_make(&before, &now, &c->pairs);
        for (size_t k = 0; k < c->pairs.count; k++) {
            r->kernels[c->pairs.items[k].state]++;
            c->told |= c->pairs.items[k].state != KERNEL_IDENTICAL;
        }
        r->count++;
    }
}

json_t *diff_encode_kernel(const struct kernel_pair *p)
{
    json_t *out =
        json_pack("{s:s, s:s, s:o, s:o}", "name", kernel_pair_name(p), "state", kernel_state_name(p->state),
                  "before", p->before ? kernel_facts_encode(&p->before->facts) : json_null(), "after",
                  p->now ? kernel_facts_encode(&p->now->facts) : json_null());
    if (kernel_pair_former(p))
        json_object_set_new(out, "was", json_string(kernel_pair_former(p)));
    return out;
}

static json_t *encode_variant(const struct compared *c)
{
    json_t *kernels = json_array();
    for (size_t i = 0; i < c->pairs.count; i++)
        json_array_append_new(kernels, diff_encode_kernel(&c->pairs.items[i]));
    json_t *out =
        json_pack("{s:s, s:s, s:s, s:s, s:o}", "variant", c->now->name, "state", build_states[c->state],
                  "before", c->before->code_sha256, "after", c->now->code_sha256, "kernels", kernels);
    if (*c->reason)
        json_object_set_new(out, "reason", json_string(c->reason));
    return out;
}

static json_t *encode(const struct revisions *r)
{
    json_t *variants = json_array(), *counts = json_object();
    for (size_t i = 0; i < r->count; i++)
        json_array_append_new(variants, encode_variant(&r->variant[i]));
    for (int s = 0; s < KERNEL_STATES; s++)
        json_object_set_new(counts, kernel_state_name((enum kernel_state)s),
                            json_integer((json_int_t)r->kernels[s]));
    return json_pack("{s:s, s:s, s:o, s:o}", "before", r->before.side.commit.id, "after",
                     r->now.side.commit.id, "kernels", counts, "variants", variants);
}

/* What changed in the resources, in one cell: of a kernel that is new or gone, all that it needs. */
static void describe(const struct kernel_pair *p, char out[CHANGE_MAX])
{
    AUTO(buf_release) struct buf text = {.max = CHANGE_MAX};
    if (kernel_pair_former(p))
        buf_printf(&text, "was %s", symbol_title(kernel_pair_former(p)).s);
    for (size_t i = 0; i < KERNEL_RESOURCES && kernel_pair_differs(p); i++) {
        const struct kernel_fact f = kernel_pair_fact(p, i);
        const char *comma = text.len ? ", " : "";
        if (f.before == f.now || (f.before <= 0 && f.now <= 0))
            continue;
        if (p->state != KERNEL_CHANGED)
            buf_printf(&text, "%s%s %" PRId64, comma, f.name, p->now ? f.now : f.before);
        else if (f.before != KERNEL_FACT_UNKNOWN && f.now != KERNEL_FACT_UNKNOWN)
            buf_printf(&text, "%s%s %" PRId64 " -> %" PRId64, comma, f.name, f.before, f.now);
    }
    if (p->state == KERNEL_CHANGED && text.len == 0)
        buf_puts(&text, "other instructions, the same resources");
    snprintf(out, CHANGE_MAX, "%s", buf_str(&text));
}

static void add_row(struct table *t, const char *variant, const char *kernel, const char *state,
                    const char *change)
{
    table_code(t, variant);
    table_code(t, kernel);
    table_text(t, state);
    table_text(t, change);
}

/* Adds what the kernels do not say of a build. */
static void add_build(struct table *t, const struct compared *c)
{
    const char *change = c->reason;
    if (c->state == BUILD_IDENTICAL || (c->state == BUILD_CHANGED && c->told))
        return;
    if (c->state == BUILD_CHANGED)
        change = !c->now->code_of_device ? "the built files; there is no device code"
                 : c->pairs.count        ? "constants, or functions that no kernel calls"
                                         : "device code without named kernels, or with too many";
    add_row(t, c->now->name, "-", build_states[c->state], change);
}

static void add_variant(struct table *t, const struct compared *c)
{
    char change[CHANGE_MAX];
    for (size_t i = 0; i < c->pairs.count; i++) {
        const struct kernel_pair *p = &c->pairs.items[i];
        if (p->state == KERNEL_IDENTICAL)
            continue;
        describe(p, change);
        add_row(t, c->now->name, symbol_title(kernel_pair_name(p)).s, kernel_state_name(p->state), change);
    }
    add_build(t, c);
}

static void print_head(const struct revisions *r, bool differ)
{
    static const enum kernel_state order[] = {KERNEL_CHANGED, KERNEL_NEW,   KERNEL_GONE,
                                              KERNEL_RENAMED, KERNEL_MOVED, KERNEL_IDENTICAL};
    const char *comma = "";
    size_t all = 0;
    for (int s = 0; s < KERNEL_STATES; s++)
        all += r->kernels[s];
    printf("%.12s..%.12s: ", r->before.side.commit.id, r->now.side.commit.id);
    if (all == 0) {
        puts(differ ? "no kernel is known" : "the built files are identical");
        return;
    }
    printf("%zu kernel%s: ", all, text_plural((long long)all));
    for (size_t i = 0; i < KERNEL_STATES; i++) {
        if (r->kernels[order[i]] == 0)
            continue;
        printf("%s%zu %s", comma, r->kernels[order[i]], kernel_state_name(order[i]));
        comma = ", ";
    }
    putchar('\n');
}

static void print_text(const struct revisions *r)
{
    static const char *const titles[] = {"Variant", "Kernel", "State"};
    AUTO(table_release) struct table t = {0};
    AUTO(buf_release) struct buf text = {.max = TEXT_MAX};
    table_init(&t);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(&t, titles[i], false);
    table_note(&t, "Change");
    for (size_t i = 0; i < r->count; i++)
        add_variant(&t, &r->variant[i]);
    print_head(r, table_rows(&t) > 0);
    if (table_rows(&t) == 0)
        return;
    putchar('\n');
    table_write_text(&t, cmd_screen(stdout), &text);
    cmd_print_fitted(&text, stdout);
}

static int exit_code(const struct revisions *r)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < r->count; i++) {
        if (r->variant[i].state == BUILD_FAILED)
            return EXIT_USAGE;
        if (r->variant[i].state != BUILD_IDENTICAL)
            code = DIFFER;
    }
    return code;
}

static void release_built(struct built *b)
{
    ab_side_release(&b->side);
    details_release(&b->details);
    run_data_release(&b->run);
}

static void release(struct revisions *r)
{
    for (size_t i = 0; i < r->count; i++)
        kernel_pairs_release(&r->variant[i].pairs);
    free(r->variant);
    release_built(&r->before);
    release_built(&r->now);
    store_close(&r->store);
    scratch_store_end(&r->scratch);
    plan_release(&r->plan);
}

int diff_revisions(struct cmd_env *env, const char *plan, const char *range, const char *variants,
                   struct err *err)
{
    AUTO(release) struct revisions r = {.env = env};
    if (read_range(&r, range, err) != 0 || load_plan(&r, plan, variants, err) != 0 ||
        build_both(&r, err) != 0)
        return -1;
    compare(&r);
    if (!env->json) {
        print_text(&r);
        return exit_code(&r);
    }
    int printed = cmd_print_json(encode(&r));
    return printed == EXIT_DONE ? exit_code(&r) : printed;
}
