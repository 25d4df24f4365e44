/* logtext: a piece of a log as text that JSON and terminals can take: lines stay lines, everything else that
 * is not printable is escaped.
 */
#ifndef KERNSWEEP_EXECUTOR_BUNDLE_LOGTEXT_H
#define KERNSWEEP_EXECUTOR_BUNDLE_LOGTEXT_H

#include "common/base/buf.h"

#include <stddef.h>

void logtext_lines(struct buf *out, const char *s, size_t len);

#endif
