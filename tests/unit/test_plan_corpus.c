/* plan: the corpus of tests/fixtures/plans, which schemas/plan.schema.json is held to as well. What is
 * refused names file and place in one line; what is accepted makes a job that the executor accepts.
 */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "executor/bundle/job.h"
#include "harness/plan/job.h"

#include <glob.h>

#define CORPUS "tests/fixtures/plans/"

static json_t *generate(const json_t *value, long long n);

/* The text with each '%' replaced by n; n 0 leaves it alone. */
static json_t *numbered(const char *text, long long n)
{
    AUTO(buf_release) struct buf out = {.max = 1 << 20};
    for (; *text; text++) {
        if (n && *text == '%')
            buf_printf(&out, "%lld", n);
        else
            buf_putc(&out, *text);
    }
    json_t *value = json_string(buf_str(&out));
    return value;
}

static json_t *repeated(const json_t *value)
{
    const char *text = json_string_value(json_object_get(value, "$string"));
    AUTO(buf_release) struct buf out = {.max = 1 << 20};
    for (long long i = json_integer_value(json_object_get(value, "times")); i > 0; i--)
        buf_puts(&out, text);
    json_t *made = json_string(buf_str(&out));
    return made;
}

static json_t *generate_object(const json_t *value, long long n)
{
    json_t *out = json_object(), *item;
    const char *key;
    char name[32];
    for (long long i = 1; i <= json_integer_value(json_object_get(value, "$keys")); i++) {
        snprintf(name, sizeof name, "KEY%lld", i);
        json_object_set_new(out, name, generate(json_object_get(value, "of"), i));
    }
    if (json_object_get(value, "$keys"))
        return out;
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        json_object_set_new(out, key, generate(item, n));
    }
    return out;
}

static json_t *generate_array(const json_t *value, const json_t *of, long long count, long long n)
{
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(value); i++)
        json_array_append_new(out, generate(json_array_get(value, i), n));
    for (long long i = 1; i <= count; i++)
        json_array_append_new(out, generate(of, i));
    return out;
}

/* A case's value with what it abbreviates written out; n: the number of the item it is in, or 0. */
static json_t *generate(const json_t *value, long long n)
{
    const json_t *times = json_object_get(value, "$times");
    if (times)
        return generate_array(NULL, json_object_get(value, "of"), json_integer_value(times), n);
    if (json_object_get(value, "$string"))
        return repeated(value);
    if (json_is_object(value))
        return generate_object(value, n);
    if (json_is_array(value))
        return generate_array(value, NULL, 0, n);
    if (n && json_is_string(value) && strcmp(json_string_value(value), "$n") == 0)
        return json_integer(n);
    return json_is_string(value) ? numbered(json_string_value(value), n) : json_deep_copy(value);
}

/* Sets what the JSON pointer names, or removes it when value is NULL. Takes value. */
static void change(json_t *root, const char *pointer, json_t *value)
{
    char text[256], *key = text + 1, *slash;
    snprintf(text, sizeof text, "%s", pointer);
    for (; (slash = strchr(key, '/')); key = slash + 1) {
        *slash = '\0';
        root = json_is_array(root) ? json_array_get(root, (size_t)strtoul(key, NULL, 10))
                                   : json_object_get(root, key);
    }
    int rc = json_is_array(root) ? json_array_set_new(root, (size_t)strtoul(key, NULL, 10), value)
             : value             ? json_object_set_new(root, key, value)
                                 : json_object_del(root, key);
    if (rc != 0)
        fail_msg("%s: no such place in every-key.json", pointer);
}

static json_t *load_json(const char *path)
{
    struct err err = {0};
    json_t *value = json_load(path, 1 << 20, &err);
    if (!value)
        fail_msg("%s", err.msg);
    return value;
}

/* Writes the plan that the case describes; returns its path. */
static const char *make_plan(const json_t *one)
{
    json_t *plan = load_json(CORPUS "good/every-key.json"), *value;
    const char *pointer;
    size_t i;
    struct err err = {0};
    json_array_foreach(json_object_get(one, "remove"), i, value)
    {
        change(plan, json_string_value(value), NULL);
    }
    json_object_foreach(json_object_get(one, "set"), pointer, value)
    {
        change(plan, pointer, generate(value, 0));
    }
    const char *path = in_scratch("plan.json");
    assert_ok(json_save(path, plan, &err), &err);
    json_decref(plan);
    return path;
}

static void assert_job_is_taken(const struct plan *p, const char *what)
{
    static const char source[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const struct job_request req = {
        .run_id = "r", .date = "2026-02-14", .source_sha256 = p->source.dir ? source : NULL};
    AUTO(job_release) struct job job = {0};
    struct err err = {0};
    json_t *root = job_encode(p, &req);
    if (!root)
        fail_msg("%s: does not encode as a job", what);
    if (job_init(&job, root, "job.json", &err) != 0)
        fail_msg("%s: the executor refuses the job: %s", what, err.msg);
    assert_int_equal(job.test_count, plan_test_count(p));
}

static void assert_accepted(const char *path, const char *what)
{
    AUTO(plan_release) struct plan p = {0};
    struct err err = {0};
    if (plan_load(&p, path, &err) != 0)
        fail_msg("%s: %s", what, err.msg);
    assert_job_is_taken(&p, what);
}

/* The message begins with the file, a line and a column within it, and the place. */
static bool names_place(const char *msg, const char *path, const char *place)
{
    unsigned line = 0, column = 0;
    int used = 0;
    size_t n = strlen(path), m = strlen(place);
    if (strncmp(msg, path, n) != 0)
        return false;
    if (sscanf(msg + n, ":%u:%u%n", &line, &column, &used) == 2 && (line == 0 || column == 0))
        return false;
    return strncmp(msg + n + used, ": ", 2) == 0 && strncmp(msg + n + used + 2, place, m) == 0 &&
           msg[n + (size_t)used + 2 + m] == ':';
}

/* The error is among all errors of the plan. */
static void assert_collected(const char *path, const char *what, const char *msg)
{
    struct plan p;
    struct err err = {0};
    AUTO(problems_release) struct json_problems all = {0};
    bool found = false;
    assert_int_equal(plan_load_all(&p, path, &all, &err), -1);
    assert_int_equal(err.kind, ERR_NONE);
    for (size_t i = 0; i < all.count; i++)
        found = found || strcmp(all.item[i].text, msg) == 0;
    if (!found)
        fail_msg("%s: not among %zu errors: %s", what, all.count, msg);
}

/* JSON is YAML: the same text has the same error at the same line and column. */
static void assert_refused_as_yaml(const char *path, const char *what, const char *msg)
{
    char other[FS_PATH_MAX];
    struct buf text;
    struct plan p;
    struct err err = {0};
    buf_init(&text, LIMIT_PLAN_BYTES);
    assert_ok(fs_read_file(path, LIMIT_PLAN_BYTES, &text, &err), &err);
    snprintf(other, sizeof other, "%.*s.yaml", (int)strlen(path) - 5, path);
    assert_ok(fs_write_file(other, buf_str(&text), text.len, 0600, &err), &err);
    buf_release(&text);
    if (plan_load(&p, other, &err) == 0)
        fail_msg("%s: accepted as YAML", what);
    if (strncmp(msg, path, strlen(path)) == 0 && strcmp(msg + strlen(path), err.msg + strlen(other)) != 0)
        fail_msg("%s: as YAML: %s, not %s", what, err.msg, msg);
}

static void assert_refused(const json_t *one, const char *path)
{
    struct plan p;
    struct err err = {0};
    const char *what = json_string_value(json_object_get(one, "what"));
    const char *place = json_string_value(json_object_get(one, "place"));
    if (plan_load(&p, path, &err) == 0)
        fail_msg("%s: accepted", what);
    if (err.kind != ERR_INPUT || !names_place(err.msg, path, place) ||
        !strstr(err.msg, json_string_value(json_object_get(one, "says"))) || strchr(err.msg, '\n'))
        fail_msg("%s: %s", what, err.msg);
    assert_collected(path, what, err.msg);
    assert_refused_as_yaml(path, what, err.msg);
}

/* Calls fn for each file of the pattern; there must be some. */
static void each_file(const char *pattern, void (*fn)(const char *path))
{
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        fn(found.gl_pathv[i]);
    globfree(&found);
}

static void accept_plan(const char *path)
{
    assert_accepted(path, path);
}

static void accept_cases(const char *path)
{
    json_t *cases = load_json(path), *one;
    size_t i;
    assert_true(json_array_size(cases) > 0);
    json_array_foreach(cases, i, one)
    {
        assert_accepted(make_plan(one), json_string_value(json_object_get(one, "what")));
    }
    json_decref(cases);
}

static void refuse_cases(const char *path)
{
    json_t *cases = load_json(path), *one;
    size_t i;
    assert_true(json_array_size(cases) > 0);
    json_array_foreach(cases, i, one)
    {
        assert_refused(one, make_plan(one));
    }
    json_decref(cases);
}

TEST(every_good_plan_is_accepted)
{
    each_file(CORPUS "good/*.json", accept_plan);
}

TEST(every_plan_of_the_project_is_accepted)
{
    each_file("harness/plans/*.json", accept_plan);
}

TEST(values_at_their_bounds_are_accepted)
{
    each_file(CORPUS "edge/*.json", accept_cases);
}

TEST(bad_plans_are_refused_with_place_and_reason)
{
    each_file(CORPUS "bad/*.json", refuse_cases);
}

static int set_up(void **state)
{
    if (scratch_make(state) != 0)
        return -1;
    put("minimal.json", "{}"); /* what every-key.json includes */
    return 0;
}

GROUP(set_up, scratch_remove);
