/* linked: adds to a hash the files that a build left and the libraries that its program is linked with.
 * Untrusted files; their number and sizes are bounded.
 */
#pragma once

#include "common/base/sha256.h"
#include "common/base/strvec.h"

/* build, src: folders whose names do not count. program: a path in the build. env: of its tests. Files of the
 * build count by what they contain (executor/code/built_file.h), libraries outside it as files that a test
 * names. Sets why (char[REASON_MAX]) where something that the program may run cannot be known. */
void linked_add(const char *build, const char *src, const char *program, const struct strvec *env,
                struct sha256 *h, char *why);
