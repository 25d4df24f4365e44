/* run_files: which of a run's logs a command line means, and what is said where there is none. */
#include "tests/unit/support.h"

#include "harness/session/run_files.h"

#include <string.h>

static const char *const logs[] = {"v3/build.log",
                                   "v3/ctx_4096_run1/run.log",
                                   "v3/ctx_4096_run2/diag.txt",
                                   "v3/ctx_4096_run2/run.log",
                                   "v3/ctx_8192_run1/.run.log.part",
                                   "v4/ctx_4096_run1/run.log",
                                   "v4/gate.log",
                                   NULL};

static int choose(struct run_log_query q, struct run_log_choice *out, struct err *err)
{
    struct strvec paths = {0};
    strvec_push_all(&paths, logs);
    int rc = run_files_choose(&paths, &q, out, err);
    strvec_release(&paths);
    return rc;
}

static void finds(struct run_log_query q, const char *path)
{
    struct run_log_choice choice;
    struct err err = {0};
    assert_ok(choose(q, &choice, &err), &err);
    assert_string_equal(choice.path, path);
}

static void refuses(struct run_log_query q, const char *why)
{
    struct run_log_choice choice;
    struct err err = {0};
    assert_int_equal(choose(q, &choice, &err), -1);
    assert_int_equal(err.kind, ERR_INPUT);
    if (!strstr(err.msg, why))
        fail_msg("\"%s\" lacks \"%s\"", err.msg, why);
}

TEST(a_test_is_named_by_variant_context_and_repetition)
{
    finds((struct run_log_query){.variant = "v3", .context = "4096", .repetition = "1"},
          "v3/ctx_4096_run1/run.log");
    finds((struct run_log_query){.variant = "v4", .context = "4096"}, "v4/ctx_4096_run1/run.log");
}

TEST(the_repetition_that_was_not_ok_comes_first)
{
    struct run_log_choice choice;
    struct err err = {0};
    assert_ok(choose((struct run_log_query){.variant = "v3", .context = "4096"}, &choice, &err), &err);
    assert_string_equal(choice.path, "v3/ctx_4096_run2/run.log");
    assert_int_equal(choice.repetition, 2);
    assert_int_equal(choice.repetitions, 2);
    finds((struct run_log_query){.log = RUN_LOG_DIAG, .variant = "v3", .context = "4096"},
          "v3/ctx_4096_run2/diag.txt");
}

TEST(the_only_context_need_not_be_named)
{
    finds((struct run_log_query){.variant = "v4"}, "v4/ctx_4096_run1/run.log");
    refuses((struct run_log_query){.variant = "v3"}, "name the context: there are 4096, 8192");
}

TEST(a_log_that_grows_is_found_under_its_other_name)
{
    struct run_log_choice choice;
    struct err err = {0};
    assert_ok(choose((struct run_log_query){.variant = "v3", .context = "8192"}, &choice, &err), &err);
    assert_string_equal(choice.path, "v3/ctx_8192_run1/.run.log.part");
    assert_true(choice.growing);
}

TEST(builds_and_gates_belong_to_a_variant)
{
    finds((struct run_log_query){.log = RUN_LOG_BUILD, .variant = "v3"}, "v3/build.log");
    finds((struct run_log_query){.log = RUN_LOG_GATE, .variant = "v4"}, "v4/gate.log");
    refuses((struct run_log_query){.log = RUN_LOG_BUILD, .variant = "v4"}, "v4 has no build.log");
}

TEST(what_is_missing_is_answered_with_what_there_is)
{
    refuses((struct run_log_query){.variant = "v5", .context = "4096"},
            "no log of variant v5; there are: v3, v4");
    refuses((struct run_log_query){.variant = "v3", .context = "16"},
            "no log of context 16; there are: 4096, 8192");
    refuses((struct run_log_query){.variant = "v3", .context = "4096x"}, "no log of context 4096x");
    refuses((struct run_log_query){.variant = "v3", .context = "4096", .repetition = "7"}, "no repetition 7");
    refuses((struct run_log_query){.log = RUN_LOG_DIAG, .variant = "v4", .context = "4096"},
            "written for tests that are not OK");
}

TEST(only_logs_of_a_folder_are_listed)
{
    struct strvec paths = {0};
    struct err err = {0};
    struct buf text;
    const struct run_place place = {.bundle = in_scratch("bundle")};
    assert_ok(fs_mkdir_p(in_scratch("bundle/v1/ctx_0_run1"), 0700, &err), &err);
    assert_ok(fs_write_file(in_scratch("bundle/v1/ctx_0_run1/run.log"), "one\ntwo\n", 8, 0600, &err), &err);
    assert_ok(fs_write_file(in_scratch("bundle/v1/ctx_0_run1/perf.json"), "{}", 2, 0600, &err), &err);
    assert_ok(fs_write_file(in_scratch("bundle/run.log"), "x", 1, 0600, &err), &err);
    assert_ok(run_files_list(&place, &paths, &err), &err);
    assert_int_equal(paths.n, 1);
    assert_string_equal(paths.v[0], "v1/ctx_0_run1/run.log");
    buf_init(&text, 100);
    assert_ok(run_files_read(&place, paths.v[0], 4, &text, &err), &err);
    assert_string_equal(buf_str(&text), "two\n");
    buf_release(&text);
    strvec_release(&paths);
}

GROUP(scratch_make, scratch_remove);
