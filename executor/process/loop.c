#include "executor/process/loop.h"

#include "common/base/clock.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int open_signals(struct err *err)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0 || sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot watch signals");
    return fd;
}

int loop_open(struct loop *loop, struct err *err)
{
    *loop = (struct loop){.epfd = epoll_create1(EPOLL_CLOEXEC)};
    for (int i = 0; i < LOOP_SOURCES; i++)
        loop->fd[i] = -1;
    if (loop->epfd < 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot open epoll");
    for (int i = 0; i < LOOP_TIMERS_END; i++) {
        int fd = i == LOOP_SIGNAL ? open_signals(err)
                                  : timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        if (fd < 0 || loop_watch(loop, (enum loop_source)i, fd, err) != 0) {
            loop_close(loop);
            return err_set_errno(err, ERR_INTERNAL, errno, "cannot open the supervisor's timers");
        }
    }
    return 0;
}

void loop_close(struct loop *loop)
{
    for (int i = 0; i < LOOP_TIMERS_END; i++) {
        if (loop->fd[i] >= 0)
            close(loop->fd[i]);
    }
    if (loop->epfd >= 0)
        close(loop->epfd);
    loop->epfd = -1;
}

int loop_watch(struct loop *loop, enum loop_source source, int fd, struct err *err)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = (uint32_t)source};
    if (epoll_ctl(loop->epfd, EPOLL_CTL_ADD, fd, &e) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot watch a descriptor");
    loop->fd[source] = fd;
    return 0;
}

void loop_unwatch(struct loop *loop, enum loop_source source)
{
    if (loop->fd[source] >= 0)
        epoll_ctl(loop->epfd, EPOLL_CTL_DEL, loop->fd[source], NULL);
    loop->fd[source] = -1;
}

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

void loop_arm(struct loop *loop, enum loop_source timer, int64_t first_ns, int64_t interval_ns)
{
    struct itimerspec spec = {.it_value = to_timespec(first_ns), .it_interval = to_timespec(interval_ns)};
    timerfd_settime(loop->fd[timer], TFD_TIMER_ABSTIME, &spec, NULL);
}

static void read_signals(struct loop *loop)
{
    struct signalfd_siginfo info;
    while (read(loop->fd[LOOP_SIGNAL], &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo != SIGCHLD)
            loop->stop = true;
    }
}

int loop_wait(struct loop *loop, struct loop_events *events, struct err *err)
{
    struct epoll_event ready[LOOP_SOURCES];
    memset(events, 0, sizeof *events);
    int n = epoll_wait(loop->epfd, ready, LOOP_SOURCES, -1);
    events->now_ns = clock_mono_ns();
    if (n < 0 && errno != EINTR)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot wait");
    for (int i = 0; i < n; i++) {
        enum loop_source s = (enum loop_source)ready[i].data.u32;
        events->ready[s] = true;
        if (s == LOOP_SIGNAL)
            read_signals(loop);
        else if (s < LOOP_TIMERS_END && read(loop->fd[s], &events->ticks[s], sizeof events->ticks[s]) !=
                                            (ssize_t)sizeof events->ticks[s])
            events->ready[s] = false;
    }
    return 0;
}
