/* spawn: start a local program, find one on PATH, kill one together with its process group.
 *
 * The program gets an empty signal mask, only its three standard descriptors, and TERM when we die. Unless
 * keep_terminal is set it becomes a session leader, so that Ctrl-C reaches only us. If it cannot be executed,
 * the child exits with 127 (not found) or 126 and prints the reason on its standard error.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <sys/types.h>

enum { SPAWN_NOT_FOUND = 127, SPAWN_NOT_EXECUTABLE = 126, SPAWN_PATH_MAX = 4096 };

struct spawn {
    const char *const *argv; /* NULL-terminated, at least one word */
    const char *const *env;  /* NULL: what program_env() gives, or ours */
    const char *cwd;         /* NULL: ours */
    int fds[3];              /* its standard descriptors; the caller closes them */
    bool keep_terminal;      /* stay in our session, so that it can prompt the user */
};

/* Returns the process id, or -1 with err. */
pid_t spawn_start(const struct spawn *s, struct err *err);
/* Starts argv with its standard output, and with `input` also its standard input, connected to *fd, a
 * non-blocking stream socket that the caller closes; the rest goes to /dev/null. */
int spawn_on_socket(const char *const *argv, bool input, bool keep_terminal, pid_t *pid, int *fd,
                    struct err *err);
/* Kills the process and its group, and reaps it; does nothing for 0. */
void spawn_kill(pid_t pid);
/* Finds the program of that name in a folder of PATH. out: char[SPAWN_PATH_MAX]; "" without one. */
bool spawn_find(const char *name, char *out);
bool spawn_on_path(const char *name);
