/* escape: text for CSV, XML and HTML. For shells and terminals see text.h. */
#pragma once

#include "common/base/buf.h"

/* Appends s as a quoted field (RFC 4180). Text that a spreadsheet would take for a formula gets an apostrophe
 * in front; a number does not. */
void escape_csv_quoted(struct buf *out, const char *s);
/* Quotes only where the field needs them. */
void escape_csv(struct buf *out, const char *s);
/* Escapes text, or an attribute value in double quotes. Drops the control characters that XML does not allow.
 */
void escape_xml(struct buf *out, const char *s);
