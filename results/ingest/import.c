#include "results/ingest/import.h"

#include "results/ingest/csv.h"
#include "results/ingest/import_value.h"
#include "results/ingest/pointer.h"

#include "common/base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t file_max = (size_t)256 << 20;

/* A JSON value, or JSON lines as an array. */
static json_t *parse_json(const char *text, size_t len, const char *file, struct err *err)
{
    struct err ignored;
    json_t *whole = json_parse(text, len, file, err);
    if (whole)
        return whole;
    json_t *lines = json_array();
    for (const char *p = text, *end = text + len; p < end;) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        size_t n = eol ? (size_t)(eol - p) : (size_t)(end - p);
        if (strspn(p, " \t\r") < n) {
            json_t *value = json_parse(p, n, file, &ignored);
            if (!value || json_array_append_new(lines, value) != 0) {
                /* keep the message about the whole file */
                json_decref(lines);
                return NULL;
            }
        }
        p += n + (eol != NULL);
    }
    return lines;
}

struct importing {
    int64_t rows; /* so far */
    const json_t *map;
    const char *file;
    json_t *root;
    struct draft *d;
};

static int take_metrics(const struct import_scope *s, const json_t *test, struct run_test *t, struct err *err)
{
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        char name[64];
        snprintf(name, sizeof name, "test.%s", info->name);
        const json_t *field = json_object_get(test, info->name);
        if (info->kind == METRIC_OF_TEST && field &&
            import_number(s, field, name, info->unit, &t->value[m], err) < 0)
            return -1;
    }
    return 0;
}

static int take_extras(const struct import_scope *s, json_t *extras, struct draft_test *t, struct err *err)
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
        if (rc < 0 || (rc > 0 && draft_add_extra(t, key, v, err) != 0))
            return -1;
    }
    return 0;
}

static const char *unit_of(const struct draft *d, const char *name)
{
    for (size_t i = 0; i < d->n_metrics; i++)
        if (strcmp(d->metrics[i].name, name) == 0)
            return d->metrics[i].unit;
    return "";
}

/* The metrics that the mapping defines, as fields of "test" like the built-in ones. */
static int take_own_metrics(const struct importing *im, const struct import_scope *s, const json_t *test,
                            struct draft_test *t, struct err *err)
{
    for (size_t i = 0; i < im->d->n_metrics; i++) {
        const char *key = im->d->metrics[i].name;
        char name[LIMIT_NAME + 8];
        double v;
        snprintf(name, sizeof name, "test.%s", key);
        int rc = import_number(s, json_object_get(test, key), name, unit_of(im->d, key), &v, err);
        if (rc < 0 || (rc > 0 && draft_add_extra(t, key, v, err) != 0))
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

/* Names of other benchmarks may be invalid here: invalid characters become '_', and a name that is too long
 * ends in a hash, so that different names remain different. */
static void make_name(char *text)
{
    char hex[SHA256_HEX_LEN + 1];
    size_t len = strlen(text);
    sha256_of(text, len, hex);
    for (char *p = text; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              (p > text && strchr("._-", *p))))
            *p = '_';
    if (len > LIMIT_NAME)
        snprintf(text + LIMIT_NAME - 9, 10, "_%.8s", hex);
}

static int take_place(const struct importing *im, const struct import_scope *s, const json_t *test,
                      struct run_test *t, struct err *err)
{
    char variant[IMPORT_TEXT_MAX];
    int64_t context = 0, repetition = RUN_UNKNOWN, warmup = 0;
    int rc = import_text(s, json_object_get(test, "variant"), "test.variant", variant, sizeof variant, err);
    if (rc <= 0 || !*variant)
        return rc < 0 ? -1
                      : err_set(err, ERR_INPUT, "%s: %s: no variant given (mapping: test.variant)", s->file,
                                s->place);
    make_name(variant);
    if (import_integer(s, json_object_get(test, "context"), "test.context", 0, INT32_MAX, &context, err) <
            0 ||
        import_integer(s, json_object_get(test, "repetition"), "test.repetition", 0, INT32_MAX, &repetition,
                       err) < 0 ||
        import_integer(s, json_object_get(test, "warmup"), "test.warmup", 0, 1, &warmup, err) < 0 ||
        import_text(s, json_object_get(test, "attn_impl"), "test.attn_impl", t->attn_impl,
                    sizeof t->attn_impl, err) < 0)
        return -1;
    t->variant = draft_variant(im->d, variant);
    if (t->variant == im->d->n_variants && !draft_add_variant(im->d, variant, err))
        return -1;
    t->context = (int)context;
    t->repetition = (int)repetition;
    t->warmup = warmup;
    return 0;
}

static int take_one(struct importing *im, const struct import_scope *s, struct err *err)
{
    const json_t *test = json_object_get(im->map, "test");
    struct draft_test *t = draft_add_test(im->d, err);
    if (!t)
        return -1;
    t->t.index = (int)im->d->n_tests;
    t->t.key = im->rows; /* not stored yet: the row of the file, for warn_merged() */
    if (take_place(im, s, test, &t->t, err) != 0 || take_status(s, test, &t->t, err) != 0)
        return -1;
    if (t->t.status == STATUS_OK &&
        (take_metrics(s, test, &t->t, err) != 0 || take_own_metrics(im, s, test, t, err) != 0))
        return -1;
    return t->t.status == STATUS_OK ? take_extras(s, json_object_get(im->map, "extras"), t, err) : 0;
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

static int take_row(json_t *row, json_t *parent, const char *place, void *arg, struct err *err)
{
    struct importing *im = arg;
    struct import_scope s = {
        .file = im->file, .place = place, .root = im->root, .parent = parent, .row = row};
    const char *repeat = json_string_value(json_object_get(im->map, "repeat"));
    bool skipped;
    im->rows++;
    if (is_skipped(im, &s, &skipped, err) != 0)
        return -1;
    json_t *elements = repeat ? pointer_find(row, repeat, 0) : NULL;
    if (skipped)
        return 0;
    if (!json_is_array(elements))
        return repeat && elements == NULL
                   ? err_set(err, ERR_INPUT, "%s: %s%s: missing (mapping: repeat)", im->file, place, repeat)
                   : take_one(im, &s, err);
    for (s.index = 0; s.index < json_array_size(elements); s.index++) {
        s.element = json_array_get(elements, s.index);
        if (take_one(im, &s, err) != 0)
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

/* With "repeat", a row is a cell: two rows of one cell differ in something that the mapping ignores. */
static void warn_merged(struct draft *d, const struct run_test *a, const struct run_test *b)
{
    if (a->key != b->key)
        draft_warn(d,
                   "two rows are both %s at context %d and become repetitions: does the mapping's variant "
                   "distinguish them?",
                   d->variants[a->variant].name, a->context);
}

/* Numbers repetitions without a number in the order of the file. */
static int number_repetitions(struct importing *im, struct err *err)
{
    struct draft *d = im->d;
    bool row_is_cell = json_object_get(im->map, "repeat") != NULL;
    struct numbered *order = calloc(d->n_tests + 1, sizeof *order);
    if (!order)
        return err_set(err, ERR_INTERNAL, "no memory for %zu tests", d->n_tests);
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
    free(order);
    return 0;
}

static void name_run(struct draft *d, const char *text, size_t len)
{
    struct run_info *r = &d->info;
    snprintf(r->origin, sizeof r->origin, "import");
    sha256_of(text, len, r->content_sha256);
    snprintf(r->run_id, sizeof r->run_id, "%.4s%.2s%.2s-%.48s%s%.48s-%.6s", r->date, r->date + 5, r->date + 8,
             r->ticket, *r->tag ? "_" : "", r->tag, r->content_sha256);
}

/* In a plan "from" says where a value is read; here a field of "test" does. */
static int check_metrics(const struct json_at *metrics, struct err *err)
{
    for (size_t i = 0; i < json_array_size(metrics->value); i++) {
        struct json_at one = json_element(metrics, i), from = json_member(&one, "from");
        if (from.value)
            return json_fail(&from, err,
                             "a mapping reads its metrics by fields of \"test\" with their names");
    }
    return 0;
}

static int read_rows(struct importing *im, const struct import_options *options, struct err *err)
{
    const char *rows = json_string_value(json_object_get(im->map, "rows"));
    const struct import_scope whole = {
        .file = im->file, .place = "", .root = im->root, .parent = im->root, .row = im->root};
    struct json_at map = json_root(im->map, "mapping"), metrics = json_member(&map, "metrics");
    if (import_run(&whole, im->map, options, im->d, err) != 0 ||
        draft_read_metrics(im->d, &metrics, err) != 0 || check_metrics(&metrics, err) != 0)
        return -1;
    if (pointer_each(im->root, rows, take_row, im, err) != 0)
        return err_wrap(err, "%s", im->file);
    if (im->d->n_tests == 0)
        return err_set(err, ERR_INPUT, "%s: the mapping matches no row (rows: %s)", im->file, rows);
    return number_repetitions(im, err);
}

int import_read(const struct import_map *m, const char *path, const struct import_options *options,
                struct draft *d, struct err *err)
{
    struct buf text;
    struct importing im = {.map = m->root, .file = path, .d = d};
    bool csv = strcmp(json_string_value(json_object_get(m->root, "input")), "csv") == 0;
    buf_init(&text, file_max);
    int rc = fs_read_file(path, file_max, &text, err);
    if (rc == 0) {
        im.root = csv ? csv_parse(buf_str(&text), text.len, path, err)
                      : parse_json(buf_str(&text), text.len, path, err);
        rc = im.root ? read_rows(&im, options, err) : -1;
    }
    if (rc == 0) {
        name_run(d, buf_str(&text), text.len);
        rc = draft_finish(d, err);
    }
    json_decref(im.root);
    buf_release(&text);
    return rc;
}

int import_file(struct store *s, const struct import_map *m, const char *path,
                const struct import_options *options, struct ingest_result *out, struct err *err)
{
    struct draft d;
    *out = (struct ingest_result){0};
    draft_init(&d);
    int rc = import_read(m, path, options, &d, err);
    if (rc == 0)
        rc = ingest_draft(s, &d, out, err);
    draft_release(&d);
    return rc;
}
