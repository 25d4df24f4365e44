/* isolate: what a test can write to: its own folder, memory file systems of its own at /tmp, /var/tmp and
 * /dev/shm, and devices. All other files are read-only to it, in user, mount and IPC namespaces of its own,
 * whose mounts it cannot undo. A workdir below /tmp keeps the node's /tmp visible, read-only.
 */
#ifndef KERNSWEEP_EXECUTOR_CONTAIN_ISOLATE_H
#define KERNSWEEP_EXECUTOR_CONTAIN_ISOLATE_H

#include <stdbool.h>

/* In a child between fork and exec. folder: absolute; the working folder must be changed to it afterwards. 0,
 * or the errno. */
int isolate_enter(const char *folder);
/* Whether the node lets this user do it: tries it in a child. */
bool isolate_works(void);

#endif
