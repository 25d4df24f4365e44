/* accepted_key: which key a host accepted last, kept in the user's cache folder, so that the next command
 * offers it first, and the host refuses none. What cannot be kept is forgotten without an error.
 */
#pragma once

#include "harness/ssh/config.h"

/* out: char[FINGERPRINT_LEN + 1]; "" if none is known. */
void accepted_key_recall(const struct ssh_config *c, char *out);
/* fingerprint: "" to forget. */
void accepted_key_keep(const struct ssh_config *c, const char *fingerprint);
