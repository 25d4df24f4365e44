/* ssh_refuse: why a host's key is not accepted, in the one line that both ssh back-ends give. */
#ifndef KERNSWEEP_HARNESS_SSH_REFUSE_H
#define KERNSWEEP_HARNESS_SSH_REFUSE_H

#include "harness/ssh/config.h"
#include "harness/ssh/known_hosts.h"

/* Judges the key (a public key blob) that a host presented: 0 when it is known, else -1 with err. */
int ssh_refuse_unknown_host(const struct ssh_config *c, const char *who, const struct known_hosts *known,
                            const void *blob, size_t len, struct err *err);

#endif
