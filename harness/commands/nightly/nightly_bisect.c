#include "harness/commands/nightly/nightly_bisect.h"

#include "common/base/alloc.h"
#include "harness/commands/measure/bisect_output.h"
#include "harness/commands/measure/bisect_run.h"
#include "harness/nightly/open_cells.h"
#include "harness/session/bisect_request.h"
#include "results/store/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 512, CELLS_MAX_BYTES = 360, NIGHTS_LOOKED_AT = 30, ENDED_LOOKED_AT = 32 };

struct search {
    const struct nightly_bisect *n;
    struct finish *f;
    json_t *lines;
    json_t *seen, *stuck; /* names of searches */
    double until;
};

static bool is_listed(const json_t *names, const char *name)
{
    size_t i;
    const json_t *item;
    json_array_foreach(names, i, item)
    {
        if (strcmp(json_string_value(item), name) == 0)
            return true;
    }
    return false;
}

/* A night that goes on after an interrupt comes by searches that it told of already. */
static void add_line(json_t *lines, const char *text)
{
    char line[LINE_MAX_BYTES + 16];
    snprintf(line, sizeof line, "bisect: %.*s", LINE_MAX_BYTES, text);
    if (is_listed(lines, line))
        return;
    json_array_append_new(lines, json_string(line));
    fprintf(stderr, "%s\n", line);
}

/* Lists tonight's confirmed regressions, as many as fit, except those that an earlier night found and
 * searched for. Returns their total number. */
static size_t list_cells(const struct nightly_bisect *n, const struct comparison *c, struct bisect_request *r)
{
    size_t all = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        if (d->metric != c->primary || d->verdict != VERDICT_REGRESSED || d->confirmation != CONFIRM_STANDS ||
            open_cells_find(n->open_before, d->variant, d->context) || all++ >= BISECT_CELLS_MAX)
            continue;
        struct bisect_wanted *w = &r->wanted[r->n_wanted++];
        *w = (struct bisect_wanted){.context = d->context, .ratio = NAN};
        memcpy(w->variant, d->variant, sizeof w->variant);
    }
    return all;
}

static bool is_usable(const struct run_info *night, const struct run_info *now)
{
    return night->key != now->key && strcmp(night->started_at, now->started_at) < 0 && !*night->rejected &&
           night->status == RUN_COMPLETE && *night->revision.commit && !night->revision.dirty;
}

/* The good end is the newest earlier night with a known commit, since the cells were not slow then. */
static int find_good(struct finish *f, char commit[COMMIT_ID_MAX], struct err *err)
{
    const struct run_info *now = &f->run.info;
    const struct run_filter filter = {.ticket = now->ticket,
                                      .node = now->node,
                                      .mode = now->mode,
                                      .purpose = run_purpose_name(PURPOSE_SWEEP),
                                      .limit = NIGHTS_LOOKED_AT};
    AUTO(run_list_release) struct run_list nights = {.runs = NULL};
    commit[0] = '\0';
    if (runs_list(&f->store, &filter, &nights, err) != 0)
        return -1;
    for (size_t i = 0; i < nights.count && !*commit; i++)
        if (is_usable(&nights.runs[i], now))
            memcpy(commit, nights.runs[i].revision.commit, COMMIT_ID_MAX);
    return *commit ? 0 : err_set(err, ERR_INPUT, "no earlier night has a commit that is known");
}

static bool is_of_plan(const struct nightly_bisect *n, const struct bisect_state *b)
{
    return strcmp(b->request.plan, n->plan->file) == 0 &&
           (!plan_has_nodes(n->plan) || strcmp(b->request.node, n->plan->node) == 0);
}

/* A search is open if it has no answer, or if its answer leaves cells for which no further search is stored,
 * which happens when a user continued it by hand. */
static bool is_open(const struct bisect_state *b)
{
    bool left[BISECT_CELLS_MAX];
    return !*b->ended_at || (!b->followed && bisect_left(b, left) > 0);
}

/* Finds the oldest open search of this plan whose name is not in the list. */
static int find_open(const struct nightly_bisect *n, struct store *s, const json_t *names,
                     struct bisect_state *b, bool *found, struct err *err)
{
    AUTO(bisect_rows_release) struct bisect_rows rows = {.items = NULL};
    *found = false;
    if (bisect_rows_list(s, &rows, err) != 0)
        return -1;
    for (size_t i = rows.count; i-- > 0 && !*found;) {
        const struct bisect_row *row = &rows.items[i];
        if ((*row->outcome && i >= ENDED_LOOKED_AT) || strcmp(row->ticket, n->plan->settings.ticket) != 0 ||
            is_listed(names, row->name))
            continue;
        if (bisect_state_load(b, s, row->name, true, found, err) != 0)
            return -1;
        if (*found && !(is_of_plan(n, b) && is_open(b))) {
            bisect_state_release(b);
            *found = false;
        }
    }
    return 0;
}

static int make_request(const struct nightly_bisect *n, struct bisect_request *r, struct err *err)
{
    AUTO_FREE char *artifacts = realpath(n->opt->artifacts, NULL);
    int plan = snprintf(r->plan, sizeof r->plan, "%s", n->plan->file);
    int folder = snprintf(r->artifacts, sizeof r->artifacts, "%s", artifacts ? artifacts : n->opt->artifacts);
    snprintf(r->node, sizeof r->node, "%s", n->opt->overrides.node ? n->opt->overrides.node : "");
    return plan >= FS_PATH_MAX || folder >= FS_PATH_MAX ? err_set(err, ERR_INPUT, "path too long") : 0;
}

/* Writes the listed cells, with their changes if `changes` is set, and how many did not fit into a line. */
static void write_cells(const struct bisect_state *b, const bool *listed, bool changes, struct buf *out)
{
    size_t more = 0;
    const char *before = "";
    for (size_t i = 0; i < b->request.n_wanted; i++) {
        const struct bisect_wanted *c = &b->request.wanted[i];
        const struct bisect_cell *lost = changes ? bisect_find_cell(b, c) : NULL;
        if (!listed[i])
            continue;
        if (out->len > CELLS_MAX_BYTES) {
            more++;
            continue;
        }
        buf_puts(out, before);
        if (lost)
            bisect_write_change(lost, out);
        else
            buf_printf(out, "%s %d", c->variant, c->context);
        before = ", ";
    }
    if (more > 0)
        buf_printf(out, " and %zu more", more);
}

/* Reports the cells that the answer explains in addition to the one that was followed. */
static void report_others(const struct bisect_state *b, json_t *lines)
{
    bool explained[BISECT_CELLS_MAX], any = false;
    AUTO(buf_release) struct buf text = {.max = LINE_MAX_BYTES};
    bisect_explained(b, explained);
    for (size_t i = 0; i < b->request.n_wanted; i++) {
        if (!bisect_is_check(b) && bisect_find_cell(b, &b->request.wanted[i]) == &b->cells[0])
            explained[i] = false; /* the headline reports it */
        any = any || explained[i];
    }
    if (!any)
        return;
    buf_printf(&text, "found %.12s also for ", b->commits[b->step.last].id);
    write_cells(b, explained, true, &text);
    add_line(lines, buf_str(&text));
}

/* Reports the cells that an ended search has not explained. */
static void report_left(const struct bisect_state *b, json_t *lines)
{
    bool left[BISECT_CELLS_MAX];
    AUTO(buf_release) struct buf text = {.max = LINE_MAX_BYTES};
    bool checked = bisect_is_check(b) && bisect_left(b, left) > 0;
    if (!checked && (bisect_state_answered(b) || b->request.n_wanted == 0))
        return;
    for (size_t i = 0; !checked && i < BISECT_CELLS_MAX; i++)
        left[i] = true;
    if (checked)
        buf_printf(&text, "%.12s does not explain ", b->commits[b->count - 1].id);
    else
        buf_puts(&text, "no commit was found for ");
    write_cells(b, left, false, &text);
    add_line(lines, buf_str(&text));
}

static void report(const struct bisect_state *b, json_t *lines)
{
    if (!bisect_is_check(b) || !*b->ended_at) {
        AUTO(buf_release) struct buf text = {.max = LINE_MAX_BYTES};
        bisect_write_headline(b, &text);
        add_line(lines, buf_str(&text));
    }
    if (!*b->ended_at)
        return;
    report_others(b, lines);
    report_left(b, lines);
}

/* *found is false if there is nothing to search for. */
static int begin(const struct search *w, struct bisect_state *b, bool *found, struct err *err)
{
    char good[COMMIT_ID_MAX], line[LINE_MAX_BYTES];
    const struct run_revision *now = &w->f->run.info.revision;
    size_t cells = w->f->compared ? list_cells(w->n, &w->f->comparison, &b->request) : 0;
    *found = false;
    if (cells == 0)
        return 0;
    if (!*now->commit)
        return err_set(err, ERR_INPUT, "nothing was searched: the commit of tonight's sources is not known");
    if (now->dirty)
        return err_set(err, ERR_INPUT,
                       "nothing was searched: tonight's sources differ from their commit %.12s", now->commit);
    if (find_good(w->f, good, err) != 0)
        return err_wrap(err, "nothing was searched");
    if (strcmp(good, now->commit) == 0)
        return err_set(err, ERR_INPUT, "nothing was searched: the night before had the same commit %.12s",
                       good);
    if (cells > b->request.n_wanted) {
        snprintf(line, sizeof line, "only %zu of %zu slower cells are searched for", b->request.n_wanted,
                 cells);
        add_line(w->lines, line);
    }
    *found = true;
    return make_request(w->n, &b->request, err) != 0 ? -1 : bisect_prepare(b, good, now->commit, err);
}

/* Stores a search before its first step, so that a later night can resume it even if the node fails, or loads
 * it if it is stored already. */
static int keep(struct bisect_state *b, struct store *s, struct err *err)
{
    struct bisect_state stored = {.commits = NULL};
    bool found;
    if (bisect_state_load(&stored, s, b->name, true, &found, err) != 0)
        return -1;
    if (!found)
        return bisect_state_save(b, s, err);
    bisect_state_release(b);
    *b = stored;
    return 0;
}

/* Measurements of the old plan cannot be compared with new ones. */
static int begin_anew(struct store *s, struct bisect_state *b, json_t *lines, struct err *err)
{
    struct bisect_state anew = {.request = b->request};
    const char *good = b->commits[0].id, *bad = b->commits[b->count - 1].id;
    char line[LINE_MAX_BYTES];
    if (bisect_prepare(&anew, good, bad, err) != 0 || bisect_row_remove(s, b->name, err) != 0 ||
        bisect_state_save(&anew, s, err) != 0) {
        bisect_state_release(&anew);
        return -1;
    }
    snprintf(line, sizeof line, "the plan has changed: the search from %.12s to %.12s begins anew", good,
             bad);
    add_line(lines, line);
    bisect_state_release(b);
    *b = anew;
    return 0;
}

static int run_stored(const struct search *w, struct bisect_state *b, double time_s, struct err *err)
{
    const struct bisect_settings o = {.session = *w->n->opt, .time_s = time_s};
    const char *sha256 = b->request.plan_sha256;
    bool changed = !*b->ended_at && *sha256 && strcmp(sha256, w->n->plan->sha256) != 0;
    return changed && begin_anew(&w->f->store, b, w->lines, err) != 0
               ? -1
               : bisect_run_locked(b, &w->f->store, &o, err);
}

/* Prepares and stores the search for the cells that this one leaves. *found is false if there are none. */
static int follow(struct store *s, struct bisect_state *b, bool *found, struct err *err)
{
    struct bisect_state next = {.commits = NULL};
    if (bisect_follow_prepare(b, &next, found, err) != 0 || (*found && keep(&next, s, err) != 0)) {
        bisect_state_release(&next);
        return -1;
    }
    if (!*found)
        return 0;
    b->followed = true;
    if (bisect_state_save(b, s, err) != 0) {
        bisect_state_release(&next);
        return -1;
    }
    bisect_state_release(b);
    *b = next;
    return 0;
}

/* Runs the search and, if it leaves cells, the following ones, until the time is over. */
static int go_on(const struct search *w, struct bisect_state *b, struct err *err)
{
    bool found = true;
    while (found) {
        double left = w->until - clock_mono_s();
        if (!*b->ended_at && left <= 0)
            return 0;
        json_array_append_new(w->seen, json_string(b->name));
        if (run_stored(w, b, left > 0 ? left : 1, err) != 0)
            return -1;
        json_array_append_new(w->seen, json_string(b->name)); /* the name changes if the search began again */
        report(b, w->lines);
        if (!*b->ended_at)
            return 0;
        if (follow(&w->f->store, b, &found, err) != 0)
            return -1;
    }
    return 0;
}

/* A search that cannot continue because its plan or commits have changed must not keep others from
 * running. */
static int go_on_past(const struct search *w, struct bisect_state *b, struct err *err)
{
    int rc = go_on(w, b, err);
    if (rc != 0 && err->kind == ERR_INPUT) {
        add_line(w->lines, err->msg);
        json_array_append_new(w->stuck, json_string(b->name));
        *err = (struct err){0};
        rc = 0;
    }
    bisect_state_release(b);
    return rc;
}

/* Runs those that earlier nights left, oldest first, and then tonight's. */
static int run_searches(const struct search *w, struct bisect_state *tonight, bool begun, struct err *err)
{
    struct bisect_state b = {.commits = NULL};
    bool found = true;
    if (begun)
        json_array_append_new(w->seen, json_string(tonight->name));
    while (clock_mono_s() < w->until) {
        if (find_open(w->n, &w->f->store, w->seen, &b, &found, err) != 0)
            return -1;
        if (!found)
            break;
        json_array_append_new(w->seen, json_string(b.name));
        if (go_on_past(w, &b, err) != 0)
            return -1;
    }
    return begun ? go_on_past(w, tonight, err) : 0;
}

/* Reports the cells that no search has reached yet, and returns their number. */
static size_t tell_left(const struct search *w, struct err *err)
{
    struct bisect_state b = {.commits = NULL};
    bool found = true, all[BISECT_CELLS_MAX];
    size_t n = 0;
    memset(all, true, sizeof all);
    while (find_open(w->n, &w->f->store, w->stuck, &b, &found, err) == 0 && found) {
        AUTO(buf_release) struct buf text = {.max = LINE_MAX_BYTES};
        json_array_append_new(w->stuck, json_string(b.name));
        buf_puts(&text, "not yet bisected: ");
        write_cells(&b, all, false, &text);
        if (b.request.later)
            buf_puts(&text, ": another commit may be the cause");
        buf_puts(&text, "; the next night goes on");
        if (b.request.n_wanted > 0)
            add_line(w->lines, buf_str(&text));
        n += b.request.n_wanted;
        bisect_state_release(&b);
    }
    return n;
}

size_t nightly_bisect(const struct nightly_bisect *n, struct finish *f, json_t *lines)
{
    struct bisect_state tonight = {.commits = NULL};
    struct err err = {0};
    bool begun = false;
    size_t left = 0;
    if (!n->plan->confirm.bisect)
        return 0;
    const struct search w = {.n = n,
                             .f = f,
                             .lines = lines,
                             .seen = json_array(),
                             .stuck = json_array(),
                             .until = clock_mono_s() + n->plan->confirm.bisect_minutes * 60};
    if (begin(&w, &tonight, &begun, &err) != 0 || (begun && keep(&tonight, &f->store, &err) != 0)) {
        add_line(lines, err.msg);
        err = (struct err){0};
        begun = false;
    }
    if (run_searches(&w, &tonight, begun, &err) != 0)
        add_line(lines, err.msg);
    err = (struct err){0};
    left = tell_left(&w, &err);
    if (err.kind != ERR_NONE)
        add_line(lines, err.msg);
    bisect_state_release(&tonight);
    json_decref(w.seen);
    json_decref(w.stuck);
    return left;
}
