#include "results/ingest/import/map.h"

#include "common/base/alloc.h"
#include "common/base/json.h"

#include <stdio.h>
#include <string.h>

const char *import_builtin_name(size_t i)
{
    return i < (size_t)builtin_maps_count ? builtin_maps[i].name : NULL;
}

enum { TESTS_MAX = 64, TEST_KEYS_MAX = 256, FIELD_DEPTH_MAX = 8 };

/* A misspelt key would be ignored, and with it a unit or a number. */
static int check_field(const struct json_at *field, int depth, struct err *err)
{
    static const char *const keys[] = {
        "at",   "from", "element", "key",     "const", "unit",  "to",    "times",   "match", "group", "words",
        "join", "with", "prefix",  "default", "pairs", "first", "minus", "decimal", "epoch", "over",  NULL};
    struct json_at unit = json_member(field, "unit"), join = json_member(field, "join"),
                   minus = json_member(field, "minus"), over = json_member(field, "over");
    if (json_is_string(field->value))
        return 0;
    if (!json_is_object(field->value) || depth > FIELD_DEPTH_MAX)
        return json_expected(field, "a field: a JSON pointer as a string, or an object", err);
    const char *from = json_text(field->value, "from");
    if (*from && strcmp(from, "row") != 0 && strcmp(from, "parent") != 0 && strcmp(from, "file") != 0 &&
        strcmp(from, "units") != 0 && strcmp(from, "path") != 0)
        return json_fail(field, err, "from is \"%.60s\", expected row, parent, file, units or path", from);
    if (json_keys(field, keys, err) != 0 || (unit.value && check_field(&unit, depth + 1, err) != 0) ||
        (minus.value && check_field(&minus, depth + 1, err) != 0) ||
        (over.value && check_field(&over, depth + 1, err) != 0))
        return -1;
    for (size_t i = 0; i < json_array_size(join.value); i++) {
        struct json_at part = json_element(&join, i);
        if (check_field(&part, depth + 1, err) != 0)
            return -1;
    }
    return 0;
}

/* Every member of an object is a field, except the one named `other`. */
static int check_fields(const struct json_at *owner, const char *other, struct err *err)
{
    const char *key;
    json_t *value;
    if (!owner->value)
        return 0;
    if (!json_is_object(owner->value))
        return json_expected(owner, "an object of fields", err);
    json_object_foreach(json_iterable(owner->value), key, value)
    {
        struct json_at field = json_member(owner, key);
        if ((!other || strcmp(key, other) != 0) && check_field(&field, 0, err) != 0)
            return -1;
    }
    return 0;
}

/* The names that a test may have: those of its place, of the metrics, and of the mapping's own metrics. */
static void list_test_keys(const json_t *root, const char **keys)
{
    static const char *const fixed[] = {"variant", "shape",  "point",     "context", "repetition",
                                        "warmup",  "status", "attn_impl", "reason"};
    const json_t *own = json_object_get(root, "metrics");
    size_t n = 0;
    for (; n < sizeof fixed / sizeof *fixed; n++)
        keys[n] = fixed[n];
    for (int m = 0; m < METRIC_COUNT && n < TEST_KEYS_MAX; m++)
        if (metric_info((enum metric)m)->kind <= METRIC_OF_BUILD)
            keys[n++] = metric_info((enum metric)m)->name;
    for (size_t i = 0; i < json_array_size(own) && n < TEST_KEYS_MAX; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(own, i), "name"));
        if (name)
            keys[n++] = name;
    }
    keys[n] = NULL;
}

static int check_test(const struct json_at *test, const char *const *keys, struct err *err)
{
    struct json_at point = json_member(test, "point");
    if (!json_is_object(test->value) || !json_object_get(test->value, "variant"))
        return json_fail(test, err, "expected an object with at least \"variant\"");
    if (json_keys(test, keys, err) != 0 || check_fields(&point, NULL, err) != 0)
        return -1;
    return check_fields(test, "point", err);
}

/* "test" is one test, or an array of several. */
static int check_tests(const struct json_at *root, struct err *err)
{
    struct json_at test = json_member(root, "test");
    const char *keys[TEST_KEYS_MAX + 1];
    size_t n = json_array_size(test.value);
    list_test_keys(root->value, keys);
    if (!json_is_array(test.value))
        return check_test(&test, keys, err);
    if (n == 0 || n > TESTS_MAX)
        return json_fail(&test, err, "expected 1 to %d tests", TESTS_MAX);
    for (size_t i = 0; i < n; i++) {
        struct json_at one = json_element(&test, i);
        if (check_test(&one, keys, err) != 0)
            return -1;
    }
    return 0;
}

static int check_skip(const struct json_at *root, struct err *err)
{
    static const char *const keys[] = {"value", "equals", NULL};
    struct json_at skip = json_member(root, "skip");
    for (size_t i = 0; i < json_array_size(skip.value); i++) {
        struct json_at rule = json_element(&skip, i), value = json_member(&rule, "value");
        if (json_keys(&rule, keys, err) != 0 || check_field(&value, 0, err) != 0)
            return -1;
    }
    return 0;
}

static int check_parts(const struct json_at *root, struct err *err)
{
    struct json_at run = json_member(root, "run"), facts = json_member(root, "facts"),
                   extras = json_member(root, "extras");
    struct json_at by = json_member(root, "run_by");
    return (by.value && check_field(&by, 0, err) != 0) || check_tests(root, err) != 0 ||
                   check_fields(&run, NULL, err) != 0 || check_fields(&facts, NULL, err) != 0 ||
                   check_fields(&extras, NULL, err) != 0
               ? -1
               : check_skip(root, err);
}

static json_t *parse_map(const char *text, size_t len, const char *name, struct err *err)
{
    static const char *const keys[] = {"schema", "about", "input",  "rows",        "run",     "test",
                                       "repeat", "skip",  "facts",  "extras",      "metrics", "heading",
                                       "units",  "runs",  "run_by", "repeat_rows", NULL};
    static const char *const run_keys[] = {"ticket",     "tag",  "node",   "date",
                                           "started_at", "mode", "commit", NULL};
    json_auto_t *root = json_parse(text, len, name, err);
    if (!root)
        return NULL;
    struct json_at at = json_root(root, name), run = json_member(&at, "run");
    const char *schema, *input, *rows;
    if (json_keys(&at, keys, err) != 0 || json_get_str(&at, "schema", &schema, err) != 0 ||
        json_get_str(&at, "input", &input, err) != 0 || json_get_str(&at, "rows", &rows, err) != 0 ||
        (run.value && json_keys(&run, run_keys, err) != 0))
        return NULL;
    if (strcmp(schema, "kernsweep.map/1") != 0)
        json_fail(&at, err, "schema is \"%.60s\", expected \"kernsweep.map/1\"", schema);
    else if (strcmp(input, "json") != 0 && strcmp(input, "csv") != 0)
        json_fail(&at, err, "input is \"%.60s\", expected \"json\" or \"csv\"", input);
    else if (check_parts(&at, err) == 0)
        return json_incref(root);
    return NULL;
}

void import_builtin_about(size_t i, char *out, size_t size)
{
    json_auto_t *root = i < (size_t)builtin_maps_count ? json_loads(builtin_maps[i].text, 0, NULL) : NULL;
    snprintf(out, size, "%s", json_text(root, "about"));
}

int import_map_load(struct import_map *m, const char *word, struct err *err)
{
    *m = (struct import_map){0};
    snprintf(m->name, sizeof m->name, "%s", word);
    for (int i = 0; i < builtin_maps_count; i++)
        if (strcmp(builtin_maps[i].name, word) == 0) {
            m->root = parse_map(builtin_maps[i].text, strlen(builtin_maps[i].text), word, err);
            return m->root ? 0 : -1;
        }
    if (!fs_exists(word))
        return err_set(err, ERR_INPUT,
                       "%s: neither a mapping file nor a built-in mapping (--list shows them)", word);
    AUTO(buf_release) struct buf text = {.max = 1 << 20};
    if (fs_read_file(word, text.max, &text, err) != 0)
        return -1;
    m->root = parse_map(buf_str(&text), text.len, word, err);
    return m->root ? 0 : -1;
}

void import_map_release(struct import_map *m)
{
    json_decref(m->root);
    m->root = NULL;
}
