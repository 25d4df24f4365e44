/* ssh_trust: `nodes trust`: show a host's key, and after the user has confirmed, remember it.
 *
 * Works on the same configuration (ssh -G) and the same known_hosts files as connections do. The caller asks
 * the user between the two steps; nothing here prompts or prints.
 */
#ifndef KERNSWEEP_HARNESS_SSH_TRUST_H
#define KERNSWEEP_HARNESS_SSH_TRUST_H

#include "common/base/err.h"
#include "harness/transport/transport.h"

enum ssh_trust {
    SSH_TRUST_UNKNOWN, /* may be stored */
    SSH_TRUST_KNOWN,   /* the same key is stored: nothing to do */
    SSH_TRUST_CHANGED, /* another key is stored: storing is refused */
    SSH_TRUST_REVOKED, /* storing is refused */
};

struct ssh_hostkey {
    enum ssh_trust trust;
    char name[320];         /* as known_hosts names it: host or [host]:port */
    char stored_name[320];  /* the same, hashed where HashKnownHosts says so */
    char type[64];          /* "ssh-ed25519" */
    char fingerprint[64];   /* "SHA256:..." as ssh-keygen -l shows it */
    char known_hosts[4096]; /* the file that ssh_hostkey_store() appends to */
    char base64[8192];
};

/* Connects without logging in and fills key, by the ssh back-ends that target names, or by any when it names
 * none.
 */
int ssh_hostkey_fetch(const struct transport_target *target, struct ssh_hostkey *key, struct err *err);

/* Appends the key to key->known_hosts (made 0600, its folder 0700). ERR_INPUT unless SSH_TRUST_UNKNOWN. */
int ssh_hostkey_store(const struct ssh_hostkey *key, struct err *err);

#endif
