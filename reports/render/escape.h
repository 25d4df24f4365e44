/* escape: external text as Markdown that displays exactly that text: control characters and bidirectional
 * marks become visible, and nothing in it is read as markup. Appends to a struct buf, which remembers
 * failures. Private to render/.
 */
#pragma once

#include "common/base/buf.h"

#include <stdbool.h>

/* Longer text is truncated to this length. */
enum { ESCAPE_BYTES_MAX = 4096 };

void escape_text(struct buf *out, const char *s);
/* As a code span. Renderers disagree about a backslash before a bar inside a table; such text is escaped as
 * plain text there. */
void escape_code(struct buf *out, const char *s, bool in_table);
/* As the target of a link. */
void escape_href(struct buf *out, const char *s);

void escape_repeat(struct buf *out, char c, size_t n);
/* Length of the longest run of c in s. */
size_t escape_longest_run(const char *s, char c);
