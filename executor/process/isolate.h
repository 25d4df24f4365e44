/* isolate: limits what a test can write to: its own folder, memory file systems of its own at /tmp, /var/tmp
 * and /dev/shm, and devices. All other files are read-only to it, in user, mount and IPC namespaces of its
 * own, whose mounts it cannot undo. A workdir below /tmp keeps the node's /tmp visible, read-only.
 *
 * It also limits what a test can signal: itself and all that it starts, by Landlock's scopes (Linux 6.12).
 * Unlike a namespace of process ids, they need no process in between, so that what is sampled and waited for
 * stays the test itself. They also close the memory and environment of other processes to it.
 */
#pragma once

#include <stdbool.h>

/* To be called in a child between fork and exec. folder: absolute; the working folder must be changed to it
 * afterwards. Returns 0, or the errno. */
int isolate_enter(const char *folder);
/* Whether the node lets this user do it: tries it in a child. */
bool isolate_works(void);

/* To be called in the child; it holds for good, for this process and its descendants. Returns 0, or the
 * errno: ENOSYS or EOPNOTSUPP where the kernel cannot. */
int isolate_signals(void);
/* Whether that works here, tried in a child of our own. To be called before any other child is started. */
bool isolate_signals_works(void);
