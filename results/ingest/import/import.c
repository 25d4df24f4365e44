#include "results/ingest/import/import.h"

#include "results/ingest/draft/reading.h"
#include "results/ingest/import/row.h"
#include "results/ingest/import/source_file.h"
#include "results/ingest/import/value.h"

#include "common/base/alloc.h"
#include "common/base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct numbered {
    size_t test;
    size_t variant;
    int context;
};

static int by_cell(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->variant != y->variant)
        return x->variant < y->variant ? -1 : 1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return (x->test > y->test) - (x->test < y->test);
}

/* Two rows of one cell in one file, of which each is a cell or has the same number, differ in something that
 * the mapping ignores. Several files may each be a repetition. */
static void warn_merged(struct draft *d, const struct run_test *a, const struct run_test *b)
{
    if (a->key != b->key && a->key >> 32 == b->key >> 32)
        draft_warn(d,
                   "two rows are both %s at context %d and become repetitions: does the mapping's variant "
                   "distinguish them?",
                   d->variants[a->variant].name, a->context);
}

/* Whether two tests of the cell, which are n in order, have the same number. Each file counts its own. */
static bool numbered_twice(const struct draft *d, const struct numbered *order, size_t n)
{
    json_auto_t *seen = json_object();
    for (size_t i = 0; i < n; i++) {
        char number[32];
        snprintf(number, sizeof number, "%d", d->tests[order[i].test].t.repetition);
        if (d->tests[order[i].test].t.repetition != RUN_UNKNOWN && json_object_get(seen, number))
            return true;
        json_object_set_new(seen, number, json_true());
    }
    return false;
}

static void number_cell(struct draft *d, const struct numbered *order, size_t n, bool row_is_cell)
{
    bool again = numbered_twice(d, order, n);
    for (size_t i = 0; i < n; i++) {
        struct run_test *t = &d->tests[order[i].test].t;
        if (again || t->repetition == RUN_UNKNOWN)
            t->repetition = (int)i + 1;
        if (i > 0 && (row_is_cell || again))
            warn_merged(d, &d->tests[order[i - 1].test].t, t);
    }
}

/* Numbers repetitions without a number in the order of the files. */
static void number_repetitions(struct importing *im)
{
    struct draft *d = im->d;
    bool row_is_cell =
        json_object_get(im->map, "repeat") && !json_is_true(json_object_get(im->map, "repeat_rows"));
    AUTO_FREE struct numbered *order = xcalloc(d->n_tests, sizeof *order);
    for (size_t i = 0; i < d->n_tests; i++)
        order[i] = (struct numbered){i, d->tests[i].t.variant, d->tests[i].t.context};
    qsort(order, d->n_tests, sizeof *order, by_cell);
    for (size_t i = 0, n; i < d->n_tests; i += n) {
        for (n = 1; i + n < d->n_tests && order[i + n].variant == order[i].variant &&
                    order[i + n].context == order[i].context;)
            n++;
        number_cell(d, order + i, n, row_is_cell);
    }
}

/* The first file says which run it is and gives its facts; the others must agree. */
static int read_run(struct importing *im, const struct import_options *options, bool first, struct err *err)
{
    const struct import_scope whole = {
        .file = im->file, .place = "", .root = im->root, .parent = im->root, .row = im->root};
    if (first)
        return import_run(&whole, im->map, options, im->d, err);
    AUTO(draft_release) struct draft other;
    draft_init(&other);
    return import_run(&whole, im->map, options, &other, err) != 0
               ? -1
               : import_check_alike(&im->d->info, &other.info, im->file, err);
}

static int read_rows(struct importing *im, struct err *err)
{
    const char *rows = json_string_value(json_object_get(im->map, "rows"));
    size_t before = im->d->n_tests;
    im->files++;
    im->rows = 0;
    if (pointer_each(im->root, rows, import_row, im, err) != 0)
        return strncmp(err->msg, im->file, strlen(im->file)) == 0 ? -1 : err_wrap(err, "%s", im->file);
    im->empty = im->d->n_tests == before && im->rows > 0;
    if (im->empty)
        return err_set(
            err, ERR_INPUT,
            "%s: none of the %lld rows gives a test (rows: %s): \"skip\" leaves them out, or they have "
            "no values: see docs/import.md",
            im->file, (long long)im->rows, rows);
    if (im->d->n_tests == before)
        return err_set(err, ERR_INPUT, "%s: the mapping matches no row (rows: %s)", im->file, rows);
    return 0;
}

static int load_source(struct importing *im, char *hex, struct err *err)
{
    return source_file_load(im->map, im->file, &im->root, &im->units, hex, err);
}

/* The same numbers twice would count as two measurements. */
static int refuse_again(json_t *seen, const char *hex, const char *path, struct err *err)
{
    const char *first = json_string_value(json_object_get(seen, hex));
    if (first)
        return err_set(err, ERR_INPUT, "%s: the same contents as %s: name each file of a run once", path,
                       first);
    json_object_set_new(seen, hex, json_string(path));
    return 0;
}

static int read_file(struct importing *im, const struct import_options *options, bool first, json_t *seen,
                     struct sha256 *contents, struct err *err)
{
    char hex[SHA256_HEX_LEN + 1];
    int rc = load_source(im, hex, err);
    json_auto_t *root = im->root, *units = im->units;
    if (rc != 0 || refuse_again(seen, hex, im->file, err) != 0)
        return -1;
    sha256_add(contents, hex, sizeof hex);
    if (first)
        memcpy(im->d->info.content_sha256, hex, sizeof hex);
    rc = read_run(im, options, first, err) != 0 ? -1 : read_rows(im, err);
    (void)root;
    (void)units;
    return rc;
}

/* Two mappings with the same rules are the same reading, however they are written and described. */
static void note_reading(const struct import_map *m, const struct import_options *o, struct run_info *r)
{
    json_auto_t *rules = json_copy(m->root);
    json_object_del(rules, "about");
    AUTO_FREE char *text = json_dumps(rules, JSON_COMPACT | JSON_SORT_KEYS);
    r->reading[0] = '\0';
    reading_add_hash(r->reading, "mapping", text, strlen(text));
    reading_add(r->reading, "node", o ? o->node : NULL);
}

/* A single file is known by its own hash, which is set already. */
static void name_run(struct draft *d, struct sha256 *contents, size_t n)
{
    struct run_info *r = &d->info;
    snprintf(r->origin, sizeof r->origin, "import");
    if (n > 1)
        sha256_end(contents, r->content_sha256);
    snprintf(r->run_id, sizeof r->run_id, "%.4s%.2s%.2s-%.48s%s%.48s-%.6s", r->date, r->date + 5, r->date + 8,
             r->ticket, *r->tag ? "_" : "", r->tag, r->content_sha256);
}

/* What everybody who looks at the run should know, not only who imported it. */
static int keep_warnings(struct draft *d, struct err *err)
{
    char text[RUN_FACT_MAX];
    if (d->warnings == 0)
        return 0;
    snprintf(text, sizeof text, "%d, the first: %.200s", d->warnings, d->warning);
    return draft_add_fact(d, "import.warnings", text, err);
}

static int finish(struct importing *im, const struct import_map *m, const struct import_options *options,
                  struct sha256 *contents, size_t n, struct err *err)
{
    number_repetitions(im);
    note_reading(m, options, &im->d->info);
    name_run(im->d, contents, n);
    im->d->replace = options && options->replace;
    return keep_warnings(im->d, err) != 0 ? -1 : draft_finish(im->d, err);
}

int import_read(const struct import_map *m, const char *const *paths, size_t n,
                const struct import_options *options, struct draft *d, struct err *err)
{
    json_auto_t *names = json_object(), *seen = json_object();
    struct importing im = {.map = m->root, .d = d, .names = names};
    struct sha256 contents;
    sha256_begin(&contents);
    if (import_own_metrics(m->root, m->name, d, err) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        im.file = paths[i];
        if (read_file(&im, options, i == 0, seen, &contents, err) != 0)
            return -1;
    }
    return finish(&im, m, options, &contents, n, err);
}

bool import_has_runs(const struct import_map *m)
{
    return json_object_get(m->root, "runs") != NULL;
}

/* Collects what "runs" matches; those of which "run_by" gives the same text are one run, an array of them. */
struct collecting {
    const struct importing *im;
    const json_t *by;
    json_t *runs; /* by text, or by number */
};

static int collect(const struct pointer_match *match, void *arg, struct err *err)
{
    struct collecting *c = arg;
    char name[IMPORT_TEXT_MAX];
    const struct import_scope s = {.file = c->im->file,
                                   .place = match->place,
                                   .root = c->im->root,
                                   .units = c->im->units,
                                   .parent = match->parent,
                                   .row = match->value,
                                   .key = match->key};
    snprintf(name, sizeof name, "%zu", json_object_size(c->runs));
    if (!c->by)
        return json_object_set(c->runs, name, match->value);
    if (import_text(&s, c->by, "run_by", name, sizeof name, err) < 0)
        return -1;
    json_t *rows = json_object_get(c->runs, name);
    if (!rows)
        json_object_set_new(c->runs, name, rows = json_array());
    return json_array_append(rows, match->value);
}

/* Returns 1 with err if there are rows, but none gives a test. */
static int read_one_run(const struct importing *from, const struct import_map *m,
                        const struct import_options *options, json_t *root, struct draft *d, struct err *err)
{
    json_auto_t *names = json_object();
    struct importing im = {
        .map = m->root, .d = d, .names = names, .file = from->file, .root = root, .units = from->units};
    struct sha256 contents;
    AUTO_FREE char *text = json_dumps(root, JSON_COMPACT | JSON_ENCODE_ANY);
    sha256_begin(&contents);
    sha256_of(text ? text : "", text ? strlen(text) : 0, d->info.content_sha256);
    return import_own_metrics(m->root, m->name, d, err) != 0 || read_run(&im, options, true, err) != 0 ? -1
           : read_rows(&im, err) == 0 ? finish(&im, m, options, &contents, 1, err)
           : im.empty                 ? 1
                                      : -1;
}

int import_each(const struct import_map *m, const char *path, const struct import_options *options,
                import_fn *fn, void *arg, struct err *err)
{
    char hex[SHA256_HEX_LEN + 1];
    const char *key;
    json_t *root;
    size_t taken = 0;
    json_auto_t *runs = json_object();
    struct importing im = {.map = m->root, .file = path};
    struct collecting c = {&im, json_object_get(m->root, "run_by"), runs};
    int rc = load_source(&im, hex, err);
    json_auto_t *whole = im.root, *units = im.units;
    if (rc == 0)
        rc = pointer_each(whole, json_string_value(json_object_get(m->root, "runs")), collect, &c, err);
    if (rc == 0 && json_object_size(runs) == 0)
        rc = err_set(err, ERR_INPUT, "%s: the mapping matches no run (runs: %s)", path,
                     json_string_value(json_object_get(m->root, "runs")));
    json_object_foreach(runs, key, root)
    {
        AUTO(draft_release) struct draft d;
        draft_init(&d);
        int one = rc < 0 ? -1 : read_one_run(&im, m, options, root, &d, err);
        taken += one == 0;
        rc = one == 0 ? fn(&d, arg, err) : one < 0 ? -1 : 0;
    }
    (void)units;
    if (rc == 0 && taken == 0)
        return -1;
    if (rc == 0)
        *err = (struct err){0};
    return rc;
}
