/* order: what was ordered comes back as it was; only this order's attempts count, the newest of each task,
 * until its fence is up. */
#include "tests/unit/support.h"

#include "common/base/json.h"
#include "executor/run/order.h"

static const char job_text[] =
    "{\"schema\": \"kernsweep.job/1\", \"run_id\": \"r1\", \"ticket\": \"t\", \"tag\": \"\","
    " \"date\": \"2026-02-14\", \"mode\": \"perf\", \"node\": \"n\", \"source\": null, \"env\": {}, "
    "\"secrets\": [],"
    " \"variants\": [{\"name\": \"a\", \"run\": [\"true\"]}, {\"name\": \"b\", \"run\": [\"true\"]}],"
    " \"tests\": [{\"index\": 1, \"variant\": \"a\", \"context\": 16, \"repetition\": 1, \"timeout_s\": 5},"
    " {\"index\": 2, \"variant\": \"b\", \"context\": 16, \"repetition\": 1, \"timeout_s\": 5},"
    " {\"index\": 3, \"variant\": \"b\", \"context\": 32, \"repetition\": 1, \"timeout_s\": 5}]}";

/* As much of a suite as an order needs; in a folder of its own. */
static struct suite suite_in(const char *dir)
{
    struct suite s = {.tests_done = 0};
    struct err err = {0};
    snprintf(s.dir, sizeof s.dir, "%s", in_scratch(dir));
    assert_ok(job_init(&s.job, json_loads(job_text, 0, NULL), "job.json", &err), &err);
    s.test = calloc(s.job.test_count, sizeof *s.test);
    s.test[2].attempts = 2;
    return s;
}

static void end_suite(struct suite *s)
{
    free(s->test);
    job_release(&s->job);
}

/* Order 4: both tests of b, a task each. */
static struct order save_order(const struct suite *s)
{
    struct order o;
    struct err err = {0};
    assert_ok(order_init(&o, 4, 1, 2, &err), &err);
    snprintf(o.build, sizeof o.build, "cafe");
    assert_ok(order_add_test(&o.task[0], 1, &err), &err);
    assert_ok(order_add_test(&o.task[1], 2, &err), &err);
    assert_ok(order_save(&o, s, &err), &err);
    return o;
}

static void comes_back_as_it_was(void **state)
{
    (void)state;
    struct suite s = suite_in("same");
    struct order o = save_order(&s), back;
    struct err err = {0};
    assert_int_equal(order_load(&back, &s, 4, &err), 1);
    assert_int_equal(back.number, 4);
    assert_int_equal(back.variant, 1);
    assert_false(back.prepare);
    assert_string_equal(back.build, "cafe");
    assert_int_equal(back.job, 0); /* Slurm has not answered yet */
    assert_int_equal(back.count, 2);
    assert_int_equal(back.task[1].count, 1);
    assert_int_equal(back.task[1].test[0], 2);
    assert_false(order_is_over(&back));
    order_release(&back);
    assert_ok(order_save_job(&o, &s, 4711, &err), &err);
    assert_int_equal(order_load(&back, &s, 4, &err), 1);
    assert_int_equal(back.job, 4711);
    order_release(&back);
    assert_int_equal(order_load(&back, &s, 5, &err), 0);
    assert_null(back.task);
    json_t *file = json_load(in_scratch("same/.slurm/4.json"), 1 << 16, &err);
    const json_t *second = json_array_get(json_array_get(json_object_get(file, "tasks"), 1), 0);
    assert_int_equal(json_integer_value(json_object_get(second, "index")), 3);
    assert_int_equal(json_integer_value(json_object_get(second, "attempts")), 2);
    json_decref(file);
    order_release(&o);
    end_suite(&s);
}

static void the_newest_attempt_counts(void **state)
{
    (void)state;
    static const char *const others[] = {"1.4710.9", "3.4711.0", "0.4711.0", "1.4711.-1", "1.4711.0.tmp",
                                         "1.4711",   "x.4711.0", "1.over",   "1.4711.log"};
    struct suite s = suite_in("newest");
    struct order o = save_order(&s);
    struct err err = {0};
    char path[FS_PATH_MAX];
    put("newest/.slurm/4/2.4711.0/file", "");
    assert_ok(order_find_attempts(&o, &s, &err), &err);
    assert_string_equal(o.task[1].attempt, ""); /* whose job is not known yet */
    assert_ok(order_save_job(&o, &s, 4711, &err), &err);
    for (size_t i = 0; i < COUNT(others); i++) {
        char name[64];
        snprintf(name, sizeof name, "newest/.slurm/4/%s/file", others[i]);
        if (strcmp(others[i], "1.over") != 0)
            put(name, "");
    }
    assert_ok(order_find_attempts(&o, &s, &err), &err);
    assert_string_equal(o.task[0].attempt, "");
    assert_string_equal(o.task[1].attempt, "2.4711.0");
    o.task[1].offset = 99;
    assert_ok(order_find_attempts(&o, &s, &err), &err);
    assert_int_equal(o.task[1].offset, 99); /* the same one goes on */
    put("newest/.slurm/4/2.4711.1/file", "");
    assert_ok(order_find_attempts(&o, &s, &err), &err);
    assert_string_equal(o.task[1].attempt, "2.4711.1");
    assert_int_equal(o.task[1].restart, 1);
    assert_int_equal(o.task[1].offset, 0); /* with a journal of its own */
    assert_ok(order_attempt_dir(&o, 1, &s, path, &err), &err);
    assert_string_equal(path, in_scratch("newest/.slurm/4/2.4711.1/r1"));
    order_release(&o);
    end_suite(&s);
}

static void behind_the_fence_nothing_is_new(void **state)
{
    (void)state;
    struct suite s = suite_in("fence");
    struct order o = save_order(&s), back;
    struct err err = {0};
    char path[FS_PATH_MAX];
    assert_ok(order_save_job(&o, &s, 4711, &err), &err);
    put("fence/.slurm/4/1.4711.0/file", "");
    assert_ok(order_find_attempts(&o, &s, &err), &err);
    assert_ok(order_end_task(&o, 0, &s, "done", &err), &err);
    assert_file("fence/.slurm/4/1.over", "1.4711.0 done\n");
    put("fence/.slurm/4/1.4711.1/file", "");
    assert_ok(order_find_attempts(&o, &s, &err), &err);
    assert_string_equal(o.task[0].believed, "1.4711.0");
    assert_false(order_is_over(&o));
    assert_ok(order_end_task(&o, 1, &s, "it never started", &err), &err);
    assert_true(order_is_over(&o));
    order_release(&o);
    assert_int_equal(order_load(&back, &s, 4, &err), 1);
    assert_true(order_is_over(&back));
    assert_string_equal(back.task[0].believed, "1.4711.0");
    assert_string_equal(back.task[1].believed, ""); /* over, and no attempt is believed */
    assert_ok(order_find_attempts(&back, &s, &err), &err);
    assert_string_equal(back.task[0].attempt, "");
    assert_ok(order_attempt_dir(&back, 0, &s, path, &err), &err);
    assert_string_equal(path, in_scratch("fence/.slurm/4/1.4711.0/r1"));
    order_release(&back);
    end_suite(&s);
}

static void a_strange_order_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{", "1.json"},
        {"[]", "1.json"},
        {"{\"variant\": \"c\", \"prepare\": false, \"build\": \"\", \"tasks\": []}", "not an order"},
        {"{\"variant\": \"a\", \"prepare\": 1, \"build\": \"\", \"tasks\": []}", "prepare"},
        {"{\"variant\": \"a\", \"prepare\": false, \"tasks\": []}", "build"},
        {"{\"variant\": \"a\", \"prepare\": false, \"build\": \"\", \"tasks\": [[{\"index\": 4}]]}", "index"},
        {"{\"variant\": \"a\", \"prepare\": false, \"build\": \"\", \"tasks\": [[{\"index\": 0}]]}", "index"},
    };
    struct suite s = suite_in("strange");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct order o;
        struct err err = {0};
        put("strange/.slurm/1.json", cases[i].text);
        assert_err(order_load(&o, &s, 1, &err), &err, ERR_INPUT, cases[i].says);
        assert_null(o.task);
    }
    end_suite(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_as_it_was),
        cmocka_unit_test(the_newest_attempt_counts),
        cmocka_unit_test(behind_the_fence_nothing_is_new),
        cmocka_unit_test(a_strange_order_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
