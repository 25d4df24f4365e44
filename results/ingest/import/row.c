#include "results/ingest/import/row.h"

#include "common/base/word.h"
#include "results/ingest/import/mapped_run.h"
#include "results/ingest/import/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The tool wrote something as a measurement that cannot be one. */
static void disbelieve(struct importing *im, const struct import_scope *s, const char *name, const char *why,
                       struct run_test *t)
{
    t->status = STATUS_INVALID;
    t->reason = word_printf("%s is %s", name, why);
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

/* Of the launches of a build, the one that needs the most counts. */
static int take_build(const struct import_scope *s, const json_t *test, struct run_variant *variant,
                      struct err *err)
{
    for (int m = 0; m < METRIC_BUILT_IN; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        const json_t *field = json_object_get(test, info->name);
        double v;
        char name[64];
        snprintf(name, sizeof name, "test.%s", info->name);
        if (info->kind != METRIC_OF_BUILD || !field)
            continue;
        int rc = import_number(s, field, name, info->unit, &v, err);
        if (rc < 0)
            return -1;
        if (rc > 0 && v >= 0 && v <= info->most && v == floor(v) && !(variant->value[m] >= v))
            variant->value[m] = v;
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
    char name[32] = "OK", reason[RUN_REASON_MAX] = "";
    if (import_text(s, json_object_get(test, "status"), "test.status", name, sizeof name, err) < 0 ||
        import_text(s, json_object_get(test, "reason"), "test.reason", reason, sizeof reason, err) < 0)
        return -1;
    t->reason = word(*reason ? reason : t->reason);
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
    int64_t context = 0, repetition = RUN_UNKNOWN, warmup = 0, beyond = 0;
    if (import_integer(s, json_object_get(test, "context"), "test.context", 0, (int64_t)1 << 53, &context,
                       err) < 0)
        return -1;
    if (context > INT32_MAX) { /* it tells the variant apart instead */
        beyond = context;
        context = 0;
    }
    if (import_variant(s, test, beyond, &variant, as_written, err) != 0 ||
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
        (take_metrics(im, s, test, &t->t, err) != 0 || take_own_metrics(im, s, test, t, err) != 0 ||
         take_build(s, test, &im->d->variants[t->t.variant], err) != 0))
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

/* Elements that are arrays themselves, such as the iterations of each fork, are repetitions, too. */
static int take_elements(struct importing *im, struct import_scope *s, json_t *elements, int depth,
                         struct err *err)
{
    size_t i;
    json_t *element;
    json_array_foreach(elements, i, element)
    {
        if (json_is_array(element) && depth == 0 ? take_elements(im, s, element, 1, err) != 0
                                                 : (s->element = element, take_tests(im, s, err) != 0))
            return -1;
        s->index += depth > 0 || !json_is_array(element);
    }
    return 0;
}

int import_row(const struct pointer_match *m, void *arg, struct err *err)
{
    struct importing *im = arg;
    struct import_scope s = {.file = im->file,
                             .place = m->place,
                             .root = im->root,
                             .units = im->units,
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
    s.index = json_is_null(elements) ? SIZE_MAX : 0; /* nothing was measured, of no combination */
    if (!json_is_array(elements))
        return repeat && elements == NULL ? err_set(err, ERR_INPUT, "%s: %s%s: missing (mapping: repeat)",
                                                    im->file, m->place, repeat)
                                          : take_tests(im, &s, err);
    return take_elements(im, &s, elements, 0, err);
}
