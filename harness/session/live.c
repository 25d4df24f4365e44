#include "harness/session/live.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What one event prints: the end of a log, and a reason. */
enum { LINES_MAX_BYTES = 65536 };

void live_init(struct live *l, FILE *out)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    bool terminal = isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
    *l = (struct live){
        .out = out, .progress = terminal, .colour = terminal && !(no_color && *no_color), .suite_eta_s = NAN};
}

void live_duration(double seconds, char *out, size_t cap)
{
    if (!isfinite(seconds) || seconds < 0)
        snprintf(out, cap, "-");
    else if (seconds < 1e-9)
        snprintf(out, cap, "0 s");
    else if (seconds < 0.9995)
        snprintf(out, cap, "%.*f ms", seconds < 0.00995 ? 2 : seconds < 0.0995 ? 1 : 0, seconds * 1e3);
    else if (seconds < 9.95)
        snprintf(out, cap, "%.2f s", seconds);
    else if (seconds < 99.5)
        snprintf(out, cap, "%.1f s", seconds);
    else if (seconds < 3600)
        snprintf(out, cap, "%d min %02d s", (int)seconds / 60, (int)seconds % 60);
    else
        snprintf(out, cap, "%.0f h %02d min", floor(seconds / 3600), (int)fmod(seconds / 60, 60));
}

void live_end(struct live *l)
{
    if (l->line_open)
        fputs("\r\033[K", l->out);
    l->line_open = false;
    fflush(l->out);
}

/* Prints whole lines in the place of the progress line. */
static void put(struct live *l, const struct buf *lines)
{
    AUTO(buf_release) struct buf fitted = {.max = 4 * lines->max};
    text_wrap(buf_str(lines), text_columns(l->out), &fitted);
    live_end(l);
    fputs(buf_str(&fitted), l->out);
    fflush(l->out);
}

void live_note(struct live *l, const char *text)
{
    AUTO(buf_release) struct buf line = {.max = LINES_MAX_BYTES};
    buf_printf(&line, "%s\n", text);
    put(l, &line);
}

static const char *colour_of(const char *status)
{
    if (strcmp(status, "OK") == 0 || strcmp(status, "CACHED") == 0 || strcmp(status, "COMPLETE") == 0)
        return "\033[32m";
    if (strcmp(status, "SKIPPED") == 0 || strcmp(status, "CANCELLED") == 0)
        return "\033[33m";
    return "\033[31m";
}

static void put_status(const struct live *l, const char *status, struct buf *out)
{
    if (l->colour)
        buf_printf(out, "%s%s\033[0m", colour_of(status), status);
    else
        buf_puts(out, status);
}

size_t live_running(const struct live *l)
{
    size_t n = 0;
    for (size_t i = 0; i < EVENT_LANES_MAX; i++)
        n += l->tests[i].running;
    return n;
}

static const struct live_test *longest_running(const struct live *l)
{
    const struct live_test *found = NULL;
    for (size_t i = 0; i < EVENT_LANES_MAX; i++)
        if (l->tests[i].running && (!found || l->tests[i].elapsed_s > found->elapsed_s))
            found = &l->tests[i];
    return found;
}

static int format_test(const struct live *l, const struct live_test *t, char *out, size_t cap)
{
    char elapsed[32], limit[32], others[48] = "";
    size_t n = live_running(l);
    live_duration(t->elapsed_s, elapsed, sizeof elapsed);
    live_duration(t->timeout_s, limit, sizeof limit);
    if (n > 1)
        snprintf(others, sizeof others, "  and %zu more", n - 1);
    return snprintf(out, cap, "%s ctx %lld run %lld  %s of %s%s", t->variant, (long long)t->ctx,
                    (long long)t->run_idx, elapsed, limit, others);
}

void live_progress(const struct live *l, char *out)
{
    char eta[32];
    const struct live_test *t = longest_running(l);
    int n = snprintf(out, LIVE_LINE_MAX, "[%lld/%lld] ", (long long)l->done, (long long)l->total);
    char *at = out + n;
    size_t room = LIVE_LINE_MAX - (size_t)n;
    if (*l->ended)
        n = snprintf(at, room, "%s  %lld ok, %lld failed, %lld skipped", l->ended, (long long)l->ok,
                     (long long)l->failed, (long long)l->skipped);
    else if (*l->building)
        n = snprintf(at, room, "building %s", l->building);
    else if (t)
        n = format_test(l, t, at, room);
    else
        n = snprintf(at, room, "no test is running");
    live_duration(l->suite_eta_s, eta, sizeof eta);
    if (!*l->ended && (size_t)n < room)
        snprintf(at + n, room - (size_t)n, "  ETA %s", eta);
}

/* A line wider than the terminal could not be erased. */
static void draw_line(struct live *l, const char *line)
{
    size_t columns = text_columns(l->out);
    if (!l->progress)
        return;
    fprintf(l->out, "\r\033[K%.*s", (int)text_fitting(line, columns ? columns - 1 : SIZE_MAX), line);
    fflush(l->out);
    l->line_open = true;
}

static void note_test(struct live *l, const struct event *e)
{
    struct live_test *t = &l->tests[e->lane];
    *t = (struct live_test){.running = true,
                            .ctx = e->ctx,
                            .run_idx = e->run_idx,
                            .elapsed_s = isfinite(e->times.elapsed_s) ? e->times.elapsed_s : 0,
                            .timeout_s = e->times.timeout_s};
    memcpy(t->variant, e->variant, sizeof t->variant);
}

static void forget_test(struct live *l, const struct event *e)
{
    for (size_t i = 0; i < EVENT_LANES_MAX; i++) {
        struct live_test *t = &l->tests[i];
        if (t->ctx == e->ctx && t->run_idx == e->run_idx && strcmp(t->variant, e->variant) == 0)
            t->running = false;
    }
}

/* Resets the counts at the start of a journal, which is read again if its end was lost. */
static void begin(struct live *l)
{
    l->done = l->ok = l->failed = l->skipped = 0;
    l->builds_failed = l->gates_failed = 0;
    memset(l->tests, 0, sizeof l->tests);
    *l->ended = '\0';
}

static void note_event(struct live *l, const struct event *e)
{
    if (isfinite(e->times.suite_eta_s))
        l->suite_eta_s = e->times.suite_eta_s;
    *l->building = '\0';
    switch (e->type) {
    case EVENT_SUITE_START:
        begin(l);
        break;
    case EVENT_BUILD_START:
        memcpy(l->building, e->variant, sizeof l->building);
        break;
    case EVENT_TEST_START:
    case EVENT_HEARTBEAT:
        if (*e->variant)
            note_test(l, e);
        break;
    case EVENT_TEST_END:
    case EVENT_TEST_SKIP:
        forget_test(l, e);
        break;
    case EVENT_SUITE_END:
        memset(l->tests, 0, sizeof l->tests);
        snprintf(l->ended, sizeof l->ended, "%s", e->status);
        break;
    case EVENT_BUILD_END:
        l->builds_failed += strcmp(e->status, status_name(STATUS_BUILD_FAILED)) == 0;
        break;
    case EVENT_GATE:
        l->gates_failed += strcmp(e->status, status_name(STATUS_GATE_FAILED)) == 0;
        break;
    case EVENT_CONFIG_PATCH:
    case EVENT_NODE:
    case EVENT_COUNT:
        break;
    }
}

static void print_test(struct live *l, const struct event *e)
{
    AUTO(buf_release) struct buf out = {.max = LINES_MAX_BYTES};
    char wall[32], prefill[32], eta[32];
    live_duration(e->times.wall_s, wall, sizeof wall);
    live_duration(e->times.prefill_s, prefill, sizeof prefill);
    live_duration(e->times.suite_eta_s, eta, sizeof eta);
    buf_printf(&out, "[%lld/%lld] %s ctx %lld run %lld  ", (long long)l->done, (long long)l->total,
               e->variant, (long long)e->ctx, (long long)e->run_idx);
    put_status(l, e->status, &out);
    if (*e->metric.name && isfinite(e->metric.value))
        buf_printf(&out, "  %s %.6g%s%s", e->metric.name, e->metric.value, *e->metric.unit ? " " : "",
                   e->metric.unit);
    else if (isfinite(e->times.prefill_s))
        buf_printf(&out, "  prefill %s", prefill);
    if (isfinite(e->times.wall_s))
        buf_printf(&out, "  wall %s", wall);
    if (*e->host)
        buf_printf(&out, "  on %s", e->host);
    if (*e->reason)
        buf_printf(&out, "  (%s)", e->reason);
    if (isfinite(e->times.suite_eta_s) && l->done < l->total)
        buf_printf(&out, "  ETA %s", eta);
    buf_putc(&out, '\n');
    put(l, &out);
}

static void print_build(struct live *l, const struct event *e)
{
    AUTO(buf_release) struct buf out = {.max = LINES_MAX_BYTES};
    char wall[32];
    live_duration(e->times.wall_s, wall, sizeof wall);
    buf_printf(&out, "build %s  ", e->variant);
    put_status(l, e->status, &out);
    if (strcmp(e->status, "CACHED") != 0)
        buf_printf(&out, "  %s", wall);
    buf_printf(&out, "%s%s\n", *e->reason ? "  " : "", e->reason);
    for (const char *line = e->log_tail; *line; line += strcspn(line, "\n") + 1)
        buf_printf(&out, "    %.*s\n", (int)strcspn(line, "\n"), line);
    put(l, &out);
}

static void print_gate(struct live *l, const struct event *e)
{
    AUTO(buf_release) struct buf out = {.max = LINES_MAX_BYTES};
    buf_printf(&out, "gate %s %s  ", e->variant, e->gate);
    put_status(l, e->status, &out);
    buf_printf(&out, "%s%s\n", *e->reason ? "  " : "", e->reason);
    put(l, &out);
}

/* Appends a text such as ", 2 builds failed", unless the count is 0. */
static void put_count(int64_t n, const char *what, struct buf *out)
{
    if (n > 0)
        buf_printf(out, ", %lld %s%s failed", (long long)n, what, text_plural(n));
}

static void print_end(struct live *l, const struct event *e)
{
    AUTO(buf_release) struct buf out = {.max = LINES_MAX_BYTES};
    char wall[32];
    live_duration(e->times.wall_s, wall, sizeof wall);
    buf_puts(&out, "run ");
    put_status(l, e->status, &out);
    buf_printf(&out, "  %lld ok, %lld failed, %lld skipped", (long long)e->counts.ok,
               (long long)e->counts.failed, (long long)e->counts.skipped);
    put_count(l->builds_failed, "build", &out);
    put_count(l->gates_failed, "gate", &out);
    buf_printf(&out, " in %s%s%s\n", wall, *e->reason ? ": " : "", e->reason);
    put(l, &out);
}

/* Counts each test once. A replaced result was counted as OK. */
static void count_result(struct live *l, const struct event *e)
{
    if (e->retry)
        return;
    if (e->replaces && l->ok > 0) {
        l->ok--;
        l->failed++;
    }
    if (e->replaces)
        return;
    l->done++;
    if (strcmp(e->status, "OK") == 0)
        l->ok++;
    else if (strcmp(e->status, "SKIPPED") == 0 || strcmp(e->status, "CANCELLED") == 0 ||
             e->type == EVENT_TEST_SKIP)
        l->skipped++;
    else
        l->failed++;
}

/* The final counts include tests that were never reached, as skipped. */
static void take_counts(struct live *l, const struct event *e)
{
    if (e->counts.ok + e->counts.failed + e->counts.skipped < l->done)
        return;
    l->ok = e->counts.ok;
    l->failed = e->counts.failed;
    l->skipped = e->counts.skipped;
}

void live_event(struct live *l, const struct event *e)
{
    char line[LIVE_LINE_MAX];
    if (e->total_tests > 0)
        l->total = e->total_tests;
    note_event(l, e);
    switch (e->type) {
    case EVENT_SUITE_START:
        live_end(l);
        fprintf(l->out, "%lld test%s\n", (long long)l->total, text_plural(l->total));
        break;
    case EVENT_BUILD_START:
        snprintf(line, sizeof line, "building %s", e->variant);
        draw_line(l, line);
        break;
    case EVENT_BUILD_END:
        print_build(l, e);
        break;
    case EVENT_GATE:
        print_gate(l, e);
        break;
    case EVENT_TEST_START:
    case EVENT_HEARTBEAT:
        live_progress(l, line);
        draw_line(l, line);
        break;
    case EVENT_TEST_END:
    case EVENT_TEST_SKIP:
        count_result(l, e);
        print_test(l, e);
        break;
    case EVENT_SUITE_END:
        take_counts(l, e);
        print_end(l, e);
        break;
    case EVENT_CONFIG_PATCH:
    case EVENT_NODE:
    case EVENT_COUNT:
        if (*e->reason)
            live_note(l, e->reason);
        break;
    }
}
