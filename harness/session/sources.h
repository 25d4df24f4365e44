/* sources: gets the source tree of a run onto the node: the plan's folder, or the tree of an earlier run by
 * its hash, which the node may still have, or the folder that it came from, if nobody changed it.
 */
#pragma once

#include "harness/session/session.h"

/* For a run with sources (s->opt.source_sha256 or the plan's). sha: char[SHA256_HEX_LEN + 1]. ERR_INPUT if
 * an earlier run's tree no longer exists anywhere. */
int sources_stage(struct session *s, const struct plan *p, char *sha, struct err *err);

/* What git knows of the sources, or of those of the earlier run, which the caller json_decref()s. NULL if
 * nothing is certain: the run continues without it, and a note gives the reason if there may have been a
 * commit. */
json_t *sources_revision(struct session *s, const struct plan *p);
