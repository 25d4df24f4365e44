/* ssh_refuse: the error messages for a host key that is not accepted, shared by both ssh back-ends. */
#pragma once

#include "harness/ssh/config.h"
#include "harness/ssh/known_hosts.h"

/* blob: the public key that the host presented. 0 when it is known, else -1 with err. */
int ssh_refuse_unknown_host(const struct ssh_config *c, const char *who, const struct known_hosts *known,
                            const void *blob, size_t len, struct err *err);
