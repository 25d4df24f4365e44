/* event: journal lines from a node that may be hostile, split anywhere by the network. */
#include "tests/unit/support.h"

#include "common/base/json.h"
#include "common/base/text.h"
#include "harness/session/event.h"

#include <limits.h>
#include <math.h>

static int decode(struct event *e, const char *line)
{
    return event_decode(e, line, strlen(line));
}

TEST(decodes_every_field)
{
    struct event e;
    assert_int_equal(
        decode(&e,
               "{\"seq\":12,\"ts\":\"2026-02-14T03:15:09.123Z\",\"event\":\"TEST_END\",\"variant\":\"v3\","
               "\"ctx\":4096,\"run_idx\":2,\"test_index\":5,\"total_tests\":12,\"exit_status\":\"OK\","
               "\"wall_s\":44.8,\"prefill_s\":22.5,\"reason\":\"why\",\"suite_eta_s\":600,"
               "\"elapsed_s\":3,\"timeout_s\":180,\"eta_remaining_s\":1.5,\"gate\":\"correct\","
               "\"ok\":1,\"failed\":2,\"skipped\":3,\"unknown\":{\"later\":[]}}"),
        0);
    assert_int_equal(e.type, EVENT_TEST_END);
    assert_int_equal(e.seq, 12);
    assert_string_equal(e.variant, "v3");
    assert_string_equal(e.status, "OK");
    assert_string_equal(e.reason, "why");
    assert_string_equal(e.gate, "correct");
    assert_true(e.ctx == 4096 && e.run_idx == 2 && e.test_index == 5 && e.total_tests == 12);
    assert_true(e.counts.ok == 1 && e.counts.failed == 2 && e.counts.skipped == 3);
    assert_true(e.times.wall_s == 44.8 && e.times.prefill_s == 22.5 && e.times.suite_eta_s == 600 &&
                e.times.elapsed_s == 3);
    assert_true(e.times.timeout_s == 180 && e.times.eta_remaining_s == 1.5);
}

TEST(absent_fields_are_zero_empty_or_nan)
{
    struct event e;
    memset(&e, 'x', sizeof e);
    assert_int_equal(decode(&e, "{\"event\":\"NODE\"}"), 0);
    assert_int_equal(e.type, EVENT_NODE);
    assert_true(!*e.variant && !*e.status && !*e.reason && !*e.gate);
    assert_true(e.seq == 0 && e.ctx == 0 && e.run_idx == 0 && e.test_index == 0 && e.total_tests == 0);
    assert_true(isnan(e.times.wall_s) && isnan(e.times.prefill_s) && isnan(e.times.suite_eta_s) &&
                isnan(e.times.elapsed_s) && isnan(e.times.timeout_s) && isnan(e.times.eta_remaining_s));
}

TEST(every_event_name_is_known)
{
    for (int i = 0; i < EVENT_COUNT; i++) {
        char line[64];
        struct event e;
        snprintf(line, sizeof line, "{\"event\":\"%s\"}", event_name((enum event_type)i));
        assert_int_equal(decode(&e, line), 0);
        assert_int_equal(e.type, i);
    }
}

TEST(what_is_no_event_is_the_nodes_fault)
{
    static const char *const lines[] = {"",
                                        " ",
                                        "{",
                                        "[]",
                                        "3",
                                        "null",
                                        "\"SUITE_START\"",
                                        "{}",
                                        "{\"event\":3}",
                                        "{\"event\":null}",
                                        "{\"event\":\"NODE\"}x",
                                        "{\"event\":\"NODE\",\"event\":\"GATE\"}",
                                        "\xff\xfe",
                                        "{\"event\":\"NODE\",\"x\":\"\\u0000\"}",
                                        "Segmentation fault\033[2J\r\n",
                                        "{\"event\":\"NODE\",\"seq\":99999999999999999999}"};
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct event e;
        assert_int_equal(decode(&e, lines[i]), -1);
    }
    struct event e;
    assert_int_equal(event_decode(&e, "{", 1), -1);
}

TEST(an_event_of_a_newer_executor_is_no_fault)
{
    struct event e;
    assert_int_equal(decode(&e, "{\"seq\":7,\"event\":\"NONSENSE\",\"variant\":3}"), 1);
    assert_int_equal(e.seq, 7);
}

TEST(wrong_types_count_as_absent)
{
    struct event e;
    assert_int_equal(
        decode(&e, "{\"event\":\"TEST_END\",\"seq\":\"1\",\"variant\":{},\"ctx\":4096.5,\"run_idx\":[1],"
                   "\"reason\":null,\"exit_status\":false,\"wall_s\":\"1\",\"prefill_s\":null,\"gate\":7}"),
        0);
    assert_true(!*e.variant && !*e.status && !*e.reason && !*e.gate);
    assert_true(e.seq == 0 && e.ctx == 0 && e.run_idx == 0 && isnan(e.times.wall_s) &&
                isnan(e.times.prefill_s));
}

TEST(texts_are_bounded_and_inert)
{
    struct buf line;
    struct event e;
    for (size_t lead = 0; lead < 4; lead++) {
        buf_init(&line, LIMIT_EVENT_LINE);
        buf_puts(&line, "{\"event\":\"TEST_END\",\"variant\":\"");
        for (size_t i = 0; i < 200 + lead; i++)
            buf_puts(&line, i < lead ? "x" : "\xe2\x82\xac");
        buf_puts(&line, "\",\"status\":\"\\u001b[31m\\n\\u202e\\u009b");
        for (int i = 0; i < 100; i++)
            buf_puts(&line, "\\t");
        buf_puts(&line, "\",\"reason\":\"");
        for (int i = 0; i < 10000; i++)
            buf_puts(&line, "\xc3\xa9");
        buf_puts(&line, "\"}");
        assert_int_equal(event_decode(&e, line.data, line.len), 0);
        assert_true(strlen(e.variant) > LIMIT_NAME - 4 && strlen(e.variant) <= LIMIT_NAME);
        assert_true(text_is_utf8(e.variant, strlen(e.variant)));
        assert_memory_equal(e.status, "\\x1b[31m\\x0a\\u{202e}\\u{009b}", 24);
        assert_true(strlen(e.status) < sizeof e.status);
        assert_true(strlen(e.reason) > EVENT_TEXT_MAX - 4 && strlen(e.reason) < EVENT_TEXT_MAX);
        assert_true(text_is_utf8(e.reason, strlen(e.reason)));
        buf_release(&line);
    }
}

/* The tail of a log of count lines of unit, each of `repeat` units. */
static const char *log_tail(struct event *e, const char *unit, int repeat, int count)
{
    struct buf text;
    struct err err = {0};
    buf_init(&text, 1 << 20);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < repeat; j++)
            buf_puts(&text, unit);
        if (i + 1 < count)
            buf_putc(&text, '\n');
    }
    json_t *obj = json_pack("{s:s, s:s}", "event", "BUILD_END", "log_tail", buf_str(&text));
    buf_clear(&text);
    assert_ok(json_encode(obj, &text, &err), &err);
    assert_int_equal(event_decode(e, text.data, text.len), 0);
    json_decref(obj);
    buf_release(&text);
    return e->log_tail;
}

/* The end of any build log: complete lines, escaped, never empty. */
TEST(log_tail_keeps_the_last_lines)
{
    static const char *const units[] = {"x",    "\xc3\xa9",     "\xe2\x82\xac",
                                        "\x01", "\xe2\x80\xae", "\xf3\xa0\x81\x81"};
    struct event e;
    assert_string_equal(log_tail(&e, "ab", 2, 2), "abab\nabab\n");
    assert_string_equal(log_tail(&e, "", 1, 5), "");
    for (size_t u = 0; u < COUNT(units); u++) {
        for (int repeat = 1; repeat < 4000; repeat = repeat * 3 / 2 + 1) {
            const char *tail = log_tail(&e, units[u], repeat, 9000 / repeat + 1);
            size_t len = strlen(tail);
            assert_true(len > 500 && len < EVENT_LINES_MAX);
            assert_int_equal(tail[len - 1], '\n');
            assert_true(text_is_utf8(tail, len));
            for (size_t i = 0; i < len; i++)
                assert_true((unsigned char)tail[i] >= 0x20 || tail[i] == '\n');
        }
    }
}

TEST(numbers_may_be_extreme)
{
    struct event e;
    assert_int_equal(
        decode(&e, "{\"event\":\"HEARTBEAT\",\"seq\":9223372036854775807,\"ctx\":-9223372036854775808,"
                   "\"wall_s\":1e308,\"prefill_s\":-1e308,\"elapsed_s\":9223372036854775807}"),
        0);
    assert_true(e.seq == INT64_MAX && e.ctx == INT64_MIN && e.times.wall_s == 1e308 &&
                e.times.prefill_s == -1e308);
    assert_true(e.times.elapsed_s > 9e18);
}

/* The lines that a stream found, joined by '|'. */
struct seen {
    struct buf lines;
    int64_t fail_at; /* reject the line with this number, from 1; 0: none */
    int64_t count;
};

static int on_line(void *arg, const char *line, size_t len, struct err *err)
{
    struct seen *seen = arg;
    if (++seen->count == seen->fail_at)
        return err_set(err, ERR_NODE, "refused");
    buf_add(&seen->lines, line, len);
    buf_putc(&seen->lines, '|');
    return 0;
}

static void seen_init(struct seen *seen, struct event_stream *s)
{
    *seen = (struct seen){.count = 0};
    buf_init(&seen->lines, 1 << 20);
    event_stream_init(s, on_line, seen);
}

static void seen_release(struct seen *seen, struct event_stream *s)
{
    buf_release(&seen->lines);
    event_stream_release(s);
}

/* Three lines with keep-alives in between; the offset counts only the journal's bytes. */
static const char wire[] = "\n{\"a\":1}\n\n\n{\"bb\":22}\n\nccc\n\n\n";
static const char wire_lines[] = "{\"a\":1}|{\"bb\":22}|ccc|";
enum { WIRE_JOURNAL = 8 + 10 + 4 };

TEST(any_split_gives_the_same_lines)
{
    size_t len = sizeof wire - 1;
    for (size_t first = 0; first <= len; first++) {
        for (size_t second = first; second <= len; second++) {
            struct event_stream s;
            struct seen seen;
            struct err err = {0};
            seen_init(&seen, &s);
            assert_ok(event_stream_write(&s, wire, first, &err), &err);
            assert_ok(event_stream_write(&s, wire + first, second - first, &err), &err);
            assert_ok(event_stream_write(&s, wire + second, len - second, &err), &err);
            assert_string_equal(buf_str(&seen.lines), wire_lines);
            assert_int_equal(s.offset, WIRE_JOURNAL);
            seen_release(&seen, &s);
        }
    }
}

TEST(byte_by_byte_too)
{
    struct event_stream s;
    struct seen seen;
    struct err err = {0};
    seen_init(&seen, &s);
    for (size_t i = 0; i < sizeof wire - 1; i++)
        assert_ok(event_stream_write(&s, wire + i, 1, &err), &err);
    assert_string_equal(buf_str(&seen.lines), wire_lines);
    assert_int_equal(s.offset, WIRE_JOURNAL);
    assert_ok(event_stream_write(&s, wire, 0, &err), &err);
    seen_release(&seen, &s);
}

TEST(keep_alives_count_for_nothing)
{
    struct event_stream s;
    struct seen seen;
    struct err err = {0};
    seen_init(&seen, &s);
    for (int i = 0; i < 1000; i++)
        assert_ok(event_stream_write(&s, "\n", 1, &err), &err);
    assert_int_equal(s.offset, 0);
    assert_int_equal(seen.count, 0);
    seen_release(&seen, &s);
}

/* A journal interrupted at any byte and resumed from the offset gives each line exactly once. */
TEST(rewind_and_resume_lose_and_double_nothing)
{
    static const char journal[] = "{\"a\":1}\n{\"bb\":22}\nccc\n";
    for (size_t cut = 0; cut < sizeof journal - 1; cut++) {
        struct event_stream s;
        struct seen seen;
        struct err err = {0};
        seen_init(&seen, &s);
        assert_ok(event_stream_write(&s, journal, cut, &err), &err);
        event_stream_rewind(&s);
        assert_true(s.offset >= 0 && s.offset <= (int64_t)cut);
        assert_ok(event_stream_write(&s, journal + s.offset, sizeof journal - 1 - (size_t)s.offset, &err),
                  &err);
        assert_string_equal(buf_str(&seen.lines), wire_lines);
        assert_int_equal(s.offset, sizeof journal - 1);
        seen_release(&seen, &s);
    }
}

TEST(refused_line_stops_before_its_offset)
{
    struct event_stream s;
    struct seen seen;
    struct err err = {0};
    seen_init(&seen, &s);
    seen.fail_at = 2;
    assert_err(event_stream_write(&s, wire, sizeof wire - 1, &err), &err, ERR_NODE, "refused");
    assert_string_equal(buf_str(&seen.lines), "{\"a\":1}|");
    assert_int_equal(s.offset, 8);
    seen_release(&seen, &s);
}

TEST(line_has_a_maximum)
{
    static char line[LIMIT_EVENT_LINE + 2];
    struct event_stream s;
    struct seen seen;
    struct err err = {0};
    memset(line, 'x', sizeof line);
    seen_init(&seen, &s);
    assert_ok(event_stream_write(&s, "ab\n", 3, &err), &err);
    line[LIMIT_EVENT_LINE] = '\n';
    assert_ok(event_stream_write(&s, line, LIMIT_EVENT_LINE + 1, &err), &err);
    assert_int_equal(seen.count, 2);
    assert_int_equal(s.offset, 3 + LIMIT_EVENT_LINE + 1);
    line[LIMIT_EVENT_LINE] = 'x';
    /* No more than that is kept of a longer one, however it is split, and all of it counts. */
    for (int i = 0; i < 3; i++)
        assert_ok(event_stream_write(&s, line, sizeof line, &err), &err);
    assert_int_equal(s.offset, 3 + LIMIT_EVENT_LINE + 1);
    assert_ok(event_stream_write(&s, "\ncd\n", 4, &err), &err);
    assert_int_equal(seen.count, 4);
    assert_int_equal(s.offset, 3 + LIMIT_EVENT_LINE + 1 + 3 * sizeof line + 1 + 3);
    seen_release(&seen, &s);
}
