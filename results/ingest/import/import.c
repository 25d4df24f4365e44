#include "results/ingest/import/import.h"

#include "results/ingest/draft/reading.h"
#include "results/ingest/import/pointer.h"
#include "results/ingest/import/value.h"
#include "results/ingest/text/csv.h"
#include "results/ingest/text/lenient.h"

#include "common/base/alloc.h"
#include "common/base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct importing {
    json_t *names; /* of variants: what each was made of; true once more than one was found */
    int64_t rows;  /* so far, of this file */
    int64_t files; /* so far */
    const json_t *map;
    const char *file;
    json_t *root;
    struct draft *d;
};

/* The tool wrote something as a measurement that cannot be one. */
static void disbelieve(struct importing *im, const struct import_scope *s, const char *name, const char *why,
                       struct run_test *t)
{
    t->status = STATUS_INVALID;
    snprintf(t->reason, sizeof t->reason, "%s is %s", name, why);
    draft_warn(im->d, "%s: %s: %s is %s: stored as INVALID", s->file, s->place, name, why);
}

static bool is_impossible(enum metric m, double value)
{
    return (metric_is_judged(m) || m == METRIC_WALL_S) && value <= 0;
}

static int take_metrics(struct importing *im, const struct import_scope *s, const json_t *test,
                        struct run_test *t, struct err *err)
{
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        char name[64];
        snprintf(name, sizeof name, "test.%s", info->name);
        const json_t *field = json_object_get(test, info->name);
        if (info->kind != METRIC_OF_TEST || !field)
            continue;
        int rc = import_number(s, field, name, info->unit, &t->value[m], err);
        if (rc < 0)
            return -1;
        if (rc > 0 && isnan(t->value[m]))
            disbelieve(im, s, info->name, "not finite", t);
        else if (rc > 0 && is_impossible((enum metric)m, t->value[m]))
            disbelieve(im, s, info->name, "not above 0", t);
    }
    return 0;
}

static int take_extras(struct draft *d, const struct import_scope *s, json_t *extras, struct draft_test *t,
                       struct err *err)
{
    const char *key;
    json_t *field;
    json_object_foreach(extras, key, field)
    {
        double v;
        char name[96];
        snprintf(name, sizeof name, "extras.%.60s", key);
        /* Converted only if "to" is given. */
        const char *to = json_string_value(json_object_get(field, "to"));
        const char *unit = json_string_value(json_object_get(field, "unit"));
        int rc = import_number(s, field, name, to ? to : unit ? unit : "", &v, err);
        if (rc > 0 && isnan(v))
            draft_warn(d, "%s: %s: extras.%.60s is not finite: left out", s->file, s->place, key);
        else if (rc < 0 || (rc > 0 && draft_add_extra(t, key, v, err) != 0))
            return -1;
    }
    return 0;
}

/* The metrics that the mapping defines are fields of "test", like the built-in ones. */
static int take_own_metrics(struct importing *im, const struct import_scope *s, const json_t *test,
                            struct draft_test *t, struct err *err)
{
    for (size_t i = 0; i < im->d->n_metrics; i++) {
        const struct metric_definition *m = &im->d->metrics[i];
        char name[LIMIT_NAME + 8];
        double v;
        snprintf(name, sizeof name, "test.%s", m->name);
        int rc = import_number(s, json_object_get(test, m->name), name, m->unit, &v, err);
        if (rc > 0 && isnan(v))
            disbelieve(im, s, m->name, "not finite", &t->t);
        else if (rc < 0 || (rc > 0 && draft_add_extra(t, m->name, v, err) != 0))
            return -1;
    }
    return 0;
}

static int take_status(const struct import_scope *s, const json_t *test, struct run_test *t, struct err *err)
{
    char name[32] = "OK";
    if (import_text(s, json_object_get(test, "status"), "test.status", name, sizeof name, err) < 0 ||
        import_text(s, json_object_get(test, "reason"), "test.reason", t->reason, sizeof t->reason, err) < 0)
        return -1;
    if (status_from_name(name, &t->status))
        return 0;
    return err_set(err, ERR_INPUT, "%s: %s: \"%s\" is not a status (mapping: test.status)", s->file, s->place,
                   name);
}

static void warn_alike(const struct importing *im, const struct import_scope *s, const char *name,
                       const char *as_written)
{
    const json_t *first = json_object_get(im->names, name);
    if (!first)
        json_object_set_new(im->names, name, json_string(as_written));
    if (!json_is_string(first) || strcmp(json_string_value(first), as_written) == 0)
        return;
    draft_warn(im->d, "%s: %s: \"%.80s\" and \"%.80s\" are both named %s and become one variant", s->file,
               s->place, json_string_value(first), as_written, name);
    json_object_set_new(im->names, name, json_true());
}

/* The variant of that name, added if it is new. */
static int find_variant(struct draft *d, const struct run_variant *wanted, size_t *out, struct err *err)
{
    *out = draft_variant(d, wanted->name);
    if (*out < d->n_variants)
        return 0;
    struct run_variant *v = draft_add_variant(d, wanted->name, err);
    if (!v)
        return -1;
    snprintf(v->kernel, sizeof v->kernel, "%s", wanted->kernel);
    snprintf(v->shape, sizeof v->shape, "%s", wanted->shape);
    return 0;
}

static int take_place(const struct importing *im, const struct import_scope *s, const json_t *test,
                      struct run_test *t, struct err *err)
{
    struct run_variant variant;
    char as_written[IMPORT_TEXT_MAX];
    int64_t context = 0, repetition = RUN_UNKNOWN, warmup = 0;
    if (import_variant(s, test, &variant, as_written, err) != 0 ||
        import_integer(s, json_object_get(test, "context"), "test.context", 0, INT32_MAX, &context, err) <
            0 ||
        import_integer(s, json_object_get(test, "repetition"), "test.repetition", 0, INT32_MAX, &repetition,
                       err) < 0 ||
        import_integer(s, json_object_get(test, "warmup"), "test.warmup", 0, 1, &warmup, err) < 0 ||
        import_text(s, json_object_get(test, "attn_impl"), "test.attn_impl", t->attn_impl,
                    sizeof t->attn_impl, err) < 0)
        return -1;
    if (find_variant(im->d, &variant, &t->variant, err) != 0)
        return -1;
    warn_alike(im, s, variant.name, as_written);
    t->context = (int)context;
    t->repetition = (int)repetition;
    t->warmup = warmup;
    return 0;
}

static bool has_values(const struct draft_test *t)
{
    for (int m = 0; m < METRIC_COUNT; m++)
        if (!isnan(t->t.value[m]))
            return true;
    return t->n_extras > 0 || t->t.status != STATUS_OK;
}

static int take_one(struct importing *im, const struct import_scope *s, const json_t *test, struct err *err)
{
    struct draft_test *t = draft_add_test(im->d, err);
    if (!t)
        return -1;
    t->t.index = (int)im->d->n_tests;
    t->t.key = im->files << 32 | im->rows; /* not stored yet: file and row, for warn_merged() */
    if (take_place(im, s, test, &t->t, err) != 0 || take_status(s, test, &t->t, err) != 0)
        return -1;
    if (t->t.status == STATUS_OK &&
        (take_metrics(im, s, test, &t->t, err) != 0 || take_own_metrics(im, s, test, t, err) != 0))
        return -1;
    bool several = json_is_array(json_object_get(im->map, "test"));
    if (several && !has_values(t)) {
        draft_drop_test(im->d);
        return 0;
    }
    return t->t.status == STATUS_OK ? take_extras(im->d, s, json_object_get(im->map, "extras"), t, err) : 0;
}

/* A row gives one test, or one for each of the mapping's tests that it has a value of. */
static int take_tests(struct importing *im, const struct import_scope *s, struct err *err)
{
    const json_t *test = json_object_get(im->map, "test"), *one;
    size_t i;
    if (!json_is_array(test))
        return take_one(im, s, test, err);
    json_array_foreach(test, i, one)
    {
        if (take_one(im, s, one, err) != 0)
            return -1;
    }
    return 0;
}

static int is_skipped(const struct importing *im, const struct import_scope *s, bool *skipped,
                      struct err *err)
{
    size_t i;
    const json_t *rules = json_object_get(im->map, "skip"), *rule;
    *skipped = false;
    json_array_foreach(rules, i, rule)
    {
        char text[IMPORT_TEXT_MAX];
        const char *equals = json_string_value(json_object_get(rule, "equals"));
        int rc = import_text(s, json_object_get(rule, "value"), "skip", text, sizeof text, err);
        if (rc < 0)
            return -1;
        *skipped = *skipped || (rc > 0 && equals && strcmp(text, equals) == 0);
    }
    return 0;
}

static int take_row(const struct pointer_match *m, void *arg, struct err *err)
{
    struct importing *im = arg;
    struct import_scope s = {.file = im->file,
                             .place = m->place,
                             .root = im->root,
                             .parent = m->parent,
                             .row = m->value,
                             .key = m->key};
    const char *repeat = json_string_value(json_object_get(im->map, "repeat"));
    bool skipped;
    im->rows++;
    if (is_skipped(im, &s, &skipped, err) != 0)
        return -1;
    json_t *elements = repeat ? pointer_find(m->value, repeat, 0) : NULL;
    if (skipped)
        return 0;
    if (!json_is_array(elements))
        return repeat && elements == NULL ? err_set(err, ERR_INPUT, "%s: %s%s: missing (mapping: repeat)",
                                                    im->file, m->place, repeat)
                                          : take_tests(im, &s, err);
    for (s.index = 0; s.index < json_array_size(elements); s.index++) {
        s.element = json_array_get(elements, s.index);
        if (take_tests(im, &s, err) != 0)
            return -1;
    }
    return 0;
}

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

/* With "repeat", a row is a cell, so two rows of one cell in one file differ in something that the mapping
 * ignores. Several files may each be a repetition. */
static void warn_merged(struct draft *d, const struct run_test *a, const struct run_test *b)
{
    if (a->key != b->key && a->key >> 32 == b->key >> 32)
        draft_warn(d,
                   "two rows are both %s at context %d and become repetitions: does the mapping's variant "
                   "distinguish them?",
                   d->variants[a->variant].name, a->context);
}

/* Numbers repetitions without a number in the order of the file. */
static void number_repetitions(struct importing *im)
{
    struct draft *d = im->d;
    bool row_is_cell = json_object_get(im->map, "repeat") != NULL;
    AUTO_FREE struct numbered *order = xcalloc(d->n_tests, sizeof *order);
    for (size_t i = 0; i < d->n_tests; i++)
        order[i] = (struct numbered){i, d->tests[i].t.variant, d->tests[i].t.context};
    qsort(order, d->n_tests, sizeof *order, by_cell);
    int next = 1;
    for (size_t i = 0; i < d->n_tests; i++) {
        bool same = i && order[i].variant == order[i - 1].variant && order[i].context == order[i - 1].context;
        next = same ? next + 1 : 1;
        struct run_test *t = &d->tests[order[i].test].t;
        if (t->repetition == RUN_UNKNOWN)
            t->repetition = next;
        if (same && row_is_cell)
            warn_merged(d, &d->tests[order[i - 1].test].t, t);
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
    if (pointer_each(im->root, rows, take_row, im, err) != 0)
        return err_wrap(err, "%s", im->file);
    if (im->d->n_tests == before)
        return err_set(err, ERR_INPUT, "%s: the mapping matches no row (rows: %s)", im->file, rows);
    return 0;
}

static const size_t file_max = (size_t)256 << 20;

/* Parses a JSON value, or JSON lines as an array; an error is that of the text as one value. */
static json_t *parse_json(const char *text, size_t len, const char *file, struct err *err)
{
    struct err ignored;
    json_t *whole = lenient_parse(text, len, file, err);
    if (whole)
        return whole;
    json_auto_t *lines = json_array();
    for (const char *p = text + lenient_mark(text, len), *end = text + len; p < end;) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        size_t n = eol ? (size_t)(eol - p) : (size_t)(end - p);
        json_t *value = strspn(p, " \t\r") < n ? lenient_parse(p, n, file, &ignored) : NULL;
        if (!value && strspn(p, " \t\r") < n)
            return NULL;
        if (value)
            json_array_append_new(lines, value);
        p += n + (eol != NULL);
    }
    return json_array_size(lines) > 0 ? json_incref(lines) : NULL;
}

/* The file as JSON: a document, JSON lines as an array, or CSV as an array of objects of strings; the caller
 * json_decref()s it. hex: the hash of its bytes. */
static json_t *load_source(const char *path, bool csv, char *hex, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = file_max};
    if (fs_is_dir(path)) {
        err_set(err, ERR_INPUT, "%s: a folder: name its files, or use `kernsweep ingest` if it is of a run",
                path);
        return NULL;
    }
    if (fs_read_file(path, file_max, &text, err) != 0)
        return NULL;
    size_t mark = lenient_mark(buf_str(&text), text.len);
    sha256_of(buf_str(&text), text.len, hex);
    return csv ? csv_parse(buf_str(&text) + mark, text.len - mark, path, err)
               : parse_json(buf_str(&text), text.len, path, err);
}

static int read_file(struct importing *im, const struct import_options *options, bool first,
                     struct sha256 *contents, struct err *err)
{
    char hex[SHA256_HEX_LEN + 1];
    bool csv = strcmp(json_string_value(json_object_get(im->map, "input")), "csv") == 0;
    json_auto_t *root = load_source(im->file, csv, hex, err);
    if (!root)
        return -1;
    im->root = root;
    sha256_add(contents, hex, sizeof hex);
    if (first)
        memcpy(im->d->info.content_sha256, hex, sizeof hex);
    return read_run(im, options, first, err) != 0 ? -1 : read_rows(im, err);
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

int import_read(const struct import_map *m, const char *const *paths, size_t n,
                const struct import_options *options, struct draft *d, struct err *err)
{
    json_auto_t *names = json_object();
    struct importing im = {.map = m->root, .d = d, .names = names};
    struct sha256 contents;
    sha256_begin(&contents);
    if (import_own_metrics(m->root, m->name, d, err) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        im.file = paths[i];
        if (read_file(&im, options, i == 0, &contents, err) != 0)
            return -1;
    }
    number_repetitions(&im);
    note_reading(m, options, &d->info);
    name_run(d, &contents, n);
    d->replace = options && options->replace;
    return draft_finish(d, err);
}
