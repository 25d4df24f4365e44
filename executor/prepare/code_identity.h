/* code_identity: the code identity of a variant's build (executor/code/build_identity.h) in the bundle, as
 * <variant>/code.json. It is kept beside the build, so that a cached one is not hashed again and keeps it
 * whatever its tests have written into its folder. schemas/code.schema.json describes the file.
 *
 * With the plan's "listings", also the kernels' machine code, as far as the node has a disassembler and the
 * bound allows, in <variant>/listings.txt: a line "== NAME GPU HASH" before each kernel. A kernel is listed
 * completely or not at all.
 */
#pragma once

#include "executor/suite/suite.h"

/* After a successful build, cached or not. Files that cannot be hashed give an unknown identity with its
 * reason, not an error. So does a build without device code whose tests name files of the sources. */
int code_identity_take(struct suite *s, size_t variant, struct err *err);
