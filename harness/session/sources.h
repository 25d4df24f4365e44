/* sources: gets the source tree of a run onto the node: the plan's folder, or the tree of an earlier run by
 * its hash, which the node may still have, or the folder that it came from, if nobody changed it.
 */
#pragma once

#include "harness/session/session.h"

/* For a run with sources (s->opt.source_sha256 or the plan's). sha: char[SHA256_HEX_LEN + 1]. ERR_INPUT when
 * an earlier run's tree is gone everywhere. */
int sources_stage(struct session *s, const struct plan *p, char *sha, struct err *err);

/* What git knows of the sources, or of those of the earlier run; the caller json_decref()s. NULL where
 * nothing is known for sure: the run goes on without, and a note says why if there may have been a commit. */
json_t *sources_revision(struct session *s, const struct plan *p);
