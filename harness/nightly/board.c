#include "harness/nightly/board.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/sha256.h"
#include "harness/nightly/digest.h"
#include "harness/nightly/open_cells.h"
#include "reports/words/range.h"
#include "reports/words/reason.h"
#include "results/judge/nights/changes.h"
#include "results/query/history_load.h"
#include "results/store/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARK = 12, COMMIT_LEN = 7, OPENING_MAX = 1024, RUNS_LOOKED_AT = 4 * BOARD_NIGHTS_MAX };

/* The nights of all cells, oldest first: the places of a sparkline. */
struct axis {
    struct history_point *nights;
    size_t count, cap;
};

static void axis_release(struct axis *axis)
{
    free(axis->nights);
}

static int by_time(const void *a, const void *b)
{
    const struct history_point *x = a, *y = b;
    if (x->measured_at != y->measured_at)
        return x->measured_at < y->measured_at ? -1 : 1;
    return x->run_key < y->run_key ? -1 : x->run_key > y->run_key;
}

static void make_axis(const struct history *h, struct axis *out)
{
    for (size_t i = 0; i < h->count; i++)
        for (size_t k = 0; k < h->series[i].count; k++) {
            const struct history_point *p = &h->series[i].points[k];
            if (out->count && bsearch(p, out->nights, out->count, sizeof *out->nights, by_time))
                continue;
            ALLOC_GROW(out->nights, out->count + 1, out->cap);
            out->nights[out->count++] = *p;
            qsort(out->nights, out->count, sizeof *out->nights, by_time);
        }
}

/* Every point is on the axis. */
static size_t place(const struct axis *axis, const struct history_point *p)
{
    const struct history_point *at =
        axis->count ? bsearch(p, axis->nights, axis->count, sizeof *axis->nights, by_time) : NULL;
    return at ? (size_t)(at - axis->nights) : 0;
}

static json_t *encode_night(const struct run_list *runs, const struct history_point *p)
{
    char commit[COMMIT_LEN + 1];
    for (size_t i = 0; i < runs->count; i++) {
        const struct run_info *r = &runs->runs[i];
        if (r->key != p->run_key)
            continue;
        snprintf(commit, sizeof commit, "%.*s", COMMIT_LEN, r->revision.commit);
        return json_pack("{s:s, s:s, s:s}", "date", r->date, "run_id", r->run_id, "commit", commit);
    }
    return json_pack("{s:s, s:s, s:s}", "date", "", "run_id", "", "commit", "");
}

static json_t *encode_nights(struct store *s, const struct run_info *now, const struct axis *axis,
                             struct err *err)
{
    const struct run_filter filter = {
        .ticket = now->ticket, .node = now->node, .mode = now->mode, .limit = RUNS_LOOKED_AT};
    struct run_list runs = {0};
    if (runs_list(s, &filter, &runs, err) != 0)
        return NULL;
    json_t *nights = json_array();
    for (size_t i = 0; i < axis->count; i++)
        json_array_append_new(nights, encode_night(&runs, &axis->nights[i]));
    run_list_release(&runs);
    return nights;
}

/* Where the level changed, and the single nights that were set aside. Indices are places on the axis. */
static void add_changes(json_t *cell, const struct history_series *series, const struct axis *axis)
{
    double x[BOARD_NIGHTS_MAX];
    uint64_t device[BOARD_NIGHTS_MAX];
    size_t n = series->count < BOARD_NIGHTS_MAX ? series->count : BOARD_NIGHTS_MAX;
    const struct history_point *points = series->points + (series->count - n);
    struct changes_options options = changes_defaults();
    struct changes found;
    for (size_t i = 0; i < n; i++) {
        x[i] = points[i].median;
        device[i] = points[i].device;
    }
    options.device = device;
    changes_find(x, n, &options, &found);
    json_t *changes = json_array(), *odd = json_array();
    for (size_t i = 0; i < found.count; i++) {
        const struct change *c = &found.items[i];
        json_array_append_new(changes,
                              json_pack("{s:i, s:f, s:b}", "at", (int)place(axis, &points[c->at]), "ratio",
                                        isfinite(c->ratio) ? c->ratio : 1, "device", c->forced));
    }
    for (size_t i = 0; i < n; i++)
        if (found.odd[i])
            json_array_append_new(odd, json_integer((json_int_t)place(axis, &points[i])));
    changes_release(&found);
    json_object_set_new(cell, "changes", changes);
    json_object_set_new(cell, "odd", odd);
}

/* A cell that a run measured on several GPUs is shown as on the GPU of its newest point. */
static void keep_one_gpu(struct history_series *s)
{
    bool several = false;
    size_t kept = 0;
    for (size_t i = 1; i < s->count; i++)
        several = several || s->points[i].run_key == s->points[i - 1].run_key;
    if (!several)
        return;
    uint64_t device = s->points[s->count - 1].device;
    for (size_t i = 0; i < s->count; i++)
        if (s->points[i].device == device)
            s->points[kept++] = s->points[i];
    s->count = kept;
}

static json_t *encode_series(const struct history_series *series, const struct axis *axis)
{
    json_t *at = json_array(), *values = json_array();
    for (size_t i = 0; i < series->count; i++)
        if (isfinite(series->points[i].median)) {
            json_array_append_new(at, json_integer((json_int_t)place(axis, &series->points[i])));
            json_array_append_new(values, json_real(series->points[i].median));
        }
    json_t *cell = json_pack("{s:s, s:i, s:o, s:o}", "variant", series->variant, "context", series->context,
                             "at", at, "values", values);
    if (cell)
        add_changes(cell, series, axis);
    return cell;
}

/* A cell without any night, as one whose tests always failed, has a verdict but no series. */
static json_t *cell_of(json_t *cells, const char *variant, int context)
{
    json_t *cell = open_cells_find(cells, variant, context);
    if (!cell) {
        cell = json_pack("{s:s, s:i, s:[], s:[], s:[], s:[]}", "variant", variant, "context", context, "at",
                         "values", "changes", "odd");
        json_array_append_new(cells, cell);
    }
    return cell;
}

/* "since 2026-11-27, with a1b2c3d (unroll the loop)" */
static void add_opening(json_t *cell, const struct comparison *c, const struct delta *d)
{
    AUTO(buf_release) struct buf text = {.max = OPENING_MAX};
    const struct opening *o = openings_of(&c->openings, d->variant, d->context);
    if (o)
        opening_phrase(o, REPORT_EN, &text);
    if (text.len)
        json_object_set_new(cell, "opened", json_string(buf_str(&text)));
}

static void add_verdicts(json_t *cells, const struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        char note[DIGEST_NOTE_MAX];
        if (d->metric != c->primary)
            continue;
        json_t *cell = cell_of(cells, d->variant, d->context);
        digest_note(c, d, note);
        json_object_set_new(cell, "verdict", json_string(verdict_name(d->verdict)));
        json_object_set_new(cell, "note", json_string(note));
        add_opening(cell, c, d);
        if (isfinite(d->estimate.ratio))
            json_object_set_new(cell, "ratio", json_real(delta_size(d)));
        AUTO(buf_release) struct buf settles = {.max = SETTLES_MAX};
        if (d->verdict == VERDICT_SUSPECTED) {
            verdict_settles(d, REPORT_EN, &settles);
            json_object_set_new(cell, "settles", json_string(buf_str(&settles)));
        }
        if (d->stand.gone && !verdict_is_slower(d->verdict))
            json_object_set_new(cell, "gone", json_string(num_date(d->stand.gone).s));
        if (d->accepted)
            json_object_set_new(cell, "accepted",
                                json_sprintf("accepted by %s on %s: %s", d->accepted->who,
                                             num_date(d->accepted->accepted_at).s, d->accepted->reason));
    }
}

static void add_open(json_t *cells, const json_t *open)
{
    size_t i;
    const json_t *known;
    json_array_foreach(open, i, known)
    {
        const char *variant = json_string_value(json_object_get(known, "variant"));
        if (variant)
            json_object_set(
                cell_of(cells, variant, (int)json_integer_value(json_object_get(known, "context"))), "since",
                json_object_get(known, "since"));
    }
}

static json_t *encode_cells(const struct board_night *n, const struct history *h, const struct axis *axis)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < h->count; i++)
        json_array_append_new(cells, encode_series(&h->series[i], axis));
    if (n->comparison)
        add_verdicts(cells, n->comparison);
    add_open(cells, n->open);
    return cells;
}

static json_t *assemble(const struct board_night *n, enum metric metric, json_t *nights, json_t *cells)
{
    const struct run_info *now = &n->run->info;
    const struct metric_info *m = metric_info(metric);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:o}", "schema", BOARD_SCHEMA, "ticket",
                     now->ticket, "node", now->node, "mode", now->mode, "night", n->night, "metric", m->name,
                     "unit", m->unit, "more_is_better", m->better == METRIC_MORE, "nights", nights, "cells",
                     cells);
}

json_t *board_encode(const struct board_night *n, struct err *err)
{
    const struct run_info *now = &n->run->info;
    enum metric metric = n->comparison ? n->comparison->primary : run_data_metric(n->run);
    const struct history_options options = {.node = now->node,
                                            .ticket = now->ticket,
                                            .mode = now->mode,
                                            .nights = BOARD_NIGHTS_MAX,
                                            .keep = &now->key, /* even with local changes */
                                            .n_keep = 1,
                                            .metric = metric};
    AUTO(history_release) struct history h = {0};
    AUTO(axis_release) struct axis axis = {0};
    if (history_load(n->store, &options, &h, err) != 0)
        return NULL;
    for (size_t i = 0; i < h.count; i++)
        keep_one_gpu(&h.series[i]);
    make_axis(&h, &axis);
    json_t *nights = encode_nights(n->store, now, &axis, err);
    return nights ? assemble(n, metric, nights, encode_cells(n, &h, &axis)) : NULL;
}

int board_save(const char *root, const json_t *board, struct err *err)
{
    char folder[FS_PATH_MAX], path[FS_PATH_MAX], name[128], hash[SHA256_HEX_LEN + 1];
    struct sha256 h;
    sha256_begin(&h);
    sha256_add_text(&h, json_text(board, "ticket"));
    sha256_add_text(&h, json_text(board, "node"));
    sha256_add_text(&h, json_text(board, "mode"));
    sha256_end(&h, hash);
    snprintf(name, sizeof name, "%.64s-%.*s.json", json_text(board, "ticket"), MARK, hash);
    if (fs_join(folder, err, root, BOARD_FOLDER) != 0 || fs_mkdir_p(folder, 0755, err) != 0 ||
        fs_join(path, err, folder, name) != 0)
        return -1;
    return json_save(path, board, err);
}
