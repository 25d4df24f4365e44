#include "harness/session/bisect_state.h"

#include "common/base/alloc.h"
#include "common/base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] = "kernsweep.bisect/1";

int bisect_state_init(struct bisect_state *b, struct git_commits *commits, int rounds, struct err *err)
{
    b->count = commits->count;
    b->commits = xcalloc(b->count + 1, sizeof *b->commits);
    b->entries = xcalloc(b->count + 1, sizeof *b->entries);
    for (size_t i = 0; i < b->count; i++) {
        b->entries[i] =
            (struct bisect_entry){.git = commits->items[i], .ratio = NAN, .base_median = NAN, .median = NAN};
        memcpy(b->commits[i].id, commits->items[i].id, sizeof b->commits[i].id);
        memcpy(b->commits[i].parents, commits->items[i].parents, sizeof b->commits[i].parents);
        b->commits[i].n_parents = commits->items[i].n_parents;
    }
    git_commits_release(commits);
    if (b->count > BISECT_COMMITS_MAX)
        return err_set(err, ERR_INPUT, "more than %d commits to search", BISECT_COMMITS_MAX);
    if (b->count < 2)
        return err_set(err, ERR_INPUT, "there is no commit between the good and the bad end");
    bisect_init(&b->search, b->commits, b->count, rounds);
    b->search.by_code = !b->request.force;
    return 0;
}

bool bisect_state_answered(const struct bisect_state *b)
{
    return *b->ended_at && (b->step.outcome == BISECT_FOUND || b->step.outcome == BISECT_RANGE);
}

void bisect_state_release(struct bisect_state *b)
{
    free(b->commits);
    free(b->entries);
    *b = (struct bisect_state){.commits = NULL};
}

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *encode_keys(const int64_t *keys, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer(keys[i]));
    return list;
}

static json_t *encode_commit(const struct bisect_commit *c, const struct bisect_entry *e)
{
    json_t *parents = json_array();
    for (size_t i = 0; i < c->n_parents; i++)
        json_array_append_new(parents, json_integer((json_int_t)c->parents[i]));
    return json_pack(
        "{s:s, s:o, s:b, s:s, s:s, s:s, s:s, s:b, s:s, s:b, s:i, s:s, s:I, s:o, s:o, s:o, s:o, s:o}",
        "commit", c->id, "parents", parents, "forked", c->forked, "subject", e->git.subject, "authored_at",
        e->git.authored_at, "mark", bisect_mark_name(c->mark), "basis", bisect_basis_name(c->basis), "built",
        c->built, "code_sha256", c->code, "code_of_device", c->of_device, "rounds", c->rounds, "reason",
        c->reason, "build_run", (json_int_t)e->build, "ratio", number(e->ratio), "good_median",
        number(e->base_median), "median", number(e->median), "good_runs",
        encode_keys(e->made.base, e->made.count), "runs", encode_keys(e->made.now, e->made.count));
}

static json_t *encode_cell(const struct bisect_cell *c)
{
    return json_pack("{s:s, s:i, s:s, s:s, s:o, s:o, s:o}", "variant", c->variant, "context", c->context,
                     "metric", c->metric, "unit", c->unit, "ratio", number(c->ratio), "good_median",
                     number(c->base_median), "bad_median", number(c->median));
}

static json_t *encode_wanted(const struct bisect_request *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->n_wanted; i++)
        json_array_append_new(list, json_pack("{s:s, s:i, s:o}", "variant", r->wanted[i].variant, "context",
                                              r->wanted[i].context, "ratio", number(r->wanted[i].ratio)));
    return list;
}

static json_t *encode_request(const struct bisect_request *r)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:i, s:o, s:b, s:s, s:s}", "plan",
                     r->plan, "plan_sha256", r->plan_sha256, "node", r->node, "artifacts", r->artifacts,
                     "variants", r->variants, "contexts", r->contexts, "path", r->path, "first_parent",
                     r->first_parent, "force", r->force, "rounds", r->rounds, "cells", encode_wanted(r),
                     "later", r->later, "night_good", r->night_good, "night_bad", r->night_bad);
}

bool bisect_is_check(const struct bisect_state *b)
{
    return *b->request.night_good;
}

const struct bisect_cell *bisect_find_cell(const struct bisect_state *b, const struct bisect_wanted *w)
{
    for (size_t i = 0; i < b->n_cells; i++)
        if (b->cells[i].context == w->context && strcmp(b->cells[i].variant, w->variant) == 0)
            return &b->cells[i];
    return NULL;
}

/* Half of the change is the threshold of every step of a search, so it is used here too. */
static bool is_most_of(const struct bisect_cell *c, const struct bisect_wanted *w)
{
    double share = log(c->ratio) / log(w->ratio);
    return !isfinite(share) || share > 0.5;
}

void bisect_explained(const struct bisect_state *b, bool out[static BISECT_CELLS_MAX])
{
    memset(out, 0, BISECT_CELLS_MAX * sizeof *out);
    for (size_t i = 0; bisect_state_answered(b) && i < b->request.n_wanted; i++) {
        const struct bisect_cell *c = bisect_find_cell(b, &b->request.wanted[i]);
        /* In a range of two commits, nothing else can be the cause. */
        bool known = c && (c == &b->cells[0] || b->count == 2);
        out[i] = known && (!bisect_is_check(b) || is_most_of(c, &b->request.wanted[i]));
    }
}

/* The cells that the answer explains; without any that were asked for, the one that was followed. */
static json_t *encode_explained(const struct bisect_state *b)
{
    bool explained[BISECT_CELLS_MAX];
    json_t *list = json_array();
    bisect_explained(b, explained);
    for (size_t i = 0; i < b->request.n_wanted; i++)
        if (explained[i])
            json_array_append_new(list, json_pack("{s:s, s:i}", "variant", b->request.wanted[i].variant,
                                                  "context", b->request.wanted[i].context));
    if (b->request.n_wanted == 0 && b->n_cells > 0 && bisect_state_answered(b))
        json_array_append_new(
            list, json_pack("{s:s, s:i}", "variant", b->cells[0].variant, "context", b->cells[0].context));
    return list;
}

static json_t *encode_answer(const struct bisect_state *b)
{
    const struct bisect_step *a = &b->step;
    bool suspects[BISECT_COMMITS_MAX];
    if (!*b->ended_at)
        return json_null();
    json_t *ids = json_array();
    if (bisect_state_answered(b)) {
        bisect_suspects(&b->search, suspects);
        for (size_t i = a->first; i <= a->last; i++)
            if (suspects[i])
                json_array_append_new(ids, json_string(b->commits[i].id));
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:I}", "outcome", bisect_outcome_name(a->outcome), "first",
                     b->commits[a->first].id, "last", b->commits[a->last].id, "commits", ids, "cells",
                     encode_explained(b), "unlisted", (json_int_t)b->unlisted);
}

static json_t *encode_step(const struct bisect_state *b)
{
    if (!b->busy)
        return json_null();
    return json_pack("{s:s, s:s}", "task", b->step.task == BISECT_BUILD ? "build" : "measure", "commit",
                     b->commits[b->step.commit].id);
}

json_t *bisect_state_encode(const struct bisect_state *b)
{
    json_t *commits = json_array(), *cells = json_array();
    for (size_t i = 0; i < b->count; i++)
        json_array_append_new(commits, encode_commit(&b->commits[i], &b->entries[i]));
    for (size_t i = 0; i < b->n_cells; i++)
        json_array_append_new(cells, encode_cell(&b->cells[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:i, s:i, s:b, s:b, s:o, s:o}",
                     "schema", schema, "name", b->name, "ticket", b->ticket, "node", b->node, "gpu", b->gpu,
                     "started_at", b->started_at, "ended_at", b->ended_at, "request",
                     encode_request(&b->request), "cells", cells, "commits", commits, "pairs",
                     b->search.pairs, "pairs_max", b->search.pairs_max, "by_code", b->search.by_code,
                     "followed", b->followed, "step", encode_step(b), "answer", encode_answer(b));
}

struct text {
    const char *key;
    char *out;
    size_t size;
};

static int read_texts(const struct json_at *at, const struct text *texts, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (json_get_text(at, texts[i].key, texts[i].out, texts[i].size, err) != 0)
            return -1;
    return 0;
}

#define TEXT(owner, name, key)                                                                               \
    {                                                                                                        \
        key, (owner)->name, sizeof(owner)->name                                                              \
    }
#define READ_TEXTS(at, texts, err) read_texts(at, texts, sizeof(texts) / sizeof *(texts), err)

static double read_number(const struct json_at *at, const char *key)
{
    const json_t *v = json_object_get(at->value, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static int read_int(const struct json_at *at, const char *key, int *out, struct err *err)
{
    int64_t v;
    if (json_get_int(at, key, 0, INT32_MAX, &v, err) != 0)
        return -1;
    *out = (int)v;
    return 0;
}

static int read_keys(const struct json_at *at, const char *key, int64_t *out, size_t *count, struct err *err)
{
    struct json_at list = json_member(at, key);
    *count = json_array_size(list.value);
    if (!json_is_array(list.value) || *count > TURNS_RUNS_MAX)
        return json_fail(&list, err, "expected an array of at most %d runs", TURNS_RUNS_MAX);
    for (size_t i = 0; i < *count; i++)
        out[i] = json_integer_value(json_array_get(list.value, i));
    return 0;
}

/* Parents are indices into the list of commits, all of them smaller than the commit's own. */
static int decode_parents(const struct json_at *at, size_t own, struct bisect_commit *c, struct err *err)
{
    struct json_at list = json_member(at, "parents");
    c->n_parents = json_array_size(list.value);
    if (!json_is_array(list.value) || c->n_parents > BISECT_PARENTS_MAX)
        return json_fail(&list, err, "expected an array of at most %d parents", BISECT_PARENTS_MAX);
    for (size_t i = 0; i < c->n_parents; i++) {
        json_int_t place = json_integer_value(json_array_get(list.value, i));
        if (place < 0 || (size_t)place >= own)
            return json_fail(&list, err, "expected parents that come before their commit");
        c->parents[i] = (size_t)place;
    }
    return 0;
}

static int decode_commit(const struct json_at *at, struct bisect_commit *c, struct bisect_entry *e,
                         struct err *err)
{
    char mark[16], basis[16];
    const struct text texts[] = {TEXT(&e->git, id, "commit"),
                                 TEXT(&e->git, subject, "subject"),
                                 TEXT(&e->git, authored_at, "authored_at"),
                                 TEXT(c, code, "code_sha256"),
                                 TEXT(c, reason, "reason"),
                                 {"mark", mark, sizeof mark},
                                 {"basis", basis, sizeof basis}};
    size_t others;
    if (READ_TEXTS(at, texts, err) != 0 || read_int(at, "rounds", &c->rounds, err) != 0 ||
        json_get_int(at, "build_run", 0, INT64_MAX, &e->build, err) != 0 ||
        json_get_bool_def(at, "built", &c->built, err) != 0 ||
        json_get_bool_def(at, "forked", &c->forked, err) != 0 ||
        json_get_bool_def(at, "code_of_device", &c->of_device, err) != 0 ||
        read_keys(at, "good_runs", e->made.base, &e->made.count, err) != 0 ||
        read_keys(at, "runs", e->made.now, &others, err) != 0)
        return -1;
    if (others != e->made.count || !bisect_mark_from_name(mark, &c->mark) ||
        !bisect_basis_from_name(basis, &c->basis))
        return json_fail(at, err, "expected a commit with its mark and its runs");
    e->ratio = read_number(at, "ratio");
    e->base_median = read_number(at, "good_median");
    e->median = read_number(at, "median");
    memcpy(c->id, e->git.id, sizeof c->id);
    return 0;
}

static int decode_cell(const struct json_at *at, struct bisect_cell *c, struct err *err)
{
    const struct text texts[] = {TEXT(c, variant, "variant"), TEXT(c, metric, "metric"),
                                 TEXT(c, unit, "unit")};
    c->ratio = read_number(at, "ratio");
    c->base_median = read_number(at, "good_median");
    c->median = read_number(at, "bad_median");
    return READ_TEXTS(at, texts, err) != 0 ? -1 : read_int(at, "context", &c->context, err);
}

static int decode_wanted(const struct json_at *at, struct bisect_request *r, struct err *err)
{
    struct json_at list = json_member(at, "cells");
    const struct text ends[] = {TEXT(r, night_good, "night_good"), TEXT(r, night_bad, "night_bad")};
    if (json_array_size(list.value) > BISECT_CELLS_MAX)
        return json_fail(&list, err, "more than %d cells", BISECT_CELLS_MAX);
    for (; r->n_wanted < json_array_size(list.value); r->n_wanted++) {
        struct json_at item = json_element(&list, r->n_wanted);
        struct bisect_wanted *w = &r->wanted[r->n_wanted];
        const struct text texts[] = {TEXT(w, variant, "variant")};
        w->ratio = read_number(&item, "ratio");
        if (READ_TEXTS(&item, texts, err) != 0 || read_int(&item, "context", &w->context, err) != 0)
            return -1;
    }
    return READ_TEXTS(at, ends, err) != 0 ? -1 : json_get_bool_def(at, "later", &r->later, err);
}

static int decode_request(const struct json_at *at, struct bisect_request *r, struct err *err)
{
    const struct text texts[] = {TEXT(r, plan, "plan"),         TEXT(r, plan_sha256, "plan_sha256"),
                                 TEXT(r, node, "node"),         TEXT(r, artifacts, "artifacts"),
                                 TEXT(r, variants, "variants"), TEXT(r, contexts, "contexts"),
                                 TEXT(r, path, "path")};
    return READ_TEXTS(at, texts, err) != 0 ||
                   json_get_bool_def(at, "first_parent", &r->first_parent, err) != 0 ||
                   json_get_bool_def(at, "force", &r->force, err) != 0 || decode_wanted(at, r, err) != 0
               ? -1
               : read_int(at, "rounds", &r->rounds, err);
}

static int decode_commits(const struct json_at *at, struct bisect_state *b, struct err *err)
{
    struct json_at list = json_member(at, "commits");
    struct git_commits none = {.items = NULL, .count = json_array_size(list.value)};
    if (none.count < 2 || none.count > GIT_RANGE_MAX + 1)
        return json_fail(&list, err, "expected an array of 2 to %d commits", GIT_RANGE_MAX + 1);
    none.items = xcalloc(none.count, sizeof *none.items);
    if (bisect_state_init(b, &none, b->request.rounds, err) != 0)
        return -1;
    for (size_t i = 0; i < b->count; i++) {
        struct json_at item = json_element(&list, i);
        if (decode_commit(&item, &b->commits[i], &b->entries[i], err) != 0 ||
            decode_parents(&item, i, &b->commits[i], err) != 0)
            return -1;
    }
    return json_get_bool_def(at, "by_code", &b->search.by_code, err) != 0
               ? -1
               : read_int(at, "pairs", &b->search.pairs, err);
}

static int decode_cells(const struct json_at *at, struct bisect_state *b, struct err *err)
{
    struct json_at list = json_member(at, "cells");
    if (json_array_size(list.value) > BISECT_CELLS_MAX)
        return json_fail(&list, err, "more than %d cells", BISECT_CELLS_MAX);
    for (; b->n_cells < json_array_size(list.value); b->n_cells++) {
        struct json_at item = json_element(&list, b->n_cells);
        if (decode_cell(&item, &b->cells[b->n_cells], err) != 0)
            return -1;
    }
    return 0;
}

int bisect_state_decode(struct bisect_state *b, const struct json_at *at, struct err *err)
{
    const char *found;
    struct json_at request = json_member(at, "request"), form = json_member(at, "schema"),
                   answer = json_member(at, "answer");
    const struct text texts[] = {
        TEXT(b, name, "name"), TEXT(b, ticket, "ticket"),         TEXT(b, node, "node"),
        TEXT(b, gpu, "gpu"),   TEXT(b, started_at, "started_at"), TEXT(b, ended_at, "ended_at")};
    if (json_get_str(at, "schema", &found, err) != 0)
        return -1;
    if (strcmp(found, schema) != 0)
        return json_fail(&form, err, "expected \"%s\", found \"%.40s\"", schema, found);
    if (READ_TEXTS(at, texts, err) != 0 || decode_request(&request, &b->request, err) != 0 ||
        decode_commits(at, b, err) != 0 || decode_cells(at, b, err) != 0 ||
        json_get_bool_def(at, "followed", &b->followed, err) != 0)
        return -1;
    if (*b->ended_at) {
        b->step = bisect_next(&b->search);
        b->unlisted = (size_t)json_integer_value(json_member(&answer, "unlisted").value);
    }
    return 0;
}

int bisect_state_save(const struct bisect_state *b, struct store *s, struct err *err)
{
    AUTO(bisect_row_release) struct bisect_row row = {.body = NULL};
    AUTO(buf_release) struct buf text = {.max = BISECT_BODY_MAX};
    json_auto_t *body = bisect_state_encode(b);
    if (json_encode(body, &text, err) != 0)
        return -1;
    memcpy(row.name, b->name, sizeof row.name);
    memcpy(row.ticket, b->ticket, sizeof row.ticket);
    memcpy(row.node, b->node, sizeof row.node);
    memcpy(row.good, b->commits[0].id, sizeof row.good);
    memcpy(row.bad, b->commits[b->count - 1].id, sizeof row.bad);
    memcpy(row.started_at, b->started_at, sizeof row.started_at);
    memcpy(row.ended_at, b->ended_at, sizeof row.ended_at);
    if (*b->ended_at)
        snprintf(row.outcome, sizeof row.outcome, "%s", bisect_outcome_name(b->step.outcome));
    row.body = buf_steal(&text);
    return bisect_row_save(s, &row, err);
}

int bisect_state_load(struct bisect_state *b, struct store *s, const char *word, bool exact, bool *found,
                      struct err *err)
{
    AUTO(bisect_row_release) struct bisect_row row = {.body = NULL};
    char place[BISECT_NAME_MAX + 16];
    if (bisect_row_load(s, word, exact, &row, found, err) != 0)
        return -1;
    if (!*found)
        return 0;
    snprintf(place, sizeof place, "bisect %s", row.name);
    json_auto_t *body = json_parse(row.body, strlen(row.body), place, err);
    struct json_at root = json_root(body, place);
    if (body && bisect_state_decode(b, &root, err) == 0)
        return 0;
    bisect_state_release(b);
    return -1;
}
