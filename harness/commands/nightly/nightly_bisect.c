#include "harness/commands/nightly/nightly_bisect.h"

#include "harness/commands/measure/bisect_output.h"
#include "harness/commands/measure/bisect_run.h"
#include "results/store/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 512, NIGHTS_LOOKED_AT = 30 };

static void add_line(json_t *lines, const char *text)
{
    char line[LINE_MAX_BYTES + 16];
    snprintf(line, sizeof line, "bisect: %.*s", LINE_MAX_BYTES, text);
    json_array_append_new(lines, json_string(line));
    fprintf(stderr, "%s\n", line);
}

/* Whether an earlier night found the cell slower: it was searched for then. */
static bool was_open(const struct nightly_bisect *n, const struct delta *d)
{
    size_t i;
    const json_t *cell;
    json_array_foreach(n->open_before, i, cell)
    {
        const char *variant = json_string_value(json_object_get(cell, "variant"));
        if (variant && strcmp(variant, d->variant) == 0 &&
            json_integer_value(json_object_get(cell, "context")) == d->context)
            return true;
    }
    return false;
}

/* Each word once: the values of --variant and --point. */
static bool add_word(char *list, size_t cap, const char *word)
{
    size_t len = strlen(list), n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at++)
        if ((at == list || at[-1] == ',') && (at[n] == ',' || at[n] == '\0'))
            return true;
    return snprintf(list + len, cap - len, "%s%s", len ? "," : "", word) < (int)(cap - len);
}

/* The confirmed regressions of tonight. False if there are none. */
static bool list_cells(const struct nightly_bisect *n, const struct comparison *c, struct bisect_request *r)
{
    char context[16];
    bool any = false, fits = true;
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        if (d->metric != c->primary || d->verdict != VERDICT_REGRESSED || d->confirmation != CONFIRM_STANDS ||
            was_open(n, d))
            continue;
        snprintf(context, sizeof context, "%d", d->context);
        any = true;
        fits = fits && add_word(r->variants, sizeof r->variants, d->variant) &&
               add_word(r->contexts, sizeof r->contexts, context);
    }
    if (!fits)
        r->variants[0] = r->contexts[0] = '\0'; /* too many to name: all */
    return any;
}

static bool is_usable(const struct run_info *night, const struct run_info *now)
{
    return night->key != now->key && strcmp(night->started_at, now->started_at) < 0 && !*night->rejected &&
           night->status == RUN_COMPLETE && *night->revision.commit && !night->revision.dirty;
}

/* The newest night before this one whose commit is known: it was not slow yet. */
static int find_good(struct finish *f, char commit[COMMIT_ID_MAX], struct err *err)
{
    const struct run_info *now = &f->run.info;
    const struct run_filter filter = {.ticket = now->ticket,
                                      .node = now->node,
                                      .mode = now->mode,
                                      .purpose = run_purpose_name(PURPOSE_SWEEP),
                                      .limit = NIGHTS_LOOKED_AT};
    struct run_list nights;
    commit[0] = '\0';
    if (runs_list(&f->store, &filter, &nights, err) != 0)
        return -1;
    for (size_t i = 0; i < nights.count && !*commit; i++)
        if (is_usable(&nights.runs[i], now))
            memcpy(commit, nights.runs[i].revision.commit, COMMIT_ID_MAX);
    run_list_release(&nights);
    return *commit ? 0 : err_set(err, ERR_INPUT, "no earlier night has a commit that is known");
}

/* A search of this plan that has no answer yet. */
static int find_unfinished(const struct nightly_bisect *n, struct store *s, struct bisect_state *b,
                           bool *found, struct err *err)
{
    struct bisect_rows rows;
    int rc = 0;
    *found = false;
    if (bisect_rows_list(s, &rows, err) != 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < rows.count && !*found; i++) {
        if (*rows.items[i].outcome || strcmp(rows.items[i].ticket, n->plan->settings.ticket) != 0)
            continue;
        rc = bisect_state_load(b, s, rows.items[i].name, true, found, err);
        if (rc == 0 && *found &&
            (strcmp(b->request.plan, n->plan->file) != 0 ||
             (plan_has_nodes(n->plan) && strcmp(b->request.node, n->plan->node) != 0))) {
            bisect_state_release(b);
            *found = false;
        }
    }
    bisect_rows_release(&rows);
    return rc;
}

static int make_request(const struct nightly_bisect *n, struct bisect_request *r, struct err *err)
{
    char *artifacts = realpath(n->opt->artifacts, NULL);
    int plan = snprintf(r->plan, sizeof r->plan, "%s", n->plan->file);
    int folder = snprintf(r->artifacts, sizeof r->artifacts, "%s", artifacts ? artifacts : n->opt->artifacts);
    free(artifacts);
    snprintf(r->node, sizeof r->node, "%s", n->opt->overrides.node ? n->opt->overrides.node : "");
    return plan >= FS_PATH_MAX || folder >= FS_PATH_MAX ? err_set(err, ERR_INPUT, "path too long") : 0;
}

/* *found is false when there is nothing to search for. */
static int begin(const struct nightly_bisect *n, struct finish *f, struct bisect_state *b, bool *found,
                 struct err *err)
{
    char good[COMMIT_ID_MAX];
    const struct run_revision *now = &f->run.info.revision;
    *found = false;
    if (!f->compared || !list_cells(n, &f->comparison, &b->request))
        return 0;
    if (!*now->commit)
        return err_set(err, ERR_INPUT, "nothing was searched: the commit of tonight's sources is not known");
    if (now->dirty)
        return err_set(err, ERR_INPUT,
                       "nothing was searched: tonight's sources differ from their commit %.12s", now->commit);
    if (find_good(f, good, err) != 0)
        return err_wrap(err, "nothing was searched");
    if (strcmp(good, now->commit) == 0)
        return err_set(err, ERR_INPUT, "nothing was searched: the night before had the same commit %.12s",
                       good);
    *found = true;
    return make_request(n, &b->request, err) != 0 ? -1 : bisect_prepare(b, good, now->commit, err);
}

static void report(const struct bisect_state *b, json_t *lines)
{
    struct buf text;
    buf_init(&text, LINE_MAX_BYTES);
    bisect_write_headline(b, &text);
    add_line(lines, buf_str(&text));
    buf_release(&text);
}

/* The search is kept before its first step: should the node be gone, a later night goes on with it. */
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

/* What the plan measured as it was does not compare with what it measures now. */
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

static int run_stored(const struct nightly_bisect *n, struct store *s, const struct bisect_settings *o,
                      struct bisect_state *b, json_t *lines, struct err *err)
{
    const char *sha256 = b->request.plan_sha256;
    bool changed = *sha256 && strcmp(sha256, n->plan->sha256) != 0;
    return changed && begin_anew(s, b, lines, err) != 0 ? -1 : bisect_run_locked(b, s, o, err);
}

/* *found: there was a search to go on with. One that cannot go on, because its plan or its commits are no
 * longer what they were, does not keep tonight's from beginning. */
static int go_on(const struct nightly_bisect *n, struct finish *f, const struct bisect_settings *o,
                 struct bisect_state *b, bool *found, json_t *lines, struct err *err)
{
    if (find_unfinished(n, &f->store, b, found, err) != 0)
        return -1;
    if (!*found || run_stored(n, &f->store, o, b, lines, err) == 0)
        return 0;
    if (err->kind != ERR_INPUT)
        return -1;
    add_line(lines, err->msg);
    *err = (struct err){0};
    bisect_state_release(b);
    *found = false;
    return 0;
}

static int search(const struct nightly_bisect *n, struct finish *f, struct bisect_state *b, bool *found,
                  json_t *lines, struct err *err)
{
    const struct bisect_settings o = {.session = *n->opt, .time_s = n->plan->bisect_minutes * 60};
    if (go_on(n, f, &o, b, found, lines, err) != 0)
        return -1;
    if (*found)
        return 0;
    if (begin(n, f, b, found, err) != 0)
        return -1;
    return !*found ? 0 : keep(b, &f->store, err) != 0 ? -1 : bisect_run_locked(b, &f->store, &o, err);
}

void nightly_bisect(const struct nightly_bisect *n, struct finish *f, json_t *lines)
{
    struct bisect_state b = {.commits = NULL};
    struct err err = {0};
    bool found = false;
    if (!n->plan->bisect)
        return;
    if (search(n, f, &b, &found, lines, &err) != 0)
        add_line(lines, err.msg);
    else if (found)
        report(&b, lines);
    bisect_state_release(&b);
}
