/* array_job: what is saved loads unchanged; only this job's attempts count, the newest of each task, until
 * the task is fenced. */
#include "tests/unit/support.h"

#include "common/base/json.h"
#include "executor/scheduler/array_job.h"

static const char job_text[] =
    "{\"schema\": \"kernsweep.job/1\", \"run_id\": \"r1\", \"ticket\": \"t\", \"tag\": \"\","
    " \"date\": \"2026-02-14\", \"mode\": \"perf\", \"node\": \"n\", \"source\": null, \"env\": {}, "
    "\"secrets\": [],"
    " \"variants\": [{\"name\": \"a\", \"run\": [\"true\"]}, {\"name\": \"b\", \"run\": [\"true\"]}],"
    " \"tests\": [{\"index\": 1, \"variant\": \"a\", \"context\": 16, \"repetition\": 1, \"timeout_s\": 5},"
    " {\"index\": 2, \"variant\": \"b\", \"context\": 16, \"repetition\": 1, \"timeout_s\": 5},"
    " {\"index\": 3, \"variant\": \"b\", \"context\": 32, \"repetition\": 1, \"timeout_s\": 5}]}";

/* The parts of a suite that an array job needs, in a separate folder. */
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

/* Array job 4: both tests of b, one task each. */
static struct array_job save_job(const struct suite *s)
{
    struct array_job o;
    struct err err = {0};
    array_job_init(&o, 4, 1, 2);
    snprintf(o.build, sizeof o.build, "cafe");
    array_task_add_test(&o.task[0], 1);
    array_task_add_test(&o.task[1], 2);
    assert_ok(array_job_save(&o, s, &err), &err);
    return o;
}

TEST(loads_what_was_saved)
{
    struct suite s = suite_in("same");
    struct array_job o = save_job(&s), back;
    struct err err = {0};
    assert_int_equal(array_job_load(&back, &s, 4, &err), 1);
    assert_int_equal(back.number, 4);
    assert_int_equal(back.variant, 1);
    assert_false(back.prepare);
    assert_string_equal(back.build, "cafe");
    assert_int_equal(back.id, 0); /* not submitted yet */
    assert_int_equal(back.count, 2);
    assert_int_equal(back.task[1].count, 1);
    assert_int_equal(back.task[1].test[0], 2);
    assert_false(array_job_is_over(&back));
    array_job_release(&back);
    assert_ok(array_job_save_id(&o, &s, 4711, &err), &err);
    assert_int_equal(array_job_load(&back, &s, 4, &err), 1);
    assert_int_equal(back.id, 4711);
    array_job_release(&back);
    assert_int_equal(array_job_load(&back, &s, 5, &err), 0);
    assert_null(back.task);
    json_t *file = json_load(in_scratch("same/.arrays/4.json"), 1 << 16, &err);
    const json_t *second = json_array_get(json_array_get(json_object_get(file, "tasks"), 1), 0);
    assert_int_equal(json_integer_value(json_object_get(second, "index")), 3);
    assert_int_equal(json_integer_value(json_object_get(second, "attempts")), 2);
    json_decref(file);
    array_job_release(&o);
    end_suite(&s);
}

TEST(the_newest_attempt_counts)
{
    static const char *const others[] = {"1.4710.9", "3.4711.0", "0.4711.0", "1.4711.-1", "1.4711.0.tmp",
                                         "1.4711",   "x.4711.0", "1.over",   "1.4711.log"};
    struct suite s = suite_in("newest");
    struct array_job o = save_job(&s);
    struct err err = {0};
    char path[FS_PATH_MAX];
    put("newest/.arrays/4/2.4711.0/file", "");
    assert_ok(array_job_find_attempts(&o, &s, &err), &err);
    assert_string_equal(o.task[1].attempt, ""); /* the id of whose job is not known yet */
    assert_ok(array_job_save_id(&o, &s, 4711, &err), &err);
    for (size_t i = 0; i < COUNT(others); i++) {
        char name[64];
        snprintf(name, sizeof name, "newest/.arrays/4/%s/file", others[i]);
        if (strcmp(others[i], "1.over") != 0)
            put(name, "");
    }
    assert_ok(array_job_find_attempts(&o, &s, &err), &err);
    assert_string_equal(o.task[0].attempt, "");
    assert_string_equal(o.task[1].attempt, "2.4711.0");
    o.task[1].offset = 99;
    assert_ok(array_job_find_attempts(&o, &s, &err), &err);
    assert_int_equal(o.task[1].offset, 99); /* the same one goes on */
    put("newest/.arrays/4/2.4711.1/file", "");
    assert_ok(array_job_find_attempts(&o, &s, &err), &err);
    assert_string_equal(o.task[1].attempt, "2.4711.1");
    assert_int_equal(o.task[1].restart, 1);
    assert_int_equal(o.task[1].offset, 0); /* with a journal of its own */
    assert_ok(array_job_attempt_dir(&o, 1, &s, path, &err), &err);
    assert_string_equal(path, in_scratch("newest/.arrays/4/2.4711.1/r1"));
    array_job_release(&o);
    end_suite(&s);
}

TEST(behind_the_fence_nothing_is_new)
{
    struct suite s = suite_in("fence");
    struct array_job o = save_job(&s), back;
    struct err err = {0};
    char path[FS_PATH_MAX];
    assert_ok(array_job_save_id(&o, &s, 4711, &err), &err);
    put("fence/.arrays/4/1.4711.0/file", "");
    assert_ok(array_job_find_attempts(&o, &s, &err), &err);
    assert_ok(array_job_end_task(&o, 0, &s, "done", &err), &err);
    assert_file("fence/.arrays/4/1.over", "1.4711.0 done\n");
    put("fence/.arrays/4/1.4711.1/file", "");
    assert_ok(array_job_find_attempts(&o, &s, &err), &err);
    assert_string_equal(o.task[0].accepted, "1.4711.0");
    assert_false(array_job_is_over(&o));
    assert_ok(array_job_end_task(&o, 1, &s, "it never started", &err), &err);
    assert_true(array_job_is_over(&o));
    array_job_release(&o);
    assert_int_equal(array_job_load(&back, &s, 4, &err), 1);
    assert_true(array_job_is_over(&back));
    assert_string_equal(back.task[0].accepted, "1.4711.0");
    assert_string_equal(back.task[1].accepted, ""); /* over, and no attempt is accepted */
    assert_ok(array_job_find_attempts(&back, &s, &err), &err);
    assert_string_equal(back.task[0].attempt, "");
    assert_ok(array_job_attempt_dir(&back, 0, &s, path, &err), &err);
    assert_string_equal(path, in_scratch("fence/.arrays/4/1.4711.0/r1"));
    array_job_release(&back);
    end_suite(&s);
}

TEST(a_malformed_file_is_refused)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{", "1.json"},
        {"[]", "1.json"},
        {"{\"variant\": \"c\", \"prepare\": false, \"build\": \"\", \"tasks\": []}", "not an array job"},
        {"{\"variant\": \"a\", \"prepare\": 1, \"build\": \"\", \"tasks\": []}", "prepare"},
        {"{\"variant\": \"a\", \"prepare\": false, \"tasks\": []}", "build"},
        {"{\"variant\": \"a\", \"prepare\": false, \"build\": \"\", \"tasks\": [[{\"index\": 4}]]}", "index"},
        {"{\"variant\": \"a\", \"prepare\": false, \"build\": \"\", \"tasks\": [[{\"index\": 0}]]}", "index"},
    };
    struct suite s = suite_in("strange");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct array_job o;
        struct err err = {0};
        put("strange/.arrays/1.json", cases[i].text);
        assert_err(array_job_load(&o, &s, 1, &err), &err, ERR_INPUT, cases[i].says);
        assert_null(o.task);
    }
    end_suite(&s);
}

GROUP(scratch_make, scratch_remove);
