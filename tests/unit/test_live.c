/* live: a journal as shown to the user; only complete lines where there is no terminal. */
#include "tests/unit/support.h"

#include "harness/session/live.h"

#include <fcntl.h>
#include <math.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

struct screen {
    struct live live;
    char *text;
    size_t len;
};

static void screen_open(struct screen *s)
{
    *s = (struct screen){0};
    live_init(&s->live, open_memstream(&s->text, &s->len));
}

static void show(struct screen *s, const char *line)
{
    struct event e;
    assert_int_equal(event_decode(&e, line, strlen(line)), 0);
    live_event(&s->live, &e);
}

static void assert_shows(struct screen *s, const char *text)
{
    live_end(&s->live);
    fclose(s->live.out);
    assert_string_equal(s->text, text);
    free(s->text);
}

static const char *const journal[] = {
    "{\"event\":\"SUITE_START\",\"total_tests\":4}",
    "{\"event\":\"NODE\",\"message\":\"gfx942, ROCm 6.2\"}",
    "{\"event\":\"NODE\",\"facts\":{}}",
    "{\"event\":\"BUILD_START\",\"variant\":\"v3\"}",
    "{\"event\":\"BUILD_END\",\"variant\":\"v3\",\"status\":\"OK\",\"wall_s\":12.34}",
    "{\"event\":\"BUILD_START\",\"variant\":\"v4\"}",
    "{\"event\":\"BUILD_END\",\"variant\":\"v4\",\"status\":\"CACHED\",\"wall_s\":0.01}",
    "{\"event\":\"BUILD_END\",\"variant\":\"v5\",\"status\":\"BUILD_FAILED\",\"wall_s\":1,\"reason\":\"exit "
    "2\","
    "\"log_tail\":\"k.hip:1: error: no\\n1 error generated.\"}",
    "{\"event\":\"GATE\",\"variant\":\"v3\",\"gate\":\"correct\",\"status\":\"OK\"}",
    "{\"event\":\"GATE\",\"variant\":\"v4\",\"gate\":\"correct\",\"status\":\"GATE_FAILED\",\"reason\":"
    "\"exit 1\"}",
    "{\"event\":\"CONFIG_PATCH\",\"message\":\"greta.h patched\"}",
    "{\"event\":\"TEST_START\",\"variant\":\"v3\",\"ctx\":4096,\"run_idx\":1,\"timeout_s\":180}",
    "{\"event\":\"HEARTBEAT\",\"variant\":\"v3\",\"ctx\":4096,\"run_idx\":1,\"elapsed_s\":1,\"timeout_s\":"
    "180,"
    "\"suite_eta_s\":300}",
    "{\"event\":\"TEST_END\",\"variant\":\"v3\",\"ctx\":4096,\"run_idx\":1,\"exit_status\":\"OK\",\"wall_s\":"
    "44.878,"
    "\"prefill_s\":3.2,\"suite_eta_s\":130}",
    "{\"event\":\"TEST_END\",\"variant\":\"v3\",\"ctx\":8192,\"run_idx\":1,\"exit_status\":\"TIMEOUT\","
    "\"wall_s\":180,"
    "\"reason\":\"over 180 s\",\"suite_eta_s\":7500}",
    "{\"event\":\"TEST_SKIP\",\"variant\":\"v4\",\"ctx\":4096,\"run_idx\":1,\"status\":\"SKIPPED\","
    "\"reason\":\"gate failed\"}",
    "{\"event\":\"TEST_END\",\"variant\":\"v4\",\"ctx\":8192,\"run_idx\":1,\"exit_status\":\"SKIPPED\","
    "\"wall_s\":0.5,"
    "\"suite_eta_s\":0}",
    "{\"event\":\"SUITE_END\",\"status\":\"COMPLETE\",\"ok\":1,\"failed\":1,\"skipped\":2,\"wall_s\":4000}",
};

TEST(events_are_plain_lines_without_a_terminal)
{
    struct screen s;
    screen_open(&s);
    assert_false(s.live.progress || s.live.colour);
    for (size_t i = 0; i < COUNT(journal); i++)
        show(&s, journal[i]);
    assert_int_equal(s.live.done, 4);
    assert_true(s.live.ok == 1 && s.live.failed == 1 && s.live.skipped == 2);
    assert_shows(&s,
                 "4 tests\n"
                 "gfx942, ROCm 6.2\n"
                 "build v3  OK  12.3 s\n"
                 "build v4  CACHED\n"
                 "build v5  BUILD_FAILED  1.00 s  exit 2\n"
                 "    k.hip:1: error: no\n"
                 "    1 error generated.\n"
                 "gate v3 correct  OK\n"
                 "gate v4 correct  GATE_FAILED  exit 1\n"
                 "greta.h patched\n"
                 "[1/4] v3 ctx 4096 run 1  OK  prefill 3.20 s  wall 44.9 s  ETA 2 min 10 s\n"
                 "[2/4] v3 ctx 8192 run 1  TIMEOUT  wall 3 min 00 s  (over 180 s)  ETA 2 h 05 min\n"
                 "[3/4] v4 ctx 4096 run 1  SKIPPED  (gate failed)\n"
                 "[4/4] v4 ctx 8192 run 1  SKIPPED  wall 500 ms\n"
                 "run COMPLETE  1 ok, 1 failed, 2 skipped, 1 build failed, 1 gate failed in 1 h 06 min\n");
}

TEST(progress_line_is_redrawn_and_erased)
{
    struct screen s;
    screen_open(&s);
    s.live.progress = true;
    for (size_t i = 10; i < 14; i++)
        show(&s, journal[i]);
    live_note(&s.live, "a note");
    show(&s, journal[12]);
    assert_shows(&s, "greta.h patched\n"
                     "\r\033[K[0/0] v3 ctx 4096 run 1  0 s of 3 min 00 s  ETA -"
                     "\r\033[K[0/0] v3 ctx 4096 run 1  1.00 s of 3 min 00 s  ETA 5 min 00 s"
                     "\r\033[K[1/0] v3 ctx 4096 run 1  OK  prefill 3.20 s  wall 44.9 s\n"
                     "a note\n"
                     "\r\033[K[1/0] v3 ctx 4096 run 1  1.00 s of 3 min 00 s  ETA 5 min 00 s"
                     "\r\033[K");
}

/* Opens a terminal of 60 columns: returns its other side. */
static int open_terminal(FILE **in)
{
    struct winsize size = {.ws_col = 60, .ws_row = 20};
    int fd = posix_openpt(O_RDWR | O_NOCTTY);
    struct termios raw;
    assert_true(fd >= 0 && grantpt(fd) == 0 && unlockpt(fd) == 0);
    int other = open(ptsname(fd), O_RDWR | O_NOCTTY);
    assert_true(other >= 0 && tcgetattr(other, &raw) == 0);
    cfmakeraw(&raw);
    assert_true(tcsetattr(other, TCSANOW, &raw) == 0 && ioctl(other, TIOCSWINSZ, &size) == 0);
    *in = fdopen(other, "w");
    return fd;
}

TEST(lines_fit_a_terminal)
{
    struct live l;
    struct event e;
    FILE *in;
    char text[1024] = "", event[256];
    size_t len = 0;
    assert_int_equal(setenv("TERM", "xterm", 1), 0);
    assert_int_equal(setenv("NO_COLOR", "1", 1), 0);
    int fd = open_terminal(&in);
    live_init(&l, in);
    live_note(&l, "waiting up to 100 s for the run 20260214T031509Z (pid 4711), which uses the node");
    snprintf(event, sizeof event, "{\"event\":\"TEST_START\",\"variant\":\"%055d\",\"timeout_s\":180}", 0);
    assert_int_equal(event_decode(&e, event, strlen(event)), 0);
    live_event(&l, &e);
    fclose(in);
    for (ssize_t n; (n = read(fd, text + len, sizeof text - 1 - len)) > 0;)
        len += (size_t)n;
    assert_string_equal(text, "waiting up to 100 s for the run 20260214T031509Z (pid 4711),\n"
                              "  which uses the node\n"
                              "\r\033[K[0/0] 00000000000000000000000000000000000000000000000000000");
    close(fd);
}

TEST(progress_names_the_longest_of_several_tests)
{
    struct screen s;
    char line[LIVE_LINE_MAX];
    screen_open(&s);
    show(&s, "{\"event\":\"SUITE_START\",\"total_tests\":9}");
    live_progress(&s.live, line);
    assert_string_equal(line, "[0/9] no test is running  ETA -");
    show(
        &s,
        "{\"event\":\"TEST_START\",\"variant\":\"v3\",\"ctx\":16,\"run_idx\":1,\"timeout_s\":20,\"lane\":0}");
    show(
        &s,
        "{\"event\":\"TEST_START\",\"variant\":\"v4\",\"ctx\":16,\"run_idx\":1,\"timeout_s\":30,\"lane\":1}");
    show(&s,
         "{\"event\":\"HEARTBEAT\",\"variant\":\"v4\",\"ctx\":16,\"run_idx\":1,\"timeout_s\":30,\"lane\":1,"
         "\"elapsed_s\":12,\"suite_eta_s\":90}");
    show(&s, "{\"event\":\"TEST_START\",\"variant\":\"v5\",\"ctx\":16,\"run_idx\":1,\"timeout_s\":30,"
             "\"lane\":64}");
    assert_int_equal(live_running(&s.live), 2); /* a lane beyond the limit counts as the first */
    live_progress(&s.live, line);
    assert_string_equal(line, "[0/9] v4 ctx 16 run 1  12.0 s of 30.0 s  and 1 more  ETA 90.0 s");
    show(&s, "{\"event\":\"TEST_END\",\"variant\":\"v4\",\"ctx\":16,\"run_idx\":1,\"exit_status\":\"OK\"}");
    assert_int_equal(live_running(&s.live), 1);
    show(&s, "{\"event\":\"SUITE_START\",\"total_tests\":9}");
    assert_int_equal(live_running(&s.live), 0);
    show(&s, "{\"event\":\"SUITE_END\",\"status\":\"PARTIAL\"}");
    live_progress(&s.live, line);
    assert_string_equal(line, "[0/9] PARTIAL  0 ok, 0 failed, 0 skipped");
    fclose(s.live.out);
    free(s.text);
}

/* A journal whose end was lost is read from its start. */
TEST(a_journal_that_is_read_again_is_counted_once)
{
    struct screen s;
    screen_open(&s);
    for (size_t i = 0; i < 2 * COUNT(journal) - 1; i++)
        show(&s, journal[i % COUNT(journal)]);
    assert_true(s.live.done == 4 && s.live.ok == 1 && s.live.failed == 1 && s.live.skipped == 2);
    assert_true(s.live.builds_failed == 1 && s.live.gates_failed == 1);
    assert_string_equal(s.live.ended, "");
    fclose(s.live.out);
    free(s.text);
}

/* As the run's own counts have it. */
TEST(a_cancelled_test_is_skipped)
{
    struct screen s;
    screen_open(&s);
    show(&s, "{\"event\":\"SUITE_START\",\"total_tests\":2}");
    show(&s, "{\"event\":\"TEST_END\",\"variant\":\"v\",\"exit_status\":\"CANCELLED\"}");
    assert_true(s.live.done == 1 && s.live.ok == 0 && s.live.failed == 0 && s.live.skipped == 1);
    assert_shows(&s, "2 tests\n"
                     "[1/2] v ctx 0 run 0  CANCELLED\n");
}

TEST(tests_that_were_never_reached_are_skipped)
{
    struct screen s;
    char line[LIVE_LINE_MAX];
    screen_open(&s);
    show(&s, "{\"event\":\"SUITE_START\",\"total_tests\":9}");
    show(&s, "{\"event\":\"TEST_END\",\"variant\":\"v\",\"exit_status\":\"OK\"}");
    show(&s, "{\"event\":\"SUITE_END\",\"status\":\"CANCELLED\",\"ok\":1,\"failed\":0,\"skipped\":8}");
    live_progress(&s.live, line);
    assert_string_equal(line, "[1/9] CANCELLED  1 ok, 0 failed, 8 skipped");
    fclose(s.live.out);
    free(s.text);
}

TEST(a_test_counts_once_however_often_it_ends)
{
    static const char *const ends[] = {
        "{\"event\":\"TEST_END\",\"variant\":\"v\",\"exit_status\":\"INTERRUPTED\",\"retry\":true}",
        "{\"event\":\"TEST_END\",\"variant\":\"v\",\"exit_status\":\"OK\",\"retry\":false}",
        "{\"event\":\"TEST_END\",\"variant\":\"v\",\"exit_status\":\"INVALID\",\"replaces\":true}",
    };
    struct screen s;
    screen_open(&s);
    show(&s, "{\"event\":\"SUITE_START\",\"total_tests\":1}");
    show(&s, ends[0]);
    assert_true(s.live.done == 0 && s.live.failed == 0);
    show(&s, ends[1]);
    assert_true(s.live.done == 1 && s.live.ok == 1 && s.live.failed == 0);
    show(&s, ends[2]);
    assert_true(s.live.done == 1 && s.live.ok == 0 && s.live.failed == 1);
    assert_shows(&s, "1 test\n"
                     "[0/1] v ctx 0 run 0  INTERRUPTED\n"
                     "[1/1] v ctx 0 run 0  OK\n"
                     "[1/1] v ctx 0 run 0  INVALID\n");
}

TEST(colour_marks_statuses_only)
{
    struct screen s;
    screen_open(&s);
    s.live.colour = true;
    show(&s, journal[0]);
    for (size_t i = 8; i < 10; i++)
        show(&s, journal[i]);
    show(&s, journal[15]);
    assert_shows(&s, "4 tests\n"
                     "gate v3 correct  \033[32mOK\033[0m\n"
                     "gate v4 correct  \033[31mGATE_FAILED\033[0m  exit 1\n"
                     "[1/4] v4 ctx 4096 run 1  \033[33mSKIPPED\033[0m  (gate failed)\n");
}

/* Every event, empty and with hostile text: complete lines, no raw control characters. */
TEST(hostile_events_stay_in_their_lines)
{
    struct screen s;
    screen_open(&s);
    for (int i = 0; i < EVENT_COUNT; i++) {
        char line[1024];
        snprintf(line, sizeof line, "{\"event\":\"%s\"}", event_name((enum event_type)i));
        show(&s, line);
        snprintf(
            line, sizeof line,
            "{\"event\":\"%s\",\"variant\":\"\\u001b[2J\\n\",\"gate\":\"\\r\",\"exit_status\":\"O\\u0007K\","
            "\"message\":\"a\\nb\",\"log_tail\":\"\\u001b[2J\\n\\n\\r\",\"ctx\":-1,\"run_idx\":"
            "9223372036854775807,\"total_tests\":-5,"
            "\"wall_s\":1e308,\"prefill_s\":-1e308,\"suite_eta_s\":1e18,\"timeout_s\":-1,\"elapsed_s\":"
            "1e300}",
            event_name((enum event_type)i));
        show(&s, line);
    }
    live_end(&s.live);
    fclose(s.live.out);
    for (size_t i = 0; i < s.len; i++)
        assert_true((unsigned char)s.text[i] >= 0x20 || s.text[i] == '\n');
    assert_true(s.len > 0 && s.text[s.len - 1] == '\n');
    free(s.text);
}

TEST(durations_use_the_largest_fitting_units)
{
    static const struct {
        double s;
        const char *text;
    } table[] = {
        {0, "0 s"},           {1.6e-05, "0.02 ms"},    {0.0094, "9.40 ms"},
        {0.0444, "44.4 ms"},  {0.25, "250 ms"},        {0.9994, "999 ms"},
        {0.9996, "1.00 s"},   {3.456, "3.46 s"},       {9.94, "9.94 s"},
        {9.96, "10.0 s"},     {42.12, "42.1 s"},       {99.4, "99.4 s"},
        {99.6, "1 min 39 s"}, /* rounded down */
        {200, "3 min 20 s"},  {3599.9, "59 min 59 s"}, {3600, "1 h 00 min"},
        {3900, "1 h 05 min"}, {7199.9, "1 h 59 min"},  {86400, "24 h 00 min"},
        {NAN, "-"},           {INFINITY, "-"},         {-1, "-"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        char out[32];
        live_duration(table[i].s, out, sizeof out);
        assert_string_equal(out, table[i].text);
    }
    char small[6];
    live_duration(1e18, small, sizeof small);
    assert_int_equal(strlen(small), 5);
}
