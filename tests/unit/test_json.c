/* json: what is rejected, with file, location, what was found and what was expected. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/json.h"

static json_t *parse(const char *text)
{
    struct err err = {0};
    json_t *value = json_parse(text, strlen(text), "f.json", &err);
    if (!value)
        fail_msg("%s", err.msg);
    return value;
}

TEST(invalid_json_is_refused_with_its_place)
{
    static const struct {
        const char *what, *text, *hint;
    } table[] = {
        {"nothing", "", "f.json:1:1:"},
        {"white space", " \n\t", "found the end of the file"},
        {"cut off", "{\"a\":\n\n[1,", "the '[' of line 3, column 1 is never closed"},
        {"trailing text", "{} {}", "f.json:1:4: not valid JSON: expected the end of the file, found {"},
        {"duplicate key", "{\"a\":1,\"a\":1}", "duplicate"},
        {"duplicate key, escaped", "{\"a\":1,\"\\u0061\":1}", "duplicate"},
        {"duplicate key, nested", "[{\"a\":{\"b\":1,\"b\":2}}]", "duplicate"},
        {"NUL in a string", "[\"a\\u0000b\"]", "u0000"},
        {"lone surrogate", "[\"\\ud800\"]", "Unicode"},
        {"invalid UTF-8", "[\"\xff\"]", "0xff"},
        {"overlong UTF-8", "[\"\xc0\xaf\"]", "0xc0"},
        {"NaN", "[NaN]", "NaN"},
        {"comment", "[1] // x", "expected the end of the file, found //"},
        {"integer too large", "[9223372036854775808]", "integer"},
        {"number too large", "[1e999]", "overflow"},
        {"a comma that is missing", "{\"a\": 1\n \"b\": 2}",
         "f.json:2:2: not valid JSON: expected ',' or '}' after the value, found \"b\""},
        {"a colon that is missing", "{\"a\" 1}", "expected ':' after the key, found 1"},
        {"control character", "[\"a\nb\"]", "newline"},
        {"single quotes", "{'a':1}", "expected a key in double quotes or '}', found 'a'"},
        {"trailing comma", "[1,]", "remove the comma before this bracket"},
        {"trailing comma of an object", "{\"a\":1,\n }", "remove the comma"},
        {"two commas", "[1,,2]", "expected a value, found ,"},
        {"a closing bracket too many", "[1]]", "found ]: a bracket is closed too early"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct err err = {0};
        json_t *value = json_parse(table[i].text, strlen(table[i].text), "f.json", &err);
        if (value)
            fail_msg("%s: accepted", table[i].what);
        assert_err(-1, &err, ERR_INPUT, "f.json:", "not valid JSON", table[i].hint);
    }
}

TEST(parser_survives_depth_and_nul)
{
    static char deep[1 << 20];
    struct err err = {0};
    memset(deep, '[', sizeof deep);
    assert_null(json_parse(deep, sizeof deep, "f.json", &err));
    assert_err(-1, &err, ERR_INPUT, "f.json", "depth");
    assert_null(json_parse("[1]\0", 4, "f.json", &err));
    assert_err(-1, &err, ERR_INPUT, "f.json");
    assert_null(json_parse("[1,2", 2, "f.json", &err)); /* reads only the given length */
}

static json_t *parse_repeated(const char *part, size_t count, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = 64 << 20};
    buf_puts(&text, "[");
    for (size_t i = 0; i < count; i++)
        buf_puts(&text, part);
    buf_puts(&text, "0]");
    json_t *value = json_parse(buf_str(&text), text.len, "f.json", err);
    return value;
}

TEST(number_of_values_is_bounded)
{
    struct err err = {0};
    assert_null(parse_repeated("[],", JSON_VALUES_MAX, &err));
    assert_err(-1, &err, ERR_INPUT, "f.json: more than 2000000 JSON values");
    json_auto_t *v = parse_repeated("\"[{,\\\"[{,\",", 1000000, &err);
    assert_int_equal(json_array_size(v), 1000001);
}

TEST(scalars_are_json_too)
{
    json_t *v = parse("9223372036854775807");
    assert_true(json_integer_value(v) == INT64_MAX);
    json_decref(v);
    v = parse("null");
    assert_true(json_is_null(v));
    json_decref(v);
}

TEST(load_names_the_file)
{
    struct err err = {0};
    const char *path = put("load/bad.json", "{");
    assert_null(json_load(path, 100, &err));
    assert_err(-1, &err, ERR_INPUT, path, "line 1");
    assert_null(json_load(in_scratch("load/none.json"), 100, &err));
    assert_err(-1, &err, ERR_INPUT, "none.json", "No such file");
    path = put("load/large.json", "[1,2,3,4,5]");
    assert_null(json_load(path, 10, &err));
    assert_err(-1, &err, ERR_INPUT, "large.json", "10 bytes");
    json_auto_t *v = json_load(path, 11, &err);
    assert_int_equal(json_array_size(v), 5);
}

TEST(save_is_sorted_private_and_atomic)
{
    struct err err = {0};
    struct stat st;
    put("save.json", "old");
    json_auto_t *v = parse("{\"b\":[1,2.5],\"a\":{\"z\":null,\"c\":\"\\u00e9\\n\"}}");
    assert_ok(json_save(in_scratch("save.json"), v, &err), &err);
    assert_file("save.json", "{\n  \"a\": {\n    \"c\": \"\xc3\xa9\\n\",\n    \"z\": null\n  },\n"
                             "  \"b\": [\n    1,\n    2.5\n  ]\n}\n");
    assert_int_equal(stat(in_scratch("save.json"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_err(json_save(in_scratch("none/x.json"), v, &err), &err, ERR_STORAGE, "none/x.json");
    assert_err(json_save(in_scratch("null.json"), NULL, &err), &err, ERR_INTERNAL, "null.json");
    assert_false(fs_exists(in_scratch("null.json")));
}

TEST(encode_is_one_line_within_its_limit)
{
    struct err err = {0};
    AUTO(buf_release) struct buf out = {.max = 20};
    json_auto_t *v = parse("{ \"k\" : [ 1 , \"a\\nb\" ] }");
    assert_ok(json_encode(v, &out, &err), &err);
    assert_string_equal(buf_str(&out), "{\"k\":[1,\"a\\nb\"]}");
    buf_clear(&out);
    buf_puts(&out, "1234567");
    assert_err(json_encode(v, &out, &err), &err, ERR_INTERNAL, "20 bytes");
}

TEST(errors_name_the_place_of_a_value)
{
    struct err err = {0};
    json_auto_t *v = parse("{\"a\":[{\"b\":7}]}");
    struct json_at root = json_root(v, "f.json"), a = json_member(&root, "a"), e = json_element(&a, 0),
                   b = json_member(&e, "b"), none = json_member(&b, "x"), beyond = json_element(&a, 9),
                   nowhere = json_member(&none, "y");
    assert_string_equal(root.path, "$");
    assert_string_equal(b.path, "$.a[0].b");
    assert_int_equal(json_integer_value(b.value), 7);
    assert_null(none.value);
    assert_null(beyond.value);
    assert_null(nowhere.value);
    assert_string_equal(beyond.path, "$.a[9]");
    assert_string_equal(nowhere.path, "$.a[0].b.x.y");
    assert_err(json_fail(&b, &err, "expected %d, found 7", 8), &err, ERR_INPUT,
               "f.json: $.a[0].b: expected 8, found 7");
}

/* Keys are untrusted: long ones are truncated, control characters escaped, the message is a single line. */
TEST(hostile_keys_make_one_line)
{
    static const char *const known[] = {"a", NULL};
    struct err err = {0};
    json_auto_t *v = json_object();
    struct json_at root = json_root(v, "f.json");
    char key[3000];
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    json_object_set_new(v, key, json_true());
    assert_err(json_keys(&root, known, &err), &err, ERR_INPUT, "f.json: $: unknown key \"kkk");
    assert_true(strlen(err.msg) < 200);
    struct json_at at = root;
    for (int i = 0; i < 10; i++) {
        at = json_member(&at, key);
        at = json_element(&at, 1);
    }
    assert_true(strlen(at.path) < JSON_PLACE_MAX);
    json_object_clear(v);
    json_object_set_new(v, "x\n\033[2J", json_true());
    assert_err(json_keys(&root, known, &err), &err, ERR_INPUT, "unknown key \"x\\x0a\\x1b[2J\"");
}

TEST(keys_hint_at_the_nearest)
{
    static const char *const known[] = {"timeouts", "contexts", "variants", "env", NULL};
    static const struct {
        const char *text, *hint;
    } table[] = {
        {"{\"timeout\":1}", "unknown key \"timeout\" (did you mean \"timeouts\"?)"},
        {"{\"env\":1,\"contextz\":1}", "did you mean \"contexts\"?"},
        {"{\"Variants\":1}", "did you mean \"variants\"?"},
        {"{\"nev\":1}", "did you mean \"env\"?"},
        {"{\"\":1}", "unknown key \"\""},
    };
    struct err err = {0};
    for (size_t i = 0; i < COUNT(table); i++) {
        json_auto_t *v = parse(table[i].text);
        struct json_at root = json_root(v, "f.json");
        assert_err(json_keys(&root, known, &err), &err, ERR_INPUT, "f.json: $: ", table[i].hint);
    }
    json_t *v = parse("{\"something_else\":1}");
    struct json_at root = json_root(v, "f.json");
    assert_err(json_keys(&root, known, &err), &err, ERR_INPUT, "unknown key \"something_else\"");
    assert_null(strstr(err.msg, "did you mean"));
    json_decref(v);
    v = parse("{\"env\":1,\"contexts\":2}");
    root = json_root(v, "f.json");
    assert_ok(json_keys(&root, known, &err), &err);
    struct json_at number = json_member(&root, "env"), absent = json_member(&root, "x");
    assert_err(json_keys(&number, known, &err), &err, ERR_INPUT,
               "$.env: expected an object, found an integer, 1");
    assert_err(json_keys(&absent, known, &err), &err, ERR_INPUT, "$.x: expected an object, found nothing");
    json_decref(v);
}

#define EVERY_TYPE "{\"o\":{},\"a\":[],\"s\":\"x\",\"i\":3,\"r\":2.5,\"t\":true,\"f\":false,\"n\":null}"

TEST(getters_take_their_type_only)
{
    static const struct {
        const char *key, *found;
    } types[] = {{"o", "an object"},     {"a", "an array"}, {"s", "a string"},
                 {"i", "an integer"},    {"r", "a number"}, {"t", "true or false"},
                 {"f", "true or false"}, {"n", "null"},     {"x", "nothing"}};
    json_auto_t *v = parse(EVERY_TYPE);
    struct json_at root = json_root(v, "f.json");
    for (size_t i = 0; i < COUNT(types); i++) {
        const char *key = types[i].key, *s = NULL;
        int64_t n = -1;
        double d = -1;
        char found[64];
        struct err err = {0};
        snprintf(found, sizeof found, "found %s", types[i].found);
        if (*key != 's')
            assert_err(json_get_str(&root, key, &s, &err), &err, ERR_INPUT, "expected a string", found);
        if (*key != 'i')
            assert_err(json_get_int(&root, key, 0, 9, &n, &err), &err, ERR_INPUT, "an integer, ", found);
        if (*key != 'i' && *key != 'r')
            assert_err(json_get_num(&root, key, 0, 9, &d, &err), &err, ERR_INPUT, "a number, ", found);
        assert_true(s == NULL && n == -1 && d < 0);
        bool flag = false;
        if (*key != 't' && *key != 'f' && *key != 'x')
            assert_err(json_get_bool_def(&root, key, &flag, &err), &err, ERR_INPUT, "true or false, ", found);
    }
}

TEST(getters_give_values)
{
    struct err err = {0};
    json_auto_t *v = parse(EVERY_TYPE);
    struct json_at root = json_root(v, "f.json");
    const char *s = "unset";
    int64_t n = 0;
    double d = 0;
    bool flag = false;
    assert_ok(json_get_str(&root, "s", &s, &err), &err);
    assert_string_equal(s, "x");
    assert_ok(json_get_int(&root, "i", 3, 3, &n, &err), &err);
    assert_int_equal(n, 3);
    assert_ok(json_get_num(&root, "i", 3, 3, &d, &err), &err);
    assert_true(d == 3);
    assert_ok(json_get_num(&root, "r", 0, 2.5, &d, &err), &err);
    assert_true(d == 2.5);
    assert_ok(json_get_bool_def(&root, "t", &flag, &err), &err);
    assert_true(flag);
    assert_ok(json_get_bool_def(&root, "f", &flag, &err), &err);
    assert_false(flag);
}

TEST(absent_keys_leave_defaults_alone)
{
    struct err err = {0};
    json_auto_t *v = parse(EVERY_TYPE);
    struct json_at root = json_root(v, "f.json");
    const char *s = "default";
    int64_t n = 7;
    bool flag = true;
    assert_ok(json_get_str_def(&root, "x", &s, &err), &err);
    assert_ok(json_get_int_def(&root, "x", 0, 1, &n, &err), &err);
    assert_ok(json_get_bool_def(&root, "x", &flag, &err), &err);
    assert_string_equal(s, "default");
    assert_true(n == 7 && flag);
    /* null is not absent */
    assert_err(json_get_str_def(&root, "n", &s, &err), &err, ERR_INPUT, "$.n", "found null");
    assert_err(json_get_int_def(&root, "n", 0, 1, &n, &err), &err, ERR_INPUT, "$.n", "found null");
    assert_err(json_get_bool_def(&root, "n", &flag, &err), &err, ERR_INPUT, "$.n", "found null");
}

TEST(ranges_hold_at_both_ends)
{
    struct err err = {0};
    json_auto_t *v =
        parse("{\"min\":-9223372036854775808,\"max\":9223372036854775807,\"five\":5,\"half\":0.5,"
              "\"tiny\":1e-320,\"zero\":-0.0}");
    struct json_at root = json_root(v, "f.json");
    int64_t n;
    double d;
    assert_ok(json_get_int(&root, "min", INT64_MIN, INT64_MAX, &n, &err), &err);
    assert_true(n == INT64_MIN);
    assert_ok(json_get_int(&root, "max", INT64_MIN, INT64_MAX, &n, &err), &err);
    assert_true(n == INT64_MAX);
    assert_err(json_get_int(&root, "min", 1, 10, &n, &err), &err, ERR_INPUT,
               "$.min: expected an integer from 1 to 10, found -9223372036854775808");
    assert_err(json_get_int(&root, "five", 6, 10, &n, &err), &err, ERR_INPUT, "found 5");
    assert_err(json_get_int(&root, "five", 0, 4, &n, &err), &err, ERR_INPUT, "found 5");
    assert_err(json_get_num(&root, "half", 0.6, 1, &d, &err), &err, ERR_INPUT,
               "expected a number from 0.6 to 1, found 0.5");
    assert_err(json_get_num(&root, "five", 0, 4.9, &d, &err), &err, ERR_INPUT, "found 5");
    assert_err(json_get_num(&root, "tiny", 0.01, 1, &d, &err), &err, ERR_INPUT, "$.tiny");
    assert_ok(json_get_num(&root, "zero", 0, 1, &d, &err), &err);
}

GROUP(scratch_make, scratch_remove);
