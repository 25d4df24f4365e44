#include "executor/bundle/runlog.h"

#include "common/base/alloc.h"
#include "executor/workdir/held.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_out(struct runlog *log, const char *data, size_t len)
{
    if (log->write_errno == 0 && fs_write_all(log->fd, data, len) != 0)
        log->write_errno = errno;
}

static void ring_add(struct runlog *log, const char *data, size_t len)
{
    if (!log->ring)
        log->ring = xmalloc(log->tail_max);
    if (len > log->tail_max) {
        data += len - log->tail_max;
        len = log->tail_max;
    }
    size_t first = log->tail_max - log->ring_at < len ? log->tail_max - log->ring_at : len;
    memcpy(log->ring + log->ring_at, data, first);
    memcpy(log->ring, data + first, len - first);
    log->ring_at = (log->ring_at + len) % log->tail_max;
    log->ring_len = log->ring_len + len < log->tail_max ? log->ring_len + len : log->tail_max;
}

static void keep_cleaned(void *arg, const char *data, size_t len)
{
    struct runlog *log = arg;
    size_t room = log->head_max - log->head_len;
    size_t n = len < room ? len : room;
    log->cleaned += len;
    if (log->listener)
        log->listener(log->listener_arg, data, len);
    if (n > 0)
        write_out(log, data, n);
    log->head_len += n;
    if (len > n)
        ring_add(log, data + n, len - n);
}

int runlog_open(struct runlog *log, const char *dir, const char *name, size_t limit,
                const struct secrets *secrets, struct err *err)
{
    char part[NAME_MAX + 1];
    *log = (struct runlog){.fd = -1, .head_max = limit / 2, .tail_max = limit - limit / 2};
    secrets_stream_init(&log->stream, secrets, keep_cleaned, log);
    snprintf(part, sizeof part, ".%.200s.part", name);
    if (fs_join(log->path, err, dir, name) != 0 || fs_join(log->part, err, dir, part) != 0)
        return -1;
    log->fd = held_create(log->part);
    if (log->fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot create the log", log->part);
    return 0;
}

void runlog_listen(struct runlog *log, secrets_sink *listener, void *arg)
{
    log->listener = listener;
    log->listener_arg = arg;
}

void runlog_end(struct runlog *log)
{
    secrets_stream_end(&log->stream);
}

void runlog_add(struct runlog *log, const char *data, size_t len)
{
    log->total += len;
    secrets_stream_feed(&log->stream, data, len);
}

uint64_t runlog_dropped(const struct runlog *log)
{
    return log->cleaned - log->head_len - log->ring_len;
}

/* Hands on the ring's contents in order, in up to two parts. */
static void ring_pieces(const struct runlog *log, const char **a, size_t *a_len, const char **b,
                        size_t *b_len)
{
    bool wrapped = log->ring_len == log->tail_max;
    *a = log->ring + (wrapped ? log->ring_at : 0);
    *a_len = wrapped ? log->tail_max - log->ring_at : log->ring_len;
    *b = log->ring;
    *b_len = log->ring_len - *a_len;
}

int runlog_finish(struct runlog *log, struct err *err)
{
    secrets_stream_end(&log->stream);
    if (log->ring_len > 0) {
        const char *a, *b;
        size_t a_len, b_len;
        char note[128];
        ring_pieces(log, &a, &a_len, &b, &b_len);
        if (runlog_dropped(log) > 0) {
            int n = snprintf(note, sizeof note, "\n[kernsweep: %" PRIu64 " bytes dropped here]\n",
                             runlog_dropped(log));
            write_out(log, note, (size_t)n);
        }
        write_out(log, a, a_len);
        write_out(log, b, b_len);
    }
    if (log->write_errno)
        return err_set_errno(err, ERR_STORAGE, log->write_errno, "%s: cannot write the log", log->path);
    if (held_publish(log->fd, log->part, log->path, err) != 0)
        return -1;
    log->part[0] = '\0';
    return 0;
}

static void head_tail(const struct runlog *log, size_t max, struct buf *out)
{
    AUTO_FREE char *data = xmalloc(max);
    off_t from = log->head_len > max ? (off_t)(log->head_len - max) : 0;
    ssize_t n = pread(log->fd, data, log->head_len - (size_t)from, from);
    if (n > 0)
        buf_add(out, data, (size_t)n);
}

void runlog_tail(const struct runlog *log, size_t max, struct buf *out)
{
    const char *a, *b;
    size_t a_len, b_len;
    if (log->ring_len < max && log->fd >= 0 && runlog_dropped(log) == 0)
        head_tail(log, max - log->ring_len, out);
    if (log->ring_len == 0)
        return;
    ring_pieces(log, &a, &a_len, &b, &b_len);
    size_t skip = log->ring_len > max ? log->ring_len - max : 0;
    size_t skip_a = skip < a_len ? skip : a_len;
    buf_add(out, a + skip_a, a_len - skip_a);
    buf_add(out, b + (skip - skip_a), b_len - (skip - skip_a));
}

void runlog_release(struct runlog *log)
{
    if (log->fd >= 0) {
        close(log->fd);
        if (log->part[0])
            unlink(log->part);
    }
    free(log->ring);
    secrets_stream_release(&log->stream);
    log->ring = NULL;
    log->fd = -1;
}
