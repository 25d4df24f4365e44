/* sources: which tree a variant's commands have as {src}. One that is built has a copy of its own, in
 * <workdir>/tree/<build key>/, which its build may write to; when the build is done the copy is sealed, and
 * is kept and removed with the build. One that is not built has the staged tree, or its patched copy,
 * read-only. Variants with "in_tree" share one copy, which all may write to; nothing there is checked.
 */
#pragma once

#include "executor/suite/suite.h"
#include "executor/workdir/seal.h"

/* Before anything is patched: is the staged tree as it was sent? 1; 0 with reason (char[REASON_MAX]); -1. */
int sources_check(struct suite *s, char *reason, struct err *err);
/* After patching: makes what "in_tree" variants share. 1, 0 or -1. */
int sources_share(struct suite *s, char *reason, struct err *err);

/* Sets {src} of a variant whose build is known. */
int sources_use(struct suite *s, size_t variant, struct err *err);
/* Makes the variant's own copy anew, writable. 1; 0 with the variant's reason; -1. */
int sources_copy(struct suite *s, size_t variant, struct err *err);
/* The build in the copy is done. */
int sources_close(struct suite *s, size_t variant, struct err *err);
/* What has changed in {src} since it was sealed, whosever copy it is; shared ones are not looked at. 1
 * nothing, 0 fn was told, -1. */
int sources_look(const struct suite *s, size_t variant, seal_fn *fn, void *arg, struct err *err);
/* 1 as the build left it, or there is none; 0 (why: char[SEAL_REASON_MAX]); -1. */
int sources_intact(const struct suite *s, size_t variant, char *why, struct err *err);
