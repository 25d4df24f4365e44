/* kernsweep ab PLAN --base REV [--head REV]: measures two builds of one plan alternately on its node and
 * judges every cell. */
#include "common/base/alloc.h"
#include "common/base/text.h"
#include "common/base/word.h"
#include "harness/commands/base/on_node.h"
#include "harness/commands/measure/ab_budget.h"
#include "harness/commands/measure/ab_rounds.h"
#include "harness/session/cells.h"
#include "harness/session/measure.h"
#include "results/judge/compare.h"
#include "results/store/run_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 64 << 20 };

struct ab_args {
    const char *variants, *contexts, *tier, *rounds, *budget, *node, *artifacts;
    struct ab_side base, head;
    bool markdown, force;
};

struct ab {
    struct cmd_env *env;
    struct ab_args *args;
    struct plan plan;
    struct store store;
    struct turns_request request;
    struct turns_made made;
    struct ab_cell *cells;
    size_t count;
    struct ab_budget budget;
    int64_t rounds_max;
    int rounds;
    struct compare_options options;
    char gpu[RUN_FACT_MAX], node[RUN_NODE_MAX];
};

static int load_plan(struct ab *ab, const char *file, struct err *err)
{
    const struct ab_args *a = ab->args;
    const struct overrides o = {
        .variants = a->variants, .contexts = a->contexts, .tier = a->tier, .node = a->node};
    if (overrides_check(&o, err) != 0 || plan_load(&ab->plan, file, err) != 0 ||
        overrides_apply(&o, &ab->plan, err) != 0 || plan_one_node(&ab->plan, err) != 0)
        return -1;
    ab->rounds_max = ab->plan.confirm.rounds;
    ab->options = compare_defaults();
    ab->options.regression = ab->options.improvement = ab->plan.threshold;
    snprintf(ab->node, sizeof ab->node, "%s", ab->plan.node);
    return cmd_number("--rounds", ab->args->rounds, 1, CONFIRM_ROUNDS_MAX, &ab->rounds_max, err);
}

static void make_cells(struct ab *ab)
{
    AUTO(suspect_list_release) struct suspect_list all = cells_of_plan(&ab->plan);
    ab->count = all.count;
    ab->cells = xcalloc(all.count, sizeof *ab->cells);
    for (size_t i = 0; i < all.count; i++) {
        ab->cells[i].open = true;
        ab->cells[i].control = NAN;
        ab->cells[i].delta = delta_of(all.items[i].variant, all.items[i].context, metric_default());
        ab->cells[i].delta.verdict = VERDICT_NOISY;
    }
}

static int list_open(void *of, struct suspect_list *out, struct err *err)
{
    struct ab *ab = of;
    (void)err;
    ab_budget_choose(&ab->budget, ab->cells, ab->count, ab->rounds_max, out);
    return 0;
}

static void close_cell(struct ab_cell *c, enum verdict v, enum reason_code reason)
{
    c->open = false;
    c->delta.verdict = v;
    c->delta.reason = reason;
}

/* Keeps the message of the build, or of the first failed test. */
static void take_said(struct delta_side *side, const char *said)
{
    char printable[DELTA_SAID_MAX];
    text_printable_fixed(printable, sizeof printable, said, strlen(said));
    side->said = word(printable);
}

/* Settings can change the result even if both builds are the same. */
static bool has_settings(const struct ab_args *a)
{
    return a->base.setting[0] || a->head.setting[0];
}

static void judge_build(struct ab_cell *c, const struct run_variant *base, const struct run_variant *head,
                        bool force)
{
    bool base_ok = base && base->status == STATUS_OK, head_ok = head && head->status == STATUS_OK;
    struct delta *d = &c->delta;
    c->failed = !head_ok;
    d->base.present = base_ok;
    d->now.present = head_ok;
    d->base.status = base ? base->status : STATUS_OK;
    d->now.status = head ? head->status : STATUS_OK;
    take_said(&d->base, base ? base->reason : "");
    take_said(&d->now, head ? head->reason : "");
    if (!head_ok)
        close_cell(c, base_ok ? VERDICT_BROKEN : VERDICT_NOISY, REASON_NOT_BUILT);
    else if (!base_ok)
        close_cell(c, VERDICT_FIXED, REASON_NOT_BUILT);
    else if (!force && *base->code_sha256 && strcmp(base->code_sha256, head->code_sha256) == 0) {
        c->same_code = true;
        c->of_device = head->code_of_device;
        close_cell(c, VERDICT_UNCHANGED, c->of_device ? REASON_SAME_DEVICE_CODE : REASON_SAME_CODE);
    }
}

static int build_sides(struct ab *ab, struct err *err)
{
    AUTO(suspect_list_release) struct suspect_list all = cells_of_plan(&ab->plan);
    AUTO(run_data_release) struct run_data base = {0};
    AUTO(run_data_release) struct run_data head = {0};
    const struct turns_request *r = &ab->request;
    int64_t keys[2];
    if (turns_build(r, &r->base, &all, &ab->store, &keys[0], err) != 0 ||
        turns_build(r, &r->now, &all, &ab->store, &keys[1], err) != 0 ||
        run_data_load(&ab->store, keys[0], &base, err) != 0 ||
        run_data_load(&ab->store, keys[1], &head, err) != 0)
        return -1;
    for (size_t i = 0; i < ab->count; i++) {
        const char *name = ab->cells[i].delta.variant;
        judge_build(&ab->cells[i], run_data_variant(&base, name), run_data_variant(&head, name),
                    ab->args->force || has_settings(ab->args));
    }
    const char *gpu = run_data_fact(&head, "gpus0.name");
    snprintf(ab->gpu, sizeof ab->gpu, "%s", gpu ? gpu : "");
    return 0;
}

/* There is nothing to compare: tests fail, or they pass but a side lacks the metric or the sides ran on
 * different GPUs, for which the cell has a reason already. */
static void note_absence(struct ab_cell *c, bool base_passed, bool head_passed)
{
    const struct delta *d = &c->delta;
    c->failed = !head_passed || (d->now.n == 0 && d->base.n > 0);
    c->open = false;
    if (!base_passed && !head_passed)
        close_cell(c, VERDICT_NOISY, REASON_TESTS_FAIL);
    else if (!head_passed)
        close_cell(c, VERDICT_BROKEN, REASON_TESTS_FAIL);
    else if (!base_passed)
        close_cell(c, VERDICT_FIXED, REASON_TESTS_FAIL);
}

static void take_failures(struct delta_side *side, const struct turns_failed *f)
{
    side->failed = (int)f->failed;
    side->of = (int)f->of;
    side->status = f->status;
    take_said(side, f->reason);
}

/* If only tests of the head fail, the head is broken, whatever the others measured. Failures of the base
 * alone may be chance and do not speak for the head, so the tests that passed are judged. */
static void note_failures(struct ab_cell *c)
{
    const struct delta *d = &c->delta;
    c->failed = d->now.failed > 0;
    if (d->now.failed > 0 && d->base.failed == 0)
        close_cell(c, VERDICT_BROKEN, REASON_TESTS_FAIL);
}

/* The base against itself, in alternation like base and head: what this node makes of equal builds. */
static double control_of(const struct ab *ab, const struct turns_runs *base, const struct delta *d)
{
    AUTO_FREE const struct run_data **runs = xcalloc(base->count + 1, sizeof *runs);
    size_t evens = (base->count + 1) / 2;
    struct delta same = delta_of(d->variant, d->context, d->metric);
    for (size_t i = 0; i < base->count; i++)
        runs[i / 2 + (i % 2 ? evens : 0)] = base->items[i];
    const struct turns_runs even = {runs, evens}, odd = {runs + evens, base->count - evens};
    turns_judge(&even, &odd, &ab->options, &same);
    return same.base.n > 0 && same.now.n > 0 ? same.estimate.ratio : NAN;
}

static void judge_cell(const struct ab *ab, const struct turns_runs *base, const struct turns_runs *head,
                       struct ab_cell *c)
{
    struct delta *d = &c->delta;
    if (ab->rounds == 0) /* all rounds must follow the same metric */
        d->metric = turns_metric(base, head, d);
    const struct turns_failed of_base = turns_failed(base, d), of_head = turns_failed(head, d);
    turns_judge(base, head, &ab->options, d);
    take_failures(&d->base, &of_base);
    take_failures(&d->now, &of_head);
    if (d->base.n == 0 || d->now.n == 0) {
        note_absence(c, turns_passed(base, d), turns_passed(head, d));
        return;
    }
    c->control = control_of(ab, base, d);
    ab_rounds_note(c, ab->rounds_max);
    note_failures(c);
}

static int measure_round(void *of, const struct suspect_list *open, size_t round, struct err *err)
{
    struct ab *ab = of;
    fprintf(ab->env->notes, "measuring %zu %s alternately (round %zu of at most %lld)\n", open->count,
            open->count == 1 ? "cell" : "cells", round, (long long)ab->rounds_max);
    return turns_measure(&ab->request, open, &ab->store, &ab->made, err);
}

static int judge_round(void *of, struct err *err)
{
    struct ab *ab = of;
    AUTO(turns_sides_release) struct turns_sides sides = {.count = 0};
    if (turns_sides_load(&sides, &ab->store, &ab->made, err) != 0)
        return -1;
    const struct turns_runs base = {sides.bases, sides.count}, head = {sides.nows, sides.count};
    for (size_t i = 0; i < ab->count; i++)
        if (ab->cells[i].chosen)
            judge_cell(ab, &base, &head, &ab->cells[i]);
    ab_budget_took(&ab->budget, ab->cells, ab->count);
    ab->rounds++;
    return 0;
}

static int settle(struct ab *ab, struct err *err)
{
    const struct settling settling = {.of = ab,
                                      .rounds_max = (size_t)ab->rounds_max,
                                      .open = list_open,
                                      .measure = measure_round,
                                      .judge = judge_round};
    return cells_settle(&settling, err);
}

static int exit_code(const struct ab *ab)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < ab->count; i++) {
        const struct ab_cell *c = &ab->cells[i];
        if (c->delta.verdict == VERDICT_REGRESSED)
            return EXIT_REGRESSION;
        if (c->failed)
            code = EXIT_TEST_FAILED;
        else if (c->delta.verdict == VERDICT_NOISY && code == EXIT_DONE)
            code = EXIT_INCONCLUSIVE;
    }
    return code;
}

static int print_result(struct ab *ab, struct err *err)
{
    struct ab_result result = {.base = &ab->args->base,
                               .head = &ab->args->head,
                               .ticket = ab->plan.settings.ticket,
                               .node = ab->node,
                               .cells = ab->cells,
                               .count = ab->count,
                               .rounds = ab->rounds,
                               .exit_code = exit_code(ab)};
    memcpy(result.gpu, ab->gpu, sizeof result.gpu);
    if (ab->env->json) {
        int printed = cmd_print_json(ab_encode(&result));
        return printed == EXIT_DONE ? result.exit_code : printed;
    }
    AUTO(buf_release) struct buf text = {.max = TEXT_MAX};
    if (ab->args->markdown)
        ab_write_markdown(&result, &text);
    else
        ab_write_text(&result, cmd_screen(stdout), &text);
    if (!buf_ok(&text))
        return err_set(err, ERR_INTERNAL, "the result is too long to print");
    if (ab->args->markdown)
        cmd_print(&text);
    else
        cmd_print_fitted(&text, stdout);
    return result.exit_code;
}

static int set_up(struct ab *ab, struct err *err)
{
    const struct attach_args where = {.artifacts = ab->args->artifacts};
    struct session_options *opt = &ab->request.opt;
    attach_options(ab->env, &where, opt);
    opt->overrides.node = ab->args->node;
    opt->purpose = PURPOSE_AB;
    ab->request.plan = ab->plan.file;
    if (cmd_backend(ab->env, &opt->backend, err) != 0 ||
        measure_settle(ab->plan.file, NULL, PURPOSE_AB, opt, err) != 0 ||
        ab_side_open(&ab->args->base, &ab->plan, ab->env, &ab->store, err) != 0 ||
        ab_side_open(&ab->args->head, &ab->plan, ab->env, &ab->store, err) != 0)
        return -1;
    ab->request.base = ab->args->base.side;
    ab->request.now = ab->args->head.side;
    return 0;
}

static int check_sides(const struct ab_args *a, struct err *err)
{
    bool differ = a->base.word || a->head.word || has_settings(a);
    return differ ? 0
                  : err_set(
                        err, ERR_INPUT,
                        "ab: expected --base REV, --head REV or both, or a setting of one side (--base-env)");
}

static int run_ab(struct ab *ab, const char *file, struct err *err)
{
    double budget_s;
    if (check_sides(ab->args, err) != 0 || overrides_budget(ab->args->budget, &budget_s, err) != 0 ||
        load_plan(ab, file, err) != 0 || cmd_store_open(ab->env, &ab->store, STORE_WRITE, err) != 0 ||
        set_up(ab, err) != 0)
        return -1;
    make_cells(ab);
    if (build_sides(ab, err) != 0 ||
        ab_budget_begin(&ab->budget, ab->args->budget, &ab->plan, &ab->store, ab->cells, ab->count, err) !=
            0 ||
        settle(ab, err) != 0)
        return -1;
    for (size_t i = 0; i < ab->count; i++)
        ab_rounds_end(&ab->cells[i], ab->rounds_max);
    return print_result(ab, err);
}

static void release(struct ab *ab)
{
    ab_side_release(&ab->args->base);
    ab_side_release(&ab->args->head);
    free(ab->cells);
    store_close(&ab->store);
    plan_release(&ab->plan);
}

static int ab(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    AUTO(release) struct ab ab = {.env = env, .args = args};
    return run_ab(&ab, words->v[0], err);
}

#define AT(member) ARG_AT(struct ab_args, member)

static const struct arg options[] = {
    {"--base", "REV", AT(base.word),
     "git revision of source.dir, run:RUN or dir:PATH (default: the sources as they are)"},
    {"--head", "REV", AT(head.word), "the same for the other side"},
    {"--base-env", "NAME=VALUE", AT(base.setting[0]),
     "environment variable of this side's builds and tests: CXX=clang++-18"},
    {"--head-env", "NAME=VALUE", AT(head.setting[0]), "the same for the other side"},
    {"--variants", "LIST", AT(variants), "only these variants: v3,v4"},
    {"--contexts", "LIST", AT(contexts), "only these contexts: 4096,8192"},
    {"--tier", "smoke", AT(tier), "only the cells of the plan's \"smoke\""},
    {"--budget", "TIME", AT(budget), "measure no longer than about this: 90s, 20m, 1.5h"},
    {"--rounds", "N", AT(rounds), "maximum number of rounds (default: confirm.rounds of the plan)"},
    {"--node", "NODE", AT(node), "override the plan's node"},
    {"--artifacts", "DIR", AT(artifacts), "folder for bundles (default ./artifacts_remote)"},
    {"--markdown", NULL, AT(markdown), "print a comment for a pull request"},
    {"--force", NULL, AT(force), "measure builds with the same machine code too"},
};

const struct cmd cmd_ab = {
    .name = "ab",
    .summary = "measure two builds alternately: commits, folders, runs or toolchains",
    .usage = "PLAN --base REV [--head REV] [options]",
    .about = "Measures two builds of a plan alternately on its node, so that drift affects both alike, and "
             "judges every cell. Exits 0 if nothing is slower, 4 on a confirmed regression, 6 if the "
             "measurement cannot tell.",
    .options = ARG_TABLE(struct ab_args, options),
    .defaults = &(const struct ab_args){.base.option = "--base", .head.option = "--head"},
    .min_words = 1,
    .max_words = 1,
    .run = ab,
};
