/* run: run a program of this machine to its end: feed its standard input, take its output, watch a deadline,
 * end it when it must not go on, reap it.
 *
 * One struct describes the program; run_capture() is the simple case. Given up (deadline, silence, the user's
 * flag, a callback that fails), the program's process group gets TERM, after grace_s KILL. How it started is
 * in spawn.h. An exit status other than 0 is no error: it is in the result. Knows nothing of nodes.
 */
#ifndef KERNSWEEP_COMMON_BASE_RUN_H
#define KERNSWEEP_COMMON_BASE_RUN_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/spawn.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Fills buf with at most cap bytes: the count, 0 at the end, -1 with err. */
typedef ssize_t run_read_fn(void *arg, void *buf, size_t cap, struct err *err);
/* Takes all of data. 0, or -1 with err to end the program. */
typedef int run_write_fn(void *arg, const char *data, size_t len, struct err *err);

struct run {
    const char *const *argv; /* NULL-terminated */
    const char *const *env;  /* NULL: ours */
    const char *cwd;         /* NULL: ours */
    const void *input;       /* standard input as bytes ... */
    size_t input_len;
    run_read_fn *read; /* ... or pulled; with neither, it is empty */
    void *read_arg;
    run_write_fn *on_stdout; /* NULL: discarded */
    void *on_stdout_arg;
    run_write_fn *on_stderr; /* NULL: its last RUN_STDERR_MAX bytes are in the result */
    void *on_stderr_arg;
    bool output_to_stderr; /* both outputs go straight to our standard error instead */
    bool end_group;        /* whatever it left behind in its process group is killed at its end */
    bool secret_argv;      /* its words may be confidential: only its name is traced */
    bool untraced;         /* the caller traces it itself */
    double deadline_s;     /* for the whole run; 0: none */
    double stall_s;        /* longest time in which no byte moves either way; 0: unlimited */
    double grace_s;        /* between TERM and KILL; 0: KILL at once */
    const volatile sig_atomic_t *interrupted; /* non-zero ends it, or NULL */
};

enum { RUN_STDERR_MAX = 4096, RUN_SIGNAL_MAX = 16 };

enum run_stop { RUN_NOT_STOPPED, RUN_DEADLINE, RUN_STALL, RUN_INTERRUPT, RUN_FAULT };

struct run_result {
    bool exited; /* exit_code holds; otherwise `signal` names what killed it ("KILL") */
    int exit_code;
    char signal[RUN_SIGNAL_MAX];
    enum run_stop stop; /* why run_program() ended it */
    uint64_t sent, received;
    char stderr_text[RUN_STDERR_MAX + 1]; /* raw foreign bytes: text_printable() before showing */
    size_t stderr_len;
};

/* 0 when the program ended by itself, else -1 with err; the result is always filled. */
int run_program(const struct run *run, struct run_result *res, struct err *err);

/* Runs argv with input (NULL: none) and appends at most out->max bytes of its standard output to out (NULL:
 * discarded). */
int run_capture(const char *const *argv, const struct buf *input, double deadline_s, struct buf *out,
                struct run_result *res, struct err *err);

/* Fails with ERR_STORAGE unless the exit code is 0; the message quotes the end of stderr, made printable. */
int run_expect_success(const struct run_result *res, const char *what, struct err *err);

/* run_write_fn that appends to a struct buf and fails beyond its maximum. */
int run_collect(void *arg, const char *data, size_t len, struct err *err);

/* Keeps the last `max` bytes of what is added; tail has max + 1. */
void run_keep_tail(char *tail, size_t *len, size_t max, const char *data, size_t n);

#endif
