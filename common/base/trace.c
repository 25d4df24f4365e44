#include "common/base/trace.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/json.h"
#include "common/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Long words (such as a script sent as one word) are truncated. */
enum { WORD_MAX = 160, WORDS_MAX = 64, HUMAN_MAX = 200, HUMAN_WORD_MAX = 60, LINE_MAX_BYTES = 64 << 10 };

static int trace_fd = -1;
static bool trace_to_stderr;

int trace_open(const char *file, struct err *err)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open", file);
    trace_fd = fd;
    return 0;
}

void trace_verbose(void)
{
    trace_to_stderr = true;
}

struct trace_event trace_begin(const char *kind, const char *where, const char *const *argv)
{
    return (struct trace_event){.kind = kind,
                                .where = where,
                                .argv = argv,
                                .started_real_s = clock_real_s(),
                                .started_mono_ns = clock_mono_ns()};
}

static json_t *clean_text(const char *text, size_t max)
{
    AUTO(buf_release) struct buf clean = {.max = 8 * max};
    text_printable(&clean, text, strlen(text), max);
    return json_stringn(buf_str(&clean), clean.len);
}

static json_t *words_of(const struct trace_event *e)
{
    json_t *words = json_array();
    size_t most = e->name_only ? 1 : WORDS_MAX;
    for (size_t i = 0; e->argv[i] && i < most; i++)
        json_array_append_new(words, clean_text(e->argv[i], WORD_MAX));
    return words;
}

static double seconds_of(const struct trace_event *e)
{
    int64_t us = (clock_mono_ns() - e->started_mono_ns) / 1000;
    return (double)us * 1e-6;
}

static void write_json(const struct trace_event *e)
{
    char at[CLOCK_ISO_LEN + 1];
    clock_iso8601(e->started_real_s, at);
    json_auto_t *line = json_pack("{s:s, s:s, s:i, s:f, s:I, s:I}", "ts", at, "event", e->kind, "pid",
                                  (int)getpid(), "duration_s", seconds_of(e), "sent", (json_int_t)e->sent,
                                  "received", (json_int_t)e->received);
    if (e->where)
        json_object_set_new(line, "where", clean_text(e->where, WORD_MAX));
    if (e->how)
        json_object_set_new(line, "transport", json_string(e->how));
    if (e->argv)
        json_object_set_new(line, "argv", words_of(e));
    if (e->failure)
        json_object_set_new(line, "error", clean_text(e->failure->msg, ERR_MSG_MAX));
    else if (e->signal)
        json_object_set_new(line, "signal", json_string(e->signal));
    else
        json_object_set_new(line, "exit", json_integer(e->exit_code));
    AUTO(buf_release) struct buf text = {.max = LINE_MAX_BYTES};
    if (json_encode(line, &text, NULL) == 0) {
        buf_putc(&text, '\n');
        if (buf_ok(&text) && write(trace_fd, text.data, text.len) < 0)
            trace_fd = -1; /* a full disk must not stop a run, only its trace */
    }
}

static void describe_end(const struct trace_event *e, struct buf *out)
{
    if (e->failure)
        buf_puts(out, "failed");
    else if (e->signal)
        buf_printf(out, "killed by %s", e->signal);
    else if (strcmp(e->kind, "connect") == 0)
        buf_puts(out, "connected");
    else
        buf_printf(out, "exit %d", e->exit_code);
    buf_printf(out, " after %.3f s", seconds_of(e));
    if (e->sent || e->received)
        buf_printf(out, ", %llu bytes sent, %llu received", (unsigned long long)e->sent,
                   (unsigned long long)e->received);
}

/* Writes the program without its path, with long words truncated. */
static void describe_words(const struct trace_event *e, struct buf *out)
{
    for (size_t i = 0; e->argv[i] && i < (e->name_only ? 1 : WORDS_MAX); i++) {
        const char *slash = i == 0 ? strrchr(e->argv[i], '/') : NULL;
        const char *word = slash ? slash + 1 : e->argv[i];
        size_t len = strlen(word);
        text_printable(out, word, len, HUMAN_WORD_MAX);
        buf_puts(out, len > HUMAN_WORD_MAX ? "... " : " ");
        if (out->len > HUMAN_MAX) {
            buf_puts(out, "... ");
            break;
        }
    }
    buf_puts(out, "-> ");
}

static void write_line(const struct trace_event *e)
{
    AUTO(buf_release) struct buf line = {.max = LINE_MAX_BYTES};
    buf_printf(&line, "kernsweep: %s: ", e->where ? e->where : "this machine");
    if (e->argv)
        describe_words(e, &line);
    else if (e->how)
        buf_printf(&line, "%s: ", e->how);
    describe_end(e, &line);
    buf_putc(&line, '\n');
    fwrite(buf_str(&line), 1, line.len, stderr);
}

void trace_end(const struct trace_event *e)
{
    if (trace_fd >= 0)
        write_json(e);
    if (trace_to_stderr)
        write_line(e);
}
