/* escape: text as a part of CSV, XML or HTML. (Shell words and terminals: text.h.) */
#ifndef KERNSWEEP_COMMON_BASE_ESCAPE_H
#define KERNSWEEP_COMMON_BASE_ESCAPE_H

#include "common/base/buf.h"

/* Appends s as a field of RFC 4180, in quotes. */
void escape_csv_quoted(struct buf *out, const char *s);
/* The same, in quotes only where it needs them. */
void escape_csv(struct buf *out, const char *s);
/* Appends s as text or as an attribute's value in double quotes, without the control characters that XML does
 * not allow. */
void escape_xml(struct buf *out, const char *s);

#endif
