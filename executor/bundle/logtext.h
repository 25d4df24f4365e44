/* logtext: a piece of a log as text that is safe in JSON and on terminals: line breaks and tabs are kept,
 * everything else that is not printable is escaped.
 */
#pragma once

#include "common/base/buf.h"
#include "executor/bundle/runlog.h"

#include <jansson.h>

#include <stddef.h>

void logtext_lines(struct buf *out, const char *s, size_t len);
/* Returns the whole lines of the log's last max bytes, as a JSON string. The caller owns it. */
json_t *logtext_tail(const struct runlog *log, size_t max);
