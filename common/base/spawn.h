/* spawn: start a program of this machine, find one on PATH, end one together with its process group.
 *
 * The program gets an empty signal mask, no descriptor beyond its three, and TERM when we die. Unless it
 * keeps the terminal it leads a session of its own, so that the terminal's Ctrl-C is ours to handle. One that
 * cannot be executed exits with 127 (not found) or 126 and says why on its standard error.
 */
#ifndef KERNSWEEP_COMMON_BASE_SPAWN_H
#define KERNSWEEP_COMMON_BASE_SPAWN_H

#include "common/base/err.h"

#include <stdbool.h>
#include <sys/types.h>

enum { SPAWN_NOT_FOUND = 127, SPAWN_NOT_EXECUTABLE = 126 };

struct spawn {
    const char *const *argv; /* NULL-terminated, at least one word */
    const char *const *env;  /* NULL: ours */
    const char *cwd;         /* NULL: ours */
    int fds[3];              /* its standard descriptors; ours to close */
    bool keep_terminal;      /* stay in our session, so that it can ask the user something */
};

/* The process id, or -1 with err. */
pid_t spawn_start(const struct spawn *s, struct err *err);
/* Starts argv with *fd as the other end of its standard input and output (a stream socket, non-blocking, ours
 * to close); its standard error goes to /dev/null. */
int spawn_on_socket(const char *const *argv, bool keep_terminal, pid_t *pid, int *fd, struct err *err);
/* Kills the process and its group, and reaps it; 0 is fine. */
void spawn_kill(pid_t pid);
/* Whether `name` is an executable on PATH. */
bool spawn_on_path(const char *name);

#endif
