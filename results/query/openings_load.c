#include "results/query/openings_load.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "results/store/bisect_row.h"
#include "results/store/sql.h"
#include "results/store/when.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEARCHES_LOOKED_AT = 32 }; /* the newest */

struct loading {
    struct store *store;
    const struct run_data *now;
    struct comparison *c;
    struct commit_log log;
    struct sql_stmt *well, *next, *compiled; /* WELL_BEFORE, FIRST_SINCE, COMPILED_BEFORE */
    struct bisect_rows searches;
};

#define NIGHT_OF_PLAN                                                                                        \
    " FROM run r LEFT JOIN run_revision g ON g.run_id = r.id WHERE r.node = :node AND r.ticket = :ticket"    \
    " AND r.mode = :mode AND r.tag = :tag AND r.purpose = 'sweep' AND r.rejected_at IS NULL"                 \
    " AND (coalesce(g.dirty, 0) = 0 OR r.id = :now)"
/* The newest night before :at on which the cell was OK. */
#define WELL_BEFORE                                                                                          \
    "SELECT r.id, r.ordered_at" NIGHT_OF_PLAN " AND r.ordered_at < :at AND EXISTS (SELECT 1 FROM test t"     \
    " WHERE t.run_id = r.id AND t.status = 'OK' AND t.warmup = 0 AND t.series_id = (SELECT id FROM series"   \
    " WHERE node = :node AND ticket = :ticket AND mode = :mode AND variant = :variant"                       \
    " AND context_len = :context)) ORDER BY r.ordered_at DESC, r.id DESC LIMIT 1"
/* The first night at or after :at. */
#define FIRST_SINCE                                                                                          \
    "SELECT r.id, r.ordered_at" NIGHT_OF_PLAN " AND r.ordered_at >= :at ORDER BY r.ordered_at, r.id LIMIT 1"
/* The values of the nights that judge the cell, where it is known whether their tests filled caches. */
#define COMPILED_BEFORE                                                                                      \
    "SELECT count(*) AS n, count(CASE WHEN t.compiled > 0 THEN 1 END) AS compiled FROM test t"               \
    " WHERE t.compiled IS NOT NULL AND t.status = 'OK' AND t.warmup = 0 AND t.series_id ="                   \
    " (SELECT id FROM series WHERE node = :node AND ticket = :ticket AND mode = :mode"                       \
    " AND variant = :variant AND context_len = :context) AND t.run_id IN (SELECT r.id" NIGHT_OF_PLAN         \
    " AND r.ordered_at < :at ORDER BY r.ordered_at DESC, r.id DESC LIMIT :nights)"

static const double share_of_change = 0.5;

/* Whether it is worth knowing when the cell became what it is. */
static bool is_wanted(const struct comparison *c, const struct delta *d)
{
    switch (d->verdict) {
    case VERDICT_REGRESSED:
    case VERDICT_SUSPECTED:
    case VERDICT_IMPROVED:
    case VERDICT_BROKEN:
    case VERDICT_FAILING:
    case VERDICT_MISSING:
        return d->metric == c->primary;
    case VERDICT_ACCEPTED:
    case VERDICT_UNCHANGED:
    case VERDICT_NOISY:
    case VERDICT_NEW:
    case VERDICT_FIXED:
    case VERDICT_COUNT:
        break;
    }
    return false;
}

/* To the first of the nights before that lie at least half as far from the base as tonight, without one in
 * between that does not. */
static void look_back(const struct comparison *c, struct delta *d)
{
    const struct history_series *s = history_find(&c->seen, d->variant, d->context, d->metric);
    double change = log(d->now.median / d->base.median);
    size_t first = s ? s->count : 0;
    if (!s || !isfinite(change))
        return;
    while (first > 0 && log(s->points[first - 1].median / d->base.median) / change >= share_of_change)
        first--;
    if (first < s->count)
        d->stand.since = s->points[first].measured_at;
}

/* Sets delta.stand.since of cells that were compared with a run. */
static void look_back_all(struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct delta *d = &c->deltas[i];
        if (is_wanted(c, d) && d->compared == COMPARED_RUNS && d->stand.since == 0)
            look_back(c, d);
    }
}

struct night {
    int64_t key, at; /* key 0: there is none */
};

static void bind_plan(struct sql_stmt *stmt, const struct run_info *i, int64_t at)
{
    sql_bind_text(stmt, ":node", i->node);
    sql_bind_text(stmt, ":ticket", i->ticket);
    sql_bind_text(stmt, ":mode", i->mode);
    sql_bind_text(stmt, ":tag", i->tag);
    sql_bind_int(stmt, ":now", i->key);
    sql_bind_int(stmt, ":at", at);
}

static int read_night(struct sql_stmt *stmt, struct night *out, struct err *err)
{
    int rc = sql_step(stmt, err);
    *out = (struct night){0};
    if (rc > 0)
        *out = (struct night){sql_col_int(stmt, "id", 0), sql_col_int(stmt, "ordered_at", 0)};
    sql_reset(stmt);
    return rc < 0 ? -1 : 0;
}

static int well_before(const struct loading *l, const struct delta *d, int64_t at, struct night *out,
                       struct err *err)
{
    bind_plan(l->well, &l->now->info, at);
    sql_bind_text(l->well, ":variant", d->variant);
    sql_bind_int(l->well, ":context", d->context);
    return read_night(l->well, out, err);
}

static int64_t begun(const struct run_info *run)
{
    int64_t at = when_parse(run->started_at);
    return at == WHEN_UNKNOWN ? when_midnight(run->date) : at;
}

static int count_compiled(const struct loading *l, struct delta *d, struct err *err)
{
    if (d->compared != COMPARED_NIGHTS)
        return 0;
    bind_plan(l->compiled, &l->now->info, begun(&l->now->info));
    sql_bind_text(l->compiled, ":variant", d->variant);
    sql_bind_int(l->compiled, ":context", d->context);
    sql_bind_int(l->compiled, ":nights", d->reference.history_n);
    int rc = sql_step(l->compiled, err);
    if (rc > 0) {
        d->base.values = (int)sql_col_int(l->compiled, "n", 0);
        d->base.compiled = (int)sql_col_int(l->compiled, "compiled", 0);
    }
    sql_reset(l->compiled);
    return rc < 0 ? -1 : 0;
}

static int first_since(const struct loading *l, int64_t at, struct night *out, struct err *err)
{
    bind_plan(l->next, &l->now->info, at);
    return read_night(l->next, out, err);
}

/* A cell that fails has done so since the night after the last on which it was OK. */
static int find_nights(const struct loading *l, const struct delta *d, struct night *before,
                       struct night *first, struct err *err)
{
    int64_t now = begun(&l->now->info);
    bool slower = isfinite(d->estimate.ratio);
    if (well_before(l, d, slower && d->stand.since ? d->stand.since : now, before, err) != 0)
        return -1;
    if (slower)
        return first_since(l, d->stand.since ? d->stand.since : now, first, err);
    *first = (struct night){l->now->info.key, now};
    return before->key ? first_since(l, before->at + 1, first, err) : 0;
}

static int load_range(struct loading *l, const struct night *before, const struct night *first,
                      struct opening *o, struct err *err)
{
    struct run_revision from, to;
    if (!before->key || !first->key)
        return 0;
    return revision_load(l->store, before->key, &from, err) != 0 ||
                   revision_load(l->store, first->key, &to, err) != 0
               ? -1
               : commit_range_find(&l->log, &from, &to, &o->commits, err);
}

/* Whether the answer of a search is about the cell, and what it is. */
static bool read_answer(const json_t *body, struct opening *o)
{
    const json_t *answer = json_object_get(body, "answer"), *cell, *ids = json_object_get(answer, "commits");
    size_t i, n = json_array_size(ids);
    bool is_explained = false;
    json_array_foreach(json_object_get(answer, "cells"), i, cell) is_explained =
        is_explained || (strcmp(json_text(cell, "variant"), o->variant) == 0 &&
                         json_integer_value(json_object_get(cell, "context")) == o->context);
    const char *first = json_string_value(json_array_get(ids, 0)),
               *last = json_string_value(json_array_get(ids, n - 1));
    if (!is_explained || !first || !last || !commit_is_id(first) || !commit_is_id(last) ||
        json_integer_value(json_object_get(answer, "unlisted")) != 0)
        return false;
    snprintf(o->found, sizeof o->found, "%s", first);
    snprintf(o->found_last, sizeof o->found_last, "%s", last);
    return true;
}

/* Whether what was found is among the commits with which the finding began. */
static int check_found(struct loading *l, struct opening *o, bool *inside, struct err *err)
{
    struct run_revision found = {0};
    struct commit_range *before = xcalloc(2, sizeof *before), *after = before + 1;
    memcpy(found.commit, o->found_last, sizeof found.commit);
    int rc = commit_range_find(&l->log, &o->commits.from, &found, before, err);
    if (rc == 0)
        rc = commit_range_find(&l->log, &found, &o->commits.to, after, err);
    *inside = before->kind == RANGE_ON && (after->kind == RANGE_ON || after->kind == RANGE_SAME);
    free(before);
    return rc;
}

static int look_into(struct loading *l, const struct bisect_row *head, struct opening *o, bool *found,
                     struct err *err)
{
    AUTO(bisect_row_release) struct bisect_row row = {.body = NULL};
    struct commit commit;
    struct err unreadable = {0};
    if (bisect_row_load(l->store, head->name, true, &row, found, err) != 0)
        return -1;
    json_auto_t *body = *found ? json_parse(row.body, strlen(row.body), row.name, &unreadable) : NULL;
    *found = read_answer(body, o);
    if (*found && check_found(l, o, found, err) != 0)
        return -1;
    if (!*found) {
        o->found[0] = o->found_last[0] = '\0';
        return 0;
    }
    int known = strcmp(o->found, o->found_last) == 0 ? commit_load(l->store, o->found, &commit, err) : 0;
    if (known > 0)
        memcpy(o->subject, commit.subject, sizeof o->subject);
    return known < 0 ? -1 : 0;
}

static bool is_of_plan(const struct loading *l, const struct bisect_row *row)
{
    bool answered = strcmp(row->outcome, "found") == 0 || strcmp(row->outcome, "range") == 0;
    return answered && strcmp(row->ticket, l->now->info.ticket) == 0 &&
           strcmp(row->node, l->now->info.node) == 0;
}

static int find_search(struct loading *l, struct opening *o, struct err *err)
{
    size_t looked = 0;
    bool found = false;
    for (size_t i = 0; i < l->searches.count && !found && looked < SEARCHES_LOOKED_AT; i++) {
        const struct bisect_row *row = &l->searches.items[i];
        if (!is_of_plan(l, row))
            continue;
        looked++;
        if (look_into(l, row, o, &found, err) != 0)
            return -1;
    }
    return 0;
}

static int load_one(struct loading *l, struct delta *d, struct opening *o, struct err *err)
{
    struct night before, first;
    snprintf(o->variant, sizeof o->variant, "%s", d->variant);
    o->context = d->context;
    if (count_compiled(l, d, err) != 0 || find_nights(l, d, &before, &first, err) != 0 ||
        load_range(l, &before, &first, o, err) != 0)
        return -1;
    o->since = first.key ? first.at : begun(&l->now->info);
    if (o->commits.n_listed == 1 && o->commits.count == 1)
        memcpy(o->subject, o->commits.listed[0].subject, sizeof o->subject);
    return o->commits.kind == RANGE_ON ? find_search(l, o, err) : 0;
}

static int load_all(struct loading *l, struct err *err)
{
    struct comparison *c = l->c;
    size_t wanted = 0;
    l->well = sql_prepare(l->store, WELL_BEFORE, err);
    l->next = sql_prepare(l->store, FIRST_SINCE, err);
    l->compiled = sql_prepare(l->store, COMPILED_BEFORE, err);
    if (!l->well || !l->next || !l->compiled || bisect_rows_list(l->store, &l->searches, err) != 0)
        return -1;
    for (size_t i = 0; i < c->count; i++)
        wanted += is_wanted(c, &c->deltas[i]);
    c->openings.items = xcalloc(wanted + 1, sizeof *c->openings.items);
    for (size_t i = 0; i < c->count; i++)
        if (is_wanted(c, &c->deltas[i]) &&
            load_one(l, &c->deltas[i], &c->openings.items[c->openings.count++], err) != 0)
            return -1;
    return 0;
}

int openings_load(struct store *s, const struct run_data *now, struct comparison *c, struct err *err)
{
    struct loading l = {.store = s, .now = now, .c = c, .log = {.store = s}};
    openings_release(&c->openings);
    look_back_all(c);
    int rc = load_all(&l, err);
    sql_finalize(l.well);
    sql_finalize(l.next);
    sql_finalize(l.compiled);
    bisect_rows_release(&l.searches);
    commit_log_release(&l.log);
    return rc;
}
