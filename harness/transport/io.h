/* transport_io: what all back-ends share in running a command: the source of its input, the destination of
 * its output, and when to stop waiting (deadline, stall, interrupt).
 */
#pragma once

#include "common/base/err.h"
#include "harness/transport/transport.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The node being waited for, and what may end the wait. */
struct transport_scope {
    const char *who; /* "user@host:port", not owned */
    const volatile sig_atomic_t *interrupted;
    double *last_heard_s;                        /* or NULL */
    void (*notice)(void *arg, const char *line); /* tells the user; or NULL */
    void *notice_arg;
};

bool transport_interrupted(const struct transport_scope *scope);

/* The user's home folder: $HOME, else what the password database says, else "/". */
const char *transport_home_folder(void);

/* The payload of one libssh2 packet. Input is read in multiples of it, so that no packet has a remainder. */
enum {
    TRANSPORT_PACKET = 32700,
    TRANSPORT_IO_CHUNK = 16 * TRANSPORT_PACKET,
    TRANSPORT_POLL_MS_MAX = 200,
    TRANSPORT_QUIET_S = 15
};

/* poll() timeout until the deadline (0: none), short enough to notice an interrupt soon. */
int transport_poll_ms(int64_t deadline_ns);

struct transport_io {
    const struct transport_cmd *cmd;
    struct transport_result *res;
    const struct transport_scope *scope;
    char *buf; /* owned: input from cmd->read */
    const char *in;
    size_t in_len; /* input not yet sent */
    bool in_end;   /* there is no further input */
    int64_t deadline_ns;
    int64_t moved_ns;      /* time when the last byte moved */
    int64_t window_ns;     /* start of the current interval of cmd->stall_s */
    uint64_t window_bytes; /* bytes moved in that interval */
    bool trickles;         /* an interval had fewer than cmd->least_bytes */
    bool told;             /* the user has been told about the current silence */
};

void transport_io_begin(struct transport_io *io, const struct transport_cmd *cmd,
                        struct transport_result *res, const struct transport_scope *scope);
void transport_io_end(struct transport_io *io);

/* Makes input available, or sets in_end when there is none left. */
int transport_io_fill(struct transport_io *io, struct err *err);
/* Call after n bytes of input were sent. */
void transport_io_sent(struct transport_io *io, size_t n);
/* Drops the input, because the command no longer reads it. */
void transport_io_drop_input(struct transport_io *io);
int transport_io_stdout(struct transport_io *io, const char *data, size_t len, struct err *err);
int transport_io_stderr(struct transport_io *io, const char *data, size_t len, struct err *err);

/* -1 past the deadline or the stall limit (see res), or when interrupted. */
int transport_io_check(struct transport_io *io, struct err *err);
/* Tells the user, once, when nothing has moved for TRANSPORT_QUIET_S and the wait may last much longer. */
void transport_io_tell(struct transport_io *io);
/* For use after the deadline: sets res->timed_out and err, which names the command. Returns -1. */
int transport_io_fail_late(const struct transport_io *io, struct err *err);
/* For use after cmd->stall_s without data: sets res->link_lost and err. Returns -1. */
int transport_io_fail_stalled(const struct transport_io *io, struct err *err);
int transport_io_poll_ms(const struct transport_io *io);

/* The command line for the remote shell, which changes to the home folder; every word is quoted. ERR_INPUT if
 * it is too long. out: an empty buffer limited to TRANSPORT_COMMAND_MAX - 1. */
int transport_command_text(struct buf *out, const char *const *argv, const struct transport_scope *scope,
                           struct err *err);

/* transport_write_fn that appends to a struct buf. */
int transport_collect(void *arg, const char *data, size_t len, struct err *err);
