/* openssh_folder: the private folder of an ssh connection: its control socket and its log. Who makes one
 * first removes those that killed commands left: older than an hour, and nobody listens at their sockets.
 */
#ifndef KERNSWEEP_HARNESS_SSH_OPENSSH_FOLDER_H
#define KERNSWEEP_HARNESS_SSH_OPENSSH_FOLDER_H

#include "common/base/err.h"

enum { OPENSSH_DIR_MAX = 80 };

/* dir: its path, or "" with ERR_STORAGE. The caller removes the folder. */
int openssh_folder_make(char dir[OPENSSH_DIR_MAX], struct err *err);

#endif
