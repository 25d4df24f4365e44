/* trace: one JSON line per event, without anything confidential. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/run.h"
#include "common/base/trace.h"

#include <stdlib.h>
#include <unistd.h>

static char file[] = "/tmp/kernsweep-test-trace.XXXXXX";

static int open_trace(void **state)
{
    struct err err = {0};
    int fd = mkstemp(file);
    (void)state;
    return fd < 0 || close(fd) != 0 ? -1 : trace_open(file, &err);
}

static int remove_trace(void **state)
{
    (void)state;
    return unlink(file);
}

/* The last line of the trace. */
static json_t *last_line(void)
{
    AUTO(buf_release) struct buf text = {.max = 1 << 20};
    struct err err = {0};
    assert_int_equal(fs_read_file(file, 1 << 20, &text, &err), 0);
    assert_true(text.len > 1 && text.data[text.len - 1] == '\n');
    text.data[text.len - 1] = '\0';
    char *newline = strrchr(text.data, '\n');
    const char *line = newline ? newline + 1 : text.data;
    json_t *value = json_parse(line, strlen(line), "trace", &err);
    assert_non_null(value);
    return value;
}

TEST(a_program_leaves_its_words_and_its_end)
{
    static const char *const argv[] = {"sh", "-c", "cat; exit 3", NULL};
    struct run_result res;
    AUTO(buf_release) struct buf in = {.max = 10};
    buf_puts(&in, "abc");
    assert_int_equal(run_capture(argv, &in, 10, NULL, &res, NULL), 0);
    json_auto_t *line = last_line();
    assert_string_equal(json_string_value(json_object_get(line, "event")), "program");
    assert_int_equal(json_array_size(json_object_get(line, "argv")), 3);
    assert_int_equal(json_integer_value(json_object_get(line, "exit")), 3);
    assert_int_equal(json_integer_value(json_object_get(line, "sent")), 3);
    assert_int_equal(json_integer_value(json_object_get(line, "received")), 3);
    assert_true(json_real_value(json_object_get(line, "duration_s")) > 0);
}

TEST(confidential_words_are_left_out)
{
    static const char *const argv[] = {"true", "--password=hunter2", NULL};
    const struct run run = {.argv = argv, .secret_argv = true};
    struct run_result res;
    assert_int_equal(run_program(&run, &res, NULL), 0);
    json_t *line = last_line(), *words = json_object_get(line, "argv");
    assert_int_equal(json_array_size(words), 1);
    assert_string_equal(json_string_value(json_array_get(words, 0)), "true");
    json_decref(line);
}

TEST(a_failure_has_its_reason_on_one_line)
{
    struct err failure = {.kind = ERR_NODE, .msg = "no route\nto host \xff"};
    struct trace_event e = trace_begin("connect", "me@node:22", NULL);
    e.how = "libssh2";
    e.failure = &failure;
    trace_end(&e);
    json_auto_t *line = last_line();
    assert_string_equal(json_string_value(json_object_get(line, "error")), "no route\\x0ato host \\xff");
    assert_string_equal(json_string_value(json_object_get(line, "transport")), "libssh2");
    assert_null(json_object_get(line, "exit"));
    assert_null(json_object_get(line, "argv"));
}

TEST(long_words_are_cut)
{
    char script[5000];
    memset(script, 'x', sizeof script - 1);
    script[sizeof script - 1] = '\0';
    const char *const argv[] = {"sh", script, NULL};
    struct trace_event e = trace_begin("exec", "node", argv);
    e.signal = "KILL";
    trace_end(&e);
    json_auto_t *line = last_line();
    assert_int_equal(json_string_length(json_array_get(json_object_get(line, "argv"), 1)), 160);
    assert_string_equal(json_string_value(json_object_get(line, "signal")), "KILL");
}

GROUP(open_trace, remove_trace);
