#include "harness/commands/run/watch_follow.h"

#include "common/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { END_MS = 3000, SLICE_MS = 50 };

/* Only our child writes to the pipe, but its contents come from a node, so they are not trusted. */
static int handle_line(void *arg, const char *line, size_t len, struct err *err)
{
    struct watch_follow *f = arg;
    struct event e;
    (void)err;
    char text[ERR_MSG_MAX];
    snprintf(text, sizeof text, "%.*s", (int)len - 1, line + 1);
    switch ((enum relay_tag)line[0]) {
    case RELAY_JOURNAL:
        if (event_decode(&e, line + 1, len - 1) == 0)
            watch_model_event(f->model, &e);
        break;
    case RELAY_NOTE:
        watch_model_note(f->model, text);
        break;
    case RELAY_TITLE:
        text_printable_fixed(f->title, sizeof f->title, text, strlen(text));
        break;
    case RELAY_FAILED:
        f->code = relay_failure(text, f->failure);
        watch_model_note(f->model, f->failure);
        break;
    case RELAY_RESULT:
        break;
    }
    return 0;
}

/* The follower must not write to the terminal, only to the pipe. */
static void be_follower(const char *word, int fd, watch_follow_fn *fn, void *arg)
{
    struct relay r;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; null >= 0 && i < 3; i++)
        dup2(null, i);
    _exit(relay_open(&r, fd) == 0 ? fn(arg, word, &r) : EXIT_LOCAL);
}

int watch_follow_start(struct watch_follow *f, const char *word, watch_follow_fn *fn, void *arg,
                       struct err *err)
{
    int fds[2];
    f->fd = -1;
    f->model = watch_model_new();
    snprintf(f->title, sizeof f->title, "%.200s", word);
    event_stream_init(&f->lines, handle_line, f);
    if (pipe2(fds, O_CLOEXEC) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "watch: no pipe");
    f->pid = fork();
    if (f->pid == 0)
        be_follower(word, fds[1], fn, arg);
    close(fds[1]);
    f->fd = fds[0];
    return f->pid < 0 ? err_set_errno(err, ERR_INTERNAL, errno, "watch: cannot fork") : 0;
}

int watch_follow_read(struct watch_follow *f, struct err *err)
{
    int rc = relay_read(f->fd, &f->lines, err);
    f->ended = rc <= 0;
    return rc < 0 ? -1 : 0;
}

/* The follower has nothing to save, so it may be killed if SIGTERM does not end it. */
static void end_process(pid_t pid)
{
    kill(pid, SIGTERM);
    for (int waited = 0; waited < END_MS; waited += SLICE_MS) {
        pid_t got = waitpid(pid, NULL, WNOHANG);
        if (got == pid || (got < 0 && errno != EINTR))
            return;
        poll(NULL, 0, SLICE_MS);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

void watch_follow_end(struct watch_follow *f)
{
    if (f->fd >= 0)
        close(f->fd);
    if (f->pid > 0)
        end_process(f->pid);
    event_stream_release(&f->lines);
    watch_model_free(f->model);
    *f = (struct watch_follow){.fd = -1};
}
