/* built: a finished build and the copy of the sources that it was made in, sealed together: a build is
 * complete only with ".complete" in its folder, the seal of its files.
 */
#pragma once

#include "executor/suite/suite.h"
#include "executor/workdir/seal.h"

int built_seal(struct suite *s, size_t variant, struct err *err);
/* 1 as the build left them; 0 not (why: char[SEAL_REASON_MAX], "" where nothing was sealed); -1 error. */
int built_is_intact(const struct suite *s, size_t variant, char *why, struct err *err);
/* What has changed in a variant's build and {src}, also of one without a build: 1 nothing, 0 fn was told, -1.
 */
int built_look(const struct suite *s, size_t variant, seal_fn *fn, void *arg, struct err *err);
