#include "harness/session/bisect_steps.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "harness/git/tree.h"
#include "harness/session/bisect_request.h"
#include "harness/session/cells.h"
#include "harness/session/measure.h"
#include "reports/words/number.h"
#include "reports/words/reason.h"
#include "results/judge/compare.h"
#include "results/store/location.h"
#include "results/store/run_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
    struct bisect_state *b;
    struct store *store;
    const struct bisect_settings *o;
    struct plan plan; /* narrowed to the request */
    char trees[FS_PATH_MAX];
    struct git_tree good;             /* the good end's files, once they are needed */
    double until;                     /* monotonic */
    size_t commit;                    /* being measured */
    const struct suspect_list *cells; /* those measured of this commit */
};

static const char *given(const char *text)
{
    return *text ? text : NULL;
}

/* Lists the followed cell, or all cells of the request until one has been chosen. */
static void list_cells(const struct work *w, struct suspect_list *out)
{
    if (w->b->n_cells > 0)
        cells_add(out, w->b->cells[0].variant, w->b->cells[0].context);
    else
        *out = cells_of_plan(&w->plan);
}

static void say(const struct work *w, const char *what, size_t commit)
{
    const struct git_commit *c = &w->b->entries[commit].git;
    fprintf(w->o->session.progress, "bisect: %s %.12s %s\n", what, c->id, c->subject);
}

static void say_mark(const struct work *w, size_t commit)
{
    const struct bisect_commit *c = &w->b->commits[commit];
    fprintf(w->o->session.progress, "bisect: %.12s is %s%s%s\n", c->id,
            c->mark == BISECT_OPEN ? "undecided" : bisect_mark_name(c->mark), *c->reason ? ": " : "",
            c->reason);
}

/* An older commit may lack a path that the plan sends. */
static bool lacks_include(const struct work *w, const struct git_tree *t, char *reason, size_t cap)
{
    char path[FS_PATH_MAX];
    for (const char **p = w->plan.source.include; p && *p; p++)
        if (fs_join(path, NULL, t->dir, *p) != 0 || !fs_exists(path)) {
            snprintf(reason, cap, "it has no %.200s, which the plan's source.include names", *p);
            return true;
        }
    return false;
}

static int export_commit(const struct work *w, size_t commit, struct git_tree *t, struct err *err)
{
    if (git_tree_export(w->plan.source.dir, w->b->commits[commit].id, w->trees, t, err) != 0)
        return -1;
    if (*t->missing)
        fprintf(w->o->session.progress, "note: the sources of %.12s lack %s\n", w->b->commits[commit].id,
                t->missing);
    return 0;
}

static struct turns_request request_of(const struct work *w, const struct git_tree *now, size_t commit)
{
    struct turns_request r = {.plan = w->b->request.plan,
                              .plan_sha256 = given(w->b->request.plan_sha256),
                              .base.dir = given(w->good.dir),
                              .base.commit = w->b->commits[0].id,
                              .now.dir = now->dir,
                              .now.commit = w->b->commits[commit].id,
                              .opt = w->o->session};
    r.opt.purpose = PURPOSE_BISECT;
    return r;
}

/* Combines the code identities of all examined variants into one, "" if any is unknown, and notes whether
 * any of them covers device code only. */
static void take_code(struct bisect_commit *c, const struct suspect_list *cells, const struct run_data *run,
                      char *code)
{
    struct sha256 h;
    bool known = true;
    c->of_device = false;
    sha256_begin(&h);
    for (size_t i = 0; i < cells->count; i++) {
        const struct run_variant *v = run_data_variant(run, cells->items[i].variant);
        known = known && v && *v->code_sha256;
        c->of_device = c->of_device || (v && v->code_of_device);
        sha256_add_text(&h, v ? v->code_sha256 : "");
    }
    sha256_end(&h, code);
    if (!known)
        code[0] = '\0';
}

static bool unusable(const struct suspect_list *cells, const struct run_data *run, char *reason, size_t cap)
{
    snprintf(reason, cap, "it was not built");
    for (size_t i = 0; i < cells->count; i++) {
        const struct run_variant *v = run_data_variant(run, cells->items[i].variant);
        if (v && v->status == STATUS_OK)
            return false;
        if (v)
            snprintf(reason, cap, "%s: %.200s", status_name(v->status), v->reason);
    }
    return true;
}

static void state_reason(struct bisect_state *b, size_t commit, const struct delta *d)
{
    struct bisect_commit *c = &b->commits[commit];
    AUTO(buf_release) struct buf text = {.max = 2 * BISECT_REASON_MAX};
    if (c->basis == BISECT_BY_CODE) {
        char id[13];
        snprintf(id, sizeof id, "%.12s", b->commits[c->same_as].id);
        message_plain(&text, REPORT_EN, MSG_EVIDENCE_CODE_OF, id);
    } else if (d->metric == METRIC_COUNT)
        message_plain(&text, REPORT_EN, MSG_EVIDENCE_NO_VALUE_EITHER, "", "", b->cells[0].metric);
    else
        buf_puts(&text, verdict_reason(d, REPORT_EN).s);
    int rounds = b->commits[commit > 0 ? commit : b->count - 1].rounds;
    if (c->basis == BISECT_BY_TESTS && rounds > 1)
        message_plain(&text, REPORT_EN, MSG_EVIDENCE_IN_ROUNDS, num_int(rounds).s);
    text_printable_fixed(c->reason, sizeof c->reason, buf_str(&text), text.len);
}

static void take_build(struct work *w, size_t commit, const struct suspect_list *cells,
                       const struct run_data *run)
{
    char code[SHA256_HEX_LEN + 1], reason[BISECT_REASON_MAX];
    const char *gpu = run_data_fact(run, "gpus0.name");
    bool bad = unusable(cells, run, reason, sizeof reason);
    take_code(&w->b->commits[commit], cells, run, code);
    w->b->entries[commit].build = run->info.key;
    snprintf(w->b->gpu, sizeof w->b->gpu, "%s", gpu ? gpu : "");
    bisect_built(&w->b->search, commit, code, bad ? reason : NULL);
    if (w->b->commits[commit].basis == BISECT_BY_CODE)
        state_reason(w->b, commit, NULL);
}

static int build_tree(struct work *w, size_t commit, const struct git_tree *t, struct err *err)
{
    AUTO(suspect_list_release) struct suspect_list cells = {.items = NULL};
    AUTO(run_data_release) struct run_data run = {0};
    int64_t key;
    const struct turns_request r = request_of(w, t, commit);
    list_cells(w, &cells);
    if (turns_build(&r, &r.now, &cells, w->store, &key, err) != 0 ||
        run_data_load(w->store, key, &run, err) != 0)
        return -1;
    take_build(w, commit, &cells, &run);
    return 0;
}

static int build_commit(struct work *w, size_t commit, struct err *err)
{
    AUTO(git_tree_release) struct git_tree t = {.dir = ""};
    char reason[BISECT_REASON_MAX];
    say(w, "building", commit);
    int rc = export_commit(w, commit, &t, err);
    if (rc == 0 && !lacks_include(w, &t, reason, sizeof reason))
        return build_tree(w, commit, &t, err);
    if (rc != 0) {
        if (err->kind != ERR_INPUT)
            return -1;
        snprintf(reason, sizeof reason, "%.300s", err->msg);
    }
    bisect_built(&w->b->search, commit, "", reason);
    return 0;
}

static struct compare_options options_of(const struct work *w)
{
    struct compare_options o = compare_defaults();
    const struct delta ends = {.estimate.ratio = w->b->n_cells > 0 ? w->b->cells[0].ratio : NAN};
    o.regression = o.improvement = w->plan.threshold;
    return w->b->n_cells > 0 ? bisect_options(&o, &ends) : bisect_end_options(&o);
}

static void keep_cell(struct bisect_state *b, const struct delta *d)
{
    if (b->n_cells == BISECT_CELLS_MAX)
        return;
    struct bisect_cell *c = &b->cells[b->n_cells++];
    *c = (struct bisect_cell){.context = d->context,
                              .ratio = d->estimate.ratio,
                              .base_median = d->base.median,
                              .median = d->now.median};
    snprintf(c->variant, sizeof c->variant, "%s", d->variant);
    snprintf(c->metric, sizeof c->metric, "%s", metric_info(d->metric)->name);
    snprintf(c->unit, sizeof c->unit, "%s", metric_info(d->metric)->unit);
}

/* Keeps all cells that are slower, beginning with the one to follow. */
static void choose_cell(struct bisect_state *b, const struct delta *all, size_t n, struct delta *out)
{
    size_t best = bisect_clearest(all, n);
    *out = all[best];
    if (out->verdict != VERDICT_REGRESSED)
        return;
    keep_cell(b, out);
    for (size_t i = 0; i < n; i++)
        if (i != best && all[i].verdict == VERDICT_REGRESSED)
            keep_cell(b, &all[i]);
}

/* The ends decide which metric is followed; a commit that lacks it is not judged by another one. Returns
 * false if no loaded run has a metric of that name, as a workload's own metrics come from its runs. */
static bool find_metric(const struct bisect_state *b, const struct turns_sides *sides, struct delta *d)
{
    if (b->n_cells > 0)
        return metric_from_name(b->cells[0].metric, &d->metric);
    d->metric = turns_sides_metric(sides, d);
    return true;
}

static void judge_cells(const struct work *w, const struct turns_sides *sides, struct delta *all)
{
    const struct compare_options o = options_of(w);
    for (size_t i = 0; i < w->cells->count; i++) {
        const struct suspect *cell = &w->cells->items[i];
        all[i] = delta_of(cell->variant, cell->context, METRIC_COUNT);
        all[i].verdict = VERDICT_NOISY;
        if (find_metric(w->b, sides, &all[i]))
            turns_sides_judge(sides, &o, &all[i]);
    }
}

/* Once a cell has been chosen, only the code of its variant counts. */
static int narrow_codes(const struct work *w, struct err *err)
{
    AUTO(suspect_list_release) struct suspect_list cells = {.items = NULL};
    const size_t ends[] = {0, w->b->count - 1};
    char code[2][SHA256_HEX_LEN + 1];
    list_cells(w, &cells);
    for (size_t i = 0; i < 2; i++) {
        AUTO(run_data_release) struct run_data run = {0};
        if (run_data_load(w->store, w->b->entries[ends[i]].build, &run, err) != 0)
            return -1;
        take_code(&w->b->commits[ends[i]], &cells, &run, code[i]);
    }
    bisect_narrowed(&w->b->search, code[0], code[1]);
    return 0;
}

static const struct run_test *first_failure(const struct run_data *const *runs, size_t n,
                                            const struct delta *d)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < runs[i]->n_tests; k++) {
            const struct run_test *t = &runs[i]->tests[k];
            if (t->status != STATUS_OK && t->context == d->context &&
                strcmp(runs[i]->variants[t->variant].name, d->variant) == 0)
                return t;
        }
    return NULL;
}

/* A side without a value is named by what failed there. */
static void name_failure(const struct turns_sides *sides, const struct delta *d, char *reason)
{
    const struct run_data *const *runs = d->base.n == 0 ? sides->bases : sides->nows;
    const struct run_test *t = d->base.n > 0 && d->now.n > 0 ? NULL : first_failure(runs, sides->count, d);
    size_t len = strlen(reason);
    if (t)
        snprintf(reason + len, BISECT_REASON_MAX - len, "%s%s%s: %.150s", len > 0 ? "; " : "",
                 d->base.n == 0 ? "the good end: " : "", status_name(t->status), t->reason);
}

static void take_delta(struct bisect_entry *e, const struct delta *d)
{
    e->ratio = d->now.n > 0 && d->base.n > 0 ? d->estimate.ratio : NAN;
    e->base_median = d->base.n > 0 ? d->base.median : NAN;
    e->median = d->now.n > 0 ? d->now.median : NAN;
}

static int judge_commit(struct work *w, struct err *err)
{
    struct bisect_state *b = w->b;
    AUTO(turns_sides_release) struct turns_sides sides = {.count = 0};
    AUTO_FREE struct delta *all = xcalloc(w->cells->count, sizeof *all);
    bool ends = b->n_cells == 0;
    if (turns_sides_load(&sides, w->store, &b->entries[w->commit].made, err) != 0)
        return -1;
    judge_cells(w, &sides, all);
    struct delta d = all[0];
    if (ends) {
        bisect_doubt(all, w->cells->count);
        choose_cell(b, all, w->cells->count, &d);
    }
    size_t told = bisect_measured(&b->search, w->commit, &d);
    state_reason(b, told, &d);
    name_failure(&sides, &d, b->commits[told].reason);
    take_delta(&b->entries[w->commit], &d);
    return ends && b->n_cells > 0 ? narrow_codes(w, err) : 0;
}

static int begin_step(struct work *w, struct bisect_step step, struct err *err)
{
    w->b->busy = true;
    w->b->step = step;
    return bisect_state_save(w->b, w->store, err);
}

static int end_step(struct work *w, struct err *err)
{
    struct bisect_step step = w->b->step;
    w->b->busy = false;
    if (step.task == BISECT_MEASURE || w->b->commits[step.commit].mark != BISECT_OPEN)
        say_mark(w, step.commit);
    return bisect_state_save(w->b, w->store, err);
}

static int take_build_step(struct work *w, struct bisect_step step, struct err *err)
{
    return begin_step(w, step, err) != 0 || build_commit(w, step.commit, err) != 0 ? -1 : end_step(w, err);
}

static bool is_interrupted(const struct work *w)
{
    return w->o->session.interrupted && *w->o->session.interrupted;
}

/* Offers the cells as long as the search wants this commit measured and there is time. */
static int list_open(void *of, struct suspect_list *out, struct err *err)
{
    const struct work *w = of;
    const struct bisect_step next = bisect_next(&w->b->search);
    (void)err;
    if (next.task == BISECT_MEASURE && next.commit == w->commit && !is_interrupted(w) &&
        clock_mono_s() <= w->until)
        list_cells(w, out);
    return 0;
}

/* Drops all runs so far unless they gave both sides a value on a common GPU. */
static void forget_one_sided(struct bisect_entry *e)
{
    if (isnan(e->base_median) || isnan(e->median))
        e->made.count = 0;
}

static int measure_round(void *of, const struct suspect_list *cells, size_t round, struct err *err)
{
    struct work *w = of;
    struct bisect_entry *e = &w->b->entries[w->commit];
    AUTO(git_tree_release) struct git_tree t = {.dir = ""};
    (void)round;
    w->cells = cells;
    if (begin_step(w, bisect_next(&w->b->search), err) != 0)
        return -1;
    forget_one_sided(e);
    say(w, "measuring in alternation with the good end:", w->commit);
    if ((!*w->good.dir && export_commit(w, 0, &w->good, err) != 0) ||
        export_commit(w, w->commit, &t, err) != 0)
        return -1;
    const struct turns_request r = request_of(w, &t, w->commit);
    return turns_measure(&r, cells, w->store, &e->made, err);
}

static int judge_round(void *of, struct err *err)
{
    return judge_commit(of, err) != 0 ? -1 : end_step(of, err);
}

static int settle_commit(struct work *w, size_t commit, struct err *err)
{
    const struct settling settling = {.of = w,
                                      .rounds_max = (size_t)w->b->search.rounds_max,
                                      .open = list_open,
                                      .measure = measure_round,
                                      .judge = judge_round};
    w->commit = commit;
    return cells_settle(&settling, err);
}

/* Lists the good commits that the answer rests on, newest first. */
static size_t list_good(const struct bisect_state *b, const char *ids[static GIT_COUNT_WITHOUT_MAX])
{
    size_t n = 0;
    for (size_t i = b->step.last; i-- > 0 && n < GIT_COUNT_WITHOUT_MAX;) {
        const struct bisect_commit *c = &b->commits[i];
        bool known = c->basis != BISECT_BY_CODE || !c->of_device;
        if (i == 0 || (c->mark == BISECT_GOOD && known))
            ids[n++] = c->id;
    }
    return n;
}

/* Commits that do not touch the path are not searched, although one of them may be the cause. */
static int count_unlisted(struct work *w, struct err *err)
{
    struct bisect_state *b = w->b;
    const char *good[GIT_COUNT_WITHOUT_MAX];
    size_t all = 0;
    if (!*b->request.path || !bisect_state_answered(b))
        return 0;
    size_t n = list_good(b, good);
    if (git_commits_count(w->plan.source.dir, b->commits[b->step.last].id, good, n, b->request.first_parent,
                          &all, err) != 0)
        return -1;
    b->unlisted = all > b->step.suspects ? all - b->step.suspects : 0;
    return 0;
}

static int search(struct work *w, struct err *err)
{
    struct bisect_step step;
    while ((step = bisect_next(&w->b->search)).task != BISECT_END) {
        if (is_interrupted(w))
            return err_set(err, ERR_INTERRUPTED, "interrupted between two steps");
        if (clock_mono_s() > w->until)
            return 0;
        if ((step.task == BISECT_BUILD ? take_build_step(w, step, err)
                                       : settle_commit(w, step.commit, err)) != 0)
            return -1;
    }
    w->b->step = step;
    clock_iso8601(clock_real_s(), w->b->ended_at);
    if (count_unlisted(w, err) != 0)
        return -1;
    return bisect_state_save(w->b, w->store, err);
}

static void work_release(struct work *w)
{
    git_tree_release(&w->good);
    plan_release(&w->plan);
}

int bisect_run(struct bisect_state *b, struct store *s, const struct bisect_settings *o, struct err *err)
{
    AUTO(work_release)
    struct work w = {
        .b = b, .store = s, .o = o, .until = o->time_s > 0 ? clock_mono_s() + o->time_s : INFINITY};
    if (*b->ended_at)
        return 0;
    return bisect_load_plan(&w.plan, &b->request, err) != 0 ||
                   turns_check_plan(&w.plan, given(b->request.plan_sha256), err) != 0 ||
                   location_own(o->session.db, "trees", w.trees, err) != 0 ||
                   measure_settle(b->request.plan, NULL, PURPOSE_BISECT, &o->session, err) != 0
               ? -1
               : search(&w, err);
}
