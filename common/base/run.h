/* run: run a local program to completion: feed its standard input, read its output, enforce a deadline, stop
 * and reap it.
 *
 * One struct describes the program; run_capture() is the simple case. When a run is stopped (deadline, stall,
 * interrupt, failing callback), the program's process group gets TERM, then KILL after grace_s. See spawn.h
 * for how programs start. A non-zero exit status is not an error: it is in the result.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/spawn.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Fills buf with up to cap bytes. Returns the count, 0 at the end, or -1 with err. */
typedef ssize_t run_read_fn(void *arg, void *buf, size_t cap, struct err *err);
/* Consumes all of data. Returns 0, or -1 with err to stop the program. */
typedef int run_write_fn(void *arg, const char *data, size_t len, struct err *err);

struct run {
    const char *const *argv; /* NULL-terminated */
    const char *const *env;  /* NULL: what program_env() gives, or ours */
    const char *cwd;         /* NULL: ours */
    const void *input;       /* standard input, as bytes ... */
    size_t input_len;
    run_read_fn *read; /* ... or read on demand; empty without either */
    void *read_arg;
    run_write_fn *on_stdout; /* NULL: discarded */
    void *on_stdout_arg;
    run_write_fn *on_stderr; /* NULL: the last RUN_STDERR_MAX bytes are kept in the result */
    void *on_stderr_arg;
    bool output_to_stderr; /* both outputs go directly to our standard error */
    bool end_group;        /* kill what remains of its process group when it exits */
    bool secret_argv;      /* argv may hold secrets: trace only the program name */
    bool untraced;         /* the caller does the tracing */
    double deadline_s;     /* for the whole run; 0: none */
    double stall_s;        /* longest time without any data in either direction; 0: unlimited */
    double grace_s;        /* between TERM and KILL; 0: KILL at once */
    const volatile sig_atomic_t *interrupted; /* non-zero stops it; NULL: what run_heed() said */
    void (*on_wait)(void *arg);               /* called several times a second; may be NULL */
    void *on_wait_arg;
};

enum { RUN_STDERR_MAX = 4096, RUN_SIGNAL_MAX = 16 };

enum run_stop { RUN_NOT_STOPPED, RUN_DEADLINE, RUN_STALL, RUN_INTERRUPT, RUN_FAULT };

struct run_result {
    bool exited; /* exit_code is valid; otherwise `signal` names the signal ("KILL") */
    int exit_code;
    char signal[RUN_SIGNAL_MAX];
    enum run_stop stop; /* why run_program() stopped it */
    uint64_t sent, received;
    char stderr_text[RUN_STDERR_MAX + 1]; /* raw bytes: escape with text_printable() before showing */
    size_t stderr_len;
};

/* From now on the flag, which a signal handler sets, stops every program with ERR_INTERRUPTED. It holds for
 * the whole process. */
void run_heed(const volatile sig_atomic_t *interrupted);

/* Returns 0 when the program ended by itself, else -1 with err; res is always filled. */
int run_program(const struct run *run, struct run_result *res, struct err *err);

/* Runs argv with input (may be NULL) and appends its standard output, at most out->max bytes, to out (NULL:
 * discarded). */
int run_capture(const char *const *argv, const struct buf *input, double deadline_s, struct buf *out,
                struct run_result *res, struct err *err);

/* Fails with ERR_STORAGE unless the exit code is 0; the message quotes the end of stderr. */
int run_expect_success(const struct run_result *res, const char *what, struct err *err);

/* A run_write_fn that appends to a struct buf and fails beyond its maximum. */
int run_collect(void *arg, const char *data, size_t len, struct err *err);

/* Appends to tail (char[max + 1]), keeping only the last max bytes. */
void run_keep_tail(char *tail, size_t *len, size_t max, const char *data, size_t n);
