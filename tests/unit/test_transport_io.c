/* transport_io: what the user is told while a node is silent. */
#include "tests/unit/support.h"

#include "harness/transport/io.h"

#include "common/base/clock.h"

static const int64_t ns_per_s = 1000000000;
static int told;
static char last[256];

static void on_notice(void *arg, const char *line)
{
    (void)arg;
    told++;
    snprintf(last, sizeof last, "%s", line);
}

static const struct transport_scope scope = {.who = "me@node:22", .notice = on_notice};

static void begin(struct transport_io *io, const struct transport_cmd *cmd, struct transport_result *res)
{
    told = 0;
    transport_io_begin(io, cmd, res, &scope);
}

static int look_after(struct transport_io *io, int64_t seconds)
{
    struct err err = {0};
    io->moved_ns = clock_mono_ns() - seconds * ns_per_s;
    return transport_io_check(io, &err);
}

TEST(a_silent_node_is_told_once)
{
    const struct transport_cmd cmd = {.deadline_s = 60};
    struct transport_result res;
    struct transport_io io;
    begin(&io, &cmd, &res);
    assert_int_equal(look_after(&io, 14), 0);
    assert_int_equal(told, 0);
    assert_int_equal(look_after(&io, 15), 0);
    assert_int_equal(look_after(&io, 20), 0);
    assert_int_equal(told, 1);
    assert_string_equal(last, "me@node:22 has been silent for 15 s: is it overloaded or stopped? Waiting up "
                              "to 60 s; Ctrl-C stops waiting");
    transport_io_end(&io);
}

TEST(a_node_that_falls_silent_again_is_told_again)
{
    const struct transport_cmd cmd = {.stall_s = 60};
    struct transport_result res;
    struct transport_io io;
    struct err err = {0};
    begin(&io, &cmd, &res);
    assert_int_equal(look_after(&io, 15), 0);
    assert_int_equal(transport_io_stdout(&io, "x", 1, &err), 0);
    assert_int_equal(look_after(&io, 16), 0);
    assert_int_equal(told, 2);
    transport_io_end(&io);
}

TEST(a_wait_that_ends_soon_is_not_told)
{
    const struct transport_cmd cmd = {.stall_s = 16};
    struct transport_result res;
    struct transport_io io;
    begin(&io, &cmd, &res);
    assert_int_equal(look_after(&io, 15), 0);
    assert_int_equal(told, 0);
    transport_io_end(&io);
}
