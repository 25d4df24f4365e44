/* contract: the JSON Schemas agree with the table row of every key and have no other keys; readers obey the
 * rows. */
#include "tests/unit/support.h"

#include "common/contract/keys.h"
#include "executor/bundle/job.h"
#include "harness/plan/plan.h"

enum { TABLES_MAX = 2 };

/* The objects of the schemas, and the tables used to read them. */
static const struct {
    const char *schema, *pointer;
    enum document in;
    const struct key *tables[TABLES_MAX];
} objects[] = {
    {"plan", "", IN_PLAN, {plan_keys, settings_keys}},
    {"plan", "/$defs/variant", IN_PLAN, {variant_keys}},
    {"plan", "/$defs/gate", IN_PLAN, {gate_keys}},
    {"plan", "/$defs/patch", IN_PLAN, {patch_keys}},
    {"plan", "/$defs/shape", IN_PLAN, {shape_keys}},
    {"plan", "/$defs/source", IN_PLAN, {source_keys}},
    {"plan", "/$defs/metric", IN_PLAN, {own_metric_keys}},
    {"plan", "/$defs/timings_json", IN_PLAN, {timing_json_keys}},
    {"plan", "/$defs/timings_regex", IN_PLAN, {timing_regex_keys}},
    {"plan", "/$defs/notification", IN_PLAN, {notification_keys}},
    {"plan", "/properties/scheduler", IN_PLAN, {scheduler_keys}},
    {"plan", "/properties/counters", IN_PLAN, {counters_keys}},
    {"job", "", IN_JOB, {job_keys, settings_keys}},
    {"job", "/$defs/variant", IN_JOB, {variant_keys}},
    {"job", "/$defs/gate", IN_JOB, {gate_keys}},
    {"job", "/$defs/patch", IN_JOB, {patch_keys}},
    {"job", "/$defs/test", IN_JOB, {test_keys}},
    {"job", "/$defs/metric", IN_JOB, {own_metric_keys}},
    {"job", "/$defs/timings_json", IN_JOB, {timing_json_keys}},
    {"job", "/$defs/timings_regex", IN_JOB, {timing_regex_keys}},
    {"job", "/properties/part", IN_JOB, {part_keys}},
    {"job", "/properties/part/properties/tests/items", IN_JOB, {part_test_keys}},
};

static const json_t *at_pointer(const json_t *value, const char *pointer)
{
    char text[256], *save;
    snprintf(text, sizeof text, "%s", pointer);
    for (char *key = strtok_r(text, "/", &save); key; key = strtok_r(NULL, "/", &save))
        value = json_object_get(value, key);
    return value;
}

/* The property with its $ref resolved. The caller json_decref()s it. */
static json_t *definition(const json_t *root, const json_t *property)
{
    json_t *out = json_copy((json_t *)(uintptr_t)property);
    const char *ref;
    while ((ref = json_string_value(json_object_get(out, "$ref")))) {
        const json_t *target = at_pointer(root, ref + 1); /* behind '#' */
        json_object_del(out, "$ref");
        json_object_update_missing(out, (json_t *)(uintptr_t)target);
    }
    return out;
}

/* Of a value, or an array of such values: the value. */
static json_t *single(const json_t *root, json_t *property)
{
    const json_t *either = json_object_get(property, "anyOf");
    const json_t *items = json_object_get(json_array_get(either, 1), "items");
    if (!items)
        return property;
    json_t *one = definition(root, json_array_get(either, 0)), *usual = json_object_get(property, "default");
    if (usual)
        json_object_set(one, "default", usual);
    json_decref(property);
    return one;
}

static bool is_number(const json_t *property, const char *key, double value)
{
    const json_t *v = json_object_get(property, key);
    return json_is_number(v) && json_number_value(v) == value;
}

static bool is_type(const json_t *property, const char *type)
{
    const char *text = json_string_value(json_object_get(property, "type"));
    return text && strcmp(text, type) == 0;
}

static bool has_words(const json_t *property, const char *const *words)
{
    const json_t *list = json_object_get(property, "enum"), *only = json_object_get(property, "const");
    size_t n = 0, i;
    if (only)
        return strcmp(json_string_value(only), words[0]) == 0 && !words[1];
    for (; words[n]; n++) {
        bool found = false;
        for (i = 0; i < json_array_size(list); i++)
            found |= strcmp(json_string_value(json_array_get(list, i)), words[n]) == 0;
        if (!found)
            return false;
    }
    return n == json_array_size(list);
}

static bool is_name(const json_t *root, const json_t *property, const struct key *k)
{
    char length[32];
    const json_t *either = json_object_get(property, "anyOf");
    if (k->or_empty != (either != NULL))
        return false;
    json_auto_t *name = definition(root, either ? json_array_get(either, 1) : property);
    const char *pattern = json_string_value(json_object_get(name, "pattern"));
    snprintf(length, sizeof length, "{0,%d}$", (int)k->most - 1);
    bool same = pattern && strstr(pattern, length);
    return same;
}

/* A pattern may express the lengths, or what `accepts` checks. */
static bool is_text(const json_t *property, const struct key *k)
{
    const json_t *most = json_object_get(property, "maxLength");
    if (!is_type(property, "string") || (most && json_number_value(most) != k->most))
        return false;
    return most || json_object_get(property, "pattern");
}

static bool agrees(const json_t *root, const json_t *property, const struct key *k)
{
    switch (k->kind) {
    case KEY_CONST:
        return strcmp(json_string_value(json_object_get(property, "const")), k->text) == 0;
    case KEY_FLAG:
        return is_type(property, "boolean");
    case KEY_COUNT:
    case KEY_NUMBER:
        return is_type(property, k->kind == KEY_COUNT ? "integer" : "number") &&
               is_number(property, "minimum", k->least) && is_number(property, "maximum", k->most);
    case KEY_CHOICE:
    case KEY_WORD:
        return has_words(property, k->words);
    case KEY_NAME:
        return is_name(root, property, k);
    case KEY_TEXT:
        return is_text(property, k);
    case KEY_PART:
        return true;
    }
    return false;
}

static bool same_default(const json_t *property, const struct key *k)
{
    json_t *usual = key_usual(k), *said = json_object_get(property, "default");
    bool same = json_is_number(usual)
                    ? json_is_number(said) && json_number_value(usual) == json_number_value(said)
                    : json_equal(usual, said) || (!usual && !said);
    json_decref(usual);
    return same || k->kind == KEY_PART;
}

static bool is_required(const json_t *object, const char *name)
{
    size_t i;
    json_t *word;
    json_array_foreach(json_object_get(object, "required"), i, word)
    {
        if (strcmp(json_string_value(word), name) == 0)
            return true;
    }
    return false;
}

static void assert_row(const json_t *root, const json_t *object, const struct key *k, enum document in,
                       const char *where)
{
    const char *name = key_name(k, in);
    if (in == IN_PLAN && k->object) /* absent objects require nothing */
        object = json_object_get(json_object_get(object, "properties"), k->object);
    const json_t *written = json_object_get(json_object_get(object, "properties"), name);
    if (!written)
        fail_msg("%s has no %s, which a table has", where, name);
    json_auto_t *property = single(root, definition(root, written));
    if (!agrees(root, property, k))
        fail_msg("%s: %s has another type or other bounds than its row", where, name);
    if (!same_default(property, k))
        fail_msg("%s: %s has another default than its row", where, name);
    if (is_required(object, name) != k->required)
        fail_msg("%s: %s is required in one of schema and table", where, name);
}

static bool has_row(const struct key *const *tables, enum document in, const char *object, const char *name)
{
    for (size_t t = 0; t < TABLES_MAX && tables[t]; t++)
        for (const struct key *k = tables[t]; k->name; k++) {
            const char *own = in == IN_PLAN ? k->object : NULL;
            if (!(k->in & in))
                continue;
            if (!object && own && strcmp(own, name) == 0)
                return true;
            if (strcmp(key_name(k, in), name) == 0 && (object ? own && strcmp(own, object) == 0 : !own))
                return true;
        }
    return false;
}

/* object: for grouped keys of a plan, else NULL. */
static void assert_known(const json_t *schema, const struct key *const *tables, enum document in,
                         const char *object, const char *where)
{
    const char *name;
    json_t *property;
    json_object_foreach(json_object_get(schema, "properties"), name, property)
    {
        if (!has_row(tables, in, object, name))
            fail_msg("%s has %s, which no table has", where, name);
    }
    assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
}

static void assert_object(const json_t *root, size_t i)
{
    char where[128];
    const struct key *const *tables = objects[i].tables;
    const json_t *schema = at_pointer(root, objects[i].pointer);
    snprintf(where, sizeof where, "%s.schema.json#%s", objects[i].schema, objects[i].pointer);
    assert_non_null(schema);
    assert_known(schema, tables, objects[i].in, NULL, where);
    for (size_t t = 0; t < TABLES_MAX && tables[t]; t++)
        for (const struct key *k = tables[t]; k->name; k++) {
            if (!(k->in & objects[i].in))
                continue;
            assert_row(root, schema, k, objects[i].in, where);
            if (objects[i].in == IN_PLAN && k->object)
                assert_known(json_object_get(json_object_get(schema, "properties"), k->object), tables,
                             IN_PLAN, k->object, where);
        }
}

TEST(schemas_say_what_the_tables_say)
{
    for (size_t i = 0; i < COUNT(objects); i++) {
        char path[64];
        struct err err = {0};
        snprintf(path, sizeof path, "schemas/%s.schema.json", objects[i].schema);
        json_auto_t *root = json_load(path, 1 << 20, &err);
        if (!root)
            fail_msg("%s", err.msg);
        assert_object(root, i);
    }
}

/* In a job a shape has one value for each dimension, and may leave any out. */
TEST(shapes_of_jobs_have_the_same_bounds)
{
    struct err err = {0};
    json_auto_t *root = json_load("schemas/job.schema.json", 1 << 20, &err);
    const json_t *shape = at_pointer(root, "/$defs/variant/properties/shape");
    for (const struct key *k = shape_keys; k->name; k++) {
        json_auto_t *property =
            definition(root, json_object_get(json_object_get(shape, "properties"), k->name));
        if (!agrees(root, property, k))
            fail_msg("job.schema.json: the shape's %s is not as its row has it", k->name);
    }
}

struct sample {
    bool flag;
    int64_t count;
    double number;
    int choice;
    const char *word, *name, *text;
};

static const char *const words[] = {"one", "two", "three", NULL};
static const struct key sample_keys[] = {
    {.name = "version", .kind = KEY_CONST, .in = IN_BOTH, .required = true, .text = "v1"},
    {KEY_AT(struct sample, flag), .kind = KEY_FLAG, .in = IN_BOTH, .usual = 1},
    {KEY_AT(struct sample, count), .kind = KEY_COUNT, .in = IN_BOTH, .least = 1, .most = 9, .usual = 3},
    {KEY_AT(struct sample, number), .kind = KEY_NUMBER, .in = IN_BOTH, .object = "group",
     .job_name = "group_number", .least = 0.5, .most = 2, .usual = 1},
    {KEY_AT(struct sample, choice), .kind = KEY_CHOICE, .in = IN_BOTH, .words = words},
    {KEY_AT(struct sample, word), .kind = KEY_WORD, .in = IN_PLAN, .words = words, .text = "two"},
    {KEY_AT(struct sample, name), .kind = KEY_NAME, .in = IN_BOTH, .most = 4, .or_empty = true, .text = ""},
    {KEY_AT(struct sample, text), .kind = KEY_TEXT, .in = IN_BOTH, .least = 1, .most = 3},
    {.name = "list", .kind = KEY_PART, .in = IN_BOTH},
    {.name = NULL},
};

/* The strings of s are valid until the next call. */
static int read_sample(struct sample *s, const char *text, enum document in, struct err *err)
{
    static json_t *root;
    const struct key_table table = {sample_keys, s};
    json_decref(root);
    root = json_loads(text, 0, NULL);
    struct json_at at = json_root(root, "x.json");
    return keys_read(&at, in, &table, 1, err);
}

TEST(rows_are_read_and_have_defaults)
{
    struct sample s;
    struct err err = {0};
    assert_ok(read_sample(&s, "{\"version\":\"v1\"}", IN_PLAN, &err), &err);
    assert_true(s.flag && s.count == 3 && s.number == 1 && s.choice == 0 && !s.text);
    assert_string_equal(s.word, "two");
    assert_string_equal(s.name, "");
    assert_ok(read_sample(&s,
                          "{\"version\":\"v1\",\"flag\":false,\"count\":9,\"group\":{\"number\":2},"
                          "\"choice\":\"three\",\"word\":\"one\",\"name\":\"a-b\",\"text\":\"xyz\"}",
                          IN_PLAN, &err),
              &err);
    assert_true(!s.flag && s.count == 9 && s.number == 2 && s.choice == 2);
    assert_string_equal(s.text, "xyz");
    assert_ok(read_sample(&s, "{\"version\":\"v1\",\"group_number\":0.5}", IN_JOB, &err), &err);
    assert_true(s.number == 0.5);
}

TEST(what_no_row_accepts_is_refused)
{
    static const struct {
        const char *text, *place, *says;
        enum document in;
    } cases[] = {
        {"{}", "x.json: $.version", "found nothing", IN_PLAN},
        {"{\"version\":\"v2\"}", "$.version", "expected \"v1\"", IN_PLAN},
        {"{\"version\":\"v1\",\"flags\":1}", "$:", "did you mean \"flag\"", IN_PLAN},
        {"{\"version\":\"v1\",\"group\":{\"numbr\":1}}", "$.group", "did you mean \"number\"", IN_PLAN},
        {"{\"version\":\"v1\",\"group_number\":1}", "$:", "unknown key", IN_PLAN},
        {"{\"version\":\"v1\",\"group\":{\"number\":1}}", "$:", "unknown key", IN_JOB},
        {"{\"version\":\"v1\",\"word\":\"one\"}", "$:", "unknown key", IN_JOB},
        {"{\"version\":\"v1\",\"group\":3}", "$.group", "expected an object", IN_PLAN},
        {"{\"version\":\"v1\",\"flag\":1}", "$.flag", "true or false", IN_PLAN},
        {"{\"version\":\"v1\",\"count\":10}", "$.count", "from 1 to 9, found 10", IN_PLAN},
        {"{\"version\":\"v1\",\"count\":1.5}", "$.count", "an integer", IN_PLAN},
        {"{\"version\":\"v1\",\"group\":{\"number\":0.4}}", "$.group.number", "from 0.5 to 2", IN_PLAN},
        {"{\"version\":\"v1\",\"choice\":\"four\"}", "$.choice", "\"one\", \"two\" or \"three\"", IN_PLAN},
        {"{\"version\":\"v1\",\"name\":\"abcde\"}", "$.name", "at most 4 long", IN_PLAN},
        {"{\"version\":\"v1\",\"name\":\"a b\"}", "$.name", "found \"a b\"", IN_PLAN},
        {"{\"version\":\"v1\",\"text\":\"\"}", "$.text", "1 to 3 bytes", IN_PLAN},
        {"{\"version\":\"v1\",\"text\":null}", "$.text", "found null", IN_PLAN},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sample s;
        struct err err = {0};
        if (read_sample(&s, cases[i].text, cases[i].in, &err) == 0)
            fail_msg("%s was accepted", cases[i].text);
        assert_err(-1, &err, ERR_INPUT, cases[i].place, cases[i].says);
    }
}
