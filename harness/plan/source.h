/* plan_source: the source tree that a plan sends to the node. Paths are relative to the plan's file, so that
 * a plan works from any current folder.
 */
#pragma once

#include "common/contract/keys.h"

struct plan_source {
    char *dir;            /* absolute; NULL without a source tree or with sha256 */
    const char *sha256;   /* borrowed; the tree of a bundle's run, used instead of dir; NULL: none */
    const char **include; /* NULL-terminated, owned array of borrowed strings; NULL: the whole tree */
};

extern const struct key source_keys[];

/* at: a plan's "source", which may be absent or null. recorded: the tree's hash if the plan lies in a bundle.
 */
int plan_source_read(struct plan_source *s, const struct json_at *at, const char *recorded, struct err *err);
bool plan_source_given(const struct plan_source *s);
void plan_source_release(struct plan_source *s);
