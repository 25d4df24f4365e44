/* ssh_trust: for `nodes trust`: fetches a host's key, and stores it once the user has confirmed it.
 *
 * Uses the same configuration (ssh -G) and known_hosts files as connections. The caller prompts the user
 * between the two steps; nothing here prompts or prints.
 */
#pragma once

#include "common/base/err.h"
#include "harness/ssh/known_hosts.h"
#include "harness/transport/transport.h"

struct ssh_hostkey {
    enum known_verdict trust; /* only a key that is KNOWN_UNKNOWN may be stored */
    char name[320];           /* as in known_hosts: host or [host]:port */
    char stored_name[320];    /* the same, hashed if HashKnownHosts is set */
    char type[64];            /* "ssh-ed25519" */
    char fingerprint[64];     /* "SHA256:..." as ssh-keygen -l shows it */
    char known_hosts[4096];   /* the file that ssh_hostkey_store() appends to */
    char base64[8192];
};

/* Connects without logging in and fills key. Uses the ssh back-ends of target, or any if it has none. */
int ssh_hostkey_fetch(const struct transport_target *target, struct ssh_hostkey *key, struct err *err);

/* Appends the key to key->known_hosts (made 0600, its folder 0700). ERR_INPUT unless it is KNOWN_UNKNOWN. */
int ssh_hostkey_store(const struct ssh_hostkey *key, struct err *err);
