/* transport_io: the two ends of one command that every back-end shares: where input comes from, where output
 * goes, and when to stop waiting (deadline, stall, the user). Knows nothing of sockets or pipes.
 */
#ifndef KERNSWEEP_HARNESS_TRANSPORT_IO_H
#define KERNSWEEP_HARNESS_TRANSPORT_IO_H

#include "common/base/err.h"
#include "harness/transport/transport.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The node that is waited for, and what may end the wait. */
struct transport_scope {
    const char *who; /* "user@host:port", not owned */
    const volatile sig_atomic_t *interrupted;
    double *last_heard_s; /* or NULL */
};

bool transport_interrupted(const struct transport_scope *scope);

enum { TRANSPORT_IO_CHUNK = 64 << 10, TRANSPORT_POLL_MS_MAX = 200 };

/* poll() timeout until the deadline (0: none), short enough that an interrupt is never missed for long. */
int transport_poll_ms(int64_t deadline_ns);

struct transport_io {
    const struct transport_cmd *cmd;
    struct transport_result *res;
    const struct transport_scope *scope;
    char *buf; /* owned: pulled input */
    const char *in;
    size_t in_len; /* input at hand */
    bool in_end;   /* nothing comes after what is at hand */
    int64_t deadline_ns;
    int64_t moved_ns; /* when the last byte moved */
};

void transport_io_begin(struct transport_io *io, const struct transport_cmd *cmd,
                        struct transport_result *res, const struct transport_scope *scope);
void transport_io_end(struct transport_io *io);

/* Makes input available, or sets in_end when there is none left. */
int transport_io_fill(struct transport_io *io, struct err *err);
/* n bytes of the input at hand were sent. */
void transport_io_sent(struct transport_io *io, size_t n);
/* Nobody reads the input any more. */
void transport_io_drop_input(struct transport_io *io);
int transport_io_stdout(struct transport_io *io, const char *data, size_t len, struct err *err);
int transport_io_stderr(struct transport_io *io, const char *data, size_t len, struct err *err);

/* 0 to go on, -1 when the deadline, the stall limit or the user says stop (res says which). */
int transport_io_check(const struct transport_io *io, struct err *err);
/* The deadline has passed: names the command and sets res->timed_out. Returns -1. */
int transport_io_fail_late(const struct transport_io *io, struct err *err);
/* Nothing moved for cmd->stall_s: sets res->link_lost. Returns -1. */
int transport_io_fail_stalled(const struct transport_io *io, struct err *err);
int transport_io_poll_ms(const struct transport_io *io);

/* The one line that a remote shell gets: every word quoted. ERR_INPUT when it is too long to send. The caller
 * releases out. */
int transport_command_text(struct buf *out, const char *const *argv, const struct transport_scope *scope,
                           struct err *err);

/* transport_write_fn that appends to a struct buf. */
int transport_collect(void *arg, const char *data, size_t len, struct err *err);

#endif
