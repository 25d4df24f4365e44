#include "executor/process/loop.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
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
    sigaddset(&set, SIGCONT);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot block signals");
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return fd >= 0 ? fd : err_set_errno(err, ERR_INTERNAL, errno, "cannot watch signals");
}

int loop_open(struct loop *loop, struct err *err)
{
    *loop = (struct loop){.epfd = epoll_create1(EPOLL_CLOEXEC),
                          .signals = LOOP_WATCH_NONE,
                          .beat = LOOP_WATCH_NONE,
                          .schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)};
    if (loop->epfd < 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot open epoll");
    int fd = open_signals(err);
    if (fd >= 0 && loop_add(loop, &loop->signals, fd, err) == 0)
        return 0;
    if (fd >= 0)
        close(fd);
    loop_close(loop);
    return -1;
}

void loop_close(struct loop *loop)
{
    loop_remove(loop, &loop->beat);
    if (loop->signals.fd >= 0)
        close(loop->signals.fd);
    if (loop->epfd >= 0)
        close(loop->epfd);
    alloc_auto_close(&loop->schedstat);
    loop->epfd = loop->signals.fd = loop->schedstat = -1;
}

int loop_add(struct loop *loop, struct loop_watch *watch, int fd, struct err *err)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = watch};
    *watch = LOOP_WATCH_NONE;
    if (epoll_ctl(loop->epfd, EPOLL_CTL_ADD, fd, &e) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot watch a descriptor");
    watch->fd = fd;
    return 0;
}

int loop_add_timer(struct loop *loop, struct loop_watch *timer, struct err *err)
{
    *timer = LOOP_WATCH_NONE;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot make a timer");
    if (loop_add(loop, timer, fd, err) != 0) {
        close(fd);
        return -1;
    }
    timer->is_timer = true;
    return 0;
}

void loop_remove(struct loop *loop, struct loop_watch *watch)
{
    if (watch->fd < 0)
        return;
    for (size_t i = 0; i < loop->ready_count; i++) {
        if (loop->ready[i] == watch)
            loop->ready[i] = NULL;
    }
    epoll_ctl(loop->epfd, EPOLL_CTL_DEL, watch->fd, NULL);
    if (watch->is_timer)
        close(watch->fd);
    *watch = LOOP_WATCH_NONE;
}

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

void loop_arm(struct loop_watch *timer, int64_t first_ns, int64_t interval_ns)
{
    struct itimerspec spec = {.it_value = to_timespec(first_ns), .it_interval = to_timespec(interval_ns)};
    if (timer->fd >= 0)
        timerfd_settime(timer->fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

int loop_join_beat(struct loop *loop, int64_t interval_ns)
{
    struct err ignored;
    if (loop->beat_users > 0 && loop->beat_ns != interval_ns)
        return -1;
    if (loop->beat_users == 0) {
        if (loop_add_timer(loop, &loop->beat, &ignored) != 0)
            return -1;
        loop->beat_ns = interval_ns;
        loop_arm(&loop->beat, (clock_mono_ns() / interval_ns + 1) * interval_ns, interval_ns);
    }
    loop->beat_users++;
    return 0;
}

void loop_leave_beat(struct loop *loop)
{
    if (--loop->beat_users == 0)
        loop_remove(loop, &loop->beat);
}

static void read_signals(struct loop *loop)
{
    struct signalfd_siginfo info;
    while (read(loop->signals.fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCONT) /* somebody stopped this process alone */
            loop->slept_ns = 0;
        else if (info.ssi_signo != SIGCHLD)
            loop->stop = true;
    }
}

static void mark_ready(struct loop *loop, struct loop_watch *watch)
{
    loop->ready[loop->ready_count++] = watch;
    watch->ready = true;
    if (watch == &loop->signals)
        read_signals(loop);
    else if (watch->is_timer &&
             read(watch->fd, &watch->ticks, sizeof watch->ticks) != (ssize_t)sizeof watch->ticks)
        watch->ready = false;
}

/* For how long this thread has ever waited for a CPU; -1 if unknown. */
static int64_t queued_ns(const struct loop *loop)
{
    char text[96] = "", *ran, *queued;
    if (loop->schedstat < 0 || pread(loop->schedstat, text, sizeof text - 1, 0) <= 0)
        return -1;
    strtoll(text, &ran, 10);
    int64_t ns = strtoll(ran, &queued, 10);
    return queued > ran ? ns : -1;
}

static int wait_until(struct loop *loop, int timeout_ms, struct err *err)
{
    struct epoll_event events[LOOP_READY_MAX];
    for (size_t i = 0; i < loop->ready_count; i++) {
        if (loop->ready[i])
            loop->ready[i]->ready = false;
    }
    loop->ready_count = 0;
    int64_t queued = queued_ns(loop), began = clock_mono_ns();
    int n = epoll_wait(loop->epfd, events, LOOP_READY_MAX, timeout_ms), saved = errno;
    loop->now_ns = clock_mono_ns();
    loop->slept_ns = queued < 0 ? 0 : loop->now_ns - began - (queued_ns(loop) - queued);
    if (n < 0 && saved != EINTR)
        return err_set_errno(err, ERR_INTERNAL, saved, "cannot wait");
    for (int i = 0; i < n; i++)
        mark_ready(loop, events[i].data.ptr);
    if (n < 0) /* a signal that let us go on may wait to be read */
        mark_ready(loop, &loop->signals);
    return 0;
}

int loop_wait(struct loop *loop, struct err *err)
{
    return wait_until(loop, -1, err);
}

int loop_wait_for(struct loop *loop, const struct loop_watch *watch, int64_t deadline_ns, struct err *err)
{
    int rc = 0;
    if (watch && watch->ready)
        return 0;
    while (rc == 0 && !loop->stop && !(watch && watch->ready) && clock_left_ms(deadline_ns) != 0)
        rc = wait_until(loop, clock_left_ms(deadline_ns), err);
    return rc;
}
