#include "harness/session/relay.h"

#include "common/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void send_journal(void *arg, const char *line, size_t len)
{
    relay_send(arg, RELAY_JOURNAL, line, len);
}

static void send_note(void *arg, const char *text)
{
    relay_send(arg, RELAY_NOTE, text, strlen(text));
}

int relay_open(struct relay *r, int fd)
{
    *r = (struct relay){.out = fdopen(fd, "w")};
    r->view = (struct session_view){.arg = r, .line = send_journal, .note = send_note};
    return r->out ? 0 : -1;
}

void relay_send(struct relay *r, enum relay_tag tag, const char *text, size_t len)
{
    putc((int)tag, r->out);
    for (size_t i = 0; i < len; i++)
        putc(text[i] == '\n' ? ' ' : text[i], r->out);
    putc('\n', r->out);
    fflush(r->out);
}

int relay_fail(struct relay *r, const struct err *err)
{
    char text[ERR_MSG_MAX + 16];
    int code = (int)exit_code_of(err);
    snprintf(text, sizeof text, "%d %s", code, err->msg);
    relay_send(r, RELAY_FAILED, text, strlen(text));
    return code;
}

int relay_failure(const char *text, char *reason)
{
    const char *at = text + strcspn(text, " ");
    at += *at == ' ';
    text_printable_fixed(reason, ERR_MSG_MAX, at, strlen(at));
    return (int)strtol(text, NULL, 10);
}

int relay_read(int fd, struct event_stream *lines, struct err *err)
{
    char data[16384];
    ssize_t n = read(fd, data, sizeof data);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? 1 : err_set_errno(err, ERR_INTERNAL, errno, "the pipe");
    if (n == 0)
        return 0;
    return event_stream_write(lines, data, (size_t)n, err) == 0 ? 1 : -1;
}
